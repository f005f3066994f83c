"""Minimal pairs: a context with a plausible and an implausible continuation, after CxMP's design.

Two premises of a set have the same words and differ in construction, or in which filler has which role. Of two continuations each is
entailed by one and contradicted by the other, so that each, and each word of it, is equally often good and bad. In designs of participants
(with ``variant``) the second premise is the first with the participants in one another's places. The replica of CxMP (config ``cxmp``)
asks, too, what has one answer in all premises: of one kind alone.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.families.core import Family, Shown, badly_formed
from cxgen.families.scoring import Choices, Scoring
from cxgen.measures.giveaway import count_unequal_words
from cxgen.sampling import Draws
from cxgen.sampling.draws import same_templates_and_slots
from cxgen.schema import TARGET, Column
from cxgen.semantics import label_matrix
from cxgen.streams import addresses, code_of, mixed
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
_TWO = "pair groups without two premises"
_SWAPPED = "continuations that are not equally often good and bad"
_WORDS = "words that are not equally often in good and bad continuations"
_REPEATED = "repeated (context, continuations)"
_CELL = ("variant", "entity_type", "switched")
Pairings = dict[tuple[str, ...], list[tuple[str, str]]]  # kinds that a group of pairs has -> pairs of rules


class _MinimalPairs(Family):
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
    scoring: Scoring = Choices()

    def columns(self, config: str) -> tuple[Column, ...]:
        return _COLUMNS

    def unsound(self, construction: Construction, design: Design, config: str) -> str:
        if self.pairings(construction, design):
            return ""
        return (
            "no minimal pair: two kinds must share their templates and the slots of these, and two hypotheses must be such that one kind"
            " entails the first and contradicts the second, and the other kind the reverse"
        )

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        """One for every kind of a pair; twice as many where participants cannot change places, so that all cells have as many."""
        return (2 if design.variant and not design.switched else 1) * sum(map(len, self.pairings(construction, design)))

    def pairings(self, construction: Construction, design: Design) -> Pairings:
        """Two kinds -> pairs of rules: the first kind entails the first and contradicts the second, the other kind the reverse. Where items
        need no balance, a design of a single kind has pairs of rules of which it entails the first and contradicts the second."""
        matrix, pairs = label_matrix(construction, design), Pairings()
        alone = not self.balanced and len(design.kinds) == 1
        for kinds in [design.kinds] if alone else combinations(design.kinds, 2):
            rules = [pair for pair in permutations(design.rules, 2) if _decides(matrix, kinds, *pair)]
            if rules and same_templates_and_slots(construction, kinds):
                pairs[kinds] = rules
        return pairs

    def items(self, draws: Draws) -> pl.DataFrame:
        construction, design = draws.construction, draws.design
        matrices = [label_matrix(construction, design, broken) for broken in (draws.broken or {"": frozenset()}).values()]
        places, said = [], []
        for kinds, options in self.pairings(construction, design).items():
            pair = "|".join(kinds)
            choice = draws.choose(f"pair:{pair}", len(options))
            for number, rules in enumerate(options):
                decided = np.array([_decides(matrix, kinds, *rules) for matrix in matrices])
                rows = np.flatnonzero((choice == number) & decided[0 if draws.modes is None else draws.modes])
                if not len(rows):
                    continue
                wordings = draws.wordings(*rules)
                worded = [draws.worded([rule], [wordings])[rows] for rule in rules]
                claims = [construction.rules[rule].says for rule in rules]
                for order, kind in enumerate(kinds):
                    places.append(design.kinds.index(kind) * len(draws) + rows)
                    good, bad = worded[order], worded[1 - order]
                    ids = addresses(mixed(draws.codes[places[-1]], good["said"].to_numpy(), bad["said"].to_numpy()))
                    groups = addresses(mixed(draws.sets[rows], code_of(pair)))
                    texts = {"diagnostic_good": good["hypothesis"], "diagnostic_bad": bad["hypothesis"]}
                    about = {"claim_good": claims[order], "claim_bad": claims[1 - order], "switched": bool(order) and design.switched}
                    at = {"place": rows, "pair": pair, "order": order}
                    said.append(pl.DataFrame({"id": ids, "pair_group": groups, **texts, **about, **at}))
        if not said:
            return pl.DataFrame()
        items = pl.concat([draws.gather(np.concatenate(places)), pl.concat(said)], how="horizontal")
        items = items.sort("place", "pair", "order", maintain_order=True)
        return items.with_columns(
            variant=pl.lit(design.variant),
            entity_type=pl.lit(design.entity_type),
            context="premise",
            sentence_good=pl.concat_str("premise", "diagnostic_good", separator=" "),
            sentence_bad=pl.concat_str("premise", "diagnostic_bad", separator=" "),
        ).drop("place", "pair", "order")

    def fault(self) -> pl.Expr:
        good, bad = "diagnostic_good", "diagnostic_bad"
        return pl.coalesce(
            pl.when(pl.col(good) == pl.col(bad)).then(pl.lit("good and bad continuation are the same")),
            pl.when(badly_formed(good) | badly_formed(bad)).then(pl.lit("a continuation is not a well-formed sentence")),
            pl.lit(""),
        )

    def violations(self, rows: pl.DataFrame) -> dict[str, int]:
        by = ["config", "target"]
        cells = rows.filter(pl.col("variant") != "").group_by("split", *_CELL, config="config", target=TARGET).len()
        fewer = cells.filter(pl.col("len") < pl.col("len").max().over(*by, "split")).height
        wanted = math.prod(pl.col(name).n_unique().cast(pl.Int64) for name in ("split", *_CELL))
        return {
            **(_uneven(rows) if self.balanced else {}),
            "cells of another size than others": fewer + int(cells.group_by(by).agg(lacking=wanted - pl.len())["lacking"].sum()),
            _REPEATED: rows.height - rows.select("context", "diagnostic_good", "diagnostic_bad").unique().height,
        }

    def balance(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Config -> construction -> ``sentences`` (continuation x split), and how many are ``unequal``: not as often good as bad."""
        rows = rows.select("config", "split", "diagnostic_good", "diagnostic_bad", target=TARGET)
        sides = [rows.with_columns(text=f"diagnostic_{side}", sign=pl.lit(sign)) for side, sign in (("good", 1), ("bad", -1))]
        sums = pl.concat(sides).group_by("config", "target", "text", "split").agg(unequal=pl.col("sign").sum() != 0)
        report: dict[str, Any] = {}
        for config, name, count, unequal in sums.group_by("config", "target").agg(pl.len(), pl.col("unequal").sum()).iter_rows():
            report.setdefault(config, {})[name] = {"sentences": count, "unequal": unequal}
        return report

    def shown(self, items: pl.DataFrame) -> Iterator[Shown]:
        for row in items.iter_rows(named=True):
            yield row, [(side, row[f"diagnostic_{side}"]) for side in ("good", "bad")]


class _Replica(_MinimalPairs):
    name = "cxmp"
    configs: Mapping[str, str] = {
        "cxmp": "the design and continuations of CxMP (Oba and Sugawara 2026, Table 1), over this project's lexicon"
    }
    sizes: Mapping[str, int] = {"cxmp": 4800}
    substituted = ()
    survives = by_set = (_REPEATED,)
    balanced = trees = False


MINIMAL_PAIRS, CXMP = _MinimalPairs(), _Replica()


def _uneven(rows: pl.DataFrame) -> dict[str, int]:
    """How often continuations, or their words, are not as often good as bad."""
    groups = rows.group_by("pair_group").agg(
        two=(pl.len() == 2) & (pl.col("premise_id").n_unique() == 2),
        swapped=(pl.col("diagnostic_good").sort() == pl.col("diagnostic_bad").sort()).all(),
    )
    return {
        _TWO: int((~groups["two"]).sum()),
        _SWAPPED: int((~groups["swapped"]).sum()),
        _WORDS: sum(count_unequal_words(part) for _, part in rows.group_by("config", "split", TARGET, maintain_order=True)),
    }


def _decides(matrix: Mapping[str, Mapping[str, int]], kinds: tuple[str, ...], first: str, second: str) -> bool:
    labels = [matrix[kind].get(rule) for kind in kinds for rule in (first, second)]
    return labels == [ENTAILMENT, CONTRADICTION, CONTRADICTION, ENTAILMENT][: len(labels)]
