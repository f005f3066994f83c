"""What would be wrong with items as such: words that come twice in a premise, hypotheses that repeat their premise. Codes E207 and E208."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from cxgen.check.finding import Finding, finding
from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, family_of
from cxgen.lexicon import Frame, Lexicon
from cxgen.sampling import Forms, Sampler, span
from cxgen.sampling.pools import frame_candidates, frames_of
from cxgen.semantics import Inconsistency
from cxgen.vocabulary import NOT_NOUNS, Role

SETS = 16


def repeated_words(construction: Construction) -> Iterator[Finding]:
    """E207: in a frame, two slots of one premise can hold the same word, or a result repeats the verb (*flatten the dough flat*)."""
    told = set()
    for design in construction.designs.values():
        for frame in frames_of(construction, design):
            for one, other, words in _repeats(construction, design, frame):
                if (frame.name, one, other) not in told:
                    told.add((frame.name, one, other))
                    message = f"frame {frame.name!r}: slots {one!r} and {other!r} of one sentence can both say {words}"
                    hint = f"take it from one of them, or say distinct: [{one}] of {other}"
                    yield finding("E207", message, *construction.place("slots", other), hint)


def faulty_items(construction: Construction) -> Iterator[Finding]:
    """E208: the family of a design finds fault with an item of its first sets."""
    forms = Forms(construction.lexicon)
    for design in construction.designs.values():
        for config in design.configs:
            try:
                if config not in CONFIGS or family_of(config).unsound(construction, design, config):
                    continue  # E204 says so
                items = family_of(config).items(Sampler.preview(construction, design, config, 1, forms).draw(span(0, SETS)))
            except (CxgenError, Inconsistency):
                continue  # E201 and E202 say so
            faults = items.with_columns(fault=family_of(config).fault()).filter(pl.col("fault") != "")
            for item in faults.head(1).iter_rows(named=True):
                said = item["hypothesis"] if "hypothesis" in item else item["diagnostic_good"]
                message = f"design {design.name!r}: {item['fault']}: {item['premise']!r} with {said!r}"
                yield finding("E208", message, *construction.place("designs", design.name), "change the wording, or the template")


def _repeats(construction: Construction, design: Design, frame: Frame) -> Iterator[tuple[str, str, str]]:
    """Pairs of slots of a frame with the words that both may say."""
    lexicon = construction.lexicon
    slots = [construction.slots[name] for name in construction.design_slots(design) if not construction.slots[name].lexical]
    try:
        rows = {slot.name: [row for row in frame_candidates(frame, slot, lexicon) if row >= 0] for slot in slots}
    except CxgenError:
        return  # E201 says so
    together = _together(construction, design)
    for one, other in combinations(slots, 2):
        if {one.name, other.name} in together and one.name not in other.distinct and other.name not in one.distinct:
            words = sorted(_same(lexicon, one, rows[one.name], other, rows[other.name]))
            if words:
                yield one.name, other.name, ", ".join(words[:3])


def _together(construction: Construction, design: Design) -> list[set[str]]:
    """The pairs of slots that some premise of the design has."""
    premises = [
        {part.slot for part in construction.premise_parts(kind, template.name)}
        for kind in design.kinds
        for template in construction.templates_for(kind)
    ]
    return [set(pair) for pair in dict.fromkeys(pair for slots in premises for pair in combinations(sorted(slots), 2))]


def _same(lexicon: Lexicon, one: Slot, rows: list[int], other: Slot, others: list[int]) -> set[str]:
    """The words that both slots may say."""
    roles = {one.role, other.role}
    if Role.modifier in roles or Role.property in roles:
        return set()
    if roles == {Role.result, Role.verb}:
        verbs, results = (rows, others) if one.role == Role.verb else (others, rows)
        return {lexicon.lemmas[result] for result in results for verb in verbs if _result_in_verb(lexicon, result, verb)}
    if Role.result in roles or not roles - NOT_NOUNS:
        return set()
    return {lexicon.lemmas[row] for row in rows} & {lexicon.lemmas[row] for row in others}


def _result_in_verb(lexicon: Lexicon, result: int, verb: int) -> bool:
    """Whether a result repeats the verb's own meaning."""
    word = lexicon.lemmas[result].lower()
    derived = lexicon.table["derived"][verb]
    return lexicon.lemmas[verb].lower().startswith(word.removesuffix("e")) or (derived is not None and word in derived.to_list())
