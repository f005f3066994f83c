"""Contrast sets from a writer (``cxgen elicit``): asked for, checked, judged, kept. One thing refused or undecided refuses a set whole."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from cxgen import layout
from cxgen.asking import Budget, Consultation, Outcome, Prompt, consult
from cxgen.asking.calls import read_requests
from cxgen.asking.judge import PLAIN, as_table, descriptions
from cxgen.asking.prompts import clean
from cxgen.build.params import Params
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.files import alone, read_if_there, write_text
from cxgen.lexicon.verdicts import majority
from cxgen.natural.build import COLUMNS, items_of, read_accepted, set_id
from cxgen.natural.sets import Asked, Written, check, shape_of
from cxgen.natural.words import Fillers, skeleton, units
from cxgen.project import Project
from cxgen.schema import polars_schema, read_yaml
from cxgen.streams import order_key
from cxgen.tables import write_table
from cxgen.vocabulary import APPROPRIATE, EXTENDED, JUDGING, LABELS, PROTOTYPICAL, WRITING

_GOOD = {"acceptability": [PROTOTYPICAL, EXTENDED], "appropriateness": [APPROPRIATE]}
_JUDGED = ("task", "judge", "model", "prompt", "value")
Shown = dict[str, dict[str, Mapping[str, str]]]  # task -> id -> field -> text


class Answer(NamedTuple):
    """What came of a set that was asked for."""

    asked: Asked
    written: Written | None  # if it is sound and, where judges were asked, accepted
    faults: list[str]  # why there is none
    text: str  # as JSON; empty if there is no answer
    model: str  # by its own account, or by the run's
    prompt: str  # content hash
    verdicts: dict[str, str]  # kind -> acceptability, if judges were asked
    judgments: dict[str, list[dict[str, str]]]  # kind -> what each judge said


def asked_in(project: Project, construction: Construction, path: Path) -> list[Asked]:
    """The sets of ``construction`` in a file of requests: as they were asked for, whatever would be asked for today."""
    tasks = {prompt.system: task for task, prompt in consult.load_prompts(project, WRITING).items()}
    sets: dict[str, Asked] = {}
    for number, (system, _, items) in enumerate(read_requests(path), 1):
        fields = {key: str(value) for item in items[:1] for key, value in item.items()}
        name, design, *_ = [*fields.get("id", "").split("."), ""]
        if name != construction.name:
            continue
        if system not in tasks or design not in construction.natural:
            other = "prompts" if system not in tasks else construction.document.path.name
            hint = f"restore {other}, or write the requests anew"
            raise DataError(f"a request that {other} would not make any more", file=path, line=number, hint=hint)
        name = fields.pop("id")
        sets[name] = Asked(name, design, tasks[system], fields)
    if not sets:
        hint = "write some: `cxgen elicit ... --backend file --out FILE`"
        raise DataError(f"no request for sets of {construction.name}", file=path, hint=hint)
    return list(sets.values())


def asking(
    project: Project, construction: Construction, sets: Iterable[Asked], consultation: Consultation
) -> tuple[Consultation, dict[str, Prompt], Shown]:
    """What `consult` is given to ask for sets, one a request: who is asked, job (prompt and design) -> wording, and what it shows."""
    wordings = consult.load_prompts(project, WRITING)
    prompts: dict[str, Prompt] = {}
    shown: Shown = {}
    for asked in sets:
        job, shape = f"{asked.task}/{asked.design}", shape_of(construction, construction.natural[asked.design])
        prompts[job] = replace(wordings[asked.task], shape=shape)
        shown.setdefault(job, {})[asked.id] = asked.fields
    return replace(consultation, tasks=tuple(prompts), per_request=1).bounded(project), prompts, shown


def run(
    project: Project, construction: Construction, sets: Sequence[Asked], consultation: Consultation, budget: Budget
) -> tuple[list[Answer], list[Outcome]]:
    """Ask for the sets and check what comes; the answers in the sets' order, and how each run went."""
    outcomes = consult.ask(*asking(project, construction, sets, consultation), budget)
    look_up, files = Fillers(construction), [folder / "refused.yaml" for folder in (project.lexicons, project.own_lexicons) if folder]
    refused = {word for path in files if path.exists() for word in read_yaml(path, "refused").data["words"]}
    judgments = {judgment.item: judgment for outcome in outcomes for judgment in outcome.judgments}
    answers = []
    for asked, judgment in ((asked, judgments[asked.id]) for asked in sets):
        result = check(construction, asked, judgment.value, look_up, refused) if judgment.value else [judgment.reason]
        written, faults = (result, list[str]()) if isinstance(result, Written) else (None, result)
        answers.append(Answer(asked, written, faults, judgment.value, judgment.model or judgment.judge, judgment.prompt, {}, {}))
    look_up.save()
    return answers, outcomes


def to_judge(params: Params, construction: Construction, answers: Iterable[Answer]) -> tuple[pl.DataFrame, Shown]:
    """The items of the sound sets, and what of them judges are shown, not set by set."""
    sets = [answer.written for answer in answers if answer.written]
    items = items_of(construction, sets, Fillers(construction), params.request)
    about = descriptions([construction])
    premises = items.unique("premise_id", maintain_order=True).select("premise_id", "construction", "premise").iter_rows()
    of_premises = {name: {**about.get(own, PLAIN), "sentence": text} for name, own, text in premises}
    of_pairs = items.select("id", "premise", "hypothesis").rows_by_key("id", named=True, unique=True)
    shown = {task: of_premises if task == "acceptability" else of_pairs for task in JUDGING}
    return items, {task: dict(sorted(things.items(), key=lambda thing: order_key(task, thing[0]))) for task, things in shown.items()}


def judged(
    project: Project, params: Params, construction: Construction, answers: Sequence[Answer], consultation: Consultation, budget: Budget
) -> tuple[list[Answer], list[Outcome]]:
    """The answers with what the judges say of their sets, and how each run went."""
    items, shown = to_judge(params, construction, answers)
    asking, prompts = replace(consultation, tasks=JUDGING).bounded(project), consult.load_prompts(project, JUDGING)
    outcomes = consult.ask(asking, prompts, shown, budget)
    votes = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    verdicts = with_faults(items, votes)
    return [_with_verdicts(answer, answer.written, verdicts, votes) if answer.written else answer for answer in answers], outcomes


def with_faults(items: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """``items`` with ``acceptability`` of the premise, and ``fault``: why the judges do not pass the item; null if they do."""
    said = majority(votes).with_columns(pl.when(pl.col("value") != "").then("value"), why=pl.format("{}: {}", "task", "reason"))
    table, faults = items, []
    for task in JUDGING:
        key, good = "premise_id" if task == "acceptability" else "id", _GOOD.get(task)
        own = said.filter(task=task).select(pl.col("item").alias(key), pl.col("value").alias(f"{task}?"), pl.col("why").alias(f"{task}!"))
        table, value = table.join(own, on=key, how="left", maintain_order="left"), pl.col(f"{task}?")
        right = value.is_in(good) if good else value == pl.col("label").replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)
        read = pl.format(f"{task}: the judges say {{}}", value)
        silent = pl.col(f"{task}!").fill_null(f"{task}: not judged")
        faults.append(pl.when(value.is_null()).then(silent).when(~right).then(read))
    told = table.with_columns(acceptability=pl.col("acceptability?"), fault=pl.coalesce(faults))
    return told.select(*items.columns, "fault")


def _with_verdicts(answer: Answer, written: Written, verdicts: pl.DataFrame, votes: pl.DataFrame) -> Answer:
    items = verdicts.filter(contrast_set=set_id(written))
    premises = items.unique("kind", maintain_order=True)
    bad = items.drop_nulls("fault").select("kind", "fault").unique(maintain_order=True)
    if bad.height:
        return answer._replace(written=None, faults=[f"{kind}: {why}" for kind, why in bad.iter_rows()])
    about = [premises.select("kind", pl.lit("").alias("hypothesis"), item="premise_id"), items.select("kind", "hypothesis", item="id")]
    said = votes.join(pl.concat(about), on="item").sort("task", "judge", "item")
    judgments = said.select("kind", *_JUDGED, "hypothesis").rows_by_key("kind", named=True)
    return answer._replace(verdicts=dict(premises.select("kind", "acceptability").iter_rows()), judgments=judgments)


def note_refused(project: Project, answers: Iterable[Answer]) -> int:
    """Keep what was refused, with the reasons, in `cxgen.layout.REFUSED_SETS`, beside what was refused before; how many sets."""
    path, rows = project.root / layout.REFUSED_SETS, list[dict[str, Any]]()
    for answer in (answer for answer in answers if answer.text and answer.faults):
        about = {"set": answer.asked.id, "model": answer.model, "prompt": answer.prompt}
        rows.append({**about, "reasons": answer.faults, "answer": answer.text})
    if rows:
        with alone(path):
            lines = [*read_if_there(path).splitlines(), *(json.dumps(row, ensure_ascii=False) for row in rows)]
            write_text(path, "".join(f"{line}\n" for line in dict.fromkeys(lines)))
    return len(rows)


def accept(path: Path, answers: Iterable[Answer], by: str) -> tuple[int, dict[str, str]]:
    """Append the judged sets to the file; how many are new, and set (as it was asked for) -> why it is not taken.

    A set that differs from one in the file, or from one before it, in nothing but its marked words is not taken.
    ``by``: who wrote them, in words; empty: the model.
    """
    added, twice = list[dict[str, Any]](), dict[str, str]()
    with alone(path):
        table = read_accepted(path)
        marked = table.select("set", "sentence", "marks").iter_rows()
        known = {_bare(sentence, {mark["slot"]: mark["text"] for mark in marks}): name for name, sentence, marks in marked}
        for answer, written in ((answer, answer.written) for answer in answers if answer.written and answer.judgments):
            bare = [_bare(text, written.marks[kind]) for kind, text in written.sentences.items()]
            if again := [known[text] for text in bare if text in known]:
                twice[answer.asked.id] = f"the words of set {again[0]}, but for the marked ones"
            else:
                known |= dict.fromkeys(bare, set_id(written))
                added += _rows(answer, written, by)
        if added:
            new = pl.DataFrame(added, schema=polars_schema(COLUMNS), orient="row")
            write_table(pl.concat([table, new]).sort("construction", "design", "set", "kind"), path)
    return len({row["set"] for row in added}), twice


def _bare(sentence: str, marks: Mapping[str, str]) -> str:
    return " ".join(skeleton(units(sentence, marks)))


def _rows(answer: Answer, written: Written, by: str) -> Iterator[dict[str, Any]]:
    for kind, sentence in written.sentences.items():
        yield {
            "set": set_id(written),
            "construction": answer.asked.id.split(".")[0],
            "design": answer.asked.design,
            "kind": kind,
            "sentence": sentence,
            "marks": [{"slot": slot, "text": text} for slot, text in written.marks[kind].items()],
            "choice": str(json.loads(answer.text).get("choice") or ""),
            "task": answer.asked.task,
            "prompt": answer.prompt,
            "seeds": answer.asked.seeds,
            "model": clean(answer.model, 1_000),
            "by": clean(by or answer.model, 1_000),
            "acceptability": answer.verdicts[kind],
            "judgments": answer.judgments.get(kind, []),
        }


def table(answers: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    """A row per set: ``set, prompt, verdict`` (sound, judged: accepted by the judges, refused, none), ``reasons``."""
    for answer in answers:
        good = "judged" if answer.judgments else "sound"
        verdict = good if answer.written else "refused" if answer.text else "none"
        yield {"set": answer.asked.id, "prompt": answer.asked.task, "verdict": verdict, "reasons": "; ".join(answer.faults)}
