"""Do names refer to something? Codes E1xx."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from cxgen.constructicon import Construction, Part, parse_pattern
from cxgen.lint.finding import Finding, finding
from cxgen.schema import Document
from cxgen.sets.pools import slot_pos
from cxgen.sets.ways import FORMS

Place = tuple[Document, list[str | int]]


def kind_place(construction: Construction, name: str) -> Place:
    """Where a premise kind is declared."""
    owner, _, local = name.rpartition("/")
    for document in construction.documents:
        if document.data["name"] == (owner or construction.name):
            return document, ["kinds", local]
    return construction.document, ["kinds"]


def slot_place(construction: Construction, name: str) -> Place:
    """Where a slot is declared."""
    for document in construction.documents:
        if name in document.data.get("slots", {}):
            return document, ["slots", name]
    return construction.document, ["slots"]


def patterns(construction: Construction) -> Iterator[tuple[Place, tuple[Part, ...]]]:
    """Every pattern that can be parsed, with its place: premises per kind and template, then wordings."""
    for template in construction.templates.values():
        for kind in construction.kinds:
            if template.applies(kind):
                try:
                    yield (
                        (construction.document, ["templates", template.name]),
                        construction.premise_parts(kind, template.name),
                    )
                except (KeyError, ValueError):
                    continue
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            try:
                yield (construction.document, ["hypotheses", rule.name, "wordings", number]), parse_pattern(wording)
            except ValueError:
                continue


def frame_words(construction: Construction) -> set[str]:
    """Closed-class words that every frame declares."""
    words = [set(frame.words) for frame in construction.frames]
    return set.intersection(*words) if words else set()


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"declared: {', '.join(sorted(known)) or 'none'}"


def unknown_slot(construction: Construction) -> Iterator[Finding]:
    """E101: a pattern, a fact, a claim or a relation names a slot that is not declared."""
    known = set(construction.slots)
    seen: set[tuple[str, str]] = set()
    for (document, keys), parts in patterns(construction):
        for name in {part.slot for part in parts if part.slot} - known - frame_words(construction):
            if (name, str(keys)) not in seen:
                seen.add((name, str(keys)))
                yield finding("E101", f"unknown slot {name!r}", document, keys, _near(name, known))
    for kind in construction.kinds.values():
        document, keys = kind_place(construction, kind.name)
        named = {kind.verb, *kind.rests_on, *(arg for atom in (*kind.entails, *kind.excludes) for arg in atom.args)}
        for name in sorted(named - known):
            yield finding("E101", f"kind {kind.name!r}: unknown slot {name!r}", document, keys, _near(name, known))
    for rule in construction.rules.values():
        for name in sorted(set(rule.claim.args) - known):
            keys = ["hypotheses", rule.name, "claim"]
            yield finding(
                "E101",
                f"claim of {rule.name!r}: unknown slot {name!r}",
                construction.document,
                keys,
                _near(name, known),
            )
    for slot in construction.slots.values():
        for name in sorted({*slot.distinct, slot.parent} - known - {""}):
            document, keys = slot_place(construction, slot.name)
            yield finding("E101", f"slot {slot.name!r}: unknown slot {name!r}", document, keys, _near(name, known))


def unknown_form(construction: Construction) -> Iterator[Finding]:
    """E102: a pattern asks for a form that words of the slot's part of speech do not have."""
    seen: set[tuple[str, str]] = set()
    for (document, keys), parts in patterns(construction):
        for part in parts:
            if part.slot not in construction.slots or (part.slot, part.form) in seen:
                continue
            seen.add((part.slot, part.form))
            pos = slot_pos(construction, part.slot)
            bad = [p for p in pos if part.form not in FORMS.get(p, ())]
            if bad:
                forms = ", ".join(form or "(none)" for form in FORMS.get(bad[0], ()))
                message = f"{{{part.slot}:{part.form}}}: a {bad[0]} has no form {part.form!r}"
                yield finding("E102", message, document, keys, f"forms of a {bad[0]}: {forms}")


def unknown_binding(construction: Construction) -> Iterator[Finding]:
    """E103: a template uses {@name} but a kind to which it applies does not bind it, or a pattern has stray braces."""
    for template in construction.templates.values():
        for kind in construction.kinds:
            if not template.applies(kind):
                continue
            try:
                construction.premise_parts(kind, template.name)
            except KeyError as error:
                message = f"template {template.name!r} needs @{error.args[0]}, which kind {kind!r} does not bind"
                hint = "bind it, or name the kind under `except`"
                yield finding("E103", message, construction.document, ["templates", template.name], hint)
            except ValueError as error:
                hint = "write {slot}, {slot:form} or {@binding}"
                yield finding("E103", str(error), construction.document, ["templates", template.name], hint)
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            problem = "hypotheses bind nothing: @ is for premises" if "{@" in wording else ""
            try:
                parse_pattern(wording.replace("{@", "{"))
            except ValueError as error:
                problem = str(error)
            if problem:
                keys: list[str | int] = ["hypotheses", rule.name, "wordings", number]
                yield finding("E103", problem, construction.document, keys, "write {slot} or {slot:form}")


def unknown_name(construction: Construction) -> Iterator[Finding]:
    """E104: a design or a template names a kind, or a design a hypothesis, that does not exist."""
    document = construction.document
    for design in construction.designs.values():
        for what, names, known in (
            ("kinds", design.kinds, construction.kinds),
            ("hypotheses", design.rules, construction.rules),
        ):
            for number, name in enumerate(names):
                if name not in known:
                    keys: list[str | int] = ["designs", design.name, what, number]
                    yield finding(
                        "E104",
                        f"unknown {what[:-1] if what == 'kinds' else 'hypothesis'} {name!r}",
                        document,
                        keys,
                        _near(name, known),
                    )
    for template in construction.templates.values():
        for name in {*template.only, *template.excepted} - set(construction.kinds):
            yield finding(
                "E104",
                f"unknown kind {name!r}",
                document,
                ["templates", template.name],
                _near(name, construction.kinds),
            )


def unknown_predicate(construction: Construction) -> Iterator[Finding]:
    """E105: a fact, a claim or a contrary names a predicate that is not declared."""
    known = construction.predicates
    for kind in construction.kinds.values():
        document, keys = kind_place(construction, kind.name)
        for atom in (*kind.entails, *kind.excludes):
            if atom.predicate not in known:
                yield finding("E105", f"unknown predicate {atom.predicate!r}", document, keys, _near(atom.predicate, known))
    for rule in construction.rules.values():
        if rule.claim.predicate not in known:
            where: list[str | int] = ["hypotheses", rule.name, "claim"]
            yield finding(
                "E105",
                f"unknown predicate {rule.claim.predicate!r}",
                construction.document,
                where,
                _near(rule.claim.predicate, known),
            )
    for predicate in known.values():
        if predicate.contrary and predicate.contrary not in known:
            where = ["predicates", predicate.name, "contrary"]
            yield finding(
                "E105",
                f"unknown predicate {predicate.contrary!r}",
                construction.document,
                where,
                _near(predicate.contrary, known),
            )
