"""What two builds of the dataset have in common: `python bench/same.py OLD/outputs/hub NEW/outputs/hub`.

Prints a line per config: rows of each, rows (as sets of texts with label and split) in both, texts in both whose labels differ. With
`--exact`, exits with 1 unless every text, label and split is the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

PAIR = ["context", "sentence_good", "sentence_bad"]
TEXTS = {
    "minimal_pairs": PAIR,
    "cxmp": PAIR,
    "minimal_pairs_wug": [*PAIR, "mode"],
    "cc_syntax": ["sentence", "preset"],
    "cc_semantics": ["text", "context", "before", "after", "first", "second", "given", "then"],
}
NLI = ["construction", "premise", "hypothesis", "mode"]
LABELS = {"cc_semantics": "answer", **dict.fromkeys(("minimal_pairs", "cxmp", "minimal_pairs_wug"), "diagnostic_good")}


def rows(folder: Path) -> pl.DataFrame:
    """Texts, label, split and how often they occur."""
    table = pl.read_parquet(sorted(folder.glob("*.parquet")))
    texts = [name for name in TEXTS.get(folder.name, NLI) if name in table.columns]
    label = LABELS.get(folder.name, "label")
    text = pl.concat_str([pl.col(name).cast(pl.String).fill_null("") for name in texts], separator="\t")
    return (
        table.select(text=text, label=pl.col(label).cast(pl.String).fill_null(""), split=pl.col("split").cast(pl.String))
        .group_by(pl.all())
        .len()
    )


def compared(old: pl.DataFrame, new: pl.DataFrame) -> dict[str, int]:
    """Counts: rows of both, rows in common, texts in common, labels that differ among these."""
    labels = old.select("text", "label").unique().join(new.select("text", other="label").unique(), on="text")
    alike = labels.group_by("text").agg(same=pl.col("label").unique().sort() == pl.col("other").unique().sort())
    both = old.join(new, on=["text", "label", "split"], suffix="_new")
    return {
        "old": int(old["len"].sum()),
        "new": int(new["len"].sum()),
        "same": int(both.select(pl.min_horizontal("len", "len_new").sum()).item() or 0),
        "texts in both": alike.height,
        "labels differ": int((~alike["same"].list.all()).sum()) if alike.height else 0,
    }


def main() -> int:
    """Compare the folders named on the command line."""
    old, new = (Path(name) for name in sys.argv[1:3])
    wrong = False
    for folder in sorted(path for path in old.iterdir() if path.is_dir() and path.name != "rejected"):
        counts = compared(rows(folder), rows(new / folder.name))
        print(f"{folder.name:20}", "  ".join(f"{name} {count}" for name, count in counts.items()))
        wrong = wrong or len({counts["old"], counts["new"], counts["same"]}) > 1
    return int(wrong and "--exact" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
