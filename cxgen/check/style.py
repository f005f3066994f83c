"""Is what the file says probably meant? Codes W3xx."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from cxgen.check.contents import matrix_of
from cxgen.check.finding import Finding, finding
from cxgen.check.references import patterns
from cxgen.constructicon import Construction, Part, parse_pattern
from cxgen.vocabulary import NEUTRAL, NOT_NOUNS


def unused_slot(construction: Construction) -> Iterator[Finding]:
    """W301: a slot that no sentence and no relation uses."""
    used = {name for design in construction.designs.values() for name in construction.design_slots(design)}
    for name in construction.slots:
        if name not in used:
            document, keys = construction.place("slots", name)
            yield finding("W301", f"slot {name!r} is never used", document, keys, "remove it, or use it in a template")


def duplicate_surface(construction: Construction) -> Iterator[Finding]:
    """W302: two templates, or two wordings, that give the same sentences."""
    premises: dict[tuple[str, tuple[Part, ...]], str] = {}
    for template in construction.templates.values():
        for kind in construction.kinds:
            if not template.applies(kind):
                continue
            first = premises.setdefault((kind, construction.premise_parts(kind, template.name)), template.name)
            if first != template.name:
                message = f"template {template.name!r} says {kind!r} as {first!r} does"
                yield finding("W302", message, *construction.place("templates", template.name), "remove one")
                break
    wordings: dict[str, str] = {}
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            first = wordings.setdefault(wording, rule.name)
            if list(rule.wordings).index(wording) != number or first != rule.name:
                message = f"wording {number + 1} of {rule.name!r} stands already in {first!r}"
                yield finding("W302", message, *construction.place("wordings", rule.name, number), "remove one")


def missing_lookalike(construction: Construction) -> Iterator[Finding]:
    """W303: no look-alike, and no reason given."""
    if not construction.lookalikes and "no_lookalike" not in construction.document.data:
        hint = "add lookalikes: [NAME] with a file of its own, or no_lookalike: the reason"
        yield finding("W303", "there is no look-alike of the same form", construction.document, ["name"], hint)


def missing_misreading(construction: Construction) -> Iterator[Finding]:
    """W309: another construction's kind in a design for ``distinction``, of which nothing says what a reader would take it for."""
    designs = [design for design in construction.designs.values() if "distinction" in design.configs]
    for name in dict.fromkeys(name for design in designs for name in design.kinds):
        kind = construction.kinds[name]
        if kind.construction != construction.name and kind.misread is None:
            message = f"kind {name!r} does not say what would hold if it were misread as {construction.name}"
            yield finding("W309", message, *construction.place("kinds", name), "add misread: {entails: [...], excludes: [...]}")


def unmentioned_noun(construction: Construction) -> Iterator[Finding]:
    """W305: a hypothesis decided by a premise that does not mention the noun the hypothesis is about."""
    seen: set[tuple[str, str]] = set()
    for design in construction.designs.values():
        for kind, row in matrix_of(construction, design.name).items():
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
                        keys = ["templates", template.name]  # where the kind can be excepted, even if the template is a shared one
                        yield finding("W305", message, construction.document, keys, "mention it, or except the kind")


def unused_part(construction: Construction) -> Iterator[Finding]:
    """W306: a premise kind, a hypothesis or a predicate that nothing uses, or an unasked claim that no hypothesis makes."""
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
                document, keys = construction.place(what, name)
                yield finding("W306", f"{name!r} ({what}) is never used", document, keys, "remove it, or add it to a design")
    claimed = {rule.claim for rule in construction.rules.values()}
    for kind in construction.kinds.values():
        for number, atom in enumerate(kind.unasked):
            if atom not in claimed:
                place = construction.place("kinds", kind.name, "unasked", number)
                yield finding("W306", f"no hypothesis claims {atom}, which is to stay unasked", *place, "remove it, or mend its arguments")


def _is_noun(construction: Construction, name: str) -> bool:
    slot = construction.slots[name]
    if slot.lexical or slot.role in NOT_NOUNS:
        return False
    return any(part.slot == name for _, parts in patterns(construction) for part in parts)
