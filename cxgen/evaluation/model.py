"""Putting the items that are scored to a model: one behind a server, through what the judge asks with, or one of this machine."""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import Consultation, Outcome, Prompt, consult
from cxgen.errors import CxgenError, DataError, unknown
from cxgen.evaluation import likelihood
from cxgen.evaluation.likelihood import Continued, Measure, Unit
from cxgen.evaluation.outside import read_items
from cxgen.evaluation.report import Evaluated, answerable
from cxgen.families.scoring import Item, Scoring
from cxgen.files import append_lines
from cxgen.layout import ANSWERS
from cxgen.project import Project
from cxgen.schema import TARGET, read_yaml
from cxgen.streams import address, order_key, order_keys
from cxgen.suites import scoring_of
from cxgen.tables import numbered_rows, track
from cxgen.vocabulary import UNDECIDED, Judge, Split

Cloze = tuple[str, Mapping[str, str]]  # how a model that continues texts is asked: see `Scoring.continuations`
LOCAL = "hf:"
PLAIN = "plain"  # the wording whose file is called like its task
_ABOUT = {"answer": "premises and hypotheses", "choose": "pairs"}  # what the tasks of evaluating are about
_ONE_BY_ONE = Consultation(backend=Judge.openai, per_request=1)  # items shown together may give each other away
_DIGEST = re.compile("[0-9a-f]{16,}")
_TIMED = 10.0  # seconds for which a model is tried, to say how long it will take
_THOUGHTS = 400  # tokens for each item


@dataclass(frozen=True)
class Examination:
    """Which ``model`` is asked (a server's, or ``hf:`` and a folder), and how: ``shots`` examples first, from train or the user's own file
    ``examples`` (0: all of it); ``thinks``: aloud first; ``server``: how one is; ``measure, unit, batch, labels``: see `likelihood`."""

    model: str
    wording: str = PLAIN
    shots: int = 0
    examples: Path | None = None
    thinks: bool = False
    seed: int = 1
    server: Consultation = _ONE_BY_ONE
    measure: Measure = Measure.likelihood
    unit: Unit = Unit.answer
    batch: int = 16
    labels: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, Any]:
        """What was asked, and how, for whoever reports it."""
        how = {"measure": self.measure, "unit": self.unit} if self.local else {"think": self.thinks}
        return {"model": self.model, "wording": self.wording, "shots": self.shots, "seed": self.seed, **how}

    @property
    def local(self) -> bool:
        """Whether the model is one of this machine."""
        return self.model.startswith(LOCAL)

    @property
    def folder(self) -> str:
        """Where a model of this machine is."""
        return self.model.removeprefix(LOCAL)

    @property
    def name(self) -> str:
        """What the results are called: the model and what is not as by default."""
        parts = [Path(self.folder).name if self.local else self.model] + [self.wording] * (self.wording != PLAIN)
        parts += [f"{self.shots}-shot"] * (self.shots > 0) + ["own-examples"] * (self.examples is not None) + ["thinking"] * self.thinks
        if self.local:
            parts += [self.measure.value] + [self.unit.value] * (self.unit is not Unit.answer)
        return re.sub(r"[^\w.]", "-", "-".join(parts))


@dataclass(frozen=True)
class Examined:
    """What a model said: ``rows`` (predictions), ``undecided`` (reason -> items), and how a server's runs went."""

    rows: list[dict[str, Any]]
    undecided: Counter[str]
    outcomes: list[Outcome] = field(default_factory=list)


def wordings(project: Project, task: str) -> list[str]:
    """The wordings of a task: ``plain`` is ``TASK.yaml`` among the prompts, the project's included, others ``TASK-NAME.yaml``."""
    return [PLAIN, *(stem.removeprefix(f"{task}-") for stem in project.prompt_files() if stem.startswith(f"{task}-"))]


def load_wording(project: Project, task: str, wording: str, *, continued: bool = True) -> tuple[Prompt, Cloze]:
    """A wording, for models that are talked to and for models that continue texts, which not every wording is for (``continued``: it must
    be)."""
    if not task:
        raise DataError("sentences for classifiers, which are put to no model", hint="train a probe on train; score what it says of test")
    if other := next((other for other in _ABOUT if wording not in wordings(project, task) and wording in wordings(project, other)), ""):
        hint = "configs and tables of the two kinds are asked in two runs"
        raise DataError(f"the wording {wording} is for {_ABOUT[other]}, not for {_ABOUT[task]}", hint=hint)
    if wording not in wordings(project, task):
        raise unknown("wording", wording, wordings(project, task))
    path = project.prompt_file(task if wording == PLAIN else f"{task}-{wording}")
    prompt, cloze = Prompt.load(path, task), read_yaml(path).data.get("cloze", {"text": ""})
    if continued and not cloze["text"]:
        hint = "a wording with cloze (text, words), such as plain; see docs/evaluation.md"
        raise DataError(f"the wording {wording} is for models behind a server", file=path, hint=hint)
    return prompt, (cloze["text"], cloze.get("words", {}))


def chosen_examples(train: pl.DataFrame, scoring: Scoring, count: int, seed: int) -> list[Item]:
    """Examples from train, each of another construction as far as there are so many, their verdicts taken in turn."""
    order = pl.Series("order", order_keys((seed, "example"), train["id"]))
    items = train.select("id", *scoring.needs, order, target=TARGET).sort("order").drop("order").to_dicts()
    examples: list[Item] = []
    for verdict in cycle(sorted({scoring.verdict(item) for item in items}, key=lambda verdict: order_key(seed, verdict))):
        left = [item for item in items if scoring.verdict(item) == verdict and item not in examples]
        if len(examples) == count or not left:
            break
        seen = {item["target"] for item in examples}
        examples.append(next((item for item in left if item["target"] not in seen), left[0]))
    return examples


def read_examples(path: Path, scoring: Scoring, count: int | None, items: Sequence[Item] = ()) -> list[Item]:
    """The first ``count`` (None: all) of the user's own examples, a table as `read_items` takes it; DataError of one that is among the
    ``items``."""
    like, rows = read_items(path)
    if scoring_of(like) is not scoring:
        hint = f"the columns of examples are those of the items: {', '.join(scoring.needs)}"
        raise DataError("has examples of another kind than the items", file=path, hint=hint)
    if rows.height < (count or 1):
        raise DataError(f"has {rows.height} examples", file=path, hint=f"{count} are needed")
    examples: list[Item] = [*rows.select("id", *scoring.needs).head(count or rows.height).iter_rows(named=True)]
    shown = {(*scoring.shown(item).values(),) for item in items}
    for number, example in enumerate(examples):
        if (*scoring.shown(example).values(),) in shown:
            line, hint = numbered_rows(path, "")[1][number], "take it out of one of the two tables"
            raise DataError("an example that is among the items", file=path, line=line, hint=hint)
    return examples


def as_continuations(item: Item, scoring: Scoring, cloze: Cloze, examples: Sequence[Item]) -> tuple[str, list[str]]:
    """The text before the answers to ``item``, examples first and a blank line after each, and one continuation per answer."""
    shown = [(scoring.continuations(example, *cloze), scoring.meant(example, scoring.verdict(example))) for example in examples]
    before = "".join(f"{text}{answers[right]}\n\n" for (text, answers), right in shown)
    text, answers = scoring.continuations(item, *cloze)
    return before + text, answers


def _put(evaluated: Evaluated, asked: Examination) -> Iterator[tuple[str, Scoring, Prompt, Cloze, list[Item], list[Item]]]:
    """Items are in an order in which neighbours are of no set: what is shown together must not give itself away."""
    for config, rows in evaluated.items.items():
        scoring = evaluated.scoring(config)
        prompt, cloze = load_wording(evaluated.project, scoring.task, asked.wording, continued=asked.local)
        examples: list[Item] = []
        items: list[Item] = sorted(rows.select("id", *scoring.needs).to_dicts(), key=lambda item: order_key("shown", "in turn", item["id"]))
        if asked.examples is not None:
            examples = read_examples(asked.examples, scoring, asked.shots or None, items)
        elif asked.shots:
            if Split.train in evaluated.part.splits:
                raise CxgenError("--shots takes its examples from train, which is scored", hint="give others: --examples FILE")
            examples = chosen_examples(answerable(evaluated.project, evaluated.like[config]), scoring, asked.shots, asked.seed)
        fields = prompt.fields if not asked.local else [] if cloze[0] == "{context}" else re.findall(r"\{(\w+)\}", cloze[0])
        if "context" in fields and not all(item["context"] for item in (*items, *examples)):
            hint = "--wording pair shows whole texts, in a run of pairs alone"
            raise DataError(f"{config} has items without a context, and the wording {asked.wording} shows one", hint=hint)
        yield config, scoring, prompt, cloze, examples, items


def _name_shown(item: str) -> str:
    """What a model knows an item by: the name that a user gave it may tell its label."""
    return item if _DIGEST.fullmatch(item) else address("item", item)


def _consultation(evaluated: Evaluated, asked: Examination) -> tuple[Consultation, dict[str, Prompt], dict[str, dict[str, Any]]]:
    prompts, shown = {}, {}
    for config, scoring, prompt, _, examples, items in _put(evaluated, asked):
        shots = [(scoring.shown(item), scoring.verdict(item)) for item in examples]
        prompts[config] = prompt.shown(shots, _THOUGHTS if asked.thinks else 0)
        shown[config] = {_name_shown(item["id"]): scoring.shown(item) for item in items}
    return replace(asked.server, models=(asked.model,), tasks=tuple(shown), needed=True).bounded(evaluated.project), prompts, shown


def suited(evaluated: Evaluated, asked: Examination) -> Examination:
    """The same, of a classifier by its head. CxgenError where it is to be asked what it cannot be."""
    if not asked.folder:
        raise CxgenError("--model names no model", hint=f"a server's, or {LOCAL}FOLDER")
    if not asked.local:
        if asked.labels or (asked.measure, asked.unit) != (Measure.likelihood, Unit.answer):
            hint = f"leave them out, or --model {LOCAL}FOLDER"
            raise CxgenError("--measure, --unit and --labels are for models of this machine", hint=hint)
        if Path(asked.model).is_dir():
            hint = f"a model of this machine: --model {LOCAL}{asked.model}"
            raise CxgenError(f"{asked.model} is a folder, and a model behind a server has a name", hint=hint)
        return asked
    if not Path(asked.folder).is_dir():
        hint = f"one of the Hub is fetched first: hf download {asked.folder} --local-dir FOLDER; then --model {LOCAL}FOLDER"
        raise CxgenError(f"{asked.model}: there is no folder {asked.folder}", hint=hint)
    if (Path(asked.folder) / "adapter_config.json").is_file() and not (Path(asked.folder) / "config.json").is_file():
        raise CxgenError(
            f"{asked.model} is an adapter, not a whole model", hint="merge it into its model (peft: merge_and_unload) and save that"
        )
    does, measures = likelihood.measures_for(asked.folder)
    if measures == (Measure.head,) and asked.measure is Measure.likelihood:  # the default
        asked = replace(asked, measure=Measure.head)
    likelihood.require_fit(asked.folder, asked.measure)
    if asked.measure is not Measure.head:
        if asked.labels:
            raise CxgenError(f"{asked.model} {does}, and --labels is for classifiers", hint="leave --labels out")
        return asked
    if asked.shots or asked.examples or asked.wording != PLAIN or asked.unit is not Unit.answer:
        hint = "leave --shots, --examples, --wording and --unit out"
        raise CxgenError(f"{asked.model} is a classifier, which gets premise and hypothesis and no more", hint=hint)
    if others := [config for config in evaluated.items if "hypothesis" not in evaluated.scoring(config).needs]:
        hint = f"name others, such as --config nli; a model with a language model's head can be asked about {others[0]}"
        raise CxgenError(f"{asked.model} is a classifier of premise and hypothesis, which {', '.join(others)} do not have", hint=hint)
    for config in evaluated.items:
        likelihood.head_labels(asked.folder, evaluated.scoring(config).answers, asked.labels)
    return asked


def estimate(evaluated: Evaluated, asked: Examination) -> list[dict[str, Any]]:
    """What asking a server would send and cost at most, config by config; nothing is sent. How long a model of this machine would take, by
    its first batches, which wait for it to be loaded, as a run does."""
    if not asked.local:
        return consult.estimate(*_consultation(evaluated, asked))
    rows, kept = [], _kept(evaluated, asked)
    for config, scoring, items in _continued(evaluated, asked):
        known = kept.known(items)
        left = [item for item in items if item[0] not in known]
        begun, answers, texts = time.monotonic(), _answers(asked, left, scoring), sum(len(texts) for _, (_, texts) in left)
        step = max(1, asked.batch // len(scoring.answers))  # items, which come together
        first, timed = len(list(islice(answers, step))), 0
        loaded = time.monotonic()
        while timed < 8 * step and time.monotonic() < loaded + _TIMED and (more := len(list(islice(answers, step)))):
            timed += more
        seconds = loaded - begun + (time.monotonic() - loaded) / max(timed, 1) * (len(left) - first)
        row = {"config": config, "items": len(items), "answered before": len(known), "texts": texts}
        rows.append(row | {"minutes": round(seconds / 60, 1)})
    return rows


def _continued(evaluated: Evaluated, asked: Examination) -> Iterator[tuple[str, Scoring, list[Continued]]]:
    """The items of every config as a model of this machine gets them."""
    if asked.measure is Measure.head:
        for config, rows in evaluated.items.items():
            puts = rows.select("id", "premise", "hypothesis").iter_rows()
            yield config, evaluated.scoring(config), [(name, (premise, [hypothesis])) for name, premise, hypothesis in puts]
        return
    for config, scoring, _, cloze, examples, items in _put(evaluated, asked):
        yield config, scoring, [(item["id"], as_continuations(item, scoring, cloze, examples)) for item in items]


def _answers(asked: Examination, items: list[Continued], scoring: Scoring) -> Iterator[dict[str, Any]]:
    if not items:
        return iter(())
    how = partial(likelihood.predictions, measure=asked.measure, unit=asked.unit, batch=asked.batch, labels=asked.labels)
    return how(asked.folder, items, scoring)


def _examine_server(evaluated: Evaluated, asked: Examination) -> Examined:
    consultation, prompts, shown = _consultation(evaluated, asked)
    outcomes = consult.ask(consultation, prompts, shown)
    rows: list[dict[str, Any]] = []
    for config, outcome in zip(shown, outcomes, strict=True):
        scoring = evaluated.scoring(config)
        items = {_name_shown(item["id"]): item for item in evaluated.items[config].select("id", *scoring.needs).iter_rows(named=True)}
        for judgment in outcome.judgments:
            item = items[judgment.item]
            label = scoring.answers[scoring.meant(item, judgment.value)] if judgment.value else UNDECIDED
            rows.append({"id": item["id"], "label": label} | ({} if judgment.value else {"reason": judgment.reason}))
    return Examined(rows, Counter(row["reason"] for row in rows if "reason" in row), outcomes)


class Kept:
    """A file of answers, each under a hash of what was asked and of ``identity``, what they depend on beside the texts. Lines that were cut
    off, or of something else, are passed over."""

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._rows: dict[str, dict[str, Any]] = {}
        for line in path.read_text("utf-8", "replace").split("\n") if path.is_file() else []:
            with suppress(ValueError, TypeError):
                key, row = json.loads(line)
                self._rows[key] = row

    def known(self, items: Sequence[Continued]) -> dict[str, dict[str, Any]]:
        """Id -> the answer to the item that was kept before."""
        return {item[0]: row for item in items if (row := self._rows.get(self._key(item))) is not None}

    def keep(self, item: Continued, row: dict[str, Any]) -> dict[str, Any]:
        """Write ``row`` down at once; gives it back."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        append_lines(self._path, [self._key(item), row])
        return row

    def _key(self, item: Continued) -> str:
        return hashlib.sha256(json.dumps([self._identity, item]).encode()).hexdigest()[:24]


def model_files(folder: Path) -> list[tuple[str, int, int]]:
    """Name, size and time of a local model's files: one that is trained further in its folder is another one."""
    files = [(path.name, path.stat()) for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    return sorted((name, found.st_size, found.st_mtime_ns) for name, found in files)


def _kept(evaluated: Evaluated, asked: Examination) -> Kept:
    """What a model of this machine said before, beside what servers' models did."""
    folder = Path(asked.folder).resolve()
    path = evaluated.project.root / asked.server.cache
    path = path.with_name(f"hf-{folder.name}.jsonl") if asked.server.cache == ANSWERS else path
    return Kept(path, json.dumps([str(folder), asked.measure, asked.unit, asked.labels, model_files(folder)]))


def examine(evaluated: Evaluated, asked: Examination) -> Examined:
    """Put every item to the model, but those that it was asked about before, in the same words."""
    if not asked.local:
        return _examine_server(evaluated, asked)
    kept = _kept(evaluated, asked)
    rows: list[dict[str, Any]] = []
    for number, (config, scoring, items) in enumerate(_continued(evaluated, asked), 1):
        known = kept.known(items)
        left = [item for item in items if item[0] not in known]
        what = f"{config} ({number} of {len(evaluated.items)} configs)" if len(evaluated.items) > 1 else config
        answers = track(_answers(asked, left, scoring), what, len(items), len(known))
        known |= {item[0]: kept.keep(item, row) for item, row in zip(left, answers, strict=True)}
        rows += [known[item[0]] for item in items]
    ties = sum(row["label"] == UNDECIDED for row in rows)
    return Examined(rows, Counter({"equally likely": ties} if ties else {}))
