"""The pseudowords of lexemes: chosen once for each, whatever else is added later; no form stands for two."""

import re
from collections.abc import Set
from pathlib import Path

import polars as pl

from cxgen.errors import CxgenError
from cxgen.lexicon.words import article
from cxgen.pseudowords.generate import pseudowords
from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.spelling import inflect
from cxgen.schema import read_yaml
from cxgen.streams import order_key
from cxgen.vocabulary import INFLECTIONS, MODES, Mode

VARIANTS = 2  # pseudowords for each lexeme, at most
SCHEMA = {"key": pl.String, "variant": pl.Int8, "lemma": pl.String, "article": pl.String, **dict.fromkeys(INFLECTIONS, pl.String)}
_CHOICE = 6  # looked at for each lexeme
_SOUND = (0, 3)  # values of ``widened``: all constraints kept, or the letters of segments moved
_SHORT, _LONG = 4, 9  # letters: there are too few pseudowords of three letters for all words of three, and long ones are hard to read
_ANY = "gate"  # where there is no other word
_WORD = re.compile(r"[a-z]+")


def refused(lexicons: Path) -> frozenset[str]:
    """The pseudowords that readers took for words or misspellings or could not say, from ``lexicons/wug.yaml``."""
    return frozenset(read_yaml(lexicons / "wug.yaml", "wug").data["refused"])


def complete(lexemes: pl.DataFrame, inventory: pl.DataFrame, lexicon: WugLexicon, refused: Set[str] = frozenset()) -> pl.DataFrame:
    """The pseudowords of ``lexemes`` (``key, lemma, pos``), in their order, as `SCHEMA` has them: those of ``inventory``, and new ones.

    What a lexeme gets depends on the lexeme and on ``inventory``; on the other new lexemes only where two would get the same form. A phrase
    (*traffic light*) gets words modelled on its last; a very short or long word, or one that cannot be pronounced, words that are modelled
    on another of its part of speech, which ``inventory`` has. No new one has a form of ``refused``.
    """
    rows = lexemes.filter(pl.col("pos").is_in(MODES[Mode.content])).select("key", "lemma", "pos")
    lacking = rows.join(inventory, on="key", how="anti")
    models = _models(rows.join(inventory, on="key", how="semi") if inventory.height else rows, lexicon) if lacking.height else {}
    taken = {*refused, *inventory.select(pl.concat_list("lemma", *INFLECTIONS).explode().drop_nulls()).to_series()}
    made = []
    for key, lemma, pos in sorted(lacking.iter_rows(), key=lambda row: order_key(row[0])):
        for variant, word in enumerate(_coined(_model(key, lemma, models.get(pos, []), lexicon), pos, taken, lexicon)):
            inflected = inflect(word, pos)
            taken.update((word, *inflected.values()))
            made.append({"key": key, "variant": variant, "lemma": word, "article": article(word), **inflected})
    table = pl.concat([inventory.select(list(SCHEMA)), pl.DataFrame(made, schema=SCHEMA)])
    return rows.select("key").join(table, on="key", how="inner", maintain_order="left_right").select(list(SCHEMA))


def _coined(model: str, pos: str, taken: set[str], lexicon: WugLexicon) -> list[str]:
    """New pseudowords without flaws, or the least flawed one."""
    made = pseudowords(lexicon, [model], _CHOICE, pos=pos, taken=taken)
    ranked = made.with_columns(flaws=(~pl.col("widened").is_in(_SOUND)).cast(int) + (pl.col("zipf") > 0)).sort("flaws", "rank")
    sound = ranked.filter(pl.col("flaws") == 0)
    return (sound.head(VARIANTS) if sound.height else ranked.head(1))["pseudoword"].to_list()


def _models(rows: pl.DataFrame, lexicon: WugLexicon) -> dict[str, list[str]]:
    """Part of speech -> words of middling length, which others' pseudowords can be modelled on."""
    models: dict[str, set[str]] = {}
    for lemma, pos in rows.select("lemma", "pos").iter_rows():
        word = _head(lemma)
        if _SHORT < len(word) < _LONG and _pronounced(word, lexicon):
            models.setdefault(pos, set()).add(word)
    return {pos: sorted(words) for pos, words in models.items()}


def _model(key: str, lemma: str, others: list[str], lexicon: WugLexicon) -> str:
    """The word that a lexeme's pseudowords imitate.

    Of ``others`` always that with the largest digest together with the key: one that is added changes the model of few lexemes.
    """
    word = _head(lemma)
    if (_SHORT <= len(word) <= _LONG or not others) and _pronounced(word, lexicon):
        return word
    return max(others or [_ANY], key=lambda other: order_key(key, other))


def _head(lemma: str) -> str:
    """The last word of a phrase; empty if there is none of the letters a to z."""
    words: list[str] = _WORD.findall(lemma.lower())
    return words[-1] if words else ""


def _pronounced(word: str, lexicon: WugLexicon) -> bool:
    try:
        return bool(lexicon.segments(word))
    except CxgenError:
        return False
