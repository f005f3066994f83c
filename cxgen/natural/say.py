"""Hypotheses about a writer's set: the template file's wordings with the writer's words in them."""

from __future__ import annotations

from collections.abc import Mapping

from cxgen.constructicon import Part, parse_pattern
from cxgen.constructicon.natural import AGREEING
from cxgen.natural.sentences import POSSESSIVE
from cxgen.natural.words import Filler, Fillers


def say(wording: str, fillers: Mapping[str, Filler], words: Mapping[str, str], look_up: Fillers) -> str:
    """A sentence: ``fillers`` by slot, ``words`` those of the writer's choice. Of a square without faults (`square_faults`)."""
    text = "".join(_piece(part, fillers, words, look_up) for part in parse_pattern(wording))
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def _piece(part: Part, fillers: Mapping[str, Filler], words: Mapping[str, str], look_up: Fillers) -> str:
    if not part.slot:
        return part.text
    if part.slot in words:
        return words[part.slot]
    filler = fillers[part.slot]
    if part.form in AGREEING:
        return AGREEING[part.form][filler.plural]
    if filler.pos == "verb":
        return filler.lemma if part.form in {"", "base"} else look_up.form(filler.lemma, part.form)
    if filler.pos == "adjective" or part.form == "bare":
        return filler.text
    return f"{_article(part.form, filler)} {filler.text}".lstrip()


def _article(form: str, filler: Filler) -> str:
    """The article or possessive of a noun phrase: what the writer gave it; where one definite thing is meant, *the*."""
    own = filler.determiner
    if own in POSSESSIVE or own.endswith(("'s", "s'")):
        return own
    if filler.pos == "name":
        return own if own in {"the", "a", "an"} else ""  # *so loudly that Ann woke*: no article
    if form == "np":
        return "" if own == "that" and filler.plural else own
    return "the"
