"""Suite ``cc_semantics``: what follows from comparative correlatives, as texts with a gap, after Weissweiler et al. 2022, Table 1.

Each base item (S1) comes with tests of three biases (S2: the other order, S3: the opposite correlation, S4: the other order of the names),
and with three calibrations (S5: no correlatives, S6: no comparison, S7: a comparison that has nothing to do with them), in which nothing
follows: what a model says there is what it expects anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import polars as pl

from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column
from cxgen.streams import order_key
from cxgen.suites.grammar import SIDES
from cxgen.suites.scenarios import BASE, GAP, Scenarios
from cxgen.suites.scoring import Candidates, answer_of

FILE = "comparative-correlative-scenarios"
_ROLES = ("base", "recency", "vocabulary", "names", "calibration")
_COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the base item and all that are made from it"),
    Column("base_id", pl.String, "the id of that base item (of S1 its own)"),
    Column("construction", pl.String, "the construction whose meaning decides"),
    Column("scenario", pl.String, "S1 to S7", like="S[1-9]"),
    Column("role", pl.String, "what the scenario is for", values=_ROLES),
    Column("text", pl.String, f"the whole text, {GAP} in the gap"),
    Column("mask_start", pl.Int32, f"where {GAP} begins in `text`, in characters from 0", within=(0, 10_000)),
    Column("mask_word", pl.Int32, "which word of `text` the gap is, from 0", within=(0, 10_000)),
    Column("context", pl.String, "the sentences before the last one"),
    Column("before", pl.String, "the last sentence up to the gap, for models that continue texts"),
    Column("after", pl.String, "the last sentence after the gap"),
    Column("first", pl.String, "a word for the gap"),
    Column("second", pl.String, "its opposite"),
    Column("answer", pl.Int8, "which follows: 0 the first, 1 the second; null where neither does", within=(0, 1), null=True),
    Column("given", pl.String, "the property that the correlatives begin with"),
    Column("then", pl.String, "the property that goes with it, which the gap is about"),
    Column("wording", pl.Int16, "which wording of the sentences, from 0", within=(0, 100)),
    Column("split", pl.String, "train or test; they have no adjective in common", values=SIDES),
)


class CCSemantics:
    """The suite ``cc_semantics``."""

    name = "cc_semantics"
    construction = "comparative-correlative"
    holds = (
        "texts with a gap whose word follows from comparative correlatives; each base item with three tests of bias and three calibrations"
    )
    sizes: Mapping[str, int] = {"draws": 2}
    columns: tuple[Column, ...] = _COLUMNS
    splits: tuple[str, ...] = SIDES
    card = (resources.files(__package__) / "cc_semantics.md.j2").read_text("utf-8")
    scoring: Scoring = Candidates()

    def rows(self, project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
        """See `Suite`. ``draws``: base items for each two properties and their poles, with other names and wordings.

        Raises:
            DataError: what the file says contradicts itself.
        """
        scenarios = Scenarios.load(project, FILE)
        rows = [row for side in SIDES for row in scenarios.items(side, seed, sizes["draws"])]
        return pl.DataFrame(rows, schema={column.name: column.dtype for column in self.columns})

    def sample(self, project: Project, seed: int, n: int) -> pl.DataFrame:
        """See `Suite`: base items of the test side with all that is made from them."""
        rows = self.rows(project, seed, self.sizes).filter(pl.col("split") == SIDES[1])
        sets = sorted(rows["contrast_set"].unique(), key=lambda name: order_key(seed, "sample", name))[:n]
        return pl.concat([rows.filter(pl.col("contrast_set") == name) for name in sets])

    def violations(self, project: Project, rows: pl.DataFrame) -> dict[str, int]:
        """See `Suite`."""
        scenarios = Scenarios.load(project, FILE)
        answered = rows.filter(pl.col("answer").is_not_null())
        even = answered.group_by("split", "scenario", "given", "then").agg(share=pl.col("answer").mean())
        bases = rows.filter(pl.col("scenario") == BASE).select("contrast_set", "text", base="id", one="first", other="second")
        linked = rows.join(bases.drop("text"), on="contrast_set", how="left")
        words = [set(mine["first"]) | set(mine["second"]) for _, mine in rows.group_by("split")]
        held = rows.select(pl.col("text").str.slice(pl.col("mask_start"), len(GAP)))["text"]
        return {
            "repeated ids": rows.height - rows["id"].n_unique(),
            "repeated base texts": bases.height - bases["text"].n_unique(),
            "items without their base item": linked.filter(pl.col("base").is_null() | (pl.col("base") != pl.col("base_id"))).height,
            "items with other words than their base item": linked.filter(
                (pl.col("one") != pl.col("first")) | (pl.col("other") != pl.col("second"))
            ).height,
            "gaps that are elsewhere": int((held != GAP).sum()),
            "texts that are not their parts": rows.filter(
                pl.concat_str("context", pl.lit(" "), "before", pl.lit(GAP), "after") != pl.col("text")
            ).height,
            "sets without every scenario": rows.group_by("contrast_set").len().filter(pl.col("len") != len(scenarios.names)).height,
            "words of the gap not equally often right": even.filter(pl.col("share") != 0.5).height,
            "words in train and test": len(set.intersection(*words)) if len(words) > 1 else 0,
            "answers that the facts do not give": scenarios.wrong(rows),
        }

    def counts(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Split -> scenario -> items."""
        found: dict[str, Any] = {}
        for split, scenario, count in rows.group_by("split", "scenario", maintain_order=True).len().iter_rows():
            found.setdefault(split, {})[scenario] = count
        return found

    def measures(self, rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
        """See `Suite`: always the same word, and the word that stands nearest to the gap."""
        from cxgen.suites.shallow import measures

        return measures(rows, self.name)

    def dimensions(self) -> dict[str, pl.Expr]:
        """See `Suite`."""
        return {"scenario": pl.col("scenario"), "value": pl.concat_str("given", pl.lit(" "), "then")}

    def cluster(self) -> pl.Expr:
        """The two properties."""
        return pl.concat_str("given", pl.lit(" "), "then")

    def shown(self, rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """See `Suite`."""
        for _, group in rows.group_by("contrast_set", maintain_order=True):
            first = group.row(0, named=True)
            yield (
                f"[{first['given']} and {first['then']}: {first['first']} or {first['second']}]",
                [(row["scenario"], f"{row['text']} ({answer_of(row) or 'open'})") for row in group.iter_rows(named=True)],
            )
