"""How broad a construction's premises are: shapes, verbs, places, results, and how large a share the commonest of each has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import polars as pl

from cxgen.vocabulary import Role

_PLACES = (Role.goal, Role.source)
_TOP = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIME = _words("yesterday today tonight last this that one two three four five every each late early then now soon")
_CLAUSE = _words("when while because as if although though since where whenever once so until unless")
_PREPOSITIONS = _words(
    "about above across after against along among around at before behind below beneath beside between beyond by despite down during for"
    " from in inside into like near of off on onto out outside over past round through throughout to toward towards under up upon with"
    " within without"
)
_DEGREE = _words("just right shortly long well only even almost nearly straight")
_WORD = re.compile(r"[\w'’-]+")


def breadth(rows: pl.DataFrame) -> dict[str, Any]:
    """Figures of the distinct premises of one construction.

    Args:
        rows: ``premise, template, verb, slots, split``.

    Returns:
        ``shapes`` (a template with a kind of opening and of closing phrase) and ``largest shape``; ``verbs``, ``verbs in test`` and
        ``top five verbs``; ``place pairs`` (goals and sources of one premise); ``results`` and ``largest result``; ``fillers``: role ->
        ``lemma`` and ``share`` of the commonest one. Shares are of the premises that have such a thing, 0 to 1; numbers are of different
        ones.
    """
    premises = rows.unique("premise", keep="first", maintain_order=True)
    fillers = premises.select("premise", "slots").explode("slots").unnest("slots")
    shapes = _shapes(premises).value_counts(sort=True)["count"]
    verbs = premises["verb"].value_counts(sort=True)["count"]
    pairs = fillers.filter(pl.col("role").is_in(_PLACES)).unique(["premise", "lemma"]).group_by("premise").agg(pl.col("lemma").sort())
    commonest = _commonest(fillers)
    results = fillers.filter(pl.col("role") == Role.result)
    return {
        "shapes": len(shapes),
        "largest shape": round(shapes[0] / premises.height, 4),
        "verbs": len(verbs),
        "verbs in test": rows.filter(pl.col("split") == "test")["verb"].n_unique(),
        "top five verbs": round(verbs[:_TOP].sum() / premises.height, 4),
        "place pairs": pairs.filter(pl.col("lemma").list.len() > 1)["lemma"].n_unique(),
        "results": results["lemma"].n_unique(),
        "largest result": commonest.get(Role.result.value, {"share": 0.0})["share"],
        "fillers": commonest,
    }


def _commonest(fillers: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Role -> the lemma that most of the premises with that role have, and their share."""
    counts = fillers.group_by("role", "lemma").agg(n=pl.col("premise").n_unique())
    wholes = fillers.group_by("role").agg(of=pl.col("premise").n_unique())
    first = counts.sort("n", "lemma", descending=[True, False]).unique("role", keep="first", maintain_order=True).join(wholes, on="role")
    return {role: {"lemma": lemma, "share": round(n / of, 4)} for role, lemma, n, of in first.sort("role").iter_rows()}


def _shapes(premises: pl.DataFrame) -> pl.Series:
    phrases = pl.col("slots").list.eval(pl.element().filter(pl.element().struct.field("role") == Role.modifier).struct.field("lemma"))
    rows = premises.select("template", "premise", phrases.alias("phrases")).iter_rows()
    return pl.Series([f"{template}/{opening(text, own)}/{closing(text, own)}" for template, text, own in rows])


def opening(premise: str, phrases: Iterable[str] = ()) -> str:
    """The kind of phrase that a premise begins with: none, PP, clause, adverb or time.

    Args:
        premise: the sentence.
        phrases: its adjuncts; what stands before the first comma counts, too, unless it is none of these kinds.
    """
    text = premise.lower()
    first = next((phrase for phrase in phrases if text.startswith(phrase.lower())), "")
    before, comma, _ = text.partition(",")
    return kind_of(first) if first else kind_of(before) if comma else "none"


def closing(premise: str, phrases: Iterable[str] = ()) -> str:
    """The kind of that one of ``phrases`` which a premise ends with: none, PP, clause, adverb or time."""
    text = premise.lower().rstrip(".?!")
    return kind_of(next((phrase for phrase in phrases if text.endswith(phrase.lower())), ""))


def kind_of(phrase: str) -> str:
    """The kind of a phrase, told from its first word: PP, clause, adverb or time; none of another one."""
    words = _WORD.findall(phrase.lower())
    word = next((word for word in words if word not in _DEGREE), "")
    for kind, known in (("time", _TIME), ("clause", _CLAUSE), ("PP", _PREPOSITIONS)):
        if word in known:
            return kind
    return "adverb" if len(words) <= 2 and word.endswith(("ly", "wards", "again", "twice")) else "none"
