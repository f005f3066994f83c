"""Natural language inference: premise, hypothesis, label. Two configs: constructions, and their look-alikes of the same form.

A contrast set is a balanced selection of cells of the design's label matrix: every premise has one hypothesis per label, every hypothesis
all three labels equally often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.errors import CxgenError
from cxgen.families.core import Shown
from cxgen.families.scoring import Labels, Scoring
from cxgen.measures.fits import Map
from cxgen.measures.registry import take
from cxgen.sampling import Draws, digests
from cxgen.schema import TARGET, Column
from cxgen.semantics import label_matrix, misread_labels, solve, unbalanced
from cxgen.vocabulary import LABELS, Split

_COUNTS = [(pl.col("label") == label).sum() for label in range(len(LABELS))]
UNEQUAL = (_COUNTS[0] != _COUNTS[1]) | (_COUNTS[0] != _COUNTS[2])
_SHOWN = 3  # reasons

_COLUMNS = (
    Column("premise", pl.String, "the premise; it has one item per label"),
    Column("hypothesis", pl.String, "the hypothesis"),
    Column("label", pl.Int8, "0 entailment, 1 neutral, 2 contradiction: computed from the construction's facts", labels=True),
    Column("rule", pl.String, "hypothesis rule"),
    Column("wording", pl.Int16, "which of the rule's wordings, from 0"),
    Column("wording_held_out", pl.Boolean, "whether that wording of the rule occurs in test only"),
    Column("template_held_out", pl.Boolean, "whether the premise's template occurs in test only"),
    Column("claim", pl.String, "what the hypothesis claims, e.g. `reached(theme, goal)`"),
    Column("polarity", pl.Boolean, "whether it asserts (true) or denies (false) the claim"),
)
_MISREAD = (
    Column("misread", pl.Boolean, "whether taking what looks like the target construction for an instance of it would decide the claim"),
    Column("target_label", pl.Int8, "the label that the item would have then, where that is another; else null", labels=True, null=True),
)
_CONSTRUCTIONS, _SENTENCES = "construction x split with unequal labels", "hypothesis x split with unequal labels"
_ONE_EACH, _REPEATED = "premises without one hypothesis per label", "repeated (premise, hypothesis)"
# Violation -> what marks an item with something held out, and the columns that say what it is.
HELD = {
    "held-out wordings in train or dev": ("wording_held_out", ("rule", "wording")),
    "held-out templates in train or dev": ("template_held_out", ("template",)),
}


class NLI:
    """The family ``nli``."""

    name = "nli"
    configs: Mapping[str, str] = {
        "nli": "the constructions and, where they have one, opposites that share their contrast sets",
        "distinction": "contrast sets in which a look-alike of the same form meets the premises and hypotheses of its target",
    }
    sizes: Mapping[str, int] = {"nli": 4000, "distinction": 1200}
    text = "premise"
    compared: Mapping[str, str] = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
    substituted: tuple[str, ...] = ("nli",)
    survives: tuple[str, ...] = (_SENTENCES, _REPEATED)
    by_set: tuple[str, ...] = (_CONSTRUCTIONS, _SENTENCES, _ONE_EACH, _REPEATED)
    card = (resources.files(__package__) / "nli.md.j2").read_text("utf-8")
    scoring: Scoring = Labels()

    def columns(self, config: str) -> tuple[Column, ...]:
        """See `Family`."""
        return (*_COLUMNS, *(_MISREAD if config == "distinction" else ()))

    def unsound(self, construction: Construction, design: Design, config: str) -> str:
        """See `Family`."""
        if not self.rows_per_set(construction, design, config):
            who = "a look-alike" if config == "distinction" else "the construction itself"
            return f"no kind counts for {config}: {who} must be among them"
        matrix = label_matrix(construction, design)
        try:
            if solve(matrix, 1):
                return ""
        except CxgenError as error:
            return error.message
        reasons = unbalanced(matrix)
        more = f" (and {len(reasons) - _SHOWN} more)" if len(reasons) > _SHOWN else ""
        return f"no balanced contrast set: {'; '.join(reasons[:_SHOWN])}{more}"

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        """The rows of the construction's own premises in ``nli``, of other constructions' in ``distinction``."""
        own = [construction.kinds[kind].construction == construction.name for kind in design.kinds]
        return len(LABELS) * own.count(config != "distinction")

    def sharing(self, construction: Construction, design: Design, config: str) -> list[Design]:
        """See `Family`. Of ``distinction``, each look-alike has a size of its own."""
        every = [each for each in construction.designs.values() if config in each.configs]
        if config != "distinction":
            return every
        others = _others(construction, design)
        return [each for each in every if _others(construction, each) == others]

    def items(self, draws: Draws) -> pl.DataFrame:
        """See `Family`. A hypothesis stays in a set with pseudowords if it is still equally often entailed, open and contradicted there."""
        construction, design, count = draws.construction, draws.design, len(draws)
        hypotheses = pl.concat([draws.statement(rule) for rule in design.rules])
        selections = solve(label_matrix(construction, design))
        kinds = {kind: number for number, kind in enumerate(design.kinds)}
        rules = {rule: number for number, rule in enumerate(design.rules)}
        cells = np.array([[(kinds[c.kind], rules[c.rule]) for c in selection] for selection in selections], dtype=np.int64)
        chosen = cells[draws.choose("selection", len(selections))]  # (sets, cells, 2)
        sets = np.repeat(np.arange(count), chosen.shape[1])
        kind, rule = (chosen[:, :, axis].reshape(-1) for axis in range(2))
        items = pl.concat([draws.gather(kind * count + sets), hypotheses[rule * count + sets], _claims(draws)[rule]], how="horizontal")
        by = ["mode"] if draws.broken else []
        items = items.join(_labels(draws), on=[*by, "kind", "rule"], how="left", maintain_order="left")
        items = items.with_columns(
            id=digests(items.select(pl.concat_str("premise_id", "rule", "hypothesis", separator="\x1f")).to_series())
        )
        return items.filter(~UNEQUAL.over("mode", "set_number", "rule")) if draws.broken else items

    def fault(self) -> pl.Expr:
        """See `Family`."""
        premise, hypothesis = _plain("premise"), _plain("hypothesis")
        return (
            pl.when(hypothesis == premise)
            .then(pl.lit("the hypothesis is its premise, word for word"))
            .when((" " + premise + " ").str.contains(" " + hypothesis + " ", literal=True))
            .then(pl.lit("the hypothesis repeats part of its premise, word for word"))
            .when(badly_formed("hypothesis"))
            .then(pl.lit("the hypothesis is not a well-formed sentence"))
            .otherwise(pl.lit(""))
        )

    def violations(self, rows: pl.DataFrame) -> dict[str, int]:
        """See `Family`."""
        one_each = (pl.len() != len(LABELS)) | (pl.col("label").n_unique() != len(LABELS))
        counts = {
            _CONSTRUCTIONS: rows.group_by("construction", "split").agg(bad=UNEQUAL)["bad"].sum(),
            _SENTENCES: rows.group_by("config", "hypothesis", "split").agg(bad=UNEQUAL)["bad"].sum(),
            _ONE_EACH: rows.group_by("premise_id").agg(bad=one_each)["bad"].sum(),
            _REPEATED: rows.height - rows.select("premise", "hypothesis").unique().height,
            **{what: leaked(rows, mark, *names) for what, (mark, names) in HELD.items()},
        }
        return {what: int(count) for what, count in counts.items()}

    def balance(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Config (or ``all``) -> construction -> ``sentences`` (hypothesis sentence x split), how many have ``unequal`` label counts, and
        ``rules``: rule -> split -> [entailment, neutral, contradiction].
        """
        report: dict[str, Any] = {}
        for config in (*rows["config"].unique().sort(), "all"):
            mine = rows if config == "all" else rows.filter(pl.col("config") == config)
            report[config] = {str(name): _balance(part) for (name,), part in mine.group_by(TARGET, maintain_order=True)}
        return report

    def measures(self, rows: pl.DataFrame, folds: int, run: Map = map) -> dict[str, dict[str, Any]]:
        """See `Family`."""
        return take(self.name, rows, folds, run)

    def shown(self, items: pl.DataFrame) -> Iterator[Shown]:
        """See `Family`."""
        for _, group in items.group_by("premise_id", maintain_order=True):
            yield group.row(0, named=True), [(LABELS[label], text) for label, text in zip(group["label"], group["hypothesis"], strict=True)]

    def card_facts(self, constructions: Iterable[Construction], tables: Mapping[tuple[str, str], pl.DataFrame]) -> dict[str, Any]:
        """See `Family`."""
        mine = {key: rows for key, rows in tables.items() if key[0] in self.configs}
        return {
            "example_set": _example(mine.get(("nli", "train"))),
            "distinction_set": _example(mine.get(("distinction", "train"))),
            "set_sizes": sorted({size for rows in mine.values() for size in rows.group_by("contrast_set").len()["len"].unique()}),
            "matrices": _matrices(
                [item for item in constructions if any(set(d.configs) & set(self.configs) for d in item.designs.values())], mine
            ),
        }


def badly_formed(column: str) -> pl.Expr:
    """Whether a text is no sentence: capital letter, full stop, no braces, single spaces."""
    return ~pl.col(column).str.contains(r"^\p{Lu}.*\.$") | pl.col(column).str.contains(r"[{}]|\s\s")


def leaked(rows: pl.DataFrame, mark: str, *names: str) -> int:
    """Rows of train and dev with what is marked as held out somewhere, the target being the same.

    Args:
        rows: ``split, construction, contrast_of`` and the columns named.
        mark: bool: whether something is held out.
        names: the columns that say what.
    """
    rows = rows.select("split", mark, *names, target=TARGET)
    held = rows.filter(mark).select("target", *names).unique()
    return rows.filter(pl.col("split") != Split.test).join(held, on=["target", *names], how="semi").height


def _plain(name: str) -> pl.Expr:
    return pl.col(name).str.to_lowercase().str.replace_all(r"[^\w\s']", "").str.strip_chars()


def _claims(draws: Draws) -> pl.DataFrame:
    """``rule, claim`` (strings), ``polarity`` (bool): of the design's rules, in their order."""
    rules = [draws.construction.rules[name] for name in draws.design.rules]
    return pl.DataFrame(
        {"rule": draws.design.rules, "claim": [str(rule.claim) for rule in rules], "polarity": [rule.polarity for rule in rules]}
    )


def _others(construction: Construction, design: Design) -> set[str]:
    """The constructions of the premises of ``design`` that are not the target."""
    return {construction.kinds[kind].construction for kind in design.kinds} - {construction.name}


def _labels(draws: Draws) -> pl.DataFrame:
    """``kind, rule`` (strings), ``label, target_label`` (i8), ``misread`` (bool); with pseudowords also ``mode`` (string)."""
    construction, design = draws.construction, draws.design
    table = []
    for mode, broken in (draws.broken or {"": frozenset()}).items():
        for kind, labels in label_matrix(construction, design, broken).items():
            taken = misread_labels(construction, design, kind, broken)
            table += [(mode, kind, rule, label, rule in taken, taken.get(rule, label)) for rule, label in labels.items()]
    types = {"mode": pl.String, "kind": pl.String, "rule": pl.String, "label": pl.Int8, "misread": pl.Boolean, "target_label": pl.Int8}
    other = pl.when(pl.col("target_label") != pl.col("label")).then("target_label")
    found = pl.DataFrame(table, schema=types, orient="row").with_columns(target_label=other)
    return found if draws.broken else found.drop("mode")


def _balance(rows: pl.DataFrame) -> dict[str, Any]:
    sentences = rows.group_by("hypothesis", "split").agg(unequal=UNEQUAL)
    counts = rows.group_by("rule", "split", maintain_order=True).agg(*(count.alias(str(label)) for label, count in enumerate(_COUNTS)))
    rules: dict[str, dict[str, list[int]]] = {}
    for rule, split, *numbers in counts.iter_rows():
        rules.setdefault(rule, {})[split] = numbers
    return {"sentences": sentences.height, "unequal": int(sentences["unequal"].sum()), "rules": rules}


def _example(rows: pl.DataFrame | None) -> dict[str, Any] | None:
    """One contrast set of ``rows``, whole: of median length, its premises with their constructions, hypotheses and labels."""
    if rows is None:
        return None
    length = pl.col("premise").str.len_chars().sum().over("contrast_set")
    name = rows.sort((length - length.median()).abs(), "contrast_set")["contrast_set"][0]
    mine = rows.filter(pl.col("contrast_set") == name)
    premises = [
        {
            "premise": premise,
            "construction": own["construction"][0],
            "items": [(LABELS[label], text) for label, text in sorted(own.select("label", "hypothesis").iter_rows())],
        }
        for (premise,), own in mine.group_by("premise", maintain_order=True)
    ]
    return {"construction": mine.select(TARGET).item(0, 0), "premises": premises}


def _matrices(constructions: Iterable[Construction], tables: Mapping[tuple[str, str], pl.DataFrame]) -> list[dict[str, Any]]:
    """Every design's premise x hypothesis label matrix: ``rules`` (claim, a hypothesis), ``kinds`` (name, gloss, letters E, N, C or -)."""
    rows = pl.concat(list(tables.values()), how="diagonal").with_columns(target=TARGET)
    firsts = rows.unique(["target", "design", "rule"], keep="first", maintain_order=True)
    said = {row[:3]: row[3] for row in firsts.select("target", "design", "rule", "hypothesis").iter_rows()}
    return [
        {
            "construction": item.name,
            "design": design.name,
            "rules": [
                (rule.says, said.get((item.name, design.name, rule.name), rule.wordings[0]))
                for rule in (item.rules[name] for name in design.rules)
            ],
            "kinds": [
                (kind, item.kinds[kind].gloss, [LABELS[row[rule]][0].upper() if rule in row else "-" for rule in design.rules])
                for kind, row in label_matrix(item, design).items()
            ],
        }
        for item in constructions
        for design in item.designs.values()
        if set(design.configs) & set(NLI.configs)
    ]
