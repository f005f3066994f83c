"""What a marked word is: its lemma, what the lexicon knows of it, its number, and how a hypothesis names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from cxgen.constructicon import Construction, Slot
from cxgen.lexicon import Lexicon
from cxgen.lexicon.words import SENSES, Reference
from cxgen.natural.sentences import DETERMINERS, POSSESSIVE, Unit
from cxgen.sampling import verb_pools
from cxgen.vocabulary import PRESETS, Role

_QUALITY = (Role.result, Role.property)
_INSIDE = frozenset(["of", "in", "on", "at", "with", "for", "from", "to", "by"])  # after these a noun phrase goes on without its head
_PLURAL = re.compile(
    "people|police|cattle|folks?|goggles|glasses|spectacles|binoculars|scissors|shears|pliers|tongs|tweezers|trousers|jeans|pants|overalls"
    "|pajamas|shorts|clothes"
)
_SINGULAR = frozenset({"news", "series", "species", "means"})
_IN_USE = 2.0  # zipf


@dataclass(frozen=True)
class Filler:
    """A slot's word.

    Attributes:
        slot, role: of the construction.
        text: as marked, without article.
        lemma: of its head, with what belongs to it.
        pos: noun, name, verb or adjective.
        sense: the lexicon's, if it has the word.
        zipf, percentile, band: how frequent it is.
        plural: whether a noun is.
        determiner: what stands before it, in lower case: an article, a possessive (*the baker's*), or nothing.
    """

    slot: str
    role: str
    text: str
    lemma: str
    pos: str
    sense: str | None
    zipf: float
    percentile: float
    band: str
    plural: bool = False
    determiner: str = ""

    def record(self) -> dict[str, Any]:
        """A struct of the column ``slots``."""
        names = ("slot", "role", "lemma", "sense", "zipf", "percentile", "band")
        return {name: getattr(self, name) for name in names}


class Fillers:
    """Looks words up: in the lexicon first, then in lemminflect's dictionary and wordfreq's lists.

    Args:
        construction: whose slots are filled; of several lemmas of a verb, one of its own is preferred.
    """

    def __init__(self, construction: Construction) -> None:
        self._construction = construction
        self._lexicon: Lexicon = construction.lexicon
        self._reference = Reference(self._lexicon.memory)
        self._verbs = frozenset().union(*verb_pools(construction, PRESETS[0]))
        table = self._lexicon.table.select("lemma", "pos", "plural", "third", "ing", "past", "participle")
        self._forms: dict[tuple[str, str], list[str]] = {}
        for lemma, pos, *forms in table.iter_rows():
            for form in {lemma, *(form for form in forms if form)}:
                self._forms.setdefault((form.lower(), pos), []).append(lemma)

    def filler(self, slot: Slot, text: str, sentences: Iterable[Sequence[Unit]]) -> Filler | None:
        """What ``text`` is in ``slot``, as it stands in ``sentences``; None for a word that nobody knows."""
        listed = list(sentences)
        if slot.role == Role.verb:
            return self._known(slot, text, "verb", self._verb(text))
        if slot.role in _QUALITY:
            return self._known(slot, text, "adjective", self._adjective(text))
        if _is_name(text, slot.name, listed):
            own = _determiner(slot.name, listed)
            return self._known(slot, text, "name", text, plural=own == "the" and text.endswith("s"), determiner=own)  # the Belgians
        lemma, plural = self._noun(text.lower())
        return self._known(slot, text, "noun", lemma, plural=plural, determiner=_determiner(slot.name, listed))

    def form(self, lemma: str, form: str) -> str:
        """An inflected form (``past``, ``ing`` ...) of a verb's lemma, of which the first word inflects."""
        from cxgen.lexicon.words import forms

        row = self._lexicon.first.get((lemma, "verb"))
        known = self._lexicon.row(row)[form] if row else None
        return str(known or forms(lemma, "verb", self._lexicon.overrides.get("verb", {}).get(lemma, {}), self._reference)[form])

    @cached_property
    def _wordnet(self) -> dict[tuple[str, str], str]:
        """Lemma and part of speech -> the first sense in WordNet, of far more words than scenes have."""
        if not self._lexicon.folders:
            return {}
        table = pl.read_parquet(self._lexicon.folders[0] / "snapshot" / SENSES).unique(["lemma", "pos"], keep="first", maintain_order=True)
        return {(lemma, pos): f"{lemma.replace(' ', '_')}%{sense}" for lemma, pos, sense in table.iter_rows()}

    def save(self) -> None:
        """Keep what was looked up."""
        self._reference.save()

    def _known(self, slot: Slot, text: str, pos: str, lemma: str, *, plural: bool = False, determiner: str = "") -> Filler | None:
        if not lemma:
            return None
        key = self._lexicon.first.get((lemma, pos))
        if key:
            row = self._lexicon.row(key)
            facts = (row["sense"], row["zipf"], row["percentile"], row["band"])
        else:
            zipf, _ = self._reference.frequency(lemma)
            cuts, sense = self._lexicon.cuts, self._wordnet.get((lemma.lower(), pos))
            facts = (sense, zipf, cuts.percentile(pos, zipf), cuts.band(pos, zipf))
        return Filler(slot.name, slot.role, text, lemma, pos, *facts, plural=plural, determiner=determiner)

    def _verb(self, text: str) -> str:
        head, _, rest = text.lower().partition(" ")
        lemmas = self._forms.get((text.lower(), "verb"), []) or [f"{word} {rest}".rstrip() for word in self._lemmas(head, "VERB", "verb")]
        return next((lemma for lemma in lemmas if lemma in self._verbs), lemmas[0] if lemmas else "")

    def _adjective(self, text: str) -> str:
        word = text.lower()
        head = word.rpartition(" ")[2]
        known = (word, "adjective") in self._forms or self._lemmas(head, "ADJ", "adjective") or self._lemmas(head, "VERB", "verb")
        return word if known else ""

    def _noun(self, word: str) -> tuple[str, bool]:
        """(lemma, plural); no lemma for an unknown word."""
        words = word.split()
        end = next((place for place, word in enumerate(words) if place and word in _INSIDE), len(words))
        before, head, after = words[: end - 1], words[end - 1], words[end:]
        whole = self._forms.get((" ".join([*before, head]), "noun"))
        lemma = whole[0].rpartition(" ")[2] if whole else next(iter(self._lemmas(head, "NOUN", "noun")), "")
        if not lemma and "-" in head:  # brother-in-law, T-shirt: the last part tells
            last = next(iter(self._lemmas(head.rpartition("-")[2], "NOUN", "noun")), "")
            lemma = f"{head.rpartition('-')[0]}-{last}" if last else ""
        if not lemma:  # tambourine, sandcastle: not in lemminflect's dictionary, but in WordNet, or in use
            from lemminflect import getAllLemmasOOV

            guess = head if (head, "noun") in self._wordnet else next(iter(getAllLemmasOOV(head, upos="NOUN").get("NOUN", ())), "")
            lemma = guess if (guess, "noun") in self._wordnet or self._reference.frequency(head)[0] >= _IN_USE else ""
        if not lemma:
            return "", False
        plural = (head != lemma.lower() or _PLURAL.fullmatch(head) is not None) and head not in _SINGULAR
        return " ".join([*before, lemma, *after]), plural

    def _lemmas(self, word: str, upos: str, pos: str) -> list[str]:
        from lemminflect import getAllLemmas

        return [*self._forms.get((word, pos), ()), *getAllLemmas(word, upos=upos).get(upos, ())]


def _is_name(text: str, slot: str, sentences: Sequence[Sequence[Unit]]) -> bool:
    """Whether every mention is written with a capital, one of them within a sentence; or alone at its start, where nothing tells.

    *Persian shawls* are no name: the last word decides.
    """
    if not text.rpartition(" ")[2][:1].isupper():
        return False
    mentions = [(place, unit) for units in sentences for place, unit in enumerate(units) if unit.slot == slot]
    if not all(unit.text[:1].isupper() for _, unit in mentions):
        return False
    inside = any(place for place, _ in mentions)
    return inside or not _common(text)


def _common(text: str) -> bool:
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(text.rsplit(maxsplit=1)[-1].lower(), upos="NOUN"))


def _determiner(slot: str, sentences: Sequence[Sequence[Unit]]) -> str:
    """What stands before a slot's words, adjectives of other slots passed over; of several, a possessive."""
    listed = [_before(units, place) for units in sentences for place, unit in enumerate(units) if unit.slot == slot]
    own = [text for text in listed if text in POSSESSIVE or text.endswith(("'s", "s'"))]
    return next(iter([*own, *(text for text in listed if text)]), "")


def _before(units: Sequence[Unit], place: int) -> str:
    while place > 0 and units[place - 1].slot:
        place -= 1
    word = units[place - 1].word if place > 0 else ""
    if word.endswith(("'s", "s'")):
        owner = units[place - 1].text
        first = units[place - 2].word if place > 1 and units[place - 2].word in DETERMINERS else ""
        return f"{first} {owner}".strip()
    return word if word in DETERMINERS else ""
