"""Word forms by slot and by the form that a pattern asks for, as tables to gather from."""

from __future__ import annotations

import numpy as np
import polars as pl

from cxgen.constructicon import Slot
from cxgen.lexicon import Lexicon
from cxgen.sets.plan import ABSENT, Plan, Rows
from cxgen.sets.pools import Pools

# By pronoun: he, she, singular they, it, plural they.
PRONOUNS = {
    "subj": ("he", "she", "they", "it", "they"),
    "obj": ("him", "her", "them", "it", "them"),
    "poss": ("his", "her", "their", "its", "their"),
    "refl": ("himself", "herself", "themself", "itself", "themselves"),
    "subj-was": ("he was", "she was", "they were", "it was", "they were"),
    "subj-had": ("he had", "she had", "they had", "it had", "they had"),
}
# By number of the noun phrase: singular, plural.
AGREEMENT = {
    "was": ("was", "were"),
    "is": ("is", "are"),
    "has": ("has", "have"),
    "does": ("does", "do"),
    "this": ("this", "these"),
}
_VERB = {"base": "lemma", "third": "third", "ing": "ing", "past": "past", "participle": "participle"}
_ADJECTIVE = {"": "lemma", "er": "comparative", "est": "superlative"}
_NOUN = ("", "a", "bare", "np", "poss-of")
DETERMINERS = ("the", "a", "bare", "plural")

FORMS: dict[str, tuple[str, ...]] = {
    "noun": (*_NOUN, *PRONOUNS, *AGREEMENT),
    "name": (*_NOUN, *PRONOUNS, *AGREEMENT),
    "verb": tuple(_VERB),
    "adjective": tuple(_ADJECTIVE),
    "adverb": ("",),
    "phrase": ("",),
}


class Forms:
    """Tables of forms over a lexicon, composed once and gathered from by row.

    Columns are expressions, so that a whole sentence is composed in one go.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._tables: dict[str, pl.Series] = {}

    def column(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> pl.Expr:
        """The ``form`` of what fills ``slot`` in the sets ``rows`` of ``plan``, wrapped as the slot says; empty where absent."""
        name = slot.name
        fillers = plan.fillers[name][rows]
        if form in PRONOUNS:
            return _choose(PRONOUNS[form], plan.pronoun[name][rows])
        if form in AGREEMENT:
            return _choose(AGREEMENT[form], plan.number[name][rows])
        if form == "np":
            codes = np.array([DETERMINERS.index(f.words.get("det", "the")) for f in pools.frames], dtype=np.int64)
            keys = fillers * len(DETERMINERS) + codes[plan.frame[rows]]
        else:
            keys = fillers * 2 + plan.number[name][rows]
        text = _pick(self._table(form), np.where(fillers == ABSENT, 0, keys))
        if slot.wrap != "{}":
            before, _, after = slot.wrap.partition("{}")
            text = pl.lit(before) + text + after
        if slot.optional:
            text = pl.when(pl.lit(pl.Series(fillers == ABSENT))).then(pl.lit("")).otherwise(text)
        return text

    def _table(self, form: str) -> pl.Series:
        """Two entries per lexeme (singular, plural), or one per determiner for ``np``."""
        if form not in self._tables:
            self._tables[form] = self._compose(form)
        return self._tables[form]

    def _compose(self, form: str) -> pl.Series:
        table = self.lexicon.table
        noun = pl.col("pos") == "noun"
        plural = pl.coalesce("plural", "lemma")
        if form in _VERB and form != "":
            one = many = pl.col(_VERB[form])
        elif form in ("er", "est"):
            one = many = pl.col(_ADJECTIVE[form])
        elif form == "a":
            one, many = pl.when(noun).then(pl.concat_str("article", pl.lit(" "), "lemma")).otherwise("lemma"), plural
        elif form == "bare":
            one, many = pl.col("lemma"), plural
        elif form == "np":
            return _interleave(
                table,
                [
                    pl.lit("the ") + pl.col("lemma"),
                    pl.concat_str("article", pl.lit(" "), "lemma"),
                    pl.col("lemma"),
                    plural,
                ],
            )
        elif form == "poss-of":
            of_plural = pl.when(plural.str.ends_with("s")).then(plural + "'").otherwise(plural + "'s")
            one, many = _definite(noun, pl.col("lemma")) + "'s", _definite(noun, of_plural)
        else:
            one, many = _definite(noun, pl.col("lemma")), _definite(noun, plural)
        return _interleave(table, [one, many])


def _definite(noun: pl.Expr, text: pl.Expr) -> pl.Expr:
    return pl.when(noun).then(pl.lit("the ") + text).otherwise(text)


def _interleave(table: pl.DataFrame, columns: list[pl.Expr]) -> pl.Series:
    wide = table.select(pl.concat_list([column.fill_null("").alias(str(n)) for n, column in enumerate(columns)]).alias("all"))
    return wide["all"].explode()


def _choose(words: tuple[str, ...], codes: Rows) -> pl.Expr:
    return _pick(pl.Series(words, dtype=pl.String), codes)


def _pick(table: pl.Series, rows: Rows) -> pl.Expr:
    return pl.lit(table).gather(pl.lit(pl.Series(rows)))
