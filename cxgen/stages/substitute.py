"""Stage ``substitute``: contrast sets of the finished dataset once more, with pseudowords."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.generate import SPLITS, TARGET, Wugs, wug_items
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.stages.audit import UNEQUAL
from cxgen.stages.generate import CANDIDATES
from cxgen.stages.params import Params
from cxgen.stages.split import COLUMNS, table_file
from cxgen.stages.tables import read_table, track, write_json, write_table

FOLDER = Path("outputs/wug")
CONFIG = "nli_wug"
METRICS = Path("outputs/metrics/wug.json")
_CELL = ["design", "split", "set_number", "kind", "rule"]


def run(project: Project, params: Params) -> dict[str, Any]:
    """Write ``outputs/wug/nli_wug/`` and ``outputs/metrics/wug.json``; return the metrics.

    The columns are those of ``nli``, and ``mode`` (which words are replaced) and ``source_id`` (the item with the real words). ``verb``
    and the lemmas of ``slots`` are pseudowords where a word is replaced; what was known of that word (sense, frequency) is null.

    Raises:
        DataError: the dataset is not that of the candidates, or what was made is not balanced.
    """
    lexicon, wugs = Lexicon.of(project), Wugs.load(project.snapshot)
    sources = _sources(project, params.wug.share)
    tables = [sources.clear().select(*COLUMNS, mode=pl.lit(""), source_id="id")]
    kept: dict[str, dict[str, Any]] = {}
    names: list[str] = sources["target"].unique().sort().to_list()
    for name in track(names, "substituting", len(names)):
        mine = sources.filter(pl.col("target") == name)
        construction = load_construction(project, name, lexicon)
        items = wug_items(construction, lexicon, params.request, wugs, params.wug.modes, mine.select("design", "split", "set_number"))
        if items.height:
            paired = mine.select(*_CELL, source_id="id", acceptability="acceptability")
            items = items.join(paired, on=_CELL, how="inner", maintain_order="left").select(tables[0].columns)
            tables.append(items)
        kept[name] = {mode: _kept(items, mode, mine.height) for mode in params.wug.modes}
    data = pl.concat(tables)
    report: dict[str, Any] = {"constructions": kept, "violations": violations(data, sources)}
    problems = [f"{what}: {count}" for what, count in report["violations"].items() if count]
    if problems:
        raise DataError(
            f"the pseudoword items are not sound: {'; '.join(problems)}", hint="run `dvc repro`: candidates and dataset may differ"
        )
    for split in SPLITS:
        write_table(data.filter(pl.col("split") == split), project.root / FOLDER / CONFIG / f"{split}-00000-of-00001.parquet")
    write_json(report, project.root / METRICS)
    return report


def _kept(items: pl.DataFrame, mode: str, of: int) -> dict[str, Any]:
    mine = items.filter(pl.col("mode") == mode) if items.height else items
    return {"items": mine.height, "of": of, "hypotheses": sorted(mine["rule"].unique()) if mine.height else []}


def _sources(project: Project, share: float) -> pl.DataFrame:
    """The items of the first ``share`` of the sets of each construction, design and split of ``nli``, with their ``set_number``."""
    candidates = read_table(project.root / CANDIDATES, ("id", "set_number"), "generate").select("id", "set_number")
    parts = [read_table(table_file(project, "nli", split), COLUMNS, "split") for split in SPLITS]
    items = pl.concat(parts).join(candidates, on="id", how="left", maintain_order="left").with_columns(target=TARGET)
    if items["set_number"].null_count():
        raise DataError("the dataset has items that are not among the candidates", file=project.root / CANDIDATES, hint="run `dvc repro`")
    keys = ["target", "design", "split"]
    rank, count = pl.col("set_number").rank("dense").over(keys), pl.col("set_number").n_unique().over(keys)
    return items.filter(rank <= (count * share).ceil())


def violations(data: pl.DataFrame, sources: pl.DataFrame) -> dict[str, int]:
    """How often each rule is broken.

    Args:
        data: the pseudoword items.
        sources: the items that they were made from, with ``set_number``.
    """
    originals = sources.select(source_id="id", source_split="split", source_premise="premise", source_verb="verb")
    pairs = data.join(originals, on="source_id", how="left")
    verbs = pairs.select("construction", "source_verb", "split").unique().group_by("construction", "source_verb").len()
    return {
        "hypothesis x split with unequal labels": int(data.group_by("mode", "hypothesis", "split").agg(bad=UNEQUAL)["bad"].sum()),
        "items without a source": pairs["source_premise"].null_count(),
        "items in another split than their source": pairs.filter(pl.col("split") != pl.col("source_split")).height,
        "premises without a pseudoword": pairs.filter(pl.col("premise") == pl.col("source_premise")).height,
        "source verbs in two splits": verbs.filter(pl.col("len") > 1).height,
        "repeated (premise, hypothesis)": data.height - data.select("premise", "hypothesis").unique().height,
        "repeated ids": data.height - data["id"].n_unique(),
    }
