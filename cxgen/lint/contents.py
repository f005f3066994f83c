"""Does what the file says work out? Codes E2xx and W3xx."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from cxgen.constructicon import Construction, parse_pattern
from cxgen.constructicon.words import unknown_words
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, family_of
from cxgen.lint.finding import Finding, finding
from cxgen.lint.references import kind_place, patterns, slot_place
from cxgen.semantics import Inconsistency, label_matrix, truth
from cxgen.sets.pools import design_pools
from cxgen.vocabulary import LABELS, NEUTRAL

FEWEST_TEMPLATES = 8


def unfillable_slot(construction: Construction) -> Iterator[Finding]:
    """E201: a class or word does not exist, no frame of a design fills all its slots, or a related word is missing."""
    unknown = [Finding("E201", e.message, e.file or construction.document.path, e.line or 1, e.hint) for e in unknown_words(construction)]
    yield from unknown
    for design in () if unknown else construction.designs.values():
        document, keys = construction.document, ["designs", design.name]
        try:
            pools = design_pools(construction, design, {}, None)
        except CxgenError as error:
            yield finding("E201", error.message, document, keys, error.hint)
            continue
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
                where, at = slot_place(construction, slot.name)
                message = f"slot {slot.name!r} in design {design.name!r}: no {slot.lexical} in the lexicon for {', '.join(lacking[:5])}"
                yield finding(
                    "E201",
                    message,
                    where,
                    at,
                    "add the relation under lexicons/classes, or drop the word from the frames",
                )
            fillers[slot.name] = {other for row in fillers[slot.parent] for other in construction.lexicon.related(slot.lexical, row)}


def contradictory_facts(construction: Construction) -> Iterator[Finding]:
    """E202: from a kind's facts an atom follows together with its negation."""
    for kind in construction.kinds.values():
        try:
            truth(kind, construction)
        except Inconsistency as error:
            document, keys = kind_place(construction, kind.name)
            yield finding(
                "E202",
                f"kind {kind.name!r} makes {error} both true and false",
                document,
                keys,
                "change entails or excludes",
            )


def one_label_hypothesis(construction: Construction) -> Iterator[Finding]:
    """E203: a hypothesis that can only ever take one label gives it away."""
    for design in construction.designs.values():
        matrix = _matrix(construction, design.name)
        for rule in design.rules if matrix else ():
            labels = {row[rule] for row in matrix.values()}
            if len(labels) == 1:
                message = f"hypothesis {rule!r} is always {LABELS[labels.pop()]} in design {design.name!r}"
                hint = "add premise kinds that decide it otherwise, or leave it out of the design"
                yield finding("E203", message, construction.document, ["designs", design.name], hint)


def unbalanced_design(construction: Construction) -> Iterator[Finding]:
    """E204: a design from which a config's family can make no contrast sets."""
    for design in construction.designs.values():
        for config in design.configs:
            if config not in CONFIGS:
                yield finding(
                    "E204",
                    f"design {design.name!r}: unknown config {config!r}",
                    construction.document,
                    ["designs", design.name],
                    f"configs: {', '.join(CONFIGS)}",
                )
            elif _matrix(construction, design.name) and (why := family_of(config).unsound(construction, design)):
                yield finding(
                    "E204",
                    f"design {design.name!r}: {why}",
                    construction.document,
                    ["designs", design.name],
                    f"see `cxgen explain {construction.name}`",
                )


def unused_slot(construction: Construction) -> Iterator[Finding]:
    """W301: a slot that no sentence and no relation uses."""
    used = {name for design in construction.designs.values() for name in construction.design_slots(design)}
    for name in construction.slots:
        if name not in used:
            document, keys = slot_place(construction, name)
            yield finding("W301", f"slot {name!r} is never used", document, keys, "remove it, or use it in a template")


def duplicate_surface(construction: Construction) -> Iterator[Finding]:
    """W302: two templates, or two wordings, that give the same sentences."""
    premises: dict[tuple[str, str], str] = {}
    for template in construction.templates.values():
        for kind in construction.kinds:
            if not template.applies(kind):
                continue
            first = premises.setdefault((kind, template.pattern), template.name)
            if first != template.name:
                message = f"template {template.name!r} says {kind!r} as {first!r} does"
                yield finding("W302", message, construction.document, ["templates", template.name], "remove one")
                break
    wordings: dict[str, str] = {}
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            first = wordings.setdefault(wording, rule.name)
            if list(rule.wordings).index(wording) != number or first != rule.name:
                keys: list[str | int] = ["hypotheses", rule.name, "wordings", number]
                yield finding(
                    "W302",
                    f"wording {number + 1} of {rule.name!r} stands already in {first!r}",
                    construction.document,
                    keys,
                    "remove one",
                )


def missing_lookalike(construction: Construction) -> Iterator[Finding]:
    """W303: no look-alike, and no reason given."""
    if not construction.lookalikes and "no_lookalike" not in construction.document.data:
        hint = "add lookalikes: [NAME] with a file of its own, or no_lookalike: the reason"
        yield finding("W303", "there is no look-alike of the same form", construction.document, ["name"], hint)


def few_templates(construction: Construction) -> Iterator[Finding]:
    """W304: fewer premise templates than readers need for variety."""
    number = len(construction.templates)
    if number < FEWEST_TEMPLATES:
        message = f"only {number} premise templates, {FEWEST_TEMPLATES} are the least"
        yield finding("W304", message, construction.document, ["templates"], "vary word order, clause type, voice, adjuncts")


def unmentioned_noun(construction: Construction) -> Iterator[Finding]:
    """W305: a hypothesis decided by a premise that does not mention the noun the hypothesis is about."""
    seen: set[tuple[str, str]] = set()
    for design in construction.designs.values():
        for kind, row in _matrix(construction, design.name).items():
            for rule in (construction.rules[name] for name, label in row.items() if label != NEUTRAL):
                shared = set.intersection(*({p.slot for p in parse_pattern(w) if p.slot} for w in rule.wordings))
                nouns = {name for name in shared if name in construction.slots and _is_noun(construction, name)}
                for template in construction.templates_for(kind):
                    lacking = nouns - {part.slot for part in construction.premise_parts(kind, template.name)}
                    if lacking and (template.name, rule.name) not in seen:
                        seen.add((template.name, rule.name))
                        message = (
                            f"{rule.name!r} is about {', '.join(sorted(lacking))}, which {kind!r} in {template.name!r} does not mention"
                        )
                        yield finding(
                            "W305",
                            message,
                            construction.document,
                            ["templates", template.name],
                            "mention it, or except the kind",
                        )


def unused_part(construction: Construction) -> Iterator[Finding]:
    """W306: a premise kind, a hypothesis or a predicate that nothing uses."""
    used: dict[str, set[str]] = defaultdict(set)
    for design in construction.designs.values():
        used["kinds"].update(design.kinds)
        used["hypotheses"].update(design.rules)
    atoms = [atom for kind in construction.kinds.values() for atom in (*kind.entails, *kind.excludes)]
    used["predicates"] = {atom.predicate for atom in atoms} | {rule.claim.predicate for rule in construction.rules.values()}
    used["predicates"] |= {predicate.contrary for predicate in construction.predicates.values()}
    for what, names in (
        ("kinds", construction.kinds),
        ("hypotheses", construction.rules),
        ("predicates", construction.predicates),
    ):
        for name in names:
            if name not in used[what]:
                document, keys = kind_place(construction, name) if what == "kinds" else (construction.document, [what, name])
                yield finding("W306", f"{name!r} ({what}) is never used", document, keys, "remove it, or add it to a design")


def stray_mark(construction: Construction) -> Iterator[Finding]:
    """W307: a frame marks a word that none of its slots holds."""
    keys = construction.lexicon.table["key"].to_list()
    for frame in construction.frames:
        held = (
            {keys[row] for names in frame.slots.values() for name in names for row in construction.lexicon.resolve(name).ids}
            if frame.marked
            else set()
        )
        for key in sorted(frame.marked - held):
            message = f"frame {frame.name!r} marks {key}, which none of its slots holds"
            yield finding("W307", message, construction.document, ["frames"], "unmark it, or add it to a class of the frame")


def _matrix(construction: Construction, design: str) -> dict[str, dict[str, int]]:
    try:
        return label_matrix(construction, construction.designs[design])
    except Inconsistency:
        return {}  # E202 reports it


def _is_noun(construction: Construction, name: str) -> bool:
    slot = construction.slots[name]
    if slot.lexical or slot.role in {"verb", "modifier", "result", "property"}:
        return False
    return any(part.slot == name for _, parts in patterns(construction) for part in parts)
