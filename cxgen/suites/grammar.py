"""Grammar files (``templates/grammars/NAME.yaml``): rules, and the words that train and test may use, as languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.streams import order_key
from cxgen.suites.language import Language, tokens

SMALL, WIDE = "small", "wide"
PRESETS = (SMALL, WIDE)
SIDES = ("train", "test")
Words = dict[str, list[str]]


@dataclass(frozen=True)
class Grammar:
    """A grammar file.

    Attributes:
        document: the file.
        lexicon: for the second vocabulary.
    """

    document: Document
    lexicon: Lexicon

    @classmethod
    def load(cls, project: Project, name: str) -> Grammar:
        """The grammar ``name``.

        Raises:
            UnknownNameError: there is no such file.
            SchemaError: the file breaks its schema.
        """
        return cls(read_yaml(project.grammar_file(name), "grammar"), Lexicon.of(project))

    def symbol(self, role: str) -> str:
        """The symbol of ``instance``, ``reordered``, ``half`` or ``mixed``."""
        return str(self.document.data[role])

    @cached_property
    def closed(self) -> frozenset[str]:
        """The words that both sides may use, in small letters."""
        return frozenset(word.lower() for word in _listed(self.document.data["closed"]))

    def words(self, preset: str, side: str) -> Words:
        """Symbol -> words and phrases that ``side`` may use."""
        given = {symbol: _listed(each) for symbol, each in self.document.data["words"][side].items()}
        if preset == SMALL:
            return given
        drawn = {symbol: sides[side] for symbol, sides in self._drawn.items()}
        return {**given, **drawn, "ADV": sorted({*given["ADV"], *drawn["ADV"]})}

    @cached_property
    def _drawn(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Symbol -> side -> words of the lexicon."""
        raw = self.document.data["lexicon"]
        fixed = {side: {token for each in self.document.data["words"][side].values() for text in _listed(each) for token in tokens(text)}
                 for side in SIDES}  # fmt: skip
        found: dict[str, dict[str, list[str]]] = {}
        for symbol, asked in raw["slots"].items():
            words: Words = {side: [] for side in SIDES}
            for row in self.rows(asked["slot"], asked.get("lexfile", "")):
                word = str(row[asked["form"]])
                if row["lemma"] not in raw.get("leave_out", ()) and word not in self.closed:
                    known = next((side for side in SIDES if word in fixed[side]), "")
                    side = known or SIDES[order_key("side", word)[0] % 2]
                    words[side].append(word)
            found[symbol] = {side: sorted(set(each)) for side, each in words.items()}
        return found

    def rows(self, slot: str, lexfile: str = "") -> list[dict[str, object]]:
        """The lexemes that the construction's frames have in ``slot``; only those of a WordNet file, if one is named."""
        frames = self.lexicon.frames(self.document.data["construction"])
        keys = dict.fromkeys(key for frame in frames for key in frame.slots.get(slot, ()) if key in self.lexicon.index)
        rows = [self.lexicon.row(key) for key in keys]
        return [row for row in rows if not lexfile or row["lexfile"] == lexfile]

    def language(self, preset: str, side: str) -> Language:
        """What a preset can say on one side.

        Raises:
            DataError: see `Language`.
        """
        more = self.document.data["lexicon"]["rules"] if preset == WIDE else ""
        words = self.words(preset, side)
        if preset == WIDE:
            words.pop("NOUN", None)  # said by a rule there
        return Language(self.document.data["rules"] + "\n" + more, words, self.document)

    @cached_property
    def recogniser(self) -> Language:
        """Everything that is recognised: both sides of both presets, and what stands under ``recognised``."""
        data = self.document.data
        more = data.get("recognised", {"rules": "", "words": {}})
        presets = [preset for preset in PRESETS if preset == SMALL or "lexicon" in data]
        words: Words = {symbol: _listed(each) for symbol, each in more["words"].items()}
        for preset in presets:
            for side in SIDES:
                for symbol, each in self.words(preset, side).items():
                    words.setdefault(symbol, []).extend(each)
        rules = [data["rules"], more["rules"], data["lexicon"]["rules"] if WIDE in presets else ""]
        return Language("\n".join(rules), words, self.document)

    def _known(self, word: str) -> str:
        """A word, or one of its kind where it is not known."""
        if word.lower() in self.recogniser.vocabulary:
            return word
        ending = {"er": "ADV", "s": "NOUN"}
        symbol = "NUM" if word.isdigit() else next((kind for end, kind in ending.items() if word.endswith(end)), "VERB")
        return self.words(SMALL, SIDES[0])[symbol][0]

    def recognises(self, text: str, *, any_words: bool = False) -> str:
        """What a sentence is: ``instance``, ``reordered``, or empty.

        Args:
            text: the sentence.
            any_words: take words that are not known for what they look like: in -er adverbs, in -s nouns, digits numbers, all others verbs.
        """
        if any_words:
            text = " ".join(self._known(word) for word in tokens(text.rstrip(" .!")))
        return next((role for role in ("instance", "reordered") if self.recogniser.recognises(self.symbol(role), text)), "")


def _listed(raw: str | list[str]) -> list[str]:
    """A list as the file writes it: in YAML, or with commas between words."""
    return list(raw) if isinstance(raw, list) else [each.strip() for each in raw.split(",") if each.strip()]
