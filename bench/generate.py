"""Ratios of our times to floors, from one run: python bench/generate.py

- start: `cxgen sample resultative --n 50` against `python -c "import polars"` (best of 7 each);
- generate: candidate items of all constructions against writing as many ready rows to parquet and back (best of 3 each);
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from cxgen.build.items import generate_items
from cxgen.build.request import Request
from cxgen.constructicon import load_all
from cxgen.lexicon import Lexicon
from cxgen.project import Project


def best(run: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of ``times`` runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def process(*command: str) -> Callable[[], object]:
    """A process to time."""
    return lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)


def main() -> None:
    """Print the ratios."""
    floor = best(process("-c", "import polars"), 7)
    ours = best(process("-c", "import sys; sys.argv = 'cxgen sample resultative --n 50'.split(); from cxgen.cli import main; main()"), 7)
    print(f"start     cxgen sample {ours:.2f} s, import polars {floor:.2f} s: {ours / floor:.1f}x")

    project = Project.find()
    lexicon = Lexicon.of(project)
    constructions = load_all(project, lexicon).values()
    request = Request({"nli": 10_000})
    tables = [generate_items(construction, request) for construction in constructions]
    ours = best(lambda: [generate_items(construction, request) for construction in constructions], 3)
    rows = pl.concat(tables, how="diagonal")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        floor = best(lambda: (rows.write_parquet(path), pl.read_parquet(path)), 3)
    print(f"generate  {rows.height} items {ours:.2f} s ({rows.height / ours:,.0f}/s), parquet and back {floor:.2f} s: {ours / floor:.1f}x")


if __name__ == "__main__":
    main()
