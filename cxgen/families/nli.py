"""Natural language inference: a contrast set is a balanced selection of cells of its design's label matrix, premises x hypotheses."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.errors import CxgenError
from cxgen.families.core import Family, Shown, badly_formed
from cxgen.families.scoring import Labels, Scoring
from cxgen.sampling import Draws
from cxgen.schema import TARGET, Column
from cxgen.semantics import Selection, every, label_matrix, misread_labels, solve, unbalanced
from cxgen.streams import addresses, mixed
from cxgen.vocabulary import LABELS, Split

_COUNTS = [(pl.col("label") == label).sum() for label in range(len(LABELS))]
_UNEQUAL = (_COUNTS[0] != _COUNTS[1]) | (_COUNTS[0] != _COUNTS[2])
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
    "held-out wordings in train or validation": ("wording_held_out", ("rule", "wording")),
    "held-out templates in train or validation": ("template_held_out", ("template",)),
}


class _NLI(Family):
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
    scoring: Scoring = Labels()

    def columns(self, config: str) -> tuple[Column, ...]:
        return (*_COLUMNS, *(_MISREAD if config != _NLI.name else ()))

    def selections(self, matrix: Mapping[str, Mapping[str, int]]) -> list[Selection]:
        """The choices of cells that make a set."""
        return solve(matrix) if self.balanced else every(matrix)

    def unsound(self, construction: Construction, design: Design, config: str) -> str:
        if not self.rows_per_set(construction, design, config):
            who = "a look-alike" if config == "distinction" else "the construction itself"
            return f"no kind counts for {config}: {who} must be among them"
        matrix = label_matrix(construction, design)
        try:
            if self.selections(matrix):
                return ""
        except CxgenError as error:
            return error.message
        reasons = unbalanced(matrix)
        more = f" (and {len(reasons) - _SHOWN} more)" if len(reasons) > _SHOWN else ""
        return f"no balanced contrast set: {'; '.join(reasons[:_SHOWN])}{more}"

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        own = [construction.kinds[kind].construction == construction.name for kind in design.kinds]
        return len(LABELS) * own.count(config != "distinction")

    def sharing(self, construction: Construction, design: Design, config: str) -> list[Design]:
        def others(one: Design) -> set[str]:
            return {construction.kinds[kind].construction for kind in one.kinds} - {construction.name}

        every = super().sharing(construction, design, config)  # of distinction, each look-alike has a size of its own
        return [one for one in every if others(one) == others(design)] if config == "distinction" else every

    def items(self, draws: Draws) -> pl.DataFrame:
        design, count = draws.design, len(draws)
        hypotheses = draws.statements()
        selections = self.selections(label_matrix(draws.construction, design))
        places = [[(design.kinds.index(cell.kind), design.rules.index(cell.rule)) for cell in selection] for selection in selections]
        chosen = np.array(places, dtype=np.int64)[draws.choose("selection", len(selections))]  # sets x cells x 2
        sets = np.repeat(np.arange(count), chosen.shape[1])
        kind, rule = chosen.reshape(-1, 2).T
        mode = 0 if draws.modes is None else draws.modes[sets]
        labels = _labels(draws)[(mode * len(design.kinds) + kind) * len(design.rules) + rule]
        items = pl.concat([draws.gather(kind * count + sets), hypotheses[rule * count + sets], labels], how="horizontal")
        items = items.with_columns(id=pl.Series(addresses(mixed(items["code"].to_numpy(), items["said"].to_numpy()))))
        return items.filter(~_UNEQUAL.over("mode", "set_number", "rule")) if draws.broken else items

    def fault(self) -> pl.Expr:
        premise, hypothesis = (
            pl.col(name).str.to_lowercase().str.replace_all(r"[^\w\s']", "").str.strip_chars() for name in ("premise", "hypothesis")
        )
        part = (" " + premise + " ").str.contains(" " + hypothesis + " ", literal=True)
        return pl.coalesce(
            pl.when(hypothesis == premise).then(pl.lit("the hypothesis is its premise, word for word")),
            pl.when(part).then(pl.lit("the hypothesis repeats part of its premise, word for word")),
            pl.when(badly_formed("hypothesis")).then(pl.lit("the hypothesis is not a well-formed sentence")),
            pl.lit(""),
        )

    def violations(self, rows: pl.DataFrame) -> dict[str, int]:
        one_each = (pl.len() != len(LABELS)) | (pl.col("label").n_unique() != len(LABELS))
        counts = {
            _CONSTRUCTIONS: rows.group_by("construction", "split").agg(bad=_UNEQUAL)["bad"].sum(),
            **({_SENTENCES: rows.group_by("config", "hypothesis", "split").agg(bad=_UNEQUAL)["bad"].sum()} if self.balanced else {}),
            _ONE_EACH: rows.group_by("premise_id").agg(bad=one_each)["bad"].sum(),
            _REPEATED: rows.height - rows.select("premise", "hypothesis").unique().height,
            **{rule: leaked(rows, mark, *names) for rule, (mark, names) in HELD.items()},
        }
        return {rule: int(count) for rule, count in counts.items()}

    def balance(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Config (or ``all``) -> construction -> counts, ``rules`` among them: rule -> split -> [entailment, neutral, contradiction]."""
        report: dict[str, Any] = {}
        for config in (*rows["config"].unique().sort(), "all"):
            own = (rows if config == "all" else rows.filter(config=config)).with_columns(target=TARGET)
            sentences = own.group_by("target", "hypothesis", "split").agg(unequal=_UNEQUAL)
            sums = sentences.group_by("target").agg(pl.len(), pl.col("unequal").sum()).rows()
            report[config] = {name: {"sentences": count, "unequal": unequal, "rules": {}} for name, count, unequal in sums}
            for name, rule, split, counts in own.group_by("target", "rule", "split").agg(pl.concat_list(_COUNTS)).iter_rows():
                report[config][name]["rules"].setdefault(rule, {})[split] = counts
        return report

    def shown(self, items: pl.DataFrame) -> Iterator[Shown]:
        for _, group in items.group_by("premise_id", maintain_order=True):
            yield group.row(0, named=True), [(LABELS[label], text) for label, text in group.select("label", "hypothesis").iter_rows()]


class _Replica(_NLI):
    name = "cxnli"
    configs: Mapping[str, str] = {
        "cxnli": "the hypotheses of CxNLI (Scivetti et al. 2025, Tables 8 and 9) about one-clause premises of this project"
    }
    sizes: Mapping[str, int] = {"cxnli": 900}
    substituted = ()
    survives = ()
    by_set = (_ONE_EACH, _REPEATED)
    balanced = False

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        return len(LABELS) * len(design.kinds)


NLI, CXNLI = _NLI(), _Replica()


def leaked(rows: pl.DataFrame, mark: str, *names: str) -> int:
    """Rows of other splits than test that have what some row of the same target has under ``mark`` (bool): the values of ``names``."""
    rows = rows.select("split", mark, *names, target=TARGET)
    held = rows.filter(mark).select("target", *names).unique()
    return rows.filter(pl.col("split") != Split.test).join(held, on=["target", *names], how="semi").height


def _labels(draws: Draws) -> pl.DataFrame:
    """``rule, claim`` (strings), ``polarity, misread`` (bool), ``label, target_label`` (i8) of every cell: mode by mode, kind by kind."""
    construction, design, table = draws.construction, draws.design, []
    for broken in (draws.broken or {"": frozenset[str]()}).values():
        matrix = label_matrix(construction, design, broken)
        for kind in design.kinds:
            taken = misread_labels(construction, design, kind)
            for name in design.rules:
                rule, other, label = construction.rules[name], taken.get(name), matrix[kind].get(name)
                table.append((name, str(rule.claim), rule.polarity, label, name in taken, None if other == label else other))
    types = {"rule": pl.String, "claim": pl.String, "polarity": pl.Boolean, "label": pl.Int8}
    return pl.DataFrame(table, schema={**types, "misread": pl.Boolean, "target_label": pl.Int8}, orient="row")
