"""The pseudowords of the lexicon: one or more for every noun, verb and adjective, none used twice, all approved by readers."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

import polars as pl

from cxgen.generate.substitute import INVENTORY
from cxgen.project import write_atomically
from cxgen.schema import read_yaml
from cxgen.streams import order_key
from cxgen.vocabulary import INFLECTIONS as FORMS
from cxgen.vocabulary import MODES
from cxgen.wug import WugLexicon, article, inflect, load, pseudowords

VARIANTS = 2
CHOICE = 3  # looked at for each
_SOUND = (0, 3)  # values of ``widened``: all constraints kept, or the letters of segments moved
_WORD = re.compile(r"[a-z]+")
_SHORT, _LONG = 4, 9  # letters: there are too few pseudowords of three letters for all words of three, and long ones are hard to read


def build_inventory(folder: Path) -> dict[str, int]:
    """Build ``folder/snapshot/pseudowords.parquet`` from the rest of the snapshot and the words that readers refused.

    Returns:
        Counts: pseudowords.

    Raises:
        SchemaError: ``folder/wug.yaml`` is not as its schema says.
    """
    snapshot = folder / "snapshot"
    refused = frozenset(read_yaml(folder / "wug.yaml", "wug").data["refused"])
    table = inventory(pl.read_parquet(snapshot / "lexemes.parquet"), load(snapshot), refused)
    write_atomically(snapshot / INVENTORY, lambda path: table.write_parquet(path, compression="zstd", statistics=False))
    return {"pseudowords": table.height}


def inventory(lexemes: pl.DataFrame, lexicon: WugLexicon, refused: Set[str] = frozenset()) -> pl.DataFrame:
    """Pseudowords for every lexeme of an open class, up to ``VARIANTS`` for each.

    A phrase (*traffic light*) gets one word, modelled on its last; a very short or long word one that is modelled on another word of its
    part of speech. What readers refused is not made up for, which would give words that nobody has read: a lexeme without any takes one
    that another lexeme of its part of speech can spare.

    Args:
        lexemes: ``key, lemma, pos``, in the order in which they choose.
        lexicon: of the generator.
        refused: pseudowords that are left out.

    Returns:
        ``key`` (str), ``variant`` (i8, from 0), ``lemma, article`` and the inflected forms of its part of speech (str).
    """
    rows = lexemes.filter(pl.col("pos").is_in(MODES["content"])).select("key", "lemma", "pos")
    found: dict[str, list[str]] = {key: [] for key in rows["key"]}
    models, kinds = _models(rows), rows["pos"].to_list()
    taken: set[str] = set()
    for _ in range(VARIANTS):
        made = pseudowords(lexicon, models, CHOICE, pos=kinds, taken=taken)
        flaw = ~pl.col("widened").is_in(_SOUND)
        ranked = made.select("pseudoword", "rank", "zipf", number=pl.int_range(pl.len()) // CHOICE, flaw=flaw)
        chosen = ranked.sort("number", "flaw", "rank").unique("number", keep="first", maintain_order=True)
        unsound = chosen["flaw"] | (chosen["zipf"] > 0)
        for key, pos, word, bad in zip(rows["key"], kinds, chosen["pseudoword"], unsound, strict=True):
            taken.update((word, *inflect(word, pos).values()))
            if not bad and word not in refused:
                found[key].append(word)
    _share(found, dict(zip(rows["key"], kinds, strict=True)))
    table = [
        {"key": key, "variant": variant, "lemma": word, "article": article(word), **inflect(word, pos)}
        for key, pos in zip(rows["key"], kinds, strict=True)
        for variant, word in enumerate(found[key])
    ]
    schema = {"key": pl.String, "variant": pl.Int8, "lemma": pl.String, "article": pl.String, **dict.fromkeys(FORMS, pl.String)}
    return pl.DataFrame(table, schema=schema)


def _share(found: dict[str, list[str]], kinds: dict[str, str]) -> None:
    """Give every lexeme without pseudowords one of another of its part of speech, which has more than one."""
    spare: dict[str, list[str]] = {}
    for key in sorted(found, key=order_key):
        if len(found[key]) > 1:
            spare.setdefault(kinds[key], []).append(key)
    for key, words in found.items():
        if not words and spare.get(kinds[key]):
            words.append(found[spare[kinds[key]].pop()].pop())


def _models(rows: pl.DataFrame) -> list[str]:
    """The word that each lexeme's pseudowords imitate."""
    heads = [_WORD.findall(lemma.lower())[-1] for lemma in rows["lemma"]]
    fit: dict[str, list[str]] = {}
    for head, pos in zip(heads, rows["pos"], strict=True):
        if _SHORT < len(head) < _LONG:
            fit.setdefault(pos, []).append(head)
    models = []
    for key, head, pos in zip(rows["key"], heads, rows["pos"], strict=True):
        others = fit.get(pos, [])
        alike = _SHORT <= len(head) <= _LONG or not others
        models.append(head if alike else others[int.from_bytes(order_key(key), "big") % len(others)])
    return models
