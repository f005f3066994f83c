"""Does counting give labels away? Code W308: premise kinds and labels should look alike to a reader who only counts words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from cxgen.check.finding import Finding, finding
from cxgen.constructicon import Construction, Design, Part, Slot, parse_pattern
from cxgen.errors import CxgenError
from cxgen.lexicon import Frame, Lexicon
from cxgen.sampling.pools import ABSENT, frame_candidates, frames_of
from cxgen.sampling.ways import WORD_FORMS
from cxgen.semantics import label_matrix
from cxgen.vocabulary import LABELS

_WORD = re.compile(r"[\w'’-]+")
_NEGATIVE = {"not", "no", "never", "nobody", "nothing", "none", "neither", "nor", "without", "cannot"}
_DEFINITE = ("", "a", "poss-of")  # forms of a noun that bring a determiner
# How much kinds may differ.
_BY_KIND, _BY_LABEL = "words shared with a hypothesis", "words shared by premise and hypothesis"
_MOST = {"words": 0.3, "negations": 0.05, _BY_KIND: 0.25, _BY_LABEL: 0.25}


@dataclass(frozen=True)
class Filling:
    """What may fill a slot, on average: words, negations, share of nouns, which take *the*."""

    words: float = 1
    negations: float = 0
    nouns: float = 0


Fillers = dict[str, Filling]


def uneven_kinds(construction: Construction) -> Iterator[Finding]:
    """W308: counting words, negations or shared words tells the kinds of a design apart, or its labels."""
    for design in construction.designs.values():
        if design.variant:
            continue  # what is chosen between there are two continuations of one premise
        for what, figures in evenness(construction, design).items():
            if max(figures.values()) - min(figures.values()) > _MOST[what]:
                listed = ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
                who = "labels" if what == _BY_LABEL else "kinds"
                message = f"the {who} of design {design.name!r} differ in {what}: {listed}"
                hint = "word them alike in this, or a reader who only counts will get labels right"
                yield finding("W308", message, *construction.place("designs", design.name), hint)


def evenness(construction: Construction, design: Design) -> dict[str, dict[str, float]]:
    """What counting sees, on average over templates, wordings and fillers.

    Returns:
        ``words``, ``negations``, words shared with a hypothesis: premise kind -> how many; words that premise and hypothesis share:
        label -> how many. A word that decides should occur in all premises or in none.
    """
    fillers = _fillers(construction, design)
    wordings = {rule: [_tokens(parse_pattern(text), fillers) for text in construction.rules[rule].wordings] for rule in design.rules}
    labels = label_matrix(construction, design)
    found: dict[str, dict[str, list[float]]] = {what: {} for what in _MOST}
    for kind in design.kinds:
        for template in construction.templates_for(kind):
            parts = construction.premise_parts(kind, template.name)
            found["words"].setdefault(kind, []).append(sum(_words(part, construction, fillers) for part in parts))
            found["negations"].setdefault(kind, []).append(sum(_negations(part, fillers) for part in parts))
            words = _tokens(parts, fillers)
            for rule, label in labels[kind].items():
                shared = [float(len(words & other)) for other in wordings[rule]]
                found[_BY_KIND].setdefault(kind, []).extend(shared)
                found[_BY_LABEL].setdefault(LABELS[label], []).extend(shared)
    return {what: {name: fmean(counts) for name, counts in figures.items()} for what, figures in found.items() if figures}


def _fillers(construction: Construction, design: Design) -> Fillers:
    lexicon, frames = construction.lexicon, frames_of(construction, design)
    nouns = set((lexicon.table["pos"] == "noun").arg_true())
    found: Fillers = {}
    for slot in map(construction.slots.__getitem__, construction.design_slots(design)):
        rows = {row for frame in frames for row in _rows(frame, slot, lexicon)} - {ABSENT}
        if rows:
            texts = [lexicon.lemmas[row] for row in rows]
            words = fmean(max(len(text.split()), 1) for text in texts)
            found[slot.name] = Filling(words, fmean(map(_negative, texts)), len(rows & nouns) / len(rows))
    return found


def _rows(frame: Frame, slot: Slot, lexicon: Lexicon) -> list[int]:
    try:
        return [] if slot.lexical else frame_candidates(frame, slot, lexicon)
    except CxgenError:
        return []  # E201 reports it where it matters


def _words(part: Part, construction: Construction, fillers: Fillers) -> float:
    """How many words a part has, on average over what may fill it."""
    if not part.slot:
        return len(_WORD.findall(part.text))
    if part.form in WORD_FORMS and WORD_FORMS[part.form].closed:
        return 1
    filler = fillers.get(part.slot, Filling())
    mean = filler.words + (filler.nouns if part.form in _DEFINITE else 0)
    slot = construction.slots.get(part.slot)
    return (mean + len(_WORD.findall(slot.wrap.replace("{}", "")))) * (1 - slot.optional) if slot else mean


def _negations(part: Part, fillers: Fillers) -> float:
    return fillers.get(part.slot, Filling()).negations if part.slot else _negative(part.text)


def _negative(text: str) -> int:
    return sum(word in _NEGATIVE or word.endswith("n't") for word in _WORD.findall(text.lower()))


def _tokens(parts: tuple[Part, ...], fillers: Fillers) -> set[str]:
    """The words of a pattern; each filler counts as one, and brings *the* where it is a noun that takes it."""
    found: set[str] = set()
    for part in parts:
        found.update([f"{{{part.slot}}}"] if part.slot else _WORD.findall(part.text.lower()))
        if part.form in _DEFINITE and fillers.get(part.slot, Filling()).nouns:
            found.add("the")
    return found
