"""Blind readings: how far readers who saw premise and hypothesis only agree with the labels, and how natural they find the sentences."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import with_natural
from cxgen.errors import DataError
from cxgen.families import DEFAULT
from cxgen.files import read_text
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import one_line, write_json
from cxgen.vocabulary import LABELS

ANSWERS = {
    "id": pl.String,
    "relation": pl.String,
    "prem_nat": pl.Int8,
    "hyp_nat": pl.Int8,
    "reader": pl.String,
    "kind": pl.String,
}
NATURAL = 4
WRITTEN = "natural"  # the config of what writers wrote: groups of its own
_HINT = f"expected the columns {', '.join(ANSWERS)}; relation E, N or C, ratings 1 to 5 (or nothing), kind human or model"
_GROUP = (
    pl.when(pl.col("config") == "distinction")
    .then("construction")
    .when(pl.col("config") == WRITTEN)
    .then(pl.format("{} ({})", TARGET, pl.lit(WRITTEN)))
    .otherwise(TARGET)
)


def run(project: Project) -> dict[str, Any]:
    """Score the readers' answers in ``pipelines/readings/*.csv``; write and return ``outputs/metrics/reading.json``.

    Raises:
        DataError: a file that is not such a table, or an answer that is not one.
    """
    tables = [read_answers(path) for path in sorted((project.root / layout.READINGS).glob("*.csv"))]
    report = reading(pl.concat(tables) if tables else pl.DataFrame(schema=ANSWERS), with_natural(project, DEFAULT))
    write_json(report, project.root / layout.metric("reading"))
    return report


def read_answers(path: Path) -> pl.DataFrame:
    """The answers of readers, columns `ANSWERS`.

    Raises:
        DataError: with the line: a column is lacking, an answer is none, or a reader answers twice about an item.
    """
    try:
        table = pl.read_csv(io.StringIO(read_text(path, _HINT)), schema_overrides=ANSWERS).select(*ANSWERS)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"not a table of readers' answers: {one_line(error)}", file=path, hint=_HINT) from error
    given = pl.col("relation", "prem_nat", "hyp_nat")
    good = pl.all_horizontal(
        pl.any_horizontal(given.is_not_null()),
        pl.col("relation").is_in(["E", "N", "C"]).fill_null(value=True),
        pl.col("prem_nat", "hyp_nat").is_between(1, 5).fill_null(value=True),
        pl.col("kind").is_in(["human", "model"]),
        pl.col("id", "reader").is_not_null(),
    ).fill_null(value=False)
    for wrong, what in ((~good, "not an answer"), (pl.struct("id", "reader").is_duplicated(), "a second answer of the same reader")):
        rows = table.with_row_index("line", 2).filter(wrong)
        if rows.height:
            raise DataError(f"{what}: {str(rows.row(-1)[1:])[:200]}", file=path, line=rows["line"][-1], hint=_HINT)
    return table


def reading(answers: pl.DataFrame, dataset: pl.DataFrame) -> dict[str, Any]:
    """Agreement and naturalness.

    Args:
        answers: ``id, relation`` (E, N or C), ``prem_nat, hyp_nat`` (1 to 5), null where a reader was not asked; ``reader, kind`` (human
            or model).
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``answers`` and ``items`` that they are about; ``gone``: answers about items that are no longer in the dataset, which do not
        count; ``readers``: kind -> how many;
        ``labelled``: answers that give a label;
        ``overall`` and ``groups`` (construction or look-alike ->): ``answers``, ``labels`` (share of answers that agree with the label),
        ``premises`` and ``hypotheses`` (shares rated 4 or 5), each of the answers that there are, None if there are none.
    """
    counted = answers.join(items_read(dataset), on="id", how="inner", maintain_order="left")
    letters = {name[0].upper(): number for number, name in enumerate(LABELS)}
    counted = counted.with_columns(
        labels=pl.col("relation").replace_strict(letters, return_dtype=pl.Int8) == pl.col("label"),
        premises=pl.col("prem_nat") >= NATURAL,
        hypotheses=pl.col("hyp_nat") >= NATURAL,
    )
    kinds = counted.select("kind", "reader").unique().group_by("kind").len().sort("kind")
    groups = {str(name): _shares(rows) for (name,), rows in counted.sort("group").group_by("group", maintain_order=True)}
    return {
        "answers": counted.height,
        "items": counted["id"].n_unique(),
        "gone": answers.height - counted.height,
        "readers": dict(kinds.iter_rows()),
        "overall": _shares(counted),
        "groups": groups,
        "labelled": counted["labels"].count(),
    }


def _shares(rows: pl.DataFrame) -> dict[str, Any]:
    shares = {name: round(rows[name].sum() / n, 4) if (n := rows[name].count()) else None for name in ("labels", "premises", "hypotheses")}
    return {"answers": rows.height} | (shares if rows.height else {})


def items_read(dataset: pl.DataFrame) -> pl.DataFrame:
    """The items that readers judge: in ``distinction`` the look-alikes' only, since their targets' are like those of ``nli``."""
    mine = (pl.col("config") != "distinction") | pl.col("contrast_of").is_not_null()
    return dataset.filter(mine).select("id", "contrast_set", "premise", "hypothesis", "label", group=_GROUP)
