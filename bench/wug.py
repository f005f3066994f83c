"""Pseudowords: how near they come to their sources, what they must never be, and how fast they are made.

    python bench/wug.py [--format json] [--words 5000]

Prints, from one run:

- for 400 content words of the lexicon (nouns, verbs, adjectives in equal parts of every frequency band), ten outputs each: failures; words
  of WordNet and forms of zipf 2 or more (asked of wordfreq itself); outputs with other numbers of letters or syllables; the mean of the
  largest absolute transition deviations and of the absolute OLD20 differences. Once with every word asked for by itself, as Wuggy does,
  once as one dataset, in which no form may occur twice;
- whether the same call gives the same in another process;
- pseudowords per second, start-up, reading and all statistics included, each time in a process of its own;
- how long `cxgen wug flower` takes;
- the same figures of the ``wuggy`` package, where it and its English data are installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402

from cxgen.lexicon import Lexicon  # noqa: E402
from cxgen.project import Project  # noqa: E402
from cxgen.pseudowords import load, pseudowords  # noqa: E402

WORDS, EACH = 400, 10
DEVIATION, OLD20, PER_SECOND, FIRST = 36.0, 0.24, 600.0, 3.0  # required: at most, at most, at least, seconds at most
WUGGY = {"max_deviation": 42.5, "old20_difference": 0.24}  # on its own lexicon of 66,330 words
TIMES = 3
SPEED = f"import sys; from cxgen.pseudowords import load, pseudowords; print(pseudowords(load(), sys.stdin.read().split(), {EACH}).height)"
DIGEST = "from bench.wug import digest; print(digest())"


def content_words(count: int) -> list[tuple[str, str]]:
    """Single-word nouns, verbs and adjectives of the lexicon with their parts of speech, equally many of each kind and band."""
    table = Lexicon.of(Project(ROOT)).table.filter(
        pl.col("pos").is_in(["noun", "verb", "adjective"]) & pl.col("lemma").str.contains("^[a-z]+$")
    )
    chance = random.Random(1)
    groups = [sorted(set(group["lemma"])) for _, group in sorted(table.group_by("pos", "band"))]
    kinds = [pos for (pos, _), _ in sorted(table.group_by("pos", "band"))]
    chosen = [(word, pos) for pos, group in zip(kinds, groups, strict=True) for word in chance.sample(group, count // len(groups) + 1)]
    chance.shuffle(chosen)
    return chosen[:count]


def quality(table: pl.DataFrame, failures: int) -> dict[str, Any]:
    """The figures of some outputs."""
    from wordfreq import zipf_frequency

    forms = table["pseudoword"].to_list()
    known = wordnet()
    figures = {
        "failures": failures,
        "outputs": table.height,
        "words of WordNet": sum(form in known for form in forms) if known else "not checked: WordNet is not installed",
        "zipf >= 2": sum(zipf_frequency(form, "en") >= 2 for form in forms),
        "other length": table.filter(pl.col("word").str.len_chars() != pl.col("pseudoword").str.len_chars()).height,
        "other syllables": table.filter(pl.col("segments").str.count_matches(".", literal=True) + 1 != pl.col("syllables")).height,
        "under a third changed": table.filter(pl.col("changed") < pl.col("syllables")).height,
        "zipf 0": round(float((table["zipf"] == 0).mean()), 3),
        "widened": dict(sorted(table["widened"].value_counts().iter_rows())),
    }
    for name, required in (("max_deviation", DEVIATION), ("old20_difference", OLD20)):
        mean = float(table[name].abs().mean())
        figures[f"mean |{name}|"] = round(mean, 3)
        figures[f"mean |{name}| / required"] = round(mean / required, 3)
        figures[f"mean |{name}| / Wuggy's published"] = round(mean / WUGGY[name], 3)
    return figures


def wordnet() -> set[str]:
    """All words of WordNet in lower case with their inflected forms; empty if it is not installed."""
    from cxgen.curate.wordnet import find_wordnet
    from cxgen.curate.wug import _wordnet

    return set.union(*_wordnet(ROOT / "lexicons")) if find_wordnet() else set()


def by_itself(words: list[tuple[str, str]]) -> tuple[pl.DataFrame, int]:
    """Ten outputs for every word asked for alone, and how many words have none."""
    lexicon, tables, failures = load(Project(ROOT)), [], 0
    for word, pos in words:
        try:
            tables.append(pseudowords(lexicon, [word], EACH, pos=pos))
        except Exception as error:
            print(f"{word}: {error}", file=sys.stderr)
            failures += 1
    return pl.concat(tables), failures


def as_one(words: list[tuple[str, str]]) -> pl.DataFrame:
    """Ten outputs for every word, none twice."""
    return pseudowords(load(Project(ROOT)), [word for word, _ in words], EACH, pos=[pos for _, pos in words])


def digest() -> str:
    """Of the 400 words' outputs."""
    return str(as_one(content_words(WORDS)).hash_rows(seed=0).sum())


def many(count: int) -> list[str]:
    """Words of the lexicon and, where these do not suffice, frequent words, some of them inflected."""
    table = Lexicon.of(Project(ROOT)).table.filter(pl.col("lemma").str.contains("^[a-z]+$"))
    own = sorted(set(table["lemma"]))
    words = random.Random(2).sample(own, min(count, len(own)))
    if len(words) < count:
        frequent = load(Project(ROOT)).table.filter(pl.col("zipf") >= 300)["form"].to_list()
        words += random.Random(3).sample(sorted(set(frequent) - set(own)), count - len(words))
    return words


def additions() -> float:
    """How long the machine takes for something simple: on a busy one all figures of speed are smaller."""
    start, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    return time.perf_counter() - start


def rates(counts: tuple[int, ...]) -> dict[str, Any]:
    """Pseudowords per second, of processes that start, read the snapshot, and make ten for each of some words."""
    found: dict[str, Any] = {"processes": 1, "threads for distances": os.cpu_count(), "times measured": TIMES}
    found["the machine: seconds for ten million additions in Python"] = round(min(additions() for _ in range(TIMES)), 2)
    start = time.perf_counter()
    _child("import sys; sys.argv = ['cxgen', 'wug', 'flower']; from cxgen.cli import main; main()")
    first = time.perf_counter() - start
    found["cxgen wug flower, seconds"] = round(first, 2)
    found["cxgen wug flower, seconds / required"] = round(first / FIRST, 3)
    for count in counts:
        words = "\n".join(many(count))
        taken = []
        for _ in range(TIMES):
            start = time.perf_counter()
            made = int(_child(SPEED, words))
            taken.append(made / (time.perf_counter() - start))
        for name, rate in (("median", statistics.median(taken)), ("best", max(taken))):
            found[f"{count} words x {EACH}, per second, {name}"] = round(rate)
            found[f"{count} words x {EACH}, per second, {name} / required"] = round(rate / PER_SECOND, 3)
    return found


def wuggy(words: list[str]) -> dict[str, Any] | str:
    """The same figures of the ``wuggy`` package, or why there are none."""
    try:
        from wuggy import WuggyGenerator
    except ImportError:
        return "skipped: the wuggy package is not installed"
    import wuggy as package

    if not (Path(package.__file__).parent / "plugins/language_data/orthographic_english").is_dir():
        return "skipped: wuggy's English data is not installed"
    generator = WuggyGenerator()
    generator.load("orthographic_english")
    known = [word for word in words if generator.lookup_reference_segments(word)]
    start = time.perf_counter()
    matches = generator.generate_classic(known, ncandidates_per_sequence=EACH, max_search_time_per_sequence=10)
    seconds = time.perf_counter() - start
    differences = [match["difference_statistics"] for match in matches]
    largest = [max(map(abs, difference["transition_frequencies"].values())) for difference in differences]
    return {
        "words": len(known),
        "outputs": len(matches),
        "mean |max_deviation|": sum(largest) / len(largest),
        "mean |old20_difference|": sum(abs(difference["old20"]) for difference in differences) / len(differences),
        "per second": len(matches) / seconds,
    }


def _child(code: str, given: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, input=given).stdout.strip()


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--words", type=int, default=5000, help="how many source words for the larger of the two timings")
    options = parser.parse_args()
    words = content_words(WORDS)
    parts: dict[str, Callable[[], Any]] = {
        "each word by itself": lambda: quality(*by_itself(words)),
        "one dataset": lambda: quality(as_one(words), 0),
        "the same in two processes": lambda: _child(DIGEST) == _child(DIGEST),
        "speed": lambda: rates((500, options.words)),
        "wuggy": lambda: wuggy([word for word, _ in words]),
    }
    report = {}
    for name, part in parts.items():
        report[name] = part()
        if options.format == "text":
            show(name, report[name])
    if options.format == "json":
        print(json.dumps(report))


def show(name: str, figures: Any) -> None:
    """Print one part."""
    if isinstance(figures, dict):
        print(f"{name}:")
        for key, value in figures.items():
            print(f"  {key}: {value}")
    else:
        print(f"{name}: {figures}")


if __name__ == "__main__":
    main()
