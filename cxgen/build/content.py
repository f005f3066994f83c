"""What a dataset says, as a hash that neither the parquet writer nor the number of shards changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from io import BytesIO

import polars as pl

_PART = 5_000  # rows of which the text is made at once
WRITTEN = "written"  # under which the metric of a stage that writes tables has their hashes


def rows_hash(table: pl.DataFrame) -> str:
    """SHA-256 of the logical rows: sorted by id, columns by name, one JSON object per line."""
    digest = hashlib.sha256()
    for part in table.select(sorted(table.columns)).sort("id").iter_slices(_PART):
        buffer = BytesIO()
        part.write_ndjson(buffer)
        digest.update(buffer.getbuffer())
    return digest.hexdigest()


def table_hashes(tables: Mapping[tuple[str, str], pl.DataFrame]) -> dict[str, str]:
    """``config/split`` -> the `rows_hash` of that table."""
    return {f"{config}/{split}": rows_hash(rows) for (config, split), rows in tables.items()}


def content_hash(hashes: Mapping[str, str]) -> str:
    """SHA-256 of the whole dataset, from ``config/split`` -> `rows_hash`."""
    return hashlib.sha256(json.dumps(dict(sorted(hashes.items()))).encode()).hexdigest()
