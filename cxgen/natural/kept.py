"""Accepted sets of writers (`cxgen.layout.NATURAL_SETS`): what DVC tracks, and stage ``natural`` makes items of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking.prompts import clean
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.natural import Asked, Written, check
from cxgen.natural.items import set_id
from cxgen.natural.sentences import skeleton, units
from cxgen.natural.words import Fillers
from cxgen.natural.writers import Answer
from cxgen.schema import Column, Contract, polars_schema
from cxgen.tables import read_table, write_table
from cxgen.vocabulary import EXTENDED, PROTOTYPICAL, WRITING

_MARK = pl.Struct({"slot": pl.String, "text": pl.String})
JUDGMENT = pl.Struct(dict.fromkeys(("task", "hypothesis", "judge", "model", "prompt", "value"), pl.String))
COLUMNS = (
    Column("set", pl.String, "content address of the set"),
    Column("construction", pl.String, "the construction whose square it is"),
    Column("design", pl.String, "the square's design"),
    Column("kind", pl.String, "premise kind"),
    Column("sentence", pl.String, "the premise"),
    Column("marks", pl.List(_MARK), "slot and the words that the writer marked as such"),
    Column("choice", pl.String, "which of the square's lists of function words; empty where there is one at most"),
    Column("task", pl.String, "the prompt", values=WRITING),
    Column("prompt", pl.String, "the prompt's content hash"),
    Column("seeds", pl.List(pl.String), "the seed words"),
    Column("model", pl.String, "who wrote it, by its own account or by that of the run"),
    Column("by", pl.String, "who wrote it, by the account of whoever accepted it"),
    Column("acceptability", pl.String, "the judges' verdict on the sentence", values=(PROTOTYPICAL, EXTENDED)),
    Column("judgments", pl.List(JUDGMENT), "what each judge said of the sentence and its items"),
)
_CONTRACT = Contract(COLUMNS, key=("set", "kind"))
_HINT = "restore the file, or accept sets anew: cxgen elicit ... --accept"


def _rows(answer: Answer, by: str) -> list[dict[str, Any]]:
    """A judged answer as rows, one per kind, the columns ``COLUMNS``."""
    written, asked = answer.written, answer.asked
    assert written is not None
    common = {
        "set": set_id(written),
        "construction": asked.id.split(".")[0],
        "design": asked.design,
        "choice": str(json.loads(answer.text).get("choice") or ""),
        "task": asked.task,
        "prompt": answer.prompt,
        "seeds": list(asked.seeds),
        "model": clean(answer.model, 1_000),
        "by": clean(by or answer.model, 1_000),
    }
    return [
        {
            **common,
            "kind": kind,
            "sentence": sentence,
            "marks": [{"slot": slot, "text": text} for slot, text in written.marks[kind].items()],
            "acceptability": answer.acceptability[kind],
            "judgments": answer.judgments.get(kind, []),
        }
        for kind, sentence in written.sentences.items()
    ]


def read_accepted(path: Path) -> pl.DataFrame:
    """The accepted sets, a row per kind, columns ``COLUMNS``; no rows if there is no such file.

    Raises:
        DataError: it is not as `accept` writes it.
    """
    if not path.exists():
        return pl.DataFrame(schema=polars_schema(COLUMNS))
    return read_table(path, _CONTRACT, _HINT)


def accept(path: Path, answers: Iterable[Answer], by: str) -> tuple[int, dict[str, str]]:
    """Append the judged sets to the file; how many are new, and set (as it was asked for) -> why it is not taken.

    A set that differs from one in the file, or from one before it, in nothing but its marked words is not taken.

    Args:
        path: the file.
        answers: sets that judges passed; others are passed over.
        by: who wrote them, in words; empty: the model.
    """
    table = read_accepted(path)
    marks = [{mark["slot"]: mark["text"] for mark in listed} for listed in table["marks"]]
    known = {_bare(text, own): name for text, own, name in zip(table["sentence"], marks, table["set"], strict=True)}
    rows: list[dict[str, Any]] = []
    twice: dict[str, str] = {}
    for answer in answers:
        if not (answer.written and answer.judgments):
            continue
        bare = [_bare(text, answer.written.marks[kind]) for kind, text in answer.written.sentences.items()]
        again = next((known[text] for text in bare if text in known), None)
        if again is not None:
            twice[answer.asked.id] = f"the words of set {again}, but for the marked ones"
            continue
        known.update(dict.fromkeys(bare, set_id(answer.written)))
        rows += _rows(answer, by)
    if rows:
        added = pl.DataFrame(rows, schema=polars_schema(COLUMNS), orient="row")
        write_table(pl.concat([table, added]).sort("construction", "design", "set", "kind"), path)
    return len({row["set"] for row in rows}), twice


def _bare(sentence: str, marks: Mapping[str, str]) -> str:
    """The words of a sentence, slots as gaps."""
    return " ".join(skeleton(units(sentence, marks), set()))


def written_sets(construction: Construction, table: pl.DataFrame, look_up: Fillers, path: Path) -> list[Written]:
    """The sets of ``construction`` in ``table``, checked once more against its file as it is now.

    Args:
        table: columns ``COLUMNS``.
        path: of the table, for messages.

    Raises:
        DataError: a set that its square would not take, with the reason.
    """
    found = []
    for (name,), rows in table.filter(pl.col("construction") == construction.name).group_by("set", maintain_order=True):
        first, kinds = rows.row(0, named=True), {row["kind"]: row for row in rows.iter_rows(named=True)}
        design = first["design"]
        if design not in construction.natural:
            raise DataError(f"set {name}: {construction.name} has no square {design!r} for writers", file=path, hint=_HINT)
        order = [kind for kind in construction.natural[design].kinds if kind in kinds]
        answer = {"choice": first["choice"], "kinds": {kind: _entry(kinds[kind]) for kind in [*order, *(kinds.keys() - set(order))]}}
        asked = Asked(f"{construction.name}.{design}.{name}", design, first["task"], {"seeds": f"words: {', '.join(first['seeds'])}"})
        written = check(construction, asked, json.dumps(answer), look_up)
        if not isinstance(written, Written):
            hint = f"mend {construction.document.path.name}, or take the set out of the file"
            raise DataError(f"set {name} is none of {construction.name} any more: {written[0]}", file=path, hint=hint)
        if set_id(written) != name:
            raise DataError(f"set {name} holds other sentences than those that were accepted", file=path, hint=_HINT)
        found.append(written)
    return found


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    return {"sentence": row["sentence"], "slots": {mark["slot"]: mark["text"] for mark in row["marks"]}}


def origins(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Who wrote the sets: ``by, model, sets, prompts`` (hashes), most sets first."""
    groups = table.group_by("by", "model").agg(sets=pl.col("set").n_unique(), prompts=pl.col("prompt").unique().sort())
    return groups.sort(["sets", "by", "model"], descending=[True, False, False]).to_dicts()


def judges(table: pl.DataFrame) -> Sequence[str]:
    """The names of those who judged the sets."""
    named: Sequence[str] = table["judgments"].explode().drop_nulls().struct.field("judge").unique().sort().to_list()
    return named
