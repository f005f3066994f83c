"""Minimal pairs: a context with a plausible and an implausible continuation, after CxMP's design.

Two premises of a contrast set with the same words differ only in construction, or only in which filler has which role. Of two continuations
each is entailed by one of them and contradicted by the other, by the same facts that label `nli`. So every continuation, and every word of
it, is equally often good and bad. Where a design is one of participants (``variant``), it has four entity types and asks from one of two
sides, and the second premise is the first with the participants in one another's places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.families.core import Shown
from cxgen.families.nli import badly_formed
from cxgen.families.scoring import Choices, Scoring
from cxgen.measures.fits import Map
from cxgen.measures.giveaway import count_unequal_words
from cxgen.measures.registry import take
from cxgen.sampling import Draws, digests, same_templates_and_slots
from cxgen.schema import TARGET, Column
from cxgen.semantics import label_matrix
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT

_COLUMNS = (
    Column("pair_group", pl.String, "the two premises that differ only in construction or roles, with the same two continuations"),
    Column("context", pl.String, "the premise"),
    Column("diagnostic_good", pl.String, "the continuation that the context entails"),
    Column("diagnostic_bad", pl.String, "the continuation that the context contradicts"),
    Column("sentence_good", pl.String, "context and good continuation"),
    Column("sentence_bad", pl.String, "context and bad continuation"),
    Column("variant", pl.String, "from which of two sides the continuations ask, A or B; empty: not a pair about participants"),
    Column("entity_type", pl.String, "the participants: humans (common nouns), female or male (given names), letters (*Name A*); or empty"),
    Column("switched", pl.Boolean, "the participants have changed places; false where the first one stands first, or they cannot change"),
    Column("claim_good", pl.String, "what the good continuation claims, e.g. `not reached(theme, goal)`"),
    Column("claim_bad", pl.String, "what the bad continuation claims"),
)
_GOOD, _BAD = "good", "bad"
_TWO = "pair groups without two premises"
_SWAPPED = "continuations that are not equally often good and bad"
_WORDS = "words that are not equally often in good and bad continuations"
_REPEATED = "repeated (context, continuations)"
_CELL = ("variant", "entity_type", "switched")


class MinimalPairs:
    """The family ``minimal_pairs``."""

    name = "minimal_pairs"
    configs: Mapping[str, str] = {
        "minimal_pairs": "premises with the same words, each with a continuation that it entails and one that it contradicts, after CxMP"
    }
    sizes: Mapping[str, int] = {"minimal_pairs": 4800}
    text = "context"
    compared: Mapping[str, str] = {"premise": "context", "hypothesis": "diagnostic_good", "label": "diagnostic_bad"}
    substituted: tuple[str, ...] = ("minimal_pairs",)
    survives: tuple[str, ...] = (_TWO, _SWAPPED, _WORDS, _REPEATED)
    by_set: tuple[str, ...] = survives
    card = (resources.files(__package__) / "minimal_pairs.md.j2").read_text("utf-8")
    scoring: Scoring = Choices()

    def columns(self, config: str) -> tuple[Column, ...]:
        """See `Family`."""
        return _COLUMNS

    def unsound(self, construction: Construction, design: Design, config: str) -> str:
        """See `Family`."""
        if pairings(construction, design):
            return ""
        return (
            "no minimal pair: two kinds must share their templates and the slots of these, and two hypotheses must be such that one kind"
            " entails the first and contradicts the second, and the other kind the reverse"
        )

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        """Two for every pair of kinds; twice as many where participants cannot change places, so that all cells have as many."""
        still = design.variant and not design.switched
        return (4 if still else 2) * len(pairings(construction, design))

    def sharing(self, construction: Construction, design: Design, config: str) -> list[Design]:
        """See `Family`."""
        return [each for each in construction.designs.values() if config in each.configs]

    def items(self, draws: Draws) -> pl.DataFrame:
        """See `Family`. With pseudowords a pair stays if the facts still decide both continuations."""
        count = len(draws)
        labels = [label_matrix(draws.construction, draws.design, broken) for broken in (draws.broken or {"": frozenset()}).values()]
        kinds = {kind: number for number, kind in enumerate(draws.design.kinds)}
        tables = []
        for (one, other), options in pairings(draws.construction, draws.design).items():
            choice = draws.choose(f"pair:{one}|{other}", len(options))
            for number, (first, second) in enumerate(options):
                holding = np.array([_holds(each, one, other, first, second) for each in labels])
                rows = np.flatnonzero((choice == number) & holding[0 if draws.modes is None else draws.modes])
                if not len(rows):
                    continue
                said = [self._continuation(draws, rule, first + "|" + second)[rows] for rule in (first, second)]
                for order, (kind, (good, bad)) in enumerate(((one, said), (other, said[::-1]))):
                    premises = draws.gather(kinds[kind] * count + rows)
                    both = [side.select(pl.all().name.suffix(f"_{name}")) for side, name in ((good, _GOOD), (bad, _BAD))]
                    table = pl.concat([premises, *both], how="horizontal")
                    switched = bool(order) and draws.design.switched
                    tables.append(table.with_columns(pair=pl.lit(f"{one}|{other}"), order=pl.lit(order), switched=pl.lit(switched)))
        if not tables:
            return pl.DataFrame()
        items = pl.concat(tables).sort("set_number", "pair", "order", maintain_order=True)
        texts = (
            pl.concat_str(*names, separator="\x1f")
            for names in (("contrast_set", "pair"), ("premise_id", "diagnostic_good", "diagnostic_bad"))
        )
        group, key = (digests(items.select(text).to_series()) for text in texts)
        return items.with_columns(
            pair_group=group,
            id=key,
            variant=pl.lit(draws.design.variant),
            entity_type=pl.lit(draws.design.entity_type),
            context="premise",
            sentence_good=pl.concat_str("premise", "diagnostic_good", separator=" "),
            sentence_bad=pl.concat_str("premise", "diagnostic_bad", separator=" "),
        ).drop("pair", "order")

    def fault(self) -> pl.Expr:
        """See `Family`."""
        return (
            pl.when(pl.col("diagnostic_good") == pl.col("diagnostic_bad"))
            .then(pl.lit("good and bad continuation are the same"))
            .when(badly_formed("diagnostic_good") | badly_formed("diagnostic_bad"))
            .then(pl.lit("a continuation is not a well-formed sentence"))
            .otherwise(pl.lit(""))
        )

    def violations(self, rows: pl.DataFrame) -> dict[str, int]:
        """See `Family`."""
        groups = rows.group_by("pair_group").agg(
            two=(pl.len() == 2) & (pl.col("premise_id").n_unique() == 2),
            swapped=(pl.col("diagnostic_good").sort() == pl.col("diagnostic_bad").sort()).all(),
        )
        return {
            _TWO: int((~groups["two"]).sum()),
            _SWAPPED: int((~groups["swapped"]).sum()),
            _WORDS: sum(count_unequal_words(part) for _, part in rows.group_by("config", "split", TARGET, maintain_order=True)),
            "cells of another size than others": _unlike(rows),
            _REPEATED: rows.height - rows.select("context", "diagnostic_good", "diagnostic_bad").unique().height,
        }

    def balance(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Config -> construction -> ``sentences`` (continuation x split), and how many are ``unequal``: not as often good as bad."""
        return {
            str(config): {str(name): _balance(part) for (name,), part in mine.group_by(TARGET, maintain_order=True)}
            for (config,), mine in rows.group_by("config", maintain_order=True)
        }

    def measures(self, rows: pl.DataFrame, folds: int, run: Map = map) -> dict[str, dict[str, Any]]:
        """See `Family`."""
        return take(self.name, rows, folds, run)

    def shown(self, items: pl.DataFrame) -> Iterator[Shown]:
        """See `Family`."""
        for row in items.iter_rows(named=True):
            yield row, [(_GOOD, row["diagnostic_good"]), (_BAD, row["diagnostic_bad"])]

    def card_facts(self, constructions: Iterable[Construction], tables: Mapping[tuple[str, str], pl.DataFrame]) -> dict[str, Any]:
        """See `Family`."""
        rows = next(rows for (config, _), rows in tables.items() if config in self.configs)
        length = pl.col("sentence_good").str.len_chars()
        return {"example": rows.sort((length - length.median()).abs(), "id").row(0, named=True), "cells": _cells(tables)}

    def _continuation(self, draws: Draws, rule: str, both: str) -> pl.DataFrame:
        """What ``rule`` says, the two rules of a pair in the same of their wordings."""
        item = draws.construction.rules[rule]
        said = draws.statement(rule, draws.wordings(*both.split("|")))
        return said.select(diagnostic="hypothesis", claim=pl.lit(item.says))


def pairings(construction: Construction, design: Design) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Pair of kinds -> pairs of rules: the first kind entails the first and contradicts the second, the other kind the reverse."""
    labels = label_matrix(construction, design)
    found = {}
    for one, other in combinations(design.kinds, 2):
        rules = [pair for pair in permutations(design.rules, 2) if _holds(labels, one, other, *pair)]
        if rules and same_templates_and_slots(construction, (one, other)):
            found[one, other] = rules
    return found


def _holds(labels: Mapping[str, Mapping[str, int]], one: str, other: str, first: str, second: str) -> bool:
    found = [labels[kind].get(rule) for kind in (one, other) for rule in (first, second)]  # none where a kind leaves the claim unasked
    return found == [ENTAILMENT, CONTRADICTION, CONTRADICTION, ENTAILMENT]


def _balance(rows: pl.DataFrame) -> dict[str, int]:
    sides = [rows.select("split", text=f"diagnostic_{side}", sign=pl.lit(sign)) for side, sign in ((_GOOD, 1), (_BAD, -1))]
    sums = pl.concat(sides).group_by("text", "split").agg(pl.col("sign").sum())
    return {"sentences": sums.height, "unequal": sums.filter(pl.col("sign") != 0).height}


def _cells(tables: Mapping[tuple[str, str], pl.DataFrame]) -> list[dict[str, Any]]:
    """Per construction: ``construction``, ``pairs``, the number of ``cells`` and the ``size`` of each; those about participants only."""
    own = [rows.select(*_CELL, target=TARGET) for (config, _), rows in tables.items() if config in MinimalPairs.configs]
    cells = pl.concat(own).filter(pl.col("variant") != "").group_by("target", *_CELL).len(name="size")
    counts = cells.group_by(construction="target").agg(pairs=pl.col("size").sum(), cells=pl.len(), size=pl.col("size").max())
    return counts.sort("construction").to_dicts()


def _unlike(rows: pl.DataFrame) -> int:
    """Cells (side asked about x entity type x order) of a construction and split that have fewer rows than its largest one, or none."""
    cells = rows.filter(pl.col("variant") != "").group_by("config", "split", *_CELL, target=TARGET).len()
    keys = ["config", "split", "target"]
    fewer = cells.filter(pl.col("len") < pl.col("len").max().over(keys)).height
    whole = cells.group_by("config", "target").agg(wanted=pl.col("split").n_unique() * math.prod(pl.col(name).n_unique() for name in _CELL))
    lacking = whole.join(cells.group_by("config", "target").len(), on=["config", "target"])
    return fewer + int((lacking["wanted"].cast(pl.Int64) - lacking["len"].cast(pl.Int64)).sum())
