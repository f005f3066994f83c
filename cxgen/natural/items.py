"""Items of a writer's sets: the family ``nli`` makes them, as of sets that were drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import cast

import numpy as np
import polars as pl

from cxgen.build.request import Request
from cxgen.build.samplers import divided, fillable
from cxgen.constructicon import Construction, Design
from cxgen.families import NATURAL, columns_of, family_of
from cxgen.natural.check import Written
from cxgen.natural.say import say
from cxgen.natural.words import Fillers
from cxgen.sampling import Draws, digest, split_of
from cxgen.sampling.plan import Rows, held_wordings
from cxgen.schema import polars_schema
from cxgen.schema.columns import SLOT
from cxgen.streams import chance_of
from cxgen.vocabulary import Split


def set_id(written: Written) -> str:
    """Content address of a set: its sentences."""
    name, design, *_ = written.asked.id.split(".")
    return digest("\x1f".join([name, design, *(written.sentences[kind] for kind in sorted(written.sentences))]))


@dataclass(frozen=True)
class WrittenDraws:
    """Sets of one design, with what a family asks of `cxgen.sampling.Draws`.

    Which cells a set has, and which wordings, is drawn by its id; in test, half of the sets have wordings that are held out.
    """

    construction: Construction
    design: Design
    sets: Sequence[Written]
    splits: Sequence[str]
    look_up: Fillers
    request: Request
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def names(self) -> list[str]:
        """The sets' ids."""
        return [set_id(written) for written in self.sets]

    def chance(self, *stream: str) -> list[float]:
        """For every set a number from 0 to 1."""
        return [chance_of(self.request.seed, name, *stream) for name in self.names]

    def choose(self, name: str, size: int) -> Rows:
        """See `Draws.choose`."""
        return np.array([int(chance * size) for chance in self.chance(name)], dtype=np.int64)

    def statement(self, name: str) -> pl.DataFrame:
        """See `Draws.statement`."""
        wordings, holding = self.construction.rules[name].wordings, self.request.hold_out.wordings
        held = held_wordings(len(wordings)) if holding else [False] * len(wordings)
        choice = []
        for set_name, coin, split in zip(self.names, self.chance("wordings?"), self.splits, strict=True):
            out = any(held) and split == Split.test and coin < 0.5
            options = [number for number in range(len(wordings)) if held[number] == out]
            choice.append(max(options, key=lambda number: chance_of(self.request.seed, set_name, "wording", name, number)))
        texts = [say(wordings[at], each.fillers, each.words, self.look_up) for at, each in zip(choice, self.sets, strict=True)]
        wording = pl.Series(choice, dtype=pl.Int16)
        return pl.DataFrame({"hypothesis": texts, "wording": wording, "wording_held_out": [held[at] for at in choice]})

    def gather(self, rows: Rows) -> pl.DataFrame:
        """See `Draws.gather`."""
        return self._premises[rows]

    @cached_property
    def _premises(self) -> pl.DataFrame:
        target = self.construction.name
        rows = []
        for kind in self.design.kinds:
            meaning = self.construction.kinds[kind]
            for name, written, split in zip(self.names, self.sets, self.splits, strict=True):
                text = written.sentences[kind]
                rows.append(
                    {
                        "contrast_set": name,
                        "premise_id": digest(f"{name}\x1f{kind}\x1f{text}"),
                        "construction": meaning.construction,
                        "contrast_of": None if meaning.construction == target else target,
                        "design": self.design.name,
                        "kind": kind,
                        "template": written.asked.task,
                        "template_held_out": False,
                        "frame": "a writer's",
                        "premise": text,
                        "verb": written.fillers[meaning.verb].lemma,
                        "slots": [written.fillers[slot].record() for slot in written.fillers if slot in written.marks[kind]],
                        "split": split,
                        "config": NATURAL,
                    }
                )
        return pl.DataFrame(rows, schema_overrides={"contrast_of": pl.String, "slots": pl.List(SLOT)})


def items_of(construction: Construction, sets: Iterable[Written], look_up: Fillers, request: Request) -> pl.DataFrame:
    """The items of ``sets``, split by verb like those of ``nli``: columns of config ``natural`` (no ``acceptability``), ``config``."""
    splits = divided(fillable(construction, request), request)
    schema = {name: kind for name, kind in polars_schema(columns_of(NATURAL)).items() if name != "acceptability"} | {"config": pl.String}
    tables = [pl.DataFrame(schema=schema)]
    for name, group in groupby(sorted(sets, key=lambda written: written.asked.design), key=lambda written: written.asked.design):
        listed, design = list(group), construction.designs[name]
        verbs = [written.fillers[construction.kinds[next(iter(written.sentences))].verb].lemma for written in listed]
        own = [split_of(verb, splits, request.shares, request.seed, construction.name) for verb in verbs]
        draws = cast("Draws", WrittenDraws(construction, design, listed, own, look_up, request))
        tables.append(family_of(NATURAL).items(draws).select(list(schema)))
    return pl.concat(tables)
