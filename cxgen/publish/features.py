"""Column types as the ``datasets`` library writes them into a card, so that label names survive without Python code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from cxgen.errors import needs
from cxgen.schema import Column
from cxgen.vocabulary import LABELS

_NAMES = {
    pl.String: "string",
    pl.Boolean: "bool",
    pl.Int8: "int8",
    pl.Int16: "int16",
    pl.Int32: "int32",
    pl.Int64: "int64",
    pl.UInt32: "uint32",
    pl.Float64: "float64",
}


def features(columns: Iterable[Column]) -> list[dict[str, Any]]:
    """``dataset_info.features`` of a table: label columns become a ClassLabel, everything else its Arrow type.

    Raises:
        TypeError: a column type that no table of a dataset has.
    """
    return [_feature(column.name, column.dtype, labels=column.labels) for column in columns]


def _feature(name: str, dtype: Any, *, labels: bool = False) -> dict[str, Any]:
    if labels:
        return {"name": name, "dtype": {"class_label": {"names": {str(number): label for number, label in enumerate(LABELS)}}}}
    if isinstance(dtype, pl.List):
        inner: Any = dtype.inner
        return {
            "name": name,
            "list": [_feature(field.name, field.dtype) for field in inner.fields] if inner == pl.Struct else _name(name, inner),
        }
    return {"name": name, "dtype": _name(name, dtype)}


def _name(column: str, dtype: Any) -> str:
    arrow = next((name for known, name in _NAMES.items() if dtype == known), None)
    if arrow is None:
        raise TypeError(f"column {column!r} has the type {dtype}, which a dataset card cannot state")
    return arrow


def num_bytes(table: pl.DataFrame) -> int:
    """Bytes of ``table`` as Arrow with 32-bit offsets, as ``datasets`` keeps it."""
    with needs("the card needs pyarrow", "publish"):
        import pyarrow as pa

    def small(kind: Any) -> Any:
        if pa.types.is_large_string(kind):
            return pa.string()
        if pa.types.is_large_list(kind):
            return pa.list_(small(kind.value_type))
        if pa.types.is_struct(kind):
            return pa.struct([field.with_type(small(field.type)) for field in kind])
        return kind

    arrow = table.to_arrow(compat_level=pl.CompatLevel.oldest())
    return int(arrow.cast(pa.schema([field.with_type(small(field.type)) for field in arrow.schema])).nbytes)
