"""The dataset card: YAML metadata that the Hub and ``datasets`` read, and prose that people read."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from polars.selectors import by_name

from cxgen import layout
from cxgen.build.params import Params
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError, needs
from cxgen.families import CONFIGS, DEFAULT, FAMILIES, NATURAL, REJECTED, family_of
from cxgen.lexicon import Lexicon
from cxgen.measures import measures
from cxgen.project import Project
from cxgen.report.variety import broken
from cxgen.schema import TARGET, Document, validate
from cxgen.suites import SUITES, columns_of
from cxgen.vocabulary import CONSTRUCTIONAL, LABELS, SPLITS

Tables = Mapping[tuple[str, str], pl.DataFrame]
Files = Mapping[tuple[str, str], list[tuple[str, int]]]  # (config, split) -> paths in the repository, with their bytes
Row = dict[str, Any]
_NAMES = "id premise_id construction contrast_of split verb frame hypothesis verb_role wording_held_out template_held_out"
_COUNTED = by_name(*_NAMES.split(), require_all=False)  # fillers left out: they are most of the memory
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M", 10_000_000: "1M<n<10M"}


def dataset_card(project: Project, params: Params, tables: Tables, files: Files, metrics: Row, record: Row) -> str:
    """The whole README.md; ``record``: what ``dataset_version.json`` says."""
    with needs("the card needs Jinja2", "publish"):
        from jinja2 import Environment, StrictUndefined, TemplateError
    accepted = {key: rows for key, rows in tables.items() if key[0] in CONFIGS}
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    environment.filters["yaml"] = lambda data: yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    environment.filters["thousands"] = lambda number: f"{number:,}" if isinstance(number, int) else number
    template = environment.from_string((resources.files(__package__) / "card.md.j2").read_text("utf-8"))
    constructions, stated = _counted(project, accepted)
    try:
        stated |= _described_tables(tables, files) | _stated(project, params, metrics)
        stated |= {"natural": _natural(metrics, tables), "identity": record}
        sections = list(_sections(tables, accepted, constructions, metrics))
        text = template.render(**stated, sections=[environment.from_string(text).render(stated | own) for text, own in sections])
    except (TemplateError, TypeError, ValueError, KeyError, ArithmeticError) as error:  # of figures: the text is the package's own
        message = f"the metrics do not hold what the card says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error
    head = text.split("---\n")[1]
    validate(Document(Path("README.md"), yaml.safe_load(head), head), "card")
    return text


def _described_tables(tables: Tables, files: Files) -> Row:
    """What stands in the card's YAML, and the columns of the families' tables."""
    configs = list(dict.fromkeys(config for config, _ in tables))
    default = DEFAULT if DEFAULT in configs else configs[0]
    paths: Row = {config: [] for config in configs}
    for config, split in tables:
        paths[config].append({"split": split, "path": [path for path, _ in files[config, split]]})
    columns = {column.name: column.meaning for config in configs if config not in SUITES for column in columns_of(config)}
    used = {name for rows in tables.values() for name in rows.columns}
    total = sum(rows.height for (config, _), rows in tables.items() if config != REJECTED)
    return {
        "size": next((name for limit, name in _SIZES.items() if total < limit), "n>10M"),
        "inference": any(config not in {REJECTED, *SUITES} and family_of(config) is FAMILIES[DEFAULT] for config in configs),
        "configs": configs,
        "sizes": [_size(config, split, own) for (config, split), own in tables.items()],
        "columns": {name: meaning for name, meaning in columns.items() if name in used},
        "files": [
            {"config_name": config, **({"default": True} if config == default else {}), "data_files": own} for config, own in paths.items()
        ],
        "infos": [_info(tables, files, config) for config in configs],
    }


def _info(tables: Tables, files: Files, config: str) -> Row:
    own = {split: rows for (name, split), rows in tables.items() if name == config}
    sizes = {split: _num_bytes(rows) for split, rows in own.items()}
    names = next(iter(own.values())).columns  # `rejected` need not have every family's
    return {
        "config_name": config,
        "features": [_feature(column.name, column.dtype, column.labels) for column in columns_of(config) if column.name in names],
        "splits": [{"name": split, "num_bytes": sizes[split], "num_examples": rows.height} for split, rows in own.items()],
        "download_size": sum(size for split in own for _, size in files[config, split]),
        "dataset_size": sum(sizes.values()),
    }


def _feature(name: str, dtype: Any, labels: bool = False) -> Row:
    """A column as the ``datasets`` library writes it into a card, so that label names survive without Python code."""
    if labels:
        return {"name": name, "dtype": {"class_label": {"names": {str(number): label for number, label in enumerate(LABELS)}}}}
    if isinstance(dtype, pl.List):
        inner: Any = dtype.inner
        return {"name": name, "list": [_feature(field.name, field.dtype) for field in inner.fields]}
    return {"name": name, "dtype": "bool" if dtype == pl.Boolean else str(dtype).lower()}


def _num_bytes(table: pl.DataFrame) -> int:
    """Bytes of ``table`` as Arrow with 32-bit offsets, as ``datasets`` keeps it."""
    with needs("the card needs pyarrow", "publish"):
        import pyarrow as pa

    def small(kind: Any) -> Any:
        if pa.types.is_large_string(kind):
            return pa.string()
        if pa.types.is_large_list(kind):
            return pa.list_(small(kind.value_type))
        return pa.struct([field.with_type(small(field.type)) for field in kind]) if pa.types.is_struct(kind) else kind

    arrow = table.to_arrow(compat_level=pl.CompatLevel.oldest())
    return int(arrow.cast(pa.schema([field.with_type(small(field.type)) for field in arrow.schema])).nbytes)


def _sections(tables: Tables, accepted: Tables, constructions: Sequence[Construction], metrics: Row) -> Iterator[tuple[str, Row]]:
    """The text of every family and suite that the dataset has, and what only that states."""
    for family in FAMILIES.values():
        if any(config in family.configs for config, _ in accepted):
            yield family.card, family.card_facts(constructions, accepted)
    for name, suite in SUITES.items():
        own = [rows for (config, _), rows in tables.items() if config == name]
        if own:
            _, lines = next(suite.shown(own[-1]))
            yield suite.card, {"suite": metrics["suites"]["suites"][name], "columns": suite.columns, "lines": lines}


def _stated(project: Project, params: Params, metrics: Row) -> Row:
    """What the card says of the metrics, the parameters and the project's files."""
    judgments = [path for path in (project.root / layout.JUDGMENTS,) if params.request.judged and path.is_file()]

    def file_hash(paths: Iterable[Path]) -> str:
        return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths)).hexdigest()

    sources = {"lexicon": project.lexicon_files(), "templates": project.template_files().values(), "judgments": judgments}
    families = metrics["balance"].values()
    balances = [entry for configs in families for config, own in configs.items() if config != "all" for entry in own.values()]
    holds = {config: text for family in FAMILIES.values() for config, text in family.configs.items()}
    judge = metrics.get("judge", {}) if params.request.judged else {}
    return {
        "about": params.publish,
        "parameters": params.text,
        "labels": LABELS,
        "holds": holds | {name: suite.holds for name, suite in SUITES.items()},
        "hashes": {name: file_hash(paths) if paths else "" for name, paths in sources.items()},
        "audit": metrics["splits"],
        **{name: metrics[name] for name in ("baselines", "reading", "variety")},
        **{name: judge.get(name, {}) for name in ("judges", "prompts", "agreement", "split")},
        "judged": judge.get("constructions", {}),
        "meanings": {name: measure["meaning"] for name, measure in measures().items()},
        "unkept": list(broken(metrics["variety"])),
        "balance": {what: sum(entry[what] for entry in balances) for what in ("sentences", "unequal")},
        "interval": _interval,
    }


def _interval(share: float, count: int) -> tuple[float, float]:
    """95% interval of a share (Wilson 1927, Probable inference, the law of succession, and statistical inference)."""
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, min(middle + half, 1.0)


def _natural(metrics: Row, tables: Tables) -> Row:
    """What writers wrote: who, how much, and how varied beside the templates' sentences; empty where there is nothing of it."""
    own = [rows for (config, _), rows in tables.items() if config == NATURAL]
    if not own:
        return {}
    spread = {name: entry["writers"] for name, entry in metrics["variety"].items() if "writers" in entry}
    first = own[0].filter(pl.col("contrast_set") == own[0]["contrast_set"][0])
    sets = sum(rows["contrast_set"].n_unique() for rows in own)
    return {**metrics["natural"], "spread": spread, "sets": sets, "example": first["premise"].unique(maintain_order=True).to_list()}


def _counted(project: Project, accepted: Tables) -> tuple[list[Construction], Row]:
    """The constructions of the families' own configs, and what the card says of these."""
    fillers = pl.concat(own.select("premise_id", "slots") for own in accepted.values()).unique("premise_id")["slots"]
    bands = fillers.explode().struct.field("band").drop_nulls().value_counts(normalize=True).sort("band")
    texts = [own.select(_COUNTED, premise=family_of(config).text, config=pl.lit(config)) for (config, _), own in accepted.items()]
    rows = pl.concat(texts, how="diagonal").with_columns(target=TARGET)
    lexicon = Lexicon.of(project)
    constructions = [load_construction(project, name, lexicon) for name in rows["target"].unique().sort()]
    train, test = (rows.filter(pl.col("split") == split) for split in ("train", "test"))
    described = [entry for construction in constructions for entry in _described(construction, train)]
    tested = {name: test.drop_nulls(name) for name in ("verb", "frame", "hypothesis") if name in train.columns}
    return constructions, {
        "total": rows.height,
        "constructicon": described,
        "sources": sorted({source for item in described for source in item["sources"]}),
        "constructional": _constructional(train),
        "recurrence": {name: own[name].is_in(train[name].unique().to_list()).sum() / max(own.height, 1) for name, own in tested.items()},
        "held_out": _held_out(test),
        "bands": dict(bands.iter_rows()),
        "verbs": [_verbs(own) for own in rows.sort("construction").partition_by("config", "construction")],
    }


def _size(config: str, split: str, rows: pl.DataFrame) -> Row:
    """Items, contrast sets, and how many carry each label of inference, where they have such."""
    labelled = any(column.name == "label" and column.labels for column in columns_of(config))
    labels = [rows.filter(pl.col("label") == label).height if labelled else "" for label in range(len(LABELS))]
    return {"config": config, "split": split, "items": rows.height, "sets": rows["contrast_set"].n_unique(), "labels": labels}


def _described(construction: Construction, train: pl.DataFrame) -> Iterator[Row]:
    """A construction, its look-alikes and opposites in the data: what it is to which, form, meaning, sources, a premise."""
    known = {str(document.data["name"]): document.data for document in construction.documents}
    others = train.filter(target=construction.name)["construction"].unique().sort()
    for name in dict.fromkeys((*known, *others)):
        data = known.get(name, {"form": "", "meaning": ""})
        yield {
            "name": name,
            "relation": "" if name == construction.name else f"{'looks like' if name in known else 'opposite of'} {construction.name}",
            "form": data["form"],
            "meaning": " ".join(str(data["meaning"]).split()),
            "sources": list(data.get("sources", ())),
            "example": _example(train.filter(construction=name)),
        }


def _example(rows: pl.DataFrame) -> str:
    """A typical premise: of median length, the first by id."""
    rows = rows.unique("premise_id", keep="first", maintain_order=True)
    length = pl.col("premise").str.len_chars()
    return str(rows.sort((length - length.median()).abs(), "id")["premise"][0]) if rows.height else ""


def _constructional(train: pl.DataFrame) -> Row:
    """Of the premises whose verb does not hold the construction's meaning: an example and its construction."""
    rows = train.filter(verb_role=CONSTRUCTIONAL)
    if not rows.height:
        return {"construction": "", "example": ""}
    name = rows["construction"].value_counts().sort("count", "construction", descending=[True, False])["construction"][0]
    return {"construction": name, "example": _example(rows.filter(construction=name))}


def _verbs(rows: pl.DataFrame) -> Row:
    """Of a construction in a config: items and verbs of each split, and the largest share that one verb has of the test items."""
    own = {split: rows.filter(split=split) for split in SPLITS}
    counts = own["test"]["verb"].value_counts()["count"]
    return {
        "config": rows["config"][0],
        "construction": rows["construction"][0],
        "items": {split: part.height for split, part in own.items()},
        "verbs": {split: part["verb"].n_unique() for split, part in own.items()},
        "largest": (counts.max() or 0) / max(counts.sum(), 1),  # type: ignore[operator]
    }


def _held_out(test: pl.DataFrame) -> dict[str, float]:
    """Shares of the test items (of families that have such a column) whose wording, or template, occurs in test only; above 0 only."""
    shares = {what: test[f"{what}_held_out"].mean() for what in ("wording", "template") if f"{what}_held_out" in test.columns}
    return {what: float(share) for what, share in shares.items() if share}  # type: ignore[arg-type]
