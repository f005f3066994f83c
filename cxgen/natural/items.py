"""Items of a writer's sets: as of any contrast set, a balanced selection of cells of the label matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from cxgen.constructicon import Construction
from cxgen.families import NATURAL, columns_of
from cxgen.natural.check import Written
from cxgen.natural.say import said
from cxgen.natural.words import Fillers
from cxgen.sampling import HoldOut, digest
from cxgen.sampling.holdout import seen_wordings
from cxgen.schema import polars_schema
from cxgen.semantics import label_matrix, solve
from cxgen.semantics.squares import Selection
from cxgen.streams import chance_of
from cxgen.vocabulary import Split

_FRAME = "a writer's"


def set_id(written: Written) -> str:
    """Content address of a set: its sentences."""
    name, design, *_ = written.asked.id.split(".")
    return digest("\x1f".join([name, design, *(written.sentences[kind] for kind in sorted(written.sentences))]))


def items_of(
    construction: Construction, sets: Iterable[tuple[Written, str]], look_up: Fillers, seed: int, hold_out: HoldOut
) -> pl.DataFrame:
    """The items of ``sets`` (each with its split): the columns of config ``natural`` but ``acceptability``, and ``config``; sets together.

    Which cells a set has, and which wordings, is drawn by its id; in test, half of the sets have wordings that are held out.
    """
    found = list(sets)
    designs = {written.asked.design for written, _ in found}
    selections = {name: solve(label_matrix(construction, construction.designs[name])) for name in designs}
    rows = [
        row
        for written, split in found
        for row in _rows(construction, written, split, selections[written.asked.design], look_up, seed, hold_out)
    ]
    schema = {name: kind for name, kind in polars_schema(columns_of(NATURAL)).items() if name != "acceptability"}
    return pl.DataFrame(rows, schema={**schema, "config": pl.String}, orient="row")


def _rows(
    construction: Construction,
    written: Written,
    split: str,
    selections: Sequence[Selection],
    look_up: Fillers,
    seed: int,
    hold_out: HoldOut,
) -> list[dict[str, Any]]:
    name, design = set_id(written), construction.designs[written.asked.design]
    cells = selections[int(chance_of(seed, name, "selection") * len(selections))]
    held = hold_out.wordings and split == Split.test and chance_of(seed, name, "wordings?") < 0.5
    worded: dict[str, tuple[int, str]] = {}
    for rule in design.rules:
        wordings = construction.rules[rule].wordings
        number = _wording(len(wordings), chance_of(seed, name, "wording", rule), hold_out.wordings, held)
        worded[rule] = number, said(wordings[number], written.fillers, written.words, look_up)
    premises = {kind: _premise(construction, written, kind, name, split) for kind in design.kinds}
    rows = []
    for cell in cells:
        claimed = construction.rules[cell.rule]
        number, hypothesis = worded[cell.rule]
        premise = premises[cell.kind]
        own = {
            "id": digest(f"{premise['premise_id']}\x1f{cell.rule}\x1f{hypothesis}"),
            "hypothesis": hypothesis,
            "label": cell.label,
            "rule": cell.rule,
            "wording": number,
            "wording_held_out": hold_out.wordings and number >= seen_wordings(len(claimed.wordings)),
            "claim": str(claimed.claim),
            "polarity": claimed.polarity,
        }
        rows.append({**premise, **own})
    return rows


def _premise(construction: Construction, written: Written, kind: str, name: str, split: str) -> dict[str, Any]:
    meaning, text = construction.kinds[kind], written.sentences[kind]
    return {
        "contrast_set": name,
        "premise_id": digest(f"{name}\x1f{kind}\x1f{text}"),
        "construction": meaning.construction,
        "contrast_of": None if meaning.construction == construction.name else construction.name,
        "design": written.asked.design,
        "kind": kind,
        "template": written.asked.task,
        "template_held_out": False,
        "frame": _FRAME,
        "premise": text,
        "verb": written.fillers[meaning.verb].lemma,
        "slots": [written.fillers[slot].record() for slot in written.fillers if slot in written.marks[kind]],
        "split": split,
        "config": NATURAL,
    }


def _wording(count: int, chance: float, holding: bool, held: bool) -> int:
    seen = seen_wordings(count) if holding else count
    if held and seen < count:
        return seen + int(chance * (count - seen))
    return int(chance * seen)
