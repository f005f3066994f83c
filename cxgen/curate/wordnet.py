"""WordNet 3.0 through NLTK, from NLTK's data path or from a folder with the Princeton database files."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import CxgenError
from cxgen.lexicon.words import LEXNAMES

_SYSTEM = (Path("/usr/share/wordnet"), Path("/usr/local/WordNet-3.0/dict"), Path("/opt/homebrew/opt/wordnet/dict"))
_NUMBERS = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
_HINT = (
    "install WordNet 3.0 (Debian: wordnet-base and wordnet-sense-index; or nltk.download('wordnet')), "
    "or set CXGEN_WORDNET to its dict folder"
)


def find_wordnet() -> Path | None:
    """The folder with WordNet's database files, or None.

    ``CXGEN_WORDNET`` comes first, then NLTK's data path, then the usual system folders.
    """
    named = os.environ.get("CXGEN_WORDNET")
    if named:
        return Path(named) if (Path(named) / "index.sense").is_file() else None
    import nltk

    candidates = [Path(folder) / "corpora" / "wordnet" for folder in nltk.data.path]
    for folder in (*candidates, *_SYSTEM):
        if (folder / "index.sense").is_file() and (folder / "data.noun").is_file():
            return folder
    return None


@contextmanager
def open_wordnet() -> Iterator[Any]:
    """An NLTK ``WordNetCorpusReader``; takes about 6 s, so only curation calls it.

    Raises:
        CxgenError: WordNet is not installed.
    """
    source = find_wordnet()
    if source is None:
        raise CxgenError("WordNet's database is not installed", hint=_HINT)
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    # NLTK reads only below its data path and follows no links out of it: copy into a folder of our own.
    with tempfile.TemporaryDirectory(prefix="cxgen-wordnet-") as data:
        folder = Path(data) / "corpora" / "wordnet"
        folder.mkdir(parents=True)
        for path in sorted(source.iterdir()):
            if path.is_file() and path.name.split(".")[0] in {"index", "data", "noun", "verb", "adj", "adv", "cntlist"}:
                shutil.copyfile(path, folder / path.name)
        _write_lexnames(folder / "lexnames")
        nltk.data.path.insert(0, data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # no multilingual data: not needed
                yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        finally:
            nltk.data.path.remove(data)


def entries() -> Iterator[tuple[str, str]]:
    """Part of speech and spelling, capitals kept, of every word and phrase in every synset, straight from the database files.

    Raises:
        CxgenError: WordNet is not installed.
    """
    source = find_wordnet()
    if source is None:
        raise CxgenError("WordNet's database is not installed", hint=_HINT)
    for suffix, pos in (("noun", "noun"), ("verb", "verb"), ("adj", "adjective"), ("adv", "adverb")):
        for line in (source / f"data.{suffix}").read_text("utf-8").splitlines():
            if not line.startswith("  "):  # the licence
                fields = line.split(" ")
                yield from ((pos, word.partition("(")[0]) for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])


_POS = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}


def all_senses() -> pl.DataFrame:
    """Every sense of WordNet's: ``lemma`` (lower case), ``pos``, ``sense`` (what follows % in its key); those of a word in WordNet's
    order, the most frequent first.

    Raises:
        CxgenError: WordNet is not installed.
    """
    source = find_wordnet()
    if source is None:
        raise CxgenError("WordNet's database is not installed", hint=_HINT)
    rows = []
    for line in (source / "index.sense").read_text("utf-8").splitlines():
        key, _, number, _ = line.split(" ")
        lemma, _, sense = key.partition("%")
        rows.append((lemma.replace("_", " "), _POS[sense[0]], int(number), sense))
    table = pl.DataFrame(rows, schema=["lemma", "pos", "number", "sense"], orient="row")
    return table.sort("lemma", "pos", "number", "sense").drop("number")


def _write_lexnames(path: Path) -> None:
    rows = (f"{number:02d}\t{name}\t{_NUMBERS[name.split('.')[0]]}" for number, name in enumerate(LEXNAMES))
    path.write_text("\n".join(rows) + "\n", "utf-8")
