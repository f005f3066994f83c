"""Does what the file says work out? Codes E2xx."""

from __future__ import annotations

from collections.abc import Iterator

from cxgen.check.finding import Finding, finding
from cxgen.constructicon import Atom, Construction, Part
from cxgen.constructicon.load import unknown_words
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, family_of
from cxgen.sampling import Pools, design_pools
from cxgen.semantics import Inconsistency, label_matrix, misread_truth, truth
from cxgen.vocabulary import LABELS


def unfillable_slot(construction: Construction) -> Iterator[Finding]:
    """E201: a class or word does not exist, no frame of a design fills all its slots, or a related word is missing."""
    unknown = [Finding("E201", e.message, e.file or construction.document.path, e.line or 1, e.hint) for e in unknown_words(construction)]
    yield from unknown
    for design in () if unknown else construction.designs.values():
        document, keys = construction.place("designs", design.name)
        try:
            pools = design_pools(construction, design, {}, None)
        except CxgenError as error:
            yield finding("E201", error.message, document, keys, error.hint)
            continue
        yield from _never_distinct(construction, pools)
        fillers = {name: {row for rows in lists for row in rows} for name, lists in pools.candidates.items()}
        pending = [construction.slots[name] for name in construction.design_slots(design) if construction.slots[name].lexical]
        while pending:
            slot = next((s for s in pending if s.parent in fillers), None)
            if slot is None:
                break
            pending.remove(slot)
            lacking = sorted(
                construction.lexicon.lemmas[row] for row in fillers[slot.parent] if not construction.lexicon.related(slot.lexical, row)
            )
            if lacking:
                where, at = construction.place("slots", slot.name)
                message = f"slot {slot.name!r} in design {design.name!r}: no {slot.lexical} in the lexicon for {', '.join(lacking[:5])}"
                yield finding(
                    "E201",
                    message,
                    where,
                    at,
                    "add the relation under lexicons/classes, or drop the word from the frames",
                )
            fillers[slot.name] = {other for row in fillers[slot.parent] for other in construction.lexicon.related(slot.lexical, row)}


def _never_distinct(construction: Construction, pools: Pools) -> Iterator[Finding]:
    """Slots that must hold different words where a frame has only one word for both."""
    lemmas = construction.lexicon.lemma_codes
    for name in pools.candidates:
        for other in construction.slots[name].distinct:
            for frame, mine, others in zip(pools.frames, pools.candidates[name], pools.candidates.get(other, ()), strict=False):
                if len({int(lemmas[row]) for row in (*mine, *others)}) == 1:
                    message = f"slots {name!r} and {other!r} must hold different words, and frame {frame.name!r} has one for both"
                    yield finding("E201", message, *construction.place("slots", name), "add words to their classes")


def contradictory_facts(construction: Construction) -> Iterator[Finding]:
    """E202: from a kind's facts, or from these and those of its misreading, an atom follows together with its negation."""
    for kind in construction.kinds.values():
        by = "entails or excludes"
        try:
            truth(kind, construction)
            by = "misread"
            misread_truth(kind, construction)
        except Inconsistency as error:
            taken = ", if it is misread," if by == "misread" else ""
            place = construction.place("kinds", kind.name, *([by] if by == "misread" else []))
            yield finding("E202", f"kind {kind.name!r}{taken} makes {error} both true and false", *place, f"change {by}")


def one_label_hypothesis(construction: Construction) -> Iterator[Finding]:
    """E203: a hypothesis that can only ever take one label gives it away."""
    for design in construction.designs.values():
        matrix = matrix_of(construction, design.name)
        for rule in design.rules if matrix else ():
            labels = {row[rule] for row in matrix.values() if rule in row}
            if not labels:
                message = f"every kind of design {design.name!r} leaves hypothesis {rule!r} unasked"
                yield finding("E203", message, *construction.place("designs", design.name), "leave it out of the design")
            if len(labels) == 1:
                message = f"hypothesis {rule!r} is always {LABELS[labels.pop()]} in design {design.name!r}"
                hint = "add premise kinds that decide it otherwise, or leave it out of the design"
                yield finding("E203", message, *construction.place("designs", design.name), hint)


def unbalanced_design(construction: Construction) -> Iterator[Finding]:
    """E204: a design from which a config's family can make no contrast sets."""
    for design in construction.designs.values():
        document, keys = construction.place("designs", design.name)
        for config in design.configs:
            if config not in CONFIGS:
                message = f"design {design.name!r}: unknown config {config!r}"
                yield finding("E204", message, document, [*keys, "config"], f"configs: {', '.join(CONFIGS)}")
            elif matrix_of(construction, design.name) and (why := family_of(config).unsound(construction, design, config)):
                hint = f"`cxgen explain {construction.name}` shows the labels; docs/templates.md explains the square"
                yield finding("E204", f"design {design.name!r}: {why}", document, keys, hint)


def same_sentence(construction: Construction) -> Iterator[Finding]:
    """E206: two kinds of a design are said in the same words, so that a sentence has two sets of labels, or stands in a set twice."""
    for design in construction.designs.values():
        said: dict[tuple[Part, ...], str] = {}
        told: set[tuple[str, str]] = set()
        for kind in design.kinds:
            for template in construction.templates_for(kind):
                first = said.setdefault(construction.premise_parts(kind, template.name), kind)
                if first == kind or (first, kind) in told:
                    continue
                told.add((first, kind))
                same = _facts(construction, first) == _facts(construction, kind)
                message = f"kind {kind!r} says in {template.name!r} what {first!r} says{'' if same else ', with other facts'}"
                hint = "take one out of the design" if same else f"word them apart: {construction.kinds[kind].gloss}"
                yield finding("E206", message, *construction.place("kinds", kind), hint)


def _facts(construction: Construction, kind: str) -> dict[Atom, bool]:
    try:
        return truth(construction.kinds[kind], construction)
    except Inconsistency:
        return {}  # E202 reports it


def matrix_of(construction: Construction, design: str) -> dict[str, dict[str, int]]:
    """The labels of a design; nothing where facts contradict each other."""
    try:
        return label_matrix(construction, construction.designs[design])
    except Inconsistency:
        return {}  # E202 reports it
