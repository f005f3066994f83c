"""What a pseudoword may not be: a word, part of one's paradigm, a homophone, a misspelling, a compound, rude; or unlike a base form."""

from __future__ import annotations

import re

from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.segments import Segments
from cxgen.pseudowords.sound import sounds_like
from cxgen.pseudowords.spelling import inflect, skeleton

_INFLECTED = {
    "noun": re.compile(r"(?:(?<!s)s|ed|ing)$"),
    "verb": re.compile(r"(?:(?<!s)s|ed|ing)$"),
    "adjective": re.compile(r"(?:(?<!s)s|ed|ing|er|est|ly)$"),
}
_PREFIX = re.compile(
    r"^(?:anti|be|bi|co|counter|de|dis|em|en|fore|hyper|il|im|in|inter|ir|mid|mis|multi|non|out|over|post|pre|pro|re|sub|super|trans|tri|un|under|up)"
)
_SUFFIX = re.compile(
    r"(?:able|ably|age|al|ally|ance|ant|ary|ate|dom|ed|en|ence|ent|er|ers|ery|es|ess|est|ette|ful|fy|hood|ian|ible|ic|ical|ie|ies|ify|ing|ings"
    r"|ion|ish|ism|ist|ite|ity|ive|ize|less|let|like|ling|ly|man|ment|ness|or|ory|ous|s|ship|some|ster|th|tion|ward|wise|y)$"
)
_HARD = re.compile(  # what the chain allows but nobody can read
    r"(.)\1\1|([^aeioubdfglmnprstcz])\2|[aiu]{3}|ii|uu|[aeiouy]{4}|[^aeiouy]{6}|a[ae]|[aou]h[^aeiouy]|[jqv](?![aeiouy])|[jq]$|[aeiou]{2}x|uo[^iu]"
    r"|iy|yy|uy[^s]|^[xyz][^aeiou]|^[fdbg]j|^y[^aeiou]|[^aeiouynrl]x|x[bdfgjklmnrsvwxz]|thw[^aeiou]|[cgkp]th[wm]|w[hr]$|(?:..)(..)\3\3"
)


class Refusal:
    """Says whether a candidate will not do; what does not depend on the source is remembered for each candidate."""

    def __init__(self, lexicon: WugLexicon) -> None:
        self._lexicon = lexicon
        self._known: dict[str, bool] = {}

    def forms(self, base: str, pos: str | None) -> tuple[str, ...]:
        """The candidate and its inflected forms that are single words."""
        return (base, *dict.fromkeys(form for form in inflect(base, pos or "").values() if " " not in form))

    def wordlike(self, base: str, parts: Segments) -> bool:
        """Whether a reader would take ``base`` for a word, a misspelt word, or nothing that can be said."""
        known = self._known.get(base)
        if known is None:
            known = self._known[base] = (
                self._lexicon.rude.search(base) is not None
                or _HARD.search(base) is not None
                or skeleton(base) in self._lexicon.skeletons
                or self._derived(base)
                or sounds_like(parts, self._lexicon.readings, self._lexicon.sounds, self._lexicon.heads)
            )
        return known

    def ending(self, base: str, pos: str | None) -> str:
        """The ending by which ``base`` looks inflected (or, of an adjective, like an adverb), so that one would look for another base."""
        found = _INFLECTED[pos].search(base) if pos in _INFLECTED else None
        return found[0] if found else ""

    def is_word(self, *forms: str) -> bool:
        """Whether any of ``forms`` is a word, a name or the like."""
        return not self._lexicon.refused.isdisjoint(forms)

    def _derived(self, base: str) -> bool:
        """Whether ``base`` can be read as two words, or as a word with an affix."""
        common, stems = self._lexicon.common, self._lexicon.stems
        for at in range(3, len(base) - 2):
            if base[:at] in common and base[at:] in common:
                return True
        for match in (_PREFIX.match(base), _SUFFIX.search(base)):
            if match is not None:
                stem = base[: match.start()] + base[match.end() :]
                if stem in stems or (match.start() and (f"{stem}e" in stems or (stem[-2:-1] == stem[-1:] and stem[:-1] in stems))):
                    return True
        return False
