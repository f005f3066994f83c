"""The pseudowords of lexemes: chosen once for each, whatever else is added later; no form stands for two."""

import re
from collections.abc import Set
from contextlib import suppress

import polars as pl

from cxgen.errors import CxgenError
from cxgen.lexicon.snapshot import WUG_SCHEMA
from cxgen.lexicon.words import article
from cxgen.pseudowords.generate import pseudowords
from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.spelling import inflect
from cxgen.streams import order_key
from cxgen.vocabulary import INFLECTIONS, MODES, Mode

VARIANTS = 2  # pseudowords for each lexeme, at most
_CHOICE = 6  # looked at for each lexeme
_SOUND = (0, 3)  # values of ``widened``: all constraints kept, or the letters of segments moved
_SHORT, _LONG = 4, 9  # letters: there are too few pseudowords of three letters for all words of three, and long ones are hard to read
_ANY = "gate"  # where there is no other word


def complete(lexemes: pl.DataFrame, inventory: pl.DataFrame, lexicon: WugLexicon, refused: Set[str] = frozenset()) -> pl.DataFrame:
    """The pseudowords of ``lexemes`` (``key, lemma, pos``), in their order, as `WUG_SCHEMA` has them: those of ``inventory``, and new ones.

    What a lexeme gets depends on the lexeme and on ``inventory``; on the other new lexemes only where two would get the same form. A phrase
    (*traffic light*) gets words modelled on its last; a very short or long word, or one that cannot be pronounced, words that are modelled
    on another of its part of speech, which ``inventory`` has: always that with the largest digest together with the key, so that one more
    changes the model of few. No new one has a form of ``refused``.
    """
    rows = lexemes.filter(pl.col("pos").is_in(MODES[Mode.content])).select("key", "lemma", "pos")
    lacking = rows.join(inventory, on="key", how="anti")
    models: dict[str, set[str]] = {}
    for lemma, pos in (rows.join(inventory, on="key", how="semi") if inventory.height else rows).select("lemma", "pos").iter_rows():
        if lacking.height and _SHORT < len(word := _head(lemma, lexicon)) < _LONG:
            models.setdefault(pos, set()).add(word)
    taken = {*refused, *inventory.select(pl.concat_list("lemma", *INFLECTIONS).explode().drop_nulls()).to_series()}
    made = []
    for key, lemma, pos in sorted(lacking.iter_rows(), key=lambda row: order_key(row[0])):
        model, others = _head(lemma, lexicon), models.get(pos, {_ANY})
        if not model or not (_SHORT <= len(model) <= _LONG or pos not in models):
            model = max(others, key=lambda other: order_key(key, other))
        for variant, word in enumerate(_coined(model, pos, taken, lexicon)):
            inflected = inflect(word, pos)
            taken.update((word, *inflected.values()))
            made.append({"key": key, "variant": variant, "lemma": word, "article": article(word), **inflected})
    table = pl.concat([inventory.select(list(WUG_SCHEMA)), pl.DataFrame(made, schema=WUG_SCHEMA)])
    return rows.select("key").join(table, on="key", how="inner", maintain_order="left_right").select(list(WUG_SCHEMA))


def _coined(model: str, pos: str, taken: set[str], lexicon: WugLexicon) -> list[str]:
    """New pseudowords without flaws, or the least flawed one."""
    made = pseudowords(lexicon, [model], _CHOICE, pos=pos, taken=taken)
    ranked = made.with_columns(flaws=(~pl.col("widened").is_in(_SOUND)).cast(int) + (pl.col("zipf") > 0)).sort("flaws", "rank")
    flawless = ranked.filter(pl.col("flaws") == 0).head(VARIANTS)
    return (flawless if flawless.height else ranked.head(1))["pseudoword"].to_list()


def _head(lemma: str, lexicon: WugLexicon) -> str:
    """The last word of a phrase; empty if there is none of the letters a to z, or it cannot be pronounced."""
    word = "".join(re.findall(r"[a-z]+", lemma.lower())[-1:])
    with suppress(CxgenError):
        return word if lexicon.segments(word) else ""
    return ""
