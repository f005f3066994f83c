"""Blind readings: how far readers who saw premise and hypothesis only agree with the labels, and how natural they find the sentences."""

from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import with_natural, write_measured
from cxgen.errors import DataError
from cxgen.families import DEFAULT, NATURAL
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import numbered_rows
from cxgen.vocabulary import LABELS

ANSWERS = {"id": pl.String, "relation": pl.String, "prem_nat": pl.Int8, "hyp_nat": pl.Int8, "reader": pl.String, "kind": pl.String}
_LETTERS = {name[0].upper(): number for number, name in enumerate(LABELS)}
_GOOD = 4  # of 5
_HINT = f"expected the columns {', '.join(ANSWERS)}; relation E, N or C, ratings 1 to 5 (or nothing), kind human or model"


def run(project: Project) -> dict[str, Any]:
    """Score the readers' answers in ``pipelines/readings/*.csv``; write and return ``reading.json``: counts (``gone``: answers about items
    that are not among `items_read`) and shares, ``overall`` and by ``groups`` (see there)."""
    tables = [_read_answers(path) for path in sorted((project.root / layout.READINGS).glob("*.csv"))]
    answers = pl.concat([pl.DataFrame(schema=ANSWERS), *tables])
    items = items_read(with_natural(project, DEFAULT))
    counted = answers.join(items, on="id", how="inner", maintain_order="left").with_columns(
        labels=pl.col("relation").replace_strict(_LETTERS, return_dtype=pl.Int8) == pl.col("label"),
        premises=pl.col("prem_nat") >= _GOOD,
        hypotheses=pl.col("hyp_nat") >= _GOOD,
    )
    groups = counted.sort("group").group_by("group", maintain_order=True)
    report = {
        "answers": counted.height,
        "items": counted["id"].n_unique(),
        "gone": answers.height - counted.height,
        "readers": dict(counted.select("kind", "reader").unique().group_by("kind").len().sort("kind").iter_rows()),
        "overall": _shares(counted),
        "groups": {str(name): _shares(rows) for (name,), rows in groups},
        "labelled": counted["labels"].count(),
    }
    write_measured(project, "reading", report)
    return report


def _read_answers(path: Path) -> pl.DataFrame:
    """The answers of readers, columns `ANSWERS`; relation and ratings are null where a reader was not asked."""
    given, lines = numbered_rows(path, _HINT)
    if not {*ANSWERS} <= {*given.columns}:
        raise DataError(f"has the columns {', '.join(given.columns) or 'none'}", file=path, hint=_HINT)
    given = given.select(*ANSWERS)
    table = given.cast(ANSWERS, strict=False)  # type: ignore[arg-type]
    good = pl.all_horizontal(
        *(pl.col(name).is_not_null() | given[name].is_null() for name in ANSWERS),
        pl.any_horizontal(pl.col("relation", "prem_nat", "hyp_nat").is_not_null()),
        pl.col("relation").is_in(list(_LETTERS)).fill_null(value=True),
        pl.col("prem_nat", "hyp_nat").is_between(1, 5).fill_null(value=True),
        pl.col("kind").is_in(["human", "model"]),
        pl.col("id", "reader").is_not_null(),
    ).fill_null(value=False)
    for wrong, what in ((~good, "not an answer"), (pl.struct("id", "reader").is_duplicated(), "a second answer of the same reader")):
        if (faults := table.select(wrong.arg_true()).to_series()).len():
            raise DataError(f"{what}: {str(given.row(faults[-1]))[:200]}", file=path, line=lines[faults[-1]], hint=_HINT)
    return table


def _shares(rows: pl.DataFrame) -> dict[str, Any]:
    """Answers; shares that agree with the label, and that rate premise and hypothesis 4 or 5, of those that say so; None if none does."""
    if not rows.height:
        return {"answers": 0}
    shares = {name: rows[name].mean() for name in ("labels", "premises", "hypotheses")}
    return {"answers": rows.height} | {name: None if share is None else round(float(share), 4) for name, share in shares.items()}  # type: ignore[arg-type]


def items_read(dataset: pl.DataFrame) -> pl.DataFrame:
    """The items that readers judge: in ``distinction`` the look-alikes' only, since their targets' are like those of ``nli``."""
    group = (
        pl.when(pl.col("config") == "distinction")
        .then("construction")
        .when(pl.col("config") == NATURAL)
        .then(pl.format("{} ({})", TARGET, pl.lit(NATURAL)))
        .otherwise(TARGET)
    )
    rows = dataset.filter((pl.col("config") != "distinction") | pl.col("contrast_of").is_not_null())
    return rows.select(
        "id", "contrast_set", "premise", "hypothesis", "label", group=group, target=TARGET, member=pl.col("contrast_of").is_null()
    )
