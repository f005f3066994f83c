"""What judges say of the sets that writers wrote: with anything refused or undecided, a set is refused whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from cxgen import layout
from cxgen.asking import Budget, Consultation, Outcome, consult
from cxgen.asking.judge import merge
from cxgen.asking.kept import as_table
from cxgen.build.params import Params
from cxgen.constructicon import Construction
from cxgen.files import read_text, write_atomically
from cxgen.natural.items import items_of, set_id
from cxgen.natural.words import Fillers
from cxgen.natural.writers import Answer
from cxgen.project import Project
from cxgen.streams import order_key
from cxgen.vocabulary import APPROPRIATE, EXTENDED, JUDGING, PROTOTYPICAL

Shown = dict[str, dict[str, Mapping[str, str]]]  # task -> id -> field -> text


def judged(
    project: Project, params: Params, construction: Construction, answers: Sequence[Answer], consultation: Consultation, budget: Budget
) -> tuple[list[Answer], list[Outcome]]:
    """The answers with what the judges say of their sets, and how each run went.

    Args:
        project, params: the project's; its partition of the verbs decides with which wordings a set is judged.
        construction: whose sets they are.
        answers: from `cxgen.natural.writers.run`.
        consultation: who judges; its tasks are all of `cxgen.vocabulary.JUDGING`.
        budget: what the asking spent so far.

    Raises:
        BackendError: the run cannot go on; what was answered is kept.
    """
    items, shown = to_judge(params, construction, answers)
    asking, prompts = replace(consultation, tasks=JUDGING).bounded(project), consult.load_prompts(project, JUDGING)
    outcomes = consult.ask(asking, prompts, shown, budget=budget)
    votes = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    verdicts = items.join(merge(items, votes, JUDGING), on="id", maintain_order="left")
    return [_with_verdicts(answer, verdicts, votes) for answer in answers], outcomes


def to_judge(params: Params, construction: Construction, answers: Iterable[Answer]) -> tuple[pl.DataFrame, Shown]:
    """The items of the sound sets, and what of them judges are shown: task -> id -> field -> text, not set by set."""
    sets = [answer.written for answer in answers if answer.written]
    items = items_of(construction, sets, Fillers(construction), params.request).with_columns(acceptability=pl.lit(PROTOTYPICAL))
    shown = consult.shown_of(items, [construction], JUDGING)
    return items, {task: dict(sorted(things.items(), key=lambda thing: order_key(task, thing[0]))) for task, things in shown.items()}


def _with_verdicts(answer: Answer, verdicts: pl.DataFrame, votes: pl.DataFrame) -> Answer:
    if answer.written is None:
        return answer
    items = verdicts.filter(pl.col("contrast_set") == set_id(answer.written))
    premises = items.unique("kind", maintain_order=True)
    bad = premises.filter(~pl.col("premise_verdict").is_in([PROTOTYPICAL, EXTENDED])).select("kind", reason="premise_reason")
    bad = pl.concat([bad, items.filter(pl.col("pair_verdict") != APPROPRIATE).select("kind", reason="pair_reason")])
    if bad.height:
        return replace(answer, written=None, faults=tuple(f"{kind}: {why}" for kind, why in bad.iter_rows()))
    acceptability = dict(premises.select("kind", "premise_verdict").iter_rows())
    return replace(answer, acceptability=acceptability, judgments=_judgments(items, votes))


def _judgments(items: pl.DataFrame, votes: pl.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Kind -> what each judge said of its sentence and of its items."""
    about = {premise: (kind, "") for premise, kind in items.select("premise_id", "kind").iter_rows()}
    about |= {name: (kind, text) for name, kind, text in items.select("id", "kind", "hypothesis").iter_rows()}
    by_kind: dict[str, list[dict[str, str]]] = {}
    for row in votes.filter(pl.col("item").is_in(list(about))).sort("task", "judge", "item").iter_rows(named=True):
        kind, text = about[row["item"]]
        by_kind.setdefault(kind, []).append(
            {name: row[name] for name in ("task", "judge", "model", "prompt", "value")} | {"hypothesis": text}
        )
    return by_kind


def note_refused(project: Project, answers: Iterable[Answer]) -> int:
    """Keep what was refused, with the reasons, in `cxgen.layout.REFUSED_SETS`, beside what was refused before; how many sets."""
    path = project.root / layout.REFUSED_SETS
    new = [
        {"set": answer.asked.id, "model": answer.model, "prompt": answer.prompt, "reasons": list(answer.faults), "answer": answer.text}
        for answer in answers
        if answer.text and answer.faults
    ]
    if new:
        before = read_text(path).splitlines() if path.exists() else []
        lines = dict.fromkeys([*before, *(json.dumps(row, ensure_ascii=False) for row in new)])
        write_atomically(path, lambda temporary: temporary.write_text("".join(f"{line}\n" for line in lines), "utf-8"))
    return len(new)
