"""Do the words decide, or what is done with them? Counted within contrast sets, exactly.

``words_only``: a reader knows the open-class words of each premise, but not their order or construction, and answers best: per set,
hypothesis and bag of words the most frequent label. ``turn_rate``: the share of items for which another premise of the set has the same
words and another label for the same hypothesis.

A premise's words are all its tokens but those of ``CLOSED``, as lemmas: template text counts like fillers, since a give-away may stand
there. Lemmas are looked up without context, verbs first, so that forms of a word are one word (*swing, swung*); now and then two
words are one, too (*felt* is *feel*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import polars as pl

from cxgen.measures.fits import Map
from cxgen.measures.gates import Figures, Gates, shares
from cxgen.measures.registry import measure

TOKEN = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_FIXED = ("let alone",)  # closed-class words of several parts
_CLOSED = """
    a an the this that these those some any no every each either neither both all none
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself yourself himself herself itself
    ourselves yourselves themself themselves oneself who whom whose which what whoever whatever somebody someone something anybody anyone
    anything nobody nothing everybody everyone everything one ones there here
    be am is are was were been being have has had having do does did doing done can could may might must shall should will would ought
    not never n't cannot and or but nor if whether because since as than so though although while when whenever where until unless before
    after once of in into on onto to toward towards at by for from with without within off out up down over under across through
    throughout along around about against among between behind beside beyond below above near past during inside outside upon via per
    instead except like then too also only just even still yet again already ever more most less least very much many how why
    """
CLOSED = frozenset(_CLOSED.split())
_ORDER = ("VERB", "NOUN", "ADJ", "ADV", "PROPN", "AUX")
_GUESSED = ["config", "contrast_set", "hypothesis", "bag"]


def open_words(text: str) -> list[str]:
    """The lemmas of the open-class words of ``text``, sorted; one that occurs twice comes twice."""
    text = text.lower().replace("’", "'")
    for fixed in _FIXED:
        text = text.replace(fixed, " ")
    return sorted(base for token in TOKEN.findall(text) if (base := lemma(token)))


@cache
def lemma(token: str) -> str:
    """The lemma of an open-class word; empty for a closed-class one."""
    token = token.removesuffix("'s")
    if token in CLOSED or token.endswith("n't"):
        return ""
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(token)
    return next((lemmas[pos][0] for pos in _ORDER if pos in lemmas), token)


def bags(texts: Iterable[str]) -> pl.DataFrame:
    """``premise, bag`` (strings): the open-class words of each distinct text, joined by spaces."""
    distinct = list(dict.fromkeys(texts))
    return pl.DataFrame(
        {"premise": distinct, "bag": [" ".join(open_words(text)) for text in distinct]}, schema_overrides={"bag": pl.String}
    )


@measure("nli", Gates(config=0.50, construction=0.70))
def words_only(rows: pl.DataFrame, folds: int, run: Map) -> Figures:
    """the best guess from a premise's open-class words, within its contrast set."""
    most = pl.max_horizontal(*((pl.col("label") == label).sum().over(_GUESSED) for label in range(3)))
    return shares(_with_bags(rows).with_columns(best=most / pl.len().over(_GUESSED)), pl.col("best"))


@measure("nli", Gates(config=0.75, least=True), chance=0.0)
def turn_rate(rows: pl.DataFrame, folds: int, run: Map) -> Figures:
    """items for which another premise of the set has the same open-class words and another label for the same hypothesis."""
    return shares(_with_bags(rows).with_columns(turned=pl.col("label").n_unique().over(_GUESSED) > 1), pl.col("turned"))


def _with_bags(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.join(bags(rows["premise"]), on="premise", how="left", maintain_order="left")


@measure("nli", Gates(construction=1.0, least=True), chance=0.0)
def misparse(rows: pl.DataFrame, folds: int, run: Map) -> Figures | None:
    """of the look-alikes' items whose claim is decided by taking them for the target, those that this labels otherwise."""
    own = rows.filter((pl.col("config") == "distinction") & pl.col("misread")) if "misread" in rows.columns else rows.clear()
    return shares(own, pl.col("target_label").is_not_null()) if own.height else None
