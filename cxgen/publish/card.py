"""The dataset card: YAML metadata that the Hub and ``datasets`` read, and a datasheet that people read. Every figure comes from a file."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from cxgen import layout
from cxgen.build.params import Params
from cxgen.build.tables import Tables
from cxgen.constructicon import Construction, load_construction
from cxgen.families import CONFIGS, DEFAULT, FAMILIES, NATURAL, REJECTED, family_of, wug_config
from cxgen.families.turns import NEEDED, NEEDS, cells, summed
from cxgen.lexicon import Lexicon
from cxgen.measures import measures
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.report import percent, rendered
from cxgen.report.variety import broken
from cxgen.schema import TARGET, Document, validate
from cxgen.suites import SUITES, columns_of
from cxgen.vocabulary import LABELS, SPLITS, VERB_ROLES

Row = dict[str, Any]
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M", 10_000_000: "1M<n<10M"}
HOLDS = {
    **{config: text for family in FAMILIES.values() for config, text in family.configs.items()},
    **{
        wug_config(config): f"sets of `{config}` with pseudowords for content words (`mode`); `source_id` is the original"
        for config in CONFIGS
    },
    **{name: suite.holds for name, suite in SUITES.items()},
    NATURAL: "contrast sets written round seed words, not filled into templates, with the claims of `nli`",
    REJECTED: "what judges and reviewers refused, with reasons",
}


def dataset_card(project: Project, params: Params, tables: Tables, metrics: Row, record: Row) -> str:
    """The whole README.md; ``record``: what ``dataset_version.json`` says."""
    text = rendered(
        "card",
        resources.files(__package__) / "card.md.j2",
        lambda: _facts(project, params, tables, metrics, record["content_hash"]) | {"identity": record, **_head(params, tables)},
        block=partial(_yaml, default_flow_style=None),
        flow=partial(_yaml, default_flow_style=True),
        cell=lambda text: " ".join(str(text).split()).replace("|", "\\|") or "-",
    )
    head = text.split("---\n")[1]
    validate(Document(Path("README.md"), yaml.safe_load(head), head), "card")
    return text


def _yaml(data: Row, **style: Any) -> str:
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=math.inf, **style)).strip()


def _head(params: Params, tables: Tables) -> Row:
    """What stands in the card's YAML: ``head`` and ``files``, config by config. Types and label names stand in the parquet files."""
    configs, total = list(dict.fromkeys(config for config, _ in tables)), _total(tables)
    inference = any(column.labels for config in configs for column in columns_of(config))
    head = {
        "pretty_name": params.publish.title,
        "language": ["en"],
        "license": params.publish.licence,
        "task_categories": ["text-classification"],
        **({"task_ids": ["natural-language-inference"]} if inference else {}),
        **{who: ["machine-generated"] for who in ("annotations_creators", "language_creators")},
        "multilinguality": ["monolingual"],
        "source_datasets": ["original"],
        "size_categories": [next((name for limit, name in _SIZES.items() if total < limit), "n>10M")],
        "tags": ["construction-grammar", "linguistics", *["nli"][: int(inference)], "diagnostic", "contrast-sets", "synthetic"],
    }
    files = []
    for config in configs:
        paths = [{"split": split, "path": f"{config}/{split}-*.parquet"} for name, split in tables if name == config]
        files.append({"config_name": config, **({"default": True} if config == configs[0] else {}), "data_files": paths})
    return {"head": head, "files": files, "inference": inference}


def _facts(project: Project, params: Params, tables: Tables, metrics: Row, content: str) -> Row:
    """What the card says of the tables, the metrics, the parameters and the constructions; figures of models are those of this ``content``
    (the hash of all rows)."""
    configs = list(dict.fromkeys(config for config, _ in tables))
    default = {split: rows for (config, split), rows in tables.items() if config == configs[0]}
    last, names = list(default)[-1], list(family_of(configs[0]).compared.values())
    premises, lexicon = _premises(tables), Lexicon.of(project)
    constructions = [load_construction(project, name, lexicon) for name in premises["target"].unique().sort()]
    return {
        "about": params.publish,
        "labels": LABELS,
        "default": configs[0],
        "total": _total(tables),
        "notice": (project.root / layout.NOTICE).exists(),
        "sizes": [_size(config, tables) for config in configs if config != REJECTED],
        "rejected": sum(rows.height for (config, _), rows in tables.items() if config == REJECTED),
        "example": _example(configs[0], next(iter(default.values()))),
        "load": {"split": last, "rows": default[last].height, "names": names, "first": [default[last][name][0] for name in names]},
        "constructicon": [_described(one, premises.filter(target=one.name)) for one in constructions],
        "forms": {one.name: one.form for one in constructions},
        "replicas": [config for config in configs if config in CONFIGS and not family_of(config).balanced],
        "sources": sorted({source for one in constructions for entry in one.documents for source in entry.data.get("sources", ())}),
        "needed": " ".join(NEEDED.split()),
        "turns": _turns(constructions, configs, pl.concat(own.select("verb_role", target=TARGET) for own in default.values())),
        "columns": {one.name: one.meaning for config in configs if config not in {REJECTED, *SUITES} for one in columns_of(config)},
        "tested": sorted(own["verbs"]["test"] for own in metrics["splits"]["constructions"].values()),
        "shared": sum(bool(own["verbs_shared"]) for own in metrics["splits"]["constructions"].values()),
        "broken": sum(count for own in metrics["splits"]["violations"].values() for count in own.values()),
        "judged": _judged(metrics["judge"], params.request.unjudged) if params.request.judged and "judge" in metrics else {},
        "natural": metrics["natural"] if NATURAL in configs else {},
        "reading": metrics["reading"],
        "giveaways": sorted(_giveaways(metrics), key=lambda line: configs.index(line[0]) if line[0] in configs else 0),
        "meanings": {name: one for name, one in measures().items() if any(name in own for own in metrics["baselines"].values())},
        "unkept": [f"{name} {fault}" for _, own in _families(metrics) for name, one in own.items() for fault in broken_gates(one)],
        "warned": list(broken(metrics["variety"])),
        "results": _results(metrics["results"]) if metrics.get("results", {}).get("content_hash") == content else {},
    }


def _total(tables: Tables) -> int:
    return sum(rows.height for (config, _), rows in tables.items() if config != REJECTED)


def _size(config: str, tables: Tables) -> Row:
    own = {split: rows for (name, split), rows in tables.items() if name == config}
    sizes = [own[split].height if split in own else "-" for split in SPLITS]
    sets = sum(rows["contrast_set"].n_unique() for rows in own.values())  # no two splits share one
    return {"config": config, "holds": HOLDS[config], "splits": sizes, "sets": sets}


def _example(config: str, rows: pl.DataFrame) -> Row:
    """A whole contrast set of ``rows``, of the smallest one of median length: its construction, and premises with (label, text)."""
    family = family_of(config)
    length = pl.col(family.text).str.len_chars().sum().over("contrast_set")
    size = pl.len().over("contrast_set")
    typical = rows.select("contrast_set", size=size, away=(length - length.median()).abs()).sort("size", "away", "contrast_set")
    own = rows.filter(contrast_set=typical["contrast_set"][0]).sort("premise_id", "id")
    premises = []
    for row, lines in family.shown(own):
        items = sorted(lines, key=lambda line: LABELS.index(line[0]) if line[0] in LABELS else 0)
        premises.append({"text": row[family.text], "construction": row["construction"], "items": items})
    return {"construction": own.select(TARGET).item(0, 0), "premises": premises}


def _premises(tables: Tables) -> pl.DataFrame:
    """``target, construction, premise`` of the families' premises: those of train where there are such."""
    texts = [
        rows.select("construction", "id", target=TARGET, premise=family_of(config).text, later=pl.lit(split != SPLITS[0]))
        for (config, split), rows in tables.items()
        if config in CONFIGS
    ]
    return pl.concat(texts).unique("premise", keep="first", maintain_order=True)


def _described(construction: Construction, premises: pl.DataFrame) -> Row:
    """A construction, what it is contrasted with, and a typical premise: of median length, the first by id, of train if possible."""
    own, length = premises.filter(construction=construction.name), pl.col("premise").str.len_chars()
    return {
        "name": construction.name,
        "form": construction.form,
        "meaning": construction.meaning,
        "others": ", ".join(premises.filter(pl.col("construction") != construction.name)["construction"].unique().sort()),
        "example": own.sort("later", (length - length.median()).abs(), "id")["premise"].head(1).str.join().item(),
    }


def _turns(constructions: Sequence[Construction], configs: Sequence[str], roles: pl.DataFrame) -> Row:
    """Of every construction: items of the first config by verb role, and of what is inference the shares of items that need it."""
    counts = {role: (pl.col("verb_role") == role).sum() for role in VERB_ROLES} | {"none": pl.col("verb_role").is_null().sum()}
    strata = roles.group_by("target").agg(**counts).rows_by_key("target", named=True, unique=True)
    inference, needs = FAMILIES[DEFAULT], dict[str, Any]()
    if set(configs) & set(inference.configs):
        needs = {one.name: summed(cells(one, inference), "config").rows_by_key("config", named=True, unique=True) for one in constructions}
    asked = [config for config in inference.configs if config in configs and needs]
    columns = [*VERB_ROLES, "none", *(f"{config}: {need}" for config in asked for need in NEEDS)]
    rows = {}
    for one in constructions:
        own = strata.get(one.name, {})
        shares = [needs[one.name].get(config, {}).get(need) for config in asked for need in NEEDS]
        rows[one.name] = [*(f"{own.get(role, 0):,}" for role in (*VERB_ROLES, "none")), *map(percent, shares)]
    return {"asked": asked, "columns": columns, "rows": rows}


def _judged(judge: Row, unheard: Collection[str]) -> Row:
    """Who judged the clauses, and how many of them they refused; the metric with sums over the constructions but for those ``unheard``."""
    own = [entry for name, entry in judge["constructions"].items() if name not in unheard]
    refused = [entry["refused"] / entry["clauses"] for entry in own if entry["clauses"]]
    sums = {what: sum(entry[what] for entry in own) for what in ("clauses", "refused", "unjudged")}
    return judge | sums | {"shares": refused, "unheard": sorted(unheard)}


def _families(metrics: Row) -> Iterator[tuple[list[str], Mapping[str, Row]]]:
    """Configs and measures, family by family and suite by suite."""
    suites = {name: suite["measures"] for name, suite in metrics.get("suites", {"suites": {}})["suites"].items()}
    for own in (*metrics["baselines"].values(), *suites.values()):
        yield sorted({config for one in own.values() for config in one["configs"]} - {"all"}), own


def _giveaways(metrics: Row) -> Iterator[tuple[str, str]]:
    """Every config, and what each measure finds in it (or in several configs together), and in the worst construction."""
    for configs, own in _families(metrics):
        for config in configs:
            texts = []
            for name, one in own.items():
                if parts := one["configs"].get(config) or one["configs"].get("all"):
                    figure = one.get("by_config", {}).get(config, one["overall"])
                    place = (min if one["gates"].get("least") else max)(parts, key=parts.__getitem__)
                    worst = "" if parts[place] == figure else f" ({_share(parts[place])} {place})"
                    texts.append(f"{name.replace('_', ' ')} {_share(figure)}{worst}")
            yield config, "; ".join(texts)


def _share(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else percent(figure)  # a whole number is a count


def _results(results: Row) -> Row:
    """What models got of whole configs: a row for each model and setting, a column for each config."""
    whole = [row for row in results["rows"] if row["part"] == "all"]
    chances = {row["config"]: row["chance"] for row in whole}
    rows: dict[tuple[str, ...], Row] = {}
    for row in whole:
        seeds = f", {row['seeds']} seeds" if row["seeds"] > 1 else ""
        span = "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"
        sets = "" if row["consistency"] is None else f", sets {percent(row['consistency'])}"
        told = f"{percent(row['accuracy'])}{span}{sets}, {row['items']:,} items"
        rows.setdefault((row["name"], row["setting"] + seeds, row["trained_on"]), {})[row["config"]] = told
    return {**results, "chances": chances, "rows": [[*about, *(own.get(config, "") for config in chances)] for about, own in rows.items()]}
