"""Stage ``substitute``: contrast sets of the finished dataset once more, with pseudowords."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.families import DEFAULT, FAMILIES, columns_of, family_of, wug_config
from cxgen.generate import Wugs, wug_items
from cxgen.generate.substitute import paired, said_again
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

SOURCES = tuple(config for family in FAMILIES.values() for config in family.substituted)  # configs that are said again
CONFIG = wug_config(DEFAULT)


@dataclass(frozen=True)
class _Order:
    """A construction to substitute in, wherever that may be; ``sources``: config -> items, ``run`` as for `cxgen.stages.generate.Order`."""

    run: str
    project: Project
    params: Params
    name: str
    sources: dict[str, pl.DataFrame]


_LOADED: dict[str, tuple[Lexicon, Wugs]] = {}  # of the current run only


def run(project: Project, params: Params, workers: int | None = None) -> dict[str, Any]:
    """Write ``outputs/wug/nli_wug/`` and, if there are any, ``outputs/wug/minimal_pairs_wug/``, and their metric; return the metric.

    The columns are those of the config with real words, and ``mode`` (which words are replaced) and ``source_id`` (the item with the real
    words). ``verb`` and the lemmas of ``slots`` are pseudowords where a word is replaced; what was known of that word (sense, frequency)
    is null.

    Raises:
        DataError: the dataset is not that of the candidates, or what was made is not balanced.
    """
    made = _made(project, params, workers)
    report: dict[str, Any] = {"constructions": made[DEFAULT].kept, "pairs": {}, "violations": {}}
    finished: dict[tuple[str, str], pl.DataFrame] = {}
    for config, each in made.items():
        mark = "" if config == DEFAULT else f"{config}: "
        report["violations"] |= {mark + what: count for what, count in violations(each.data, each.sources, config).items()}
        if config != DEFAULT:
            report["pairs"] |= each.kept
        if config == DEFAULT or each.data.height:
            finished |= {(wug_config(config), split): each.data.filter(pl.col("split") == split) for split in SPLITS}
    problems = [f"{what}: {count}" for what, count in report["violations"].items() if count]
    if problems:
        raise DataError(
            f"the pseudoword items are not sound: {'; '.join(problems)}",
            hint=f"{remake(project, ['split'])}: candidates and dataset may differ",
        )
    for config, split in ((wug_config(config), split) for config in SOURCES for split in SPLITS):
        path = project.root / layout.table(config, split, layout.WUG)
        if (config, split) in finished:
            write_table(finished[config, split], path)
        else:
            path.unlink(missing_ok=True)  # of an earlier run
    write_json({**report, WRITTEN: table_hashes(finished)}, project.root / layout.metric("wug"))
    return report


@dataclass(frozen=True)
class _Made:
    """What was made of a config: the items, those that they come from, and the counts of construction and mode."""

    data: pl.DataFrame
    sources: pl.DataFrame
    kept: dict[str, dict[str, Any]]


def _made(project: Project, params: Params, workers: int | None) -> dict[str, _Made]:
    """What is made of each of ``SOURCES``."""
    token = secrets.token_hex(8)
    sources = {config: _sources(project, params.wug.share, config) for config in SOURCES}
    mine = {config: rows.partition_by("target", as_dict=True) for config, rows in sources.items()}
    names = sorted({str(name) for parts in mine.values() for (name,) in parts})
    orders = [
        _Order(token, project, params, name, {config: parts[name,] for config, parts in mine.items() if (name,) in parts}) for name in names
    ]
    try:
        with executor(workers or params.workers) as pool:
            made = list(track(pool.map(_substituted, orders), "substituting", len(orders)))
    finally:
        _LOADED.clear()
    found = {}
    for config in SOURCES:
        columns = columns_of(wug_config(config))
        both = [(order, items[config]) for order, items in zip(orders, made, strict=True) if config in items]
        tables = {order.name: conform(items, columns) if items.height else items for order, items in both}
        kept = {name: {mode: _kept(items, mode, mine[config][name,].height) for mode in params.wug.modes} for name, items in tables.items()}
        finished = [items for items in tables.values() if items.height]
        found[config] = _Made(pl.concat(finished) if finished else pl.DataFrame(schema=polars_schema(columns)), sources[config], kept)
    return found


def _substituted(order: _Order) -> dict[str, pl.DataFrame]:
    """Config -> the construction's items with pseudowords, and of the item that each comes from ``source_id`` and ``acceptability``."""
    if order.run not in _LOADED:
        _LOADED.clear()
        _LOADED[order.run] = Lexicon.of(order.project), Wugs.load(order.project.snapshot)
    lexicon, wugs = _LOADED[order.run]
    construction = load_construction(order.project, order.name, lexicon)
    chosen = pl.concat([rows.select("config", "design", "split", "set_number") for rows in order.sources.values()])
    items = wug_items(construction, order.params.request, wugs, order.params.wug.modes, chosen)
    mine = items.partition_by("config", as_dict=True) if items.height else {}
    return {config: paired(mine.get((config,), pl.DataFrame()), rows) for config, rows in order.sources.items()}


def _kept(items: pl.DataFrame, mode: str, of: int) -> dict[str, Any]:
    mine = items.filter(pl.col("mode") == mode) if items.height else items
    said = "rule" if "rule" in mine.columns else "claim_good"
    return {"items": mine.height, "of": of, "hypotheses": sorted(mine[said].unique()) if mine.height else []}


def _sources(project: Project, share: float, config: str = DEFAULT) -> pl.DataFrame:
    """The items of the first ``share`` of the sets of each construction, design and split of ``config``, with their ``set_number``; none
    if the dataset has no such config. Of minimal pairs, those about participants. The premise is called ``premise``.
    """
    candidates = read_candidates(project).filter(pl.col("config") == config).select("id", "set_number", "config")
    files = {split: table_file(project, config, split) for split in SPLITS}
    if not any(file.is_file() for file in files.values()):
        require_dataset(project)  # one without it has nothing to substitute in
        table = pl.DataFrame(schema=polars_schema(columns_of(config)))
    else:
        table = pl.concat([read_split(file, config, split) for split, file in files.items()])
    table = said_again(table)
    items = table.join(candidates, on="id", how="left", maintain_order="left").with_columns(target=TARGET, premise=family_of(config).text)
    if items["set_number"].null_count():
        raise DataError(
            "the dataset has items that are not among the candidates",
            file=project.root / layout.CANDIDATES,
            hint=remake(project, ["judge", "split"]),
        )
    keys = ["target", "design", "split"]
    rank, count = pl.col("set_number").rank("dense").over(keys), pl.col("set_number").n_unique().over(keys)
    return items.filter(rank <= (count * share).ceil())


def violations(data: pl.DataFrame, sources: pl.DataFrame, config: str = DEFAULT) -> dict[str, int]:
    """How often each rule is broken.

    Args:
        data: the pseudoword items.
        sources: the items that they were made from, with ``set_number``.
        config: that of the sources.
    """
    family = family_of(config)
    originals = sources.select(source_id="id", source_split="split", source_premise=family.text, source_verb="verb")
    pairs = data.join(originals, on="source_id", how="left")
    verbs = pairs.select("construction", "source_verb", "split").unique().group_by("construction", "source_verb").len()
    own = family.violations(data.with_columns(config="mode"))
    return {
        "items without a source": pairs["source_premise"].null_count(),
        "items in another split than their source": pairs.filter(pl.col("split") != pl.col("source_split")).height,
        "premises without a pseudoword": pairs.filter(pl.col(family.text) == pl.col("source_premise")).height,
        "source verbs in two splits": verbs.filter(pl.col("len") > 1).height,
        "repeated ids": data.height - data["id"].n_unique(),
        **{what: own[what] for what in family.survives},
    }
