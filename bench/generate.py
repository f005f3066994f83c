"""Ratios of our times to floors, from one run: python bench/generate.py

- start: `cxgen sample resultative --n 50` against `python -c "import polars"` (best of 7 each);
- generate: candidate items of all constructions against writing as many ready rows to parquet and back (best of 3 each);
- form: the form check of fresh premises, and of premises of shapes that are known, against the annotation of single sentences.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

from cxgen.constructicon import Construction, load_all
from cxgen.generate import Request, generate_items
from cxgen.judge import FormJudge
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.trees import Annotator, Chunks


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


def form(project: Project, constructions: Iterable[Construction], tables: Iterable[pl.DataFrame]) -> None:
    """Print the ratios of the form check."""
    chunks = Chunks.load(*project.chunk_files())
    premises = fresh = known = single = 0.0
    for construction, table in zip(constructions, tables, strict=True):
        mine = table.unique("premise_id", maintain_order=True)
        judge, annotator = FormJudge(construction, chunks), Annotator(construction, chunks)
        premises += mine.height
        fresh += best(lambda: judge.failures(mine), 1)  # noqa: B023
        known += best(lambda: judge.failures(mine), 3)  # noqa: B023
        some = mine.head(200)
        single += best(lambda: [annotator.sentence(item) for item in some.iter_rows(named=True)], 1) * mine.height / some.height  # noqa: B023
    told = f"fresh {premises / fresh:,.0f}/s, of known shapes {premises / known:,.0f}/s, trees one by one {premises / single:,.0f}/s"
    print(f"form      {premises:,.0f} premises: {told}: {single / known:.0f}x")


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
    form(project, constructions, tables)
    print(f"generate  {rows.height} items {ours:.2f} s ({rows.height / ours:,.0f}/s), parquet and back {floor:.2f} s: {ours / floor:.1f}x")


if __name__ == "__main__":
    main()
