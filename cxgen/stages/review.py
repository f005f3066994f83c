"""Having the finished dataset reviewed: samples out, answers in (``cxgen review``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError, unknown
from cxgen.families import DEFAULT
from cxgen.files import read_text, write_atomically
from cxgen.project import Project
from cxgen.report.reading import ANSWERS as READING
from cxgen.report.reading import items_read
from cxgen.review.answers import read_answers
from cxgen.review.dropped import read_dropped, refused, write_dropped
from cxgen.review.key import ANSWERS, FILE, HYPOTHESIS, ITEM, PAIR, PREMISE, read_key, write_key
from cxgen.review.sample import Design, sample
from cxgen.review.sheets import Kind, write_lists
from cxgen.spreadsheet import as_text
from cxgen.stages.dataset import with_natural

_LONGEST_REAL = 500  # characters


def export(
    project: Project,
    folder: Path,
    design: Design,
    kinds: Sequence[Kind],
    *,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    real: Path | None = None,
) -> list[dict[str, Any]]:
    """Draw a sample, write its key and its lists into ``folder``.

    Args:
        project: whose dataset.
        folder: without a review in it.
        design: how much.
        kinds: of files.
        configs, splits: of the dataset; none: all.
        real: a text file of attested sentences, one a line.

    Returns:
        a row per list and task: ``list, task, items, checks, real``.

    Raises:
        DataError: there is no dataset, nothing to draw, a review in the folder already, or no such sentences.
        UnknownNameError: no such config.
    """
    if (folder / FILE).exists():
        raise DataError("there is a review already", file=folder, hint="its answers need its key: take another folder")
    table = with_natural(project, DEFAULT)
    here = table["config"].unique().sort().to_list()
    for config in configs:
        if config not in here:
            raise unknown("config", config, here)
    chosen = table.filter(pl.col("config").is_in(list(configs) or here))
    if splits:
        chosen = chosen.filter(pl.col("split").is_in(list(splits)))
    key = sample(items_read(chosen), design, sentences(real) if real else ())
    write_lists(key, folder, kinds)
    (folder / ANSWERS).mkdir(exist_ok=True)
    write_key(key, folder)
    counts = key.group_by("list", "task").agg(
        items=(pl.col("kind") == "item").sum(), checks=(pl.col("kind") == "check").sum(), real=(pl.col("kind") == "real").sum()
    )
    return counts.sort("list", "task").to_dicts()


def sentences(path: Path) -> list[str]:
    """Attested sentences, one a line; empty lines and lines that begin with # are left out.

    Raises:
        DataError: a line is too long, or there is none.
    """
    hint = "a text file with one sentence a line"
    found = []
    for number, line in enumerate(read_text(path, hint).splitlines(), 1):
        text = " ".join(line.split())
        if len(text) > _LONGEST_REAL:
            raise DataError(f"a line of {len(text)} characters", file=path, line=number, hint=hint)
        if text and not text.startswith("#"):
            found.append(text)
    if not found:
        raise DataError("has no sentences", file=path, hint=hint)
    return found


def answers_of(folder: Path, files: Sequence[Path]) -> pl.DataFrame:
    """The answers in ``files``, or in the review's own folder of answers; see `read_answers`.

    Raises:
        DataError: there is no key or no answer, or the answers do not fit.
    """
    key = read_key(folder)
    own = folder / ANSWERS
    paths = list(files) or sorted(path for path in own.rglob("*") if path.is_file() and not path.name.startswith((".", "~")))
    answers = read_answers(paths, key)
    if not answers.height:
        raise DataError("there are no answers", file=own, hint=f"`cxgen review serve {folder}` collects them, or put filled lists there")
    return answers


def drop(report: Mapping[str, Any], path: Path, least: int) -> dict[str, int]:
    """Add the sets that readers refuse to a list of such sets.

    Args:
        report: from `score`.
        path: the list; what it has stays.
        least: readers of an item that it takes.

    Returns:
        ``added`` and ``there`` (already): contrast sets, those of writers (config natural) like the others.
    """
    there, found = read_dropped(path), refused(report["mend"], least)
    write_dropped({**found, **there}, path)
    return {"added": len(found.keys() - there.keys()), "there": len(found.keys() & there.keys())}


def record(answers: pl.DataFrame, report: Mapping[str, Any], path: Path, kind: str) -> int:
    """Write the answers of the readers who count as a reading (`cxgen report reading`), which the card tells.

    Args:
        answers: from `answers_of`.
        report: what `score` made of them.
        path: a CSV file in ``pipelines/readings``.
        kind: of the readers: human or model.

    Returns:
        the number of its rows: one per item and reader.
    """
    counting = [name for name, found in report["readers"].items() if found["counts"]]
    ours = answers.filter((pl.col("kind") == ITEM) & pl.col("reader").is_in(counting))
    said = {"relation": PAIR, "prem_nat": PREMISE, "hyp_nat": HYPOTHESIS}
    cells = [pl.col("answer").filter(pl.col("side") == side).first().alias(name) for name, side in said.items()]
    rows = ours.group_by(pl.col("item").alias("id"), "reader").agg(cells).with_columns(kind=pl.lit(kind)).sort("id", "reader")
    table = rows.select(*READING).with_columns(pl.col("reader").map_elements(as_text, return_dtype=pl.String))
    write_atomically(path, table.write_csv)
    return table.height
