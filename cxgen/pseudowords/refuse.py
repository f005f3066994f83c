"""What a pseudoword may not be: a word, part of one's paradigm, a homophone, a misspelling, a compound, rude; or unlike a base form.

Homophones: a form is read as consonants and nuclei in turn. The coda of one syllable and the onset of the next are one cluster, so that
spelled and spoken boundaries need not agree; a nucleus is read by the coda that follows and by its place. Sounds are one character each.
"""

import re
from itertools import chain, product

from cxgen.pseudowords.lexicon import HEAD, WugLexicon
from cxgen.pseudowords.spelling import Segments, inflect, skeleton

_INFLECTED = {
    **dict.fromkeys(("noun", "verb"), re.compile(r"(?:(?<!s)s|ed|ing)$")),
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
    r"|iy|yy|uy[^s]|^[xyz][^aeiou]|^[fdbg]j|^[bdgkpt]{2}|^y[^aeiou]|[^aeiouynrl]x|x[bdfgjklmnrsvwxz]|thw[^aeiou]|[cgkp]th[wm]|w[hr]$|(?:..)(..)\3\3"
)
_IMPROBABLE = 0.03  # a pronunciation less probable than this, relative to the likeliest, is not considered
_MOST = 64  # pronunciations considered


def forms(base: str, pos: str | None) -> tuple[str, ...]:
    """The candidate and its inflected forms that are single words."""
    return (base, *dict.fromkeys(form for form in inflect(base, pos or "").values() if " " not in form))


def ending(base: str, pos: str | None) -> str:
    """The ending by which ``base`` looks inflected (or, of an adjective, like an adverb), so that one would look for another base."""
    match = _INFLECTED[pos].search(base) if pos in _INFLECTED else None
    return match[0] if match else ""


def wordlike(lexicon: WugLexicon, base: str, parts: Segments) -> bool:
    """Whether a reader would take ``base`` for a word, a misspelt word, or nothing that can be said."""
    if lexicon.rude.search(base) or _HARD.search(base) or skeleton(base) in lexicon.skeletons:
        return True
    return _derived(lexicon, base) or _sounds_real(lexicon, parts)


def _derived(lexicon: WugLexicon, base: str) -> bool:
    """Whether ``base`` can be read as two words, or as a word with an affix."""
    if any(base[:at] in lexicon.common and base[at:] in lexicon.common for at in range(3, len(base) - 2)):
        return True
    prefix, suffix = _PREFIX.match(base), _SUFFIX.search(base)
    stems = {base[prefix.end() :]} if prefix else set()
    if suffix and (stem := base[: suffix.start()]):
        stems |= {stem, f"{stem}e", *([stem[:-1]] if stem[-2:-1] == stem[-1:] else [])}
    return not lexicon.stems.isdisjoint(stems)


def _units(parts: Segments) -> list[str]:
    """Clusters (``^onset``, ``coda-onset``, ``coda$``) and nuclei (``nucleus|coda|place``: m(onosyllable), f(irst), l(ast), i(nner))."""
    nuclei, codas, onsets = parts[1::3], parts[2::3], parts[3::3]
    places = "m" if len(nuclei) == 1 else f"f{'i' * (len(nuclei) - 2)}l"
    clusters = [*(f"{coda}-{onset}" for coda, onset in zip(codas, onsets, strict=False)), f"{codas[-1]}$"]
    spoken = (f"{nucleus}|{coda}|{place}" for nucleus, coda, place in zip(nuclei, codas, places, strict=True))
    return [f"^{parts[0]}", *chain.from_iterable(zip(spoken, clusters, strict=True))]


def _readings(lexicon: WugLexicon, unit: str) -> list[tuple[str, float]]:
    """The readings of a unit; of an unknown one those of its parts."""
    known = lexicon.readings
    if unit not in known and "|" in unit:
        nucleus, _, place = unit.split("|")
        known[unit] = known.get(f"{nucleus}||{place}", [])
    elif unit not in known and "-" in unit:
        coda, onset = unit.split("-")
        pairs = product(_readings(lexicon, f"{coda}$"), _readings(lexicon, f"^{onset}"))
        known[unit] = [(re.sub(r"(.)\1", r"\1", a + b), p * q) for (a, p), (b, q) in pairs]
    return known[unit]


def _sounds_real(lexicon: WugLexicon, parts: Segments) -> bool:
    """Whether a likely pronunciation of a form is that of a real word; forms with a part that no known word has sound like none."""
    spoken = [("", 1.0)]
    for unit in _units(parts):
        readings = _readings(lexicon, unit)
        best = readings[0][1] if readings else 0
        spoken = [
            (sounds, p * q / best)
            for before, p in spoken
            for sound, q in readings
            if p * q >= _IMPROBABLE * best and (sounds := before + sound)[:HEAD] in lexicon.heads
        ]
        spoken = sorted(spoken, key=lambda pair: -pair[1])[:_MOST]
    return any(sounds in lexicon.sounds for sounds, _ in spoken)
