"""``croissant.json``: a release as MLCommons Croissant 1.0 tells it (https://docs.mlcommons.org/croissant/docs/croissant-spec.html)."""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.build.params import Publish
from cxgen.publish.card import HOLDS
from cxgen.schema import Column
from cxgen.suites import columns_of
from cxgen.vocabulary import SPLITS

Node = dict[str, Any]
_OWN = """citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5
parentField path recordSet references regex repeated replace samplingRate separator source subField transform"""
_CONTEXT = {
    **{"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/"},
    **{"cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/", "conformsTo": "dct:conformsTo"},
    **{name: {"@id": f"cr:{name}", "@type": "@json"} for name in ("data", "examples")},
    **{"dataType": {"@id": "cr:dataType", "@type": "@vocab"}, **{name: f"cr:{name}" for name in _OWN.split()}},
}
_TYPES: Node = {"String": "sc:Text", "Boolean": "sc:Boolean", "Float64": "sc:Float"}  # all others are whole numbers
_PARQUET = "application/x-parquet"
_SPLIT = {"@type": "cr:Field", "@id": "splits/name", "dataType": "sc:Text"}
_SPLITS = {"@type": "cr:RecordSet", "@id": "splits", "dataType": "cr:Split", "key": {"@id": "splits/name"}, "field": [_SPLIT]}


def croissant(about: Publish, record: Node, configs: Collection[str], folder: Path) -> Node:
    """The description of the parquet files in ``folder``: configs with their columns."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": about.title,
        "description": f"What grammatical constructions mean: items for language models. Content hash {record['content_hash']}.",
        "license": about.licence,
        "citeAs": f"{', '.join(about.authors)}: {about.title}, version {record['version']}",
        "version": record["version"],
        "creator": [{"@type": "sc:Organization", "name": name} for name in about.authors],
        **({"url": f"https://huggingface.co/datasets/{record['repository']}"} if record["repository"] else {}),
        **({"datePublished": str(about.year)} if about.year else {}),
        "distribution": [node for config in configs for node in _files(config, folder)],
        "recordSet": [_SPLITS | {"data": [{"splits/name": split} for split in SPLITS]}, *map(_records, configs)],
    }


def _files(config: str, folder: Path) -> Iterator[Node]:
    yield {"@type": "cr:FileSet", "@id": f"files/{config}", "encodingFormat": _PARQUET, "includes": f"{config}/*.parquet"}
    for path in sorted((folder / config).glob("*.parquet")):
        name, digest = path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
        file = {"@type": "cr:FileObject", "@id": name, "contentUrl": name, "contentSize": f"{path.stat().st_size} B"}
        yield file | {"encodingFormat": _PARQUET, "sha256": digest}


def _records(config: str) -> Node:
    fields = [_field(config, column) for column in columns_of(config)]
    return {"@type": "cr:RecordSet", "@id": config, "description": HOLDS[config], "key": {"@id": f"{config}/id"}, "field": fields}


def _field(config: str, column: Column) -> Node:
    name, source = f"{config}/{column.name}", {"fileSet": {"@id": f"files/{config}"}, "extract": {"column": column.name}}
    field = {"@type": "cr:Field", "@id": name, "description": column.meaning}
    if isinstance(column.dtype, pl.List):
        inner: Any = column.dtype.inner
        parts = [{"@type": "cr:Field", "@id": f"{name}/{part.name}", "dataType": _type(part.dtype)} for part in inner.fields]
        paths = [{"source": source | {"transform": {"jsonPath": part.name}}} for part in inner.fields]
        return field | {"repeated": True, "subField": [part | path for part, path in zip(parts, paths, strict=True)]}
    references = {"references": {"field": {"@id": "splits/name"}}} if column.name == "split" else {}
    return field | {"dataType": _type(column.dtype), "source": source, **references}


def _type(dtype: Any) -> str:
    return str(_TYPES.get(str(dtype), "sc:Integer"))
