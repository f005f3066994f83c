"""The dataset card: YAML metadata that the Hub and ``datasets`` read, and prose that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from cxgen import layout
from cxgen.build.params import Params
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError, needs
from cxgen.families import CONFIGS, DEFAULT, FAMILIES, NATURAL, REJECTED, family_of
from cxgen.lexicon import Lexicon
from cxgen.measures import measures
from cxgen.project import Project
from cxgen.publish import facts
from cxgen.publish.features import features, num_bytes
from cxgen.schema import TARGET, Column, Document, validate
from cxgen.suites import SUITES, columns_of
from cxgen.vocabulary import LABELS

Files = Mapping[tuple[str, str], list[tuple[str, int]]]
_NLI = family_of(DEFAULT).name
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))


def card(
    project: Project, params: Params, tables: facts.Tables, files: Files, metrics: Mapping[str, Any], record: Mapping[str, Any]
) -> str:
    """The whole README.md.

    Args:
        project, params: whose dataset.
        tables: (config, split) -> rows.
        files: (config, split) -> paths in the repository, with their bytes.
        metrics: name -> content of ``outputs/metrics/NAME.json``.
        record: what ``dataset_version.json`` says.

    Raises:
        DataError: Jinja2 is not installed, or the metrics lack something that the card says.
        SchemaError: the metadata are not as the Hub wants them.
    """
    accepted = {key: rows for key, rows in tables.items() if key[0] in CONFIGS}
    metadata = card_metadata(tables, files, {"title": params.publish.title, "licence": params.publish.licence})
    lexicon = Lexicon.of(project)
    names = pl.concat([rows.select(TARGET.alias("target")) for rows in accepted.values()])["target"].unique().sort()
    constructions = [load_construction(project, name, lexicon) for name in names]
    stated = {
        **facts.stated(accepted, tables, constructions),
        **_measured(metrics),
        "natural": _natural(metrics, tables),
        "about": params.publish,
        "identity": record,
        "holds": {config: text for family in FAMILIES.values() for config, text in family.configs.items()}
        | {name: suite.holds for name, suite in SUITES.items()},
        "backend": params.backend,
        "hashes": _hashes(project, params),
        "parameters": params.text,
        "labels": LABELS,
    }
    return _rendered(metadata, stated, list(_sections(tables, accepted, constructions, metrics)))


def card_metadata(tables: facts.Tables, files: Files, about: Mapping[str, Any]) -> dict[str, Any]:
    """The card's YAML as a mapping; ``about``: ``title``, ``licence``."""
    configs = list(dict.fromkeys(config for config, _ in tables))
    inference = any(config not in {REJECTED, *SUITES} and family_of(config).name == _NLI for config in configs)
    total = sum(rows.height for (config, _), rows in tables.items() if config != REJECTED)
    tags = ["construction-grammar", "linguistics", "nli", "diagnostic", "contrast-sets", "template-generated", "synthetic"]
    default = DEFAULT if DEFAULT in configs else configs[0]
    return {
        "pretty_name": about["title"],
        "language": ["en"],
        "license": about["licence"],
        "task_categories": ["text-classification"],
        **({"task_ids": ["natural-language-inference"]} if inference else {}),
        "annotations_creators": ["machine-generated"],
        "language_creators": ["machine-generated"],
        "multilinguality": ["monolingual"],
        "source_datasets": ["original"],
        "size_categories": [next((name for limit, name in _SIZES if total < limit), "n>10M")],
        "tags": [tag for tag in tags if tag != "nli" or inference],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == default else {}),
                "data_files": [
                    {"split": split, "path": [path for path, _ in files[name, split]]} for name, split in tables if name == config
                ],
            }
            for config in configs
        ],
        "dataset_info": [_info(tables, files, config) for config in configs],
    }


def _info(tables: facts.Tables, files: Files, config: str) -> dict[str, Any]:
    own = {split: rows for (name, split), rows in tables.items() if name == config}
    sizes = {split: num_bytes(rows) for split, rows in own.items()}
    names = next(iter(own.values())).columns
    columns: list[Column] = [column for column in columns_of(config) if column.name in names]  # `rejected` need not have every family's
    return {
        "config_name": config,
        "features": features(columns),
        "splits": [{"name": split, "num_bytes": sizes[split], "num_examples": rows.height} for split, rows in own.items()],
        "download_size": sum(size for split in own for _, size in files[config, split]),
        "dataset_size": sum(sizes.values()),
    }


def _rendered(metadata: Mapping[str, Any], stated: Mapping[str, Any], sections: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    with needs("the card needs Jinja2", "publish"):
        from jinja2 import Environment, StrictUndefined, TemplateError
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    environment.filters["thousands"] = lambda number: f"{number:,}" if isinstance(number, int) else number
    template = environment.from_string((resources.files(__package__) / "card.md.j2").read_text("utf-8"))
    configs = [info["config_name"] for info in metadata["dataset_info"] if info["config_name"] not in SUITES]
    used = {feature["name"] for info in metadata["dataset_info"] for feature in info["features"]}
    columns = {column.name: column.meaning for config in configs for column in columns_of(config) if column.name in used}
    try:
        written = [environment.from_string(text).render(**stated, **own) for text, own in sections]
        prose = template.render(**stated, metadata=metadata, columns=columns, inference="task_ids" in metadata, sections=written)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:  # the text is the package's own, the figures come from files
        message = f"the metrics do not hold what the card says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error
    head = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=120)
    validate(Document(Path("README.md"), dict(metadata), head), "card")
    return f"---\n{head}---\n\n{prose}"


def _sections(
    tables: facts.Tables, accepted: facts.Tables, constructions: Sequence[Construction], metrics: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The text of every family and suite that the dataset has, and what only that states."""
    for family in FAMILIES.values():
        if any(config in family.configs for config, _ in accepted):
            yield family.card, family.card_facts(constructions, accepted)
    for name, suite in SUITES.items():
        own = [rows for (config, _), rows in tables.items() if config == name]
        if own:
            _, lines = next(suite.shown(own[-1]))
            yield suite.card, {"suite": metrics["suites"]["suites"][name], "columns": suite.columns, "lines": lines}


def _measured(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the card says of the metrics."""
    balances = [
        entry for family in metrics["balance"].values() for config, names in family.items() if config != "all" for entry in names.values()
    ]
    variety = metrics["variety"].values()
    models = metrics.get("models", {"judges": [], "prompts": {}, "agreement": {}})
    return {
        "audit": metrics["splits"],
        "baselines": metrics["baselines"],
        "meanings": {name: one["meaning"] for name, one in measures().items()},
        "reading": metrics["reading"],
        "judges": models["judges"],
        "prompts": models["prompts"],
        "agreement": models["agreement"],
        "balance": {what: sum(entry[what] for entry in balances) for what in ("sentences", "unequal")},
        "variety": {
            "least": min(entry["templates"] for entry in variety),
            "most": max(entry["templates"] for entry in variety),
            "largest": max(entry["largest template share"] for entry in variety),
            "breadth": {name: entry["breadth"] for name, entry in metrics["variety"].items()},
        }
        if variety
        else {},
        "interval": facts.interval,
    }


def _natural(metrics: Mapping[str, Any], tables: facts.Tables) -> dict[str, Any]:
    """What writers wrote: who, how much, and how varied beside the templates' sentences; empty where there is nothing of it."""
    own = [rows for (config, _), rows in tables.items() if config == NATURAL]
    if not own:
        return {}
    spread = {name: entry["writers"] for name, entry in metrics["variety"].items() if "writers" in entry}
    first = own[0].filter(pl.col("contrast_set") == own[0]["contrast_set"][0])
    sets = sum(rows["contrast_set"].n_unique() for rows in own)
    return {**metrics["natural"], "spread": spread, "sets": sets, "example": first["premise"].unique(maintain_order=True).to_list()}


def _hashes(project: Project, params: Params) -> dict[str, str]:
    judgments = project.root / layout.JUDGMENTS
    replayed = params.backend == "replay" and judgments.is_file()
    return {
        "lexicon": facts.file_hash(project.lexicon_files()),
        "templates": facts.file_hash(project.template_files().values()),
        "judgments": facts.file_hash([judgments]) if replayed else "",
    }
