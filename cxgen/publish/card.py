"""The dataset card: YAML metadata that the Hub and ``datasets`` read, and prose that people read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from cxgen.errors import DataError, needs
from cxgen.families import DEFAULT, REJECTED, family_of
from cxgen.layout import METRICS
from cxgen.publish.features import features, num_bytes
from cxgen.schema import Column, Document, validate
from cxgen.suites import SUITES, columns_of

_NLI = family_of(DEFAULT).name
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))


def card_metadata(
    tables: Mapping[tuple[str, str], pl.DataFrame], files: Mapping[tuple[str, str], list[tuple[str, int]]], about: Mapping[str, Any]
) -> dict[str, Any]:
    """The card's YAML as a mapping.

    Args:
        tables: (config, split) -> rows.
        files: (config, split) -> paths in the repository, with their bytes.
        about: ``title``, ``licence``.
    """
    configs = list(dict.fromkeys(config for config, _ in tables))
    inference = any(config not in {REJECTED, *SUITES} and family_of(config).name == _NLI for config in configs)
    total = sum(rows.height for (config, _), rows in tables.items() if config != REJECTED)
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
        "tags": [
            "construction-grammar",
            "linguistics",
            *(["nli"] if inference else []),
            "diagnostic",
            "contrast-sets",
            "template-generated",
            "synthetic",
        ],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == (DEFAULT if DEFAULT in configs else configs[0]) else {}),
                "data_files": [{"split": split, "path": [path for path, _ in files[config, split]]} for split in _splits(tables, config)],
            }
            for config in configs
        ],
        "dataset_info": [_info(tables, files, config) for config in configs],
    }


def _splits(tables: Mapping[tuple[str, str], pl.DataFrame], config: str) -> list[str]:
    return [split for name, split in tables if name == config]


def _info(
    tables: Mapping[tuple[str, str], pl.DataFrame], files: Mapping[tuple[str, str], list[tuple[str, int]]], config: str
) -> dict[str, Any]:
    splits = _splits(tables, config)
    each = {split: num_bytes(tables[config, split]) for split in splits}
    return {
        "config_name": config,
        "features": features(_columns(tables[config, splits[0]], config)),
        "splits": [{"name": split, "num_bytes": each[split], "num_examples": tables[config, split].height} for split in splits],
        "download_size": sum(size for split in splits for _, size in files[config, split]),
        "dataset_size": sum(each.values()),
    }


def _columns(table: pl.DataFrame, config: str) -> list[Column]:
    """The columns that ``table`` has; of `rejected` not every family's need be there."""
    return [column for column in columns_of(config) if column.name in table.columns]


def render_card(metadata: Mapping[str, Any], facts: Mapping[str, Any], sections: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """The whole README.md.

    Args:
        metadata: from `card_metadata`.
        facts: what the card states of all configs.
        sections: per family and suite its text and what only that states.

    Raises:
        DataError: Jinja2 is not installed, or the facts lack something that the card says.
        SchemaError: the metadata are not as the Hub wants them.
    """
    with needs("the card needs Jinja2", "publish"):
        from jinja2 import Environment, StrictUndefined, TemplateError
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    environment.filters["thousands"] = lambda number: f"{number:,}" if isinstance(number, int) else number
    template = environment.from_string((resources.files(__package__) / "card.md.j2").read_text("utf-8"))
    configs = [info["config_name"] for info in metadata["dataset_info"]]
    used = {feature["name"] for info in metadata["dataset_info"] for feature in info["features"]}
    columns = {
        column.name: column.meaning for config in configs for column in columns_of(config) if config not in SUITES and column.name in used
    }
    try:
        written = [environment.from_string(text).render(**facts, **own) for text, own in sections]
        prose = template.render(**facts, metadata=metadata, columns=columns, inference="task_ids" in metadata, sections=written)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:  # the text is the package's own, the figures come from files
        raise DataError(f"the metrics do not hold what the card says: {error}", file=METRICS, hint="make them anew: `dvc repro`") from error
    head = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=120)
    validate(Document(Path("README.md"), dict(metadata), head), "card")
    return f"---\n{head}---\n\n{prose}"
