"""Pseudowords: how near they come to their sources, and how fast they are made.

    python bench/wug.py [--words 500]

Prints for 400 content words of the lexicon (nouns, verbs, adjectives in equal parts of every frequency band), ten outputs each, asked for
one by one: outputs of another length, of zipf 2 or more, the means of the largest absolute transition deviation (required: 36; Wuggy's
published: 42.5) and of the absolute OLD20 difference (required: 0.24); and pseudowords per second of a process that starts, reads the
snapshot and makes ten for each of ``--words`` words (required: 600).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402

from cxgen.lexicon import Lexicon  # noqa: E402
from cxgen.project import Project  # noqa: E402
from cxgen.pseudowords import load, pseudowords  # noqa: E402

WORDS, EACH = 400, 10
SPEED = f"import sys; from cxgen.pseudowords import load, pseudowords; print(pseudowords(load(), sys.stdin.read().split(), {EACH}).height)"


def content_words(count: int) -> list[tuple[str, str]]:
    """Single-word nouns, verbs and adjectives of the lexicon with their parts of speech, equally many of each kind and band."""
    pos = pl.col("pos").is_in(["noun", "verb", "adjective"])
    table = Lexicon.of(Project(ROOT)).table.filter(pos & pl.col("lemma").str.contains("^[a-z]+$"))
    chance = random.Random(1)
    groups = [(str(kind), sorted(set(group["lemma"]))) for (kind, _), group in sorted(table.group_by("pos", "band"), key=lambda g: g[0])]
    chosen = [(word, kind) for kind, words in groups for word in chance.sample(words, count // len(groups) + 1)]
    chance.shuffle(chosen)
    return chosen[:count]


def main() -> None:
    """Measure everything and print it."""
    from wordfreq import zipf_frequency

    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=500)
    options = parser.parse_args()
    lexicon = load(Project(ROOT))
    table = pl.concat([pseudowords(lexicon, [word], EACH, pos=pos) for word, pos in content_words(WORDS)])
    print("outputs:", table.height)
    print("of another length:", table.filter(pl.col("word").str.len_chars() != pl.col("pseudoword").str.len_chars()).height)
    print("zipf 2 or more:", sum(zipf_frequency(form, "en") >= 2 for form in table["pseudoword"]))
    for name in ("max_deviation", "old20_difference"):
        print(f"mean |{name}|:", round(float(table[name].abs().mean()), 3))
    words = random.Random(2).sample(sorted(set(lexicon.table.filter(pl.col("zipf") >= 300)["form"])), options.words)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", SPEED], cwd=ROOT, input="\n".join(words), text=True, check=True, capture_output=True)
    print("per second:", round(EACH * options.words / (time.perf_counter() - start)))


if __name__ == "__main__":
    main()
