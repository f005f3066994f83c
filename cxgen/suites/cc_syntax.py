"""Suite ``cc_syntax``: comparative correlatives and the same words in another order, after Weissweiler et al. 2022, Algorithms 1 and 2.

Sentences come from a grammar file, read off by number. A pair has the same words, so that only their order tells; train and test share no
word but closed-class ones. Four subsets hold a feature of form apart: train has the lowest quarter of its range, test the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import polars as pl

from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column
from cxgen.suites import audit
from cxgen.suites.features import FEATURES, SUBSETS, Measured, low_end
from cxgen.suites.grammar import PRESETS, SIDES, SMALL, Grammar
from cxgen.suites.pairs import Pairs
from cxgen.suites.scoring import Instances

GRAMMAR = "comparative-correlative"
_COUNT = (0, 1000)
_COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the two sentences with the same words"),
    Column("construction", pl.String, "whose grammar it is"),
    Column("sentence", pl.String, "the sentence"),
    Column("label", pl.Int8, "1: an instance of the construction; 0: the same words in another order", within=(0, 1)),
    Column("preset", pl.String, "`small`: a small vocabulary, as in the published design; `wide`: one from the lexicon", values=PRESETS),
    Column("subset", pl.String, "`general`, or the feature of form that is held apart", values=SUBSETS),
    Column("value", pl.Int16, "the value of that feature; null in `general`", within=_COUNT, null=True),
    *(Column(name, pl.Int16, meaning, within=_COUNT) for name, meaning in FEATURES.items()),
    Column("derivation", pl.Int64, "which sentence of the grammar the instance is, from 0, for this preset and split", within=(0, 2**62)),
    Column("order", pl.Int16, "which of the other orders the reordered one has, from 0", within=_COUNT),
    Column("verb", pl.String, "the verb of the first half"),
    Column("band", pl.String, "its frequency band in the lexicon; null where it is none of its words", null=True),
    Column("split", pl.String, "train or test", values=SIDES),
)


class CCSyntax:
    """The suite ``cc_syntax``."""

    name = "cc_syntax"
    construction = GRAMMAR
    holds = "comparative correlatives and the same words in another order, from a grammar; four subsets hold a feature of form apart"
    sizes: Mapping[str, int] = {"general": 5000, "per_value": 1000}
    columns: tuple[Column, ...] = _COLUMNS
    splits: tuple[str, ...] = SIDES
    card = (resources.files(__package__) / "cc_syntax.md.j2").read_text("utf-8")
    scoring: Scoring = Instances()

    def rows(self, project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
        """See `Suite`. ``general``: pairs per preset and split; ``per_value``: pairs per value of each feature.

        Raises:
            DataError: the grammar has too few sentences of a kind.
        """
        grammar = Grammar.load(project, GRAMMAR)
        tables = []
        for preset in PRESETS:
            sides = {side: Pairs(grammar, preset, side, seed) for side in SIDES}
            for pairs in sides.values():
                pairs.draw("general", None, sizes["general"])
            if preset == SMALL:
                _draw_apart(sides, sizes["per_value"])
            tables += [pairs.table() for pairs in sides.values()]
        return self._finished(pl.concat(tables), grammar)

    def sample(self, project: Project, seed: int, n: int) -> pl.DataFrame:
        """See `Suite`: pairs of the test side, of both presets in turn."""
        grammar = Grammar.load(project, GRAMMAR)
        sides = [Pairs(grammar, preset, "test", seed) for preset in PRESETS]
        for pairs in sides:
            pairs.draw("general", None, -(-n // len(sides)))
        drawn = pl.concat([pairs.table() for pairs in sides]).sort("number", "preset", maintain_order=True, descending=[False, True])
        return self._finished(drawn[: 2 * n], grammar)

    def _finished(self, rows: pl.DataFrame, grammar: Grammar) -> pl.DataFrame:
        verbs = pl.DataFrame(grammar.rows("verb"), schema_overrides={"band": pl.String}).select(verb="lemma", band="band")
        rows = rows.join(verbs.unique("verb", keep="first", maintain_order=True), on="verb", how="left", maintain_order="left")
        return rows.with_columns(construction=pl.lit(self.construction)).select(
            pl.col(column.name).cast(column.dtype) for column in self.columns
        )

    def violations(self, project: Project, rows: pl.DataFrame) -> dict[str, int]:
        """See `Suite`."""
        return audit.violations(rows, Grammar.load(project, GRAMMAR).closed)

    def counts(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Preset -> subset -> split -> ``pairs`` and the values' ``least, most, values``."""
        found: dict[str, Any] = {}
        groups = rows.group_by("preset", "subset", "split", maintain_order=True)
        for (preset, subset, split), mine in groups:
            values = mine["value"].drop_nulls()
            span = {"least": values.min(), "most": values.max(), "values": values.n_unique()} if len(values) else {}
            found.setdefault(str(preset), {}).setdefault(str(subset), {})[str(split)] = {"pairs": mine.height // 2, **span}
        return found

    def measures(self, rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
        """See `Suite`: classifiers of bags of words (which can learn nothing here) and of pairs of neighbours (which may)."""
        return audit.measures(rows, self.name)

    def dimensions(self) -> dict[str, pl.Expr]:
        """See `Suite`."""
        value = pl.when(pl.col("value").is_not_null()).then(
            pl.concat_str("subset", pl.col("value").cast(pl.String).str.zfill(2), separator=" ")
        )
        return {"preset": pl.col("preset"), "subset": pl.col("subset"), "value": value, "band": pl.col("band")}

    def cluster(self) -> pl.Expr:
        """The verb of the first half."""
        return pl.col("verb")

    def shown(self, rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """See `Suite`."""
        for _, pair in rows.group_by("contrast_set", maintain_order=True):
            first = pair.row(0, named=True)
            marks = {1: "instance", 0: "reordered"}
            yield (
                f"[{first['preset']}: {first['length']} words, sentence {first['derivation']}]",
                [(marks[label], sentence) for label, sentence in pair.select("label", "sentence").iter_rows()],
            )


def _draw_apart(sides: Mapping[str, Pairs], per_value: int) -> None:
    """The subsets of the features: train has the low end of the range, test the rest."""
    for feature in FEATURES:
        low = low_end(sorted({value for pairs in sides.values() for value in pairs.values(feature)}))
        for side, pairs in sides.items():
            for value in pairs.values(feature):
                if (value in low) == (side == SIDES[0]):
                    pairs.draw(feature, Measured(feature, value), per_value)


def sentence_of(grammar: Grammar, row: Mapping[str, Any]) -> str:
    """A row's sentence, read off the grammar once more by its numbers."""
    return Pairs(grammar, row["preset"], row["split"], 0).said([row["derivation"]], [row["order"]])[1 - row["label"]][0]
