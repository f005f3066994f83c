"""A writer's sentence and its marked words: where they stand, what they are, whether patterns are shown, how hypotheses name them."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from cxgen.constructicon import Construction, Part, Slot, parse_pattern
from cxgen.constructicon.model import ANYTHING
from cxgen.lexicon.words import Reference, forms, measure
from cxgen.sampling import verb_pools
from cxgen.sampling.ways import AGREEING, WORD_FORMS
from cxgen.trees.phrases import lemmas_of
from cxgen.vocabulary import PRESETS, Role

QUALITIES = (Role.result, Role.property)
_TOKEN = r"[^\W_]+(?:['’\-][^\W_]+)*['’]?(?=\W|$)|[^\s\w]"
_POSSESSIVE = ("my", "your", "his", "her", "its", "our", "their")
_DETERMINERS = frozenset([*_POSSESSIVE, "a", "an", "the", "this", "that", "these", "those", "some", "whose"])
_AGREEING = {  # words that agree with a slot count as one
    "<they>": "he she it they him her them his hers its their theirs",
    "<themselves>": "himself herself itself themselves themself",
    "<was>": "was were is are",
    "<have>": "has have",
    "<do>": "does do",
    "a": "an",
}
_SAME = {word: one for one, words in _AGREEING.items() for word in words.split()}
# Between two parts of a pattern stand at most eight units, none of them a slot or the end of a sentence; or anything.
_NEAR, _FAR = r"(?:(?![.;!?] |<)\S+ ){0,8}?", r"(?:\S+ )*?"
_INSIDE = ("of", "in", "on", "at", "with", "for", "from", "to", "by")  # after these a noun phrase goes on without its head
_PLURAL = re.compile(
    "people|police|cattle|folks?|goggles|glasses|spectacles|binoculars|scissors|shears|pliers|tongs|tweezers|trousers|jeans|pants|overalls"
    "|pajamas|shorts|clothes"
)
_SINGULAR = ("news", "series", "species", "means")
_OWNING = ("'s", "s'")
_IN_USE = 2.0  # zipf
Filler = dict[str, Any]  # slot, role, text (without article), lemma, pos, sense, zipf, percentile, band, plural, determiner


class Unit(NamedTuple):
    """A token, or the words of a slot; ``slot`` is empty for a token of none."""

    text: str
    slot: str = ""

    @property
    def word(self) -> str:
        """In lower case, with a straight apostrophe."""
        return self.text.lower().replace("’", "'")


def tokens(text: str) -> list[str]:
    """The words and punctuation marks of ``text``, in order; *don't* and *well-worn* are one word each."""
    return re.findall(_TOKEN, text)


def without_determiner(mark: str) -> str:
    """A marked text without the article or possessive that it begins with."""
    words = mark.split()
    while len(words) > 1 and words[0].lower() in _DETERMINERS:
        del words[0]
    return " ".join(words)


def units(sentence: str, marks: Mapping[str, str]) -> list[Unit]:
    """The tokens of ``sentence``, those that ``marks`` (slot -> text) name together as one unit of their slot; longer marks first."""
    listed = [Unit(token) for token in tokens(sentence)]
    words = [unit.word for unit in listed]
    for slot, mark in sorted(marks.items(), key=lambda pair: -len(tokens(pair[1]))):
        wanted = [Unit(token).word for token in tokens(mark)]
        for place in range(len(listed)):
            span = slice(place, place + len(wanted))
            if wanted and words[span] == wanted:
                listed[span] = [Unit(" ".join(unit.text for unit in listed[span]), slot)]
                words[span] = [f"<{slot}>"]
    return listed


def skeleton(sentence: Sequence[Unit], spoken_for: Collection[int] = ()) -> list[str]:
    """What of a sentence must be the same in all kinds: its words but those ``spoken_for``, slots as gaps without their articles."""
    return [
        "_" if unit.slot else _SAME.get(unit.word, unit.word)
        for place, (unit, after) in enumerate(zip(sentence, [*sentence[1:], Unit("")], strict=True))
        if place not in spoken_for and not (unit.word in _DETERMINERS and after.slot)
    ]


def pattern(parts: Sequence[Part], words: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """A regular expression for `matched`, and how messages show it; ``words``: frame word -> the ways to write it."""
    regex, shown, gap = "", [], _FAR
    for part in parts:
        if not part.slot:
            steps = [([[token.lower()]], "") for token in re.findall(rf"\.\.\.|{_TOKEN}", part.text)]
        elif part.form == "poss":
            steps = [([[word] for word in _POSSESSIVE], "his/her/their")]
        elif part.slot in words:
            steps = [([[token.lower() for token in tokens(way)] for way in words[part.slot]], "")]
        else:
            steps = [([[f"<{part.slot}>"]], f"<{part.slot}>")]
        for ways, name in steps:
            if ways == [[ANYTHING]]:
                gap = _FAR
                continue
            either = "|".join(re.escape("".join(f"{word} " for word in way)) for way in sorted(ways, key=len, reverse=True))
            regex += f"{gap}({'?:' if name else ''}{either})"  # words of the pattern's own are a group
            shown.append(name or "/".join(" ".join(way) for way in ways[:3]))
            gap = _NEAR
    return regex, " ".join(shown)


def matched(sentence: Sequence[Unit], regex: str) -> set[int] | None:
    """The places of the words of a `pattern` that ``sentence`` shows; None where it does not."""
    line = "".join(f"<{unit.slot}> " if unit.slot else f"{unit.word} " for unit in sentence)
    match = re.match(regex, line)
    return match and {place for start, end in match.regs[1:] for place in range(line.count(" ", 0, start), line.count(" ", 0, end))}


class Fillers:
    """Looks words up for a construction: in the lexicon first, then in lemminflect's dictionary and wordfreq's lists."""

    def __init__(self, construction: Construction) -> None:
        self._lexicon = construction.lexicon
        self._reference = Reference(self._lexicon.memory)
        self.save = self._reference.save
        self._senses = cache(lambda lemma: self._lexicon.senses([lemma]))
        self._verbs = frozenset().union(*verb_pools(construction, PRESETS[0]))
        self._forms: dict[tuple[str, str], list[str]] = {}
        names = ("lemma", "pos", "plural", "third", "ing", "past", "participle")
        for lemma, pos, *inflected in self._lexicon.table.select(names).iter_rows():
            for form in {lemma, *filter(None, inflected)}:
                self._forms.setdefault((form.lower(), pos), []).append(lemma)

    def filler(self, slot: Slot, text: str, sentences: Collection[Sequence[Unit]]) -> Filler | None:
        """What ``text`` is in ``slot``, as it stands in ``sentences``; None for a word that nobody knows."""
        pos, plural, determiner = "noun", False, ""
        if slot.role == Role.verb:
            pos, lemma = "verb", self._verb(text.lower())
        elif slot.role in QUALITIES:
            head = text.lower().rpartition(" ")[2]
            known = (text.lower(), "adjective") in self._forms or self._lemmas(head, "adjective") or self._lemmas(head, "verb")
            pos, lemma = "adjective", text.lower() if known else ""
        else:
            mentions = [(listed, place) for listed in sentences for place, unit in enumerate(listed) if unit.slot == slot.name]
            before = [word for listed, place in mentions if (word := _before(listed, place))]
            determiner = next(iter([*(word for word in before if word in _POSSESSIVE or word.endswith(_OWNING)), *before]), "")
            if _is_name(text, mentions):
                pos, lemma, plural = "name", text, determiner == "the" and text.endswith("s")  # the Belgians
            else:
                lemma, plural = self._noun(text.lower().split())
        own = {"slot": slot.name, "role": slot.role, "text": text, "lemma": lemma, "pos": pos, "plural": plural, "determiner": determiner}
        return own | self._facts(lemma, pos) if lemma else None

    def form(self, lemma: str, form: str) -> str:
        """An inflected form (``past``, ``ing`` ...) of a verb's lemma, of which the first word inflects."""
        return forms(lemma, "verb", self._lexicon.overrides.get("verb", {}).get(lemma, {}), self._reference)[form]

    def _facts(self, lemma: str, pos: str) -> dict[str, Any]:
        key = next(iter(self._lexicon.known(lemma, pos)), None)
        row = self._lexicon.row(key) if key else {"lemma": lemma, "pos": pos, "sense": self._sense(lemma, pos)}
        if not key:
            measure(row, self._lexicon.cuts, self._reference)
        return {name: row[name] for name in ("sense", "zipf", "percentile", "band")}

    def _verb(self, text: str) -> str:
        head, _, rest = text.partition(" ")
        known = self._forms.get((text, "verb")) or [f"{word} {rest}".rstrip() for word in self._lemmas(head, "verb")]
        return next((lemma for lemma in known if lemma in self._verbs), known[0] if known else "")

    def _noun(self, words: list[str]) -> tuple[str, bool]:
        """(lemma, plural); no lemma for an unknown word."""
        end = next((place for place, word in enumerate(words) if place and word in _INSIDE), len(words))
        before, head, after = words[: end - 1], words[end - 1], words[end:]
        whole = self._forms.get((" ".join([*before, head]), "noun"))
        lemma = whole[0].rpartition(" ")[2] if whole else self._head(head)
        plural = (head != lemma.lower() or _PLURAL.fullmatch(head) is not None) and head not in _SINGULAR
        return (" ".join([*before, lemma, *after]), plural) if lemma else ("", False)

    def _head(self, head: str) -> str:
        """The lemma of a noun, empty if it is none: *T-shirt* is one by its last part, *sandcastle* by WordNet, or since it is in use."""
        from lemminflect import getAllLemmasOOV

        first, _, last = head.rpartition("-")
        if known := self._lemmas(head, "noun"):
            return known[0]
        if first and (known := self._lemmas(last, "noun")):
            return f"{first}-{known[0]}"
        guess = head if self._sense(head, "noun") else next(iter(getAllLemmasOOV(head, upos="NOUN").get("NOUN", ())), "")
        return guess if self._sense(guess, "noun") or self._reference.frequency(head)[0] >= _IN_USE else ""

    def _sense(self, lemma: str, pos: str) -> str | None:
        """The first sense in WordNet, which has far more words than scenes have."""
        return next(iter(self._senses(lemma).get((lemma.lower(), pos), ())), None)

    def _lemmas(self, word: str, pos: str) -> list[str]:
        return [*self._forms.get((word, pos), ()), *lemmas_of(word).get({"noun": "NOUN", "verb": "VERB", "adjective": "ADJ"}[pos], ())]


def _is_name(text: str, mentions: Sequence[tuple[Sequence[Unit], int]]) -> bool:
    """Whether every mention has a capital, one of them within a sentence; or only at its start, and is no noun. *Persian shawls*: none."""
    last = text.rsplit(maxsplit=1)[-1]
    if not last[:1].isupper() or not all(listed[place].text[:1].isupper() for listed, place in mentions):
        return False
    return any(place for _, place in mentions) or "NOUN" not in lemmas_of(last.lower())


def _before(sentence: Sequence[Unit], place: int) -> str:
    while place > 0 and sentence[place - 1].slot:
        place -= 1
    article, owner = [Unit(""), Unit(""), *sentence][place : place + 2]
    if owner.word.endswith(_OWNING):
        return f"{article.word if article.word in _DETERMINERS else ''} {owner.text}".strip()
    return owner.word if owner.word in _DETERMINERS else ""


def say(wording: str, fillers: Mapping[str, Filler], words: Mapping[str, str], look_up: Fillers) -> str:
    """A hypothesis: a wording with ``fillers`` by slot, and ``words``, those of the writer's choice."""
    text = ""
    for part in parse_pattern(wording):
        text += part.text or (words[part.slot] if part.slot in words else _piece(part.form, fillers[part.slot], look_up))
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def _piece(form: str, filler: Filler, look_up: Fillers) -> str:
    own, pos, text = filler["determiner"], filler["pos"], filler["text"]
    if form in AGREEING:
        return WORD_FORMS[form].ways["noun"][filler["plural"]].word
    if pos == "verb":
        return str(filler["lemma"]) if form in {"", "base"} else look_up.form(filler["lemma"], form)
    if pos == "adjective" or form == "bare":
        return str(text)
    if own not in _POSSESSIVE and not own.endswith(_OWNING):
        if pos == "name":
            own = own if own in {"the", "a", "an"} else ""  # *so loudly that Ann woke*: no article
        elif form != "np":
            own = "the"  # one definite thing is meant
        elif own == "that" and filler["plural"]:
            own = ""
    return f"{own} {text}".lstrip()
