"""Stage ``substitute``: contrast sets of the finished dataset once more, with pseudowords."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.families import DEFAULT, columns_of, family_of, wug_config
from cxgen.generate import Wugs, wug_items
from cxgen.generate.substitute import changed_sets
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.publish.content import WRITTEN, table_hashes
from cxgen.schema import TARGET, conform, polars_schema
from cxgen.stages.contracts import read_candidates, read_split
from cxgen.stages.dataset import remake, require_dataset
from cxgen.stages.params import Params
from cxgen.stages.pool import executor
from cxgen.stages.split import table_file
from cxgen.tables import track, write_json, write_table
from cxgen.vocabulary import SPLITS

CONFIG = wug_config(DEFAULT)
_CELL = ["config", "design", "split", "set_number", "kind", "rule"]


@dataclass(frozen=True)
class _Order:
    """A construction to substitute in, wherever that may be; ``sources`` are its items, ``run`` as for `cxgen.stages.generate.Order`."""

    run: str
    project: Project
    params: Params
    name: str
    sources: pl.DataFrame


_LOADED: dict[str, tuple[Lexicon, Wugs]] = {}  # of the current run only


def run(project: Project, params: Params, workers: int | None = None) -> dict[str, Any]:
    """Write ``outputs/wug/nli_wug/`` and its metric; return the metric.

    The columns are those of ``nli``, and ``mode`` (which words are replaced) and ``source_id`` (the item with the real words). ``verb``
    and the lemmas of ``slots`` are pseudowords where a word is replaced; what was known of that word (sense, frequency) is null.

    Raises:
        DataError: the dataset is not that of the candidates, or what was made is not balanced.
    """
    sources, token = _sources(project, params.wug.share), secrets.token_hex(8)
    names: list[str] = sources["target"].unique().sort().to_list()
    orders = [_Order(token, project, params, name, sources.filter(pl.col("target") == name)) for name in names]
    try:
        with executor(workers or params.workers) as pool:
            made = list(track(pool.map(_substituted, orders), "substituting", len(orders)))
    finally:
        _LOADED.clear()
    kept = {
        order.name: {mode: _kept(items, mode, order.sources.height) for mode in params.wug.modes}
        for order, items in zip(orders, made, strict=True)
    }
    tables = [conform(items, columns_of(CONFIG)) for items in made if items.height]
    data = pl.concat(tables) if tables else pl.DataFrame(schema=polars_schema(columns_of(CONFIG)))
    report: dict[str, Any] = {"constructions": kept, "violations": violations(data, sources)}
    problems = [f"{what}: {count}" for what, count in report["violations"].items() if count]
    if problems:
        raise DataError(
            f"the pseudoword items are not sound: {'; '.join(problems)}",
            hint=f"{remake(project, ['split'])}: candidates and dataset may differ",
        )
    finished = {(CONFIG, split): data.filter(pl.col("split") == split) for split in SPLITS}
    for (_, split), rows in finished.items():
        write_table(rows, project.root / layout.table(CONFIG, split, layout.WUG))
    write_json({**report, WRITTEN: table_hashes(finished)}, project.root / layout.metric("wug"))
    return report


def _substituted(order: _Order) -> pl.DataFrame:
    """The items of the construction with pseudowords, and of the item that each comes from ``source_id`` and ``acceptability``."""
    if order.run not in _LOADED:
        _LOADED.clear()
        _LOADED[order.run] = Lexicon.of(order.project), Wugs.load(order.project.snapshot)
    lexicon, wugs = _LOADED[order.run]
    construction = load_construction(order.project, order.name, lexicon)
    chosen = order.sources.select("config", "design", "split", "set_number")
    items = wug_items(construction, order.params.request, wugs, order.params.wug.modes, chosen)
    items = changed_sets(items, order.sources)
    if not items.height:
        return items
    paired = order.sources.select(*_CELL, source_id="id", acceptability="acceptability")
    return items.join(paired, on=_CELL, how="inner", maintain_order="left")


def _kept(items: pl.DataFrame, mode: str, of: int) -> dict[str, Any]:
    mine = items.filter(pl.col("mode") == mode) if items.height else items
    return {"items": mine.height, "of": of, "hypotheses": sorted(mine["rule"].unique()) if mine.height else []}


def _sources(project: Project, share: float) -> pl.DataFrame:
    """The items of the first ``share`` of the sets of each construction, design and split of ``nli``, with their ``set_number``; none
    if the dataset has no ``nli``."""
    candidates = read_candidates(project).filter(pl.col("config") == DEFAULT).select("id", "set_number", "config")
    files = {split: table_file(project, DEFAULT, split) for split in SPLITS}
    if not any(file.is_file() for file in files.values()):
        require_dataset(project)  # one without `nli` has nothing to substitute in
        table = pl.DataFrame(schema=polars_schema(columns_of(DEFAULT)))
    else:
        table = pl.concat([read_split(file, DEFAULT, split) for split, file in files.items()])
    items = table.join(candidates, on="id", how="left", maintain_order="left").with_columns(target=TARGET)
    if items["set_number"].null_count():
        raise DataError(
            "the dataset has items that are not among the candidates",
            file=project.root / layout.CANDIDATES,
            hint=remake(project, ["judge", "split"]),
        )
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
    own = family_of(CONFIG).violations(data.with_columns(config="mode"))
    return {
        "hypothesis x split with unequal labels": own["hypothesis x split with unequal labels"],
        "items without a source": pairs["source_premise"].null_count(),
        "items in another split than their source": pairs.filter(pl.col("split") != pl.col("source_split")).height,
        "premises without a pseudoword": pairs.filter(pl.col("premise") == pl.col("source_premise")).height,
        "source verbs in two splits": verbs.filter(pl.col("len") > 1).height,
        "repeated (premise, hypothesis)": own["repeated (premise, hypothesis)"],
        "repeated ids": data.height - data["id"].n_unique(),
    }
