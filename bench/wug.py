"""Pseudowords: how near they come to their sources, and how fast they are made.

    python bench/wug.py [--words 500]

Prints for 400 content words of the lexicon (nouns, verbs, adjectives in equal parts of every frequency band), ten outputs each, asked for
one by one: outputs of another length, of zipf 2 or more, the means of the largest absolute transition deviation (37 to 40, in four samples
of words; Wuggy's published: 42.5) and of the absolute OLD20 difference (0.27 to 0.29); and pseudowords per second of a process that starts,
reads the snapshot and makes ten for each of ``--words`` words (required: 600). Where the package `wuggy` (1.1) is installed, too: measures
of its `generate_classic` for ``--wuggy-words`` of these, at its own settings, over the same words in the same segments, and how many times
as fast these are.
"""

from __future__ import annotations

import argparse
import importlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402

from cxgen.lexicon import Lexicon  # noqa: E402
from cxgen.project import Project  # noqa: E402
from cxgen.pseudowords import load, pseudowords  # noqa: E402
from cxgen.pseudowords.lexicon import WugLexicon  # noqa: E402

WORDS, EACH = 400, 10
PLUGIN = """
from wuggy.plugins.baselanguageplugin import BaseLanguagePlugin
class Plugin(BaseLanguagePlugin):
    default_data = default_word_lexicon = default_neighbor_lexicon = default_lookup_lexicon = "words.txt"
    def transform(self, segments, frequency=1):
        return self.copy_onc(segments, frequency)
"""
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


def wuggy(lexicon: WugLexicon, words: list[str]) -> float:
    """Pseudowords per second of Wuggy's own package, its start included; prints their measures."""
    start = time.perf_counter()
    from wuggy import WuggyGenerator

    with tempfile.TemporaryDirectory() as folder:
        texts = (f"{form}\t{'-'.join(map(':'.join, batched(lexicon.segments(form))))}\t1" for form in lexicon.table["form"])
        (Path(folder) / "words.txt").write_text("\n".join(texts), "utf-8")
        (Path(folder) / "over_the_same_words.py").write_text(PLUGIN, "utf-8")
        sys.path.insert(0, folder)
        generator = WuggyGenerator()
        generator.load("same", importlib.import_module("over_the_same_words").Plugin())
    made = generator.generate_classic(words, ncandidates_per_sequence=EACH)
    rate = len(made) / (time.perf_counter() - start)
    for name, difference in (("max_deviation", "transition_frequencies"), ("old20_difference", "old20")):
        values = [one["difference_statistics"][difference] for one in made]
        most = [max(map(abs, value.values())) if isinstance(value, dict) else abs(value) for value in values]
        print(f"Wuggy, {len(made)} outputs: mean |{name}|:", round(sum(most) / len(most), 3))
    return rate


def batched(segments: Sequence[str]) -> list[Sequence[str]]:
    """Syllables of three segments."""
    return [segments[at : at + 3] for at in range(0, len(segments), 3)]


def main() -> None:
    """Measure everything and print it."""
    from wordfreq import zipf_frequency

    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--wuggy-words", type=int, default=20)
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
    rate = EACH * options.words / (time.perf_counter() - start)
    print("per second:", round(rate))
    if find_spec("wuggy"):
        theirs = wuggy(lexicon, words[: options.wuggy_words])
        print("Wuggy per second:", round(theirs, 1), "times as fast:", round(rate / theirs, 1))


if __name__ == "__main__":
    main()
