"""The pseudowords of the lexicon: one or more for every noun, verb and adjective, none used twice.

They are curated data, not output: readers approved those in the committed file. A build keeps them and makes new ones for lexemes that have
none, so that the file only grows. What readers refuse afterwards is listed in ``wug.yaml`` and left out; it is not made up for, which would
give words that nobody has read, unless nothing else is left for its lexeme.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cxgen.pseudowords import complete, load, refused
from cxgen.pseudowords.inventory import SCHEMA
from cxgen.sampling import INVENTORY
from cxgen.tables import write_parquet


def build_inventory(folder: Path) -> dict[str, int]:
    """Bring ``folder/snapshot/pseudowords.parquet`` up to date with the rest of the snapshot.

    Returns:
        Counts: pseudowords, and how many of them nobody has read yet.

    Raises:
        SchemaError: ``folder/wug.yaml`` is not as its schema says.
        DataError: the snapshot is missing or damaged.
    """
    snapshot = folder / "snapshot"
    path, known = snapshot / INVENTORY, load(snapshot)
    bad = refused(folder) | known.rare.keys()  # rare words come out of the search, too
    committed = pl.read_parquet(path) if path.is_file() else pl.DataFrame(schema=SCHEMA)
    kept = committed.filter(~pl.col("lemma").is_in(list(bad)))
    kept = kept.with_columns(variant=pl.int_range(pl.len()).over("key").cast(pl.Int8))
    table = complete(pl.read_parquet(snapshot / "lexemes.parquet"), kept, known, bad)
    write_parquet(table, path, compression="zstd", statistics=False)
    return {"pseudowords": table.height, "new pseudowords": table.join(committed, on="lemma", how="anti").height}
