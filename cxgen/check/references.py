"""Do names refer to something? Codes E1xx."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from cxgen.check.finding import Finding, finding
from cxgen.constructicon import Atom, Construction, Design, Facts, Kind, Part, Place, Predicate, parse_pattern, square_faults
from cxgen.lexicon import Frame
from cxgen.sampling.ways import FORMS
from cxgen.vocabulary import Role


def patterns(construction: Construction) -> Iterator[tuple[Place, tuple[Part, ...]]]:
    """Every pattern that can be parsed, with its place: premises per kind and template, then wordings."""
    return ((place, parts) for place, parts, _ in _patterns(construction))


def _patterns(construction: Construction) -> Iterator[tuple[Place, tuple[Part, ...], list[Design]]]:
    """The same, with the designs that have the kind, or the hypothesis."""
    designs = construction.designs.values()
    for template in construction.templates.values():
        for kind in construction.kinds:
            if template.applies(kind):
                try:
                    parts = construction.premise_parts(kind, template.name)
                except (KeyError, ValueError):
                    continue
                yield construction.place("templates", template.name), parts, [each for each in designs if kind in each.kinds]
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            try:
                parts = parse_pattern(wording)
            except ValueError:
                continue
            yield construction.place("wordings", rule.name, number), parts, [each for each in designs if rule.name in each.rules]


def _field_place(construction: Construction, place: Place, name: str, form: str = "") -> Place:
    """Where a field of the pattern at ``place`` is written: there, or in the binding that brings it."""
    names = "|".join([re.escape(name), *("@verb" for kind in construction.kinds.values() if kind.verb == name)])
    field = re.compile(rf"\{{({names}){re.escape(f':{form}') if form else ''}[:=}}]")
    document, keys = place
    patterns = {template: each.pattern for template, each in construction.templates.items()}
    if keys[0] != "templates" or field.search(patterns.get(str(keys[1]), "")):
        return place
    for key, text in construction.document.data.get("bind", {}).items():
        if field.search(text):
            return construction.place("bind", key)
    for kind in construction.kinds.values():
        for key, text in kind.bindings.items():
            if field.search(text):
                return construction.place("kinds", kind.name, "bind", key)
    return document, keys


def frame_place(construction: Construction, frame: Frame, *keys: str | int) -> Place:
    """Where a frame, or a node under it, stands; for a frame of the snapshot, the beginning of the construction's file."""
    if frame.source is None:
        return construction.document, ["name"]
    return frame.source, ["frames", frame.number, *keys]


def frame_words(construction: Construction, designs: Iterable[Design]) -> set[str]:
    """Closed-class words that every frame of ``designs`` declares; of none: every frame of the construction."""
    names = {design.frames for design in designs}
    words = [set(frame.words) for frame in construction.frames if not names or not frame.designs or names.intersection(frame.designs)]
    return set.intersection(*words) if words else set()


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"declared: {', '.join(sorted(known)) or 'none'}"


def unknown_slot(construction: Construction) -> Iterator[Finding]:
    """E101: a pattern, a fact, a claim or a relation names a slot that is not declared."""
    known = set(construction.slots)
    seen: set[tuple[str, str]] = set()
    words: dict[tuple[str, ...], set[str]] = {}  # designs -> what their frames say; many patterns have the same
    for place, parts, designs in _patterns(construction):
        strange = {part.slot for part in parts if part.slot} - known
        names = tuple(design.name for design in designs)
        if strange and names not in words:
            words[names] = frame_words(construction, designs)
        for name in strange - words.get(names, set()):
            document, keys = _field_place(construction, place, name)
            if (name, str(keys)) not in seen:
                seen.add((name, str(keys)))
                yield finding("E101", f"unknown slot {name!r}", document, keys, _near(name, known))
    for kind in construction.kinds.values():
        document, keys = construction.place("kinds", kind.name)
        named = {kind.verb, *kind.rests_on, *(arg for _, atom in _facts(construction, kind) for arg in atom.args)}
        for name in sorted(named - known):
            yield finding("E101", f"kind {kind.name!r}: unknown slot {name!r}", document, keys, _near(name, known))
    for rule in construction.rules.values():
        for name in sorted(set(rule.claim.args) - known):
            document, keys = construction.place("hypotheses", rule.name, "claim")
            yield finding("E101", f"claim of {rule.name!r}: unknown slot {name!r}", document, keys, _near(name, known))
    for slot in construction.slots.values():
        for name in sorted({*slot.distinct, slot.parent} - known - {""}):
            document, keys = construction.place("slots", slot.name)
            yield finding("E101", f"slot {slot.name!r}: unknown slot {name!r}", document, keys, _near(name, known))


def unknown_form(construction: Construction) -> Iterator[Finding]:
    """E102: a pattern asks for a form that words of the slot's part of speech do not have."""
    seen: set[tuple[str, str]] = set()
    for place, parts in patterns(construction):
        for part in parts:
            if part.slot not in construction.slots or (part.slot, part.form) in seen:
                continue
            seen.add((part.slot, part.form))
            pos = construction.parts_of_speech[part.slot]
            bad = [p for p in pos if part.form not in FORMS.get(p, ())]
            if bad:
                forms = ", ".join(form or "(none)" for form in FORMS.get(bad[0], ()))
                message = f"{{{part.slot}:{part.form}}}: a {bad[0]} has no form {part.form!r}"
                document, keys = _field_place(construction, place, part.slot, part.form)
                yield finding("E102", message, document, keys, f"forms of a {bad[0]}: {forms}")


def unknown_binding(construction: Construction) -> Iterator[Finding]:
    """E103: a template uses {@name} but a kind to which it applies does not bind it, or a pattern has stray braces."""
    told: set[tuple[str, str]] = set()
    for template in construction.templates.values():
        for kind in filter(template.applies, construction.kinds):
            bound = construction.kinds[kind].bindings
            try:
                construction.premise_parts(kind, template.name)
            except KeyError as error:
                name = error.args[0]
                asker = next((each for each, text in bound.items() if f"{{@{name}" in text), "")
                message = f"{f'@{asker}' if asker else f'template {template.name!r}'} needs @{name}, which kind {kind!r} does not bind"
                problem, hint = name, f"{_near(name, bound)} Bind it, or name the kind under `except`"
            except ValueError as error:
                message, problem, hint = str(error), str(error), "write {slot}, {slot:form}, {slot=relation} or {@binding}"
                asker = next((each for each, text in bound.items() if not _parses(text)), "")
            else:
                continue
            if (asker or template.name, problem) not in told:
                told.add((asker or template.name, problem))
                document, keys = (
                    construction.place("kinds", kind)
                    if asker or not _own(construction, template.name)
                    else (construction.place("templates", template.name))
                )
                yield finding("E103", message, document, keys, hint)
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            problem = "hypotheses bind nothing: @ is for premises" if "{@" in wording else ""
            try:
                parse_pattern(wording.replace("{@", "{"))
            except ValueError as error:
                problem = str(error)
            if problem:
                document, keys = construction.place("wordings", rule.name, number)
                yield finding("E103", problem, document, keys, "write {slot} or {slot:form}")


def _parses(text: str) -> bool:
    try:
        parse_pattern(text.replace("{@", "{"))
    except ValueError:
        return False
    return True


def _own(construction: Construction, template: str) -> bool:
    """Whether a template stands in one of the construction's own files, not in a shared one."""
    return construction.place("templates", template)[0] in construction.documents


def unknown_name(construction: Construction) -> Iterator[Finding]:
    """E104: a design, a template, a group or a frame names a kind, a hypothesis or a design that does not exist."""
    kinds = {*construction.kinds, *construction.groups}
    asked: list[tuple[Place, str, Iterable[str], Iterable[str]]] = []
    for design in construction.designs.values():
        document, keys = construction.place("designs", design.name)
        asked.append(((document, [*keys, "kinds"]), "kind", design.kinds, kinds))
        asked.append(((document, [*keys, "hypotheses"]), "hypothesis", design.rules, construction.rules))
    for template in construction.templates.values():
        asked.append((construction.place("templates", template.name), "kind", (*template.only, *template.excepted), kinds))
    for group, members in construction.groups.items():
        asked.append((construction.place("groups", group), "kind", members, construction.kinds))
    known_designs = {name for design in construction.designs.values() for name in (design.name, design.frames)}
    for frame in construction.frames:
        asked.append((frame_place(construction, frame, "design"), "design", frame.designs, known_designs))
    for (document, keys), what, names, known in asked:
        for name in dict.fromkeys(names):
            if name not in known:
                yield finding("E104", f"unknown {what} {name!r} in {'.'.join(map(str, keys))}", document, keys, _near(name, known))
    for group in construction.groups.keys() & construction.kinds.keys():
        document, keys = construction.place("groups", group)
        yield finding("E104", f"{group!r} is the name of a kind and of a group", document, keys, "give the group another name")


def unknown_predicate(construction: Construction) -> Iterator[Finding]:
    """E105: a fact, a claim or a contrary names a predicate that is not declared."""
    known = construction.predicates
    for (document, keys), atom in _atoms(construction):
        if atom.predicate not in known:
            yield finding("E105", f"unknown predicate {atom.predicate!r}", document, keys, _near(atom.predicate, known))
    for predicate in known.values():
        if predicate.contrary and predicate.contrary not in known:
            document, keys = construction.place("predicates", predicate.name, "contrary")
            yield finding("E105", f"unknown predicate {predicate.contrary!r}", document, keys, _near(predicate.contrary, known))


def _atoms(construction: Construction) -> Iterator[tuple[Place, Atom]]:
    """Every fact and claim with its place."""
    for kind in construction.kinds.values():
        yield from _facts(construction, kind)
    for rule in construction.rules.values():
        yield construction.place("hypotheses", rule.name, "claim"), rule.claim


def _facts(construction: Construction, kind: Kind) -> Iterator[tuple[Place, Atom]]:
    """Every fact of a kind, those of its misreading and its unasked claims included, with its place."""
    misread = kind.misread or Facts()
    for keys, atoms in (
        (["entails"], kind.entails),
        (["excludes"], kind.excludes),
        (["misread", "entails"], misread.entails),
        (["misread", "excludes"], misread.excludes),
        (["unasked"], kind.unasked),
    ):
        yield from ((construction.place("kinds", kind.name, *keys, number), atom) for number, atom in enumerate(atoms))


def unread_frame_slot(construction: Construction) -> Iterator[Finding]:
    """E106: a frame fills a slot, or gives a word, that no sentence of its own designs reads."""
    slots: dict[str, set[str]] = defaultdict(set)
    words: dict[str, set[str]] = defaultdict(set)
    for design in construction.designs.values():
        try:
            fillers, given = _read_by(construction, design)
        except (KeyError, ValueError):
            return  # E103 or E104 reports it
        slots[design.frames] |= fillers
        words[design.frames] |= given
    for frame in construction.frames:
        names = frame.designs or tuple(slots)
        if not slots.keys() >= {*names}:
            continue  # E104 reports it
        for part, filled, by_design in (("slots", frame.slots, slots), ("words", frame.words, words)):
            read = set[str]().union(*(by_design[name] for name in names))
            for name in filled:
                if name not in read:
                    document, keys = frame_place(construction, frame, part, name)
                    what = f"frame {frame.name!r} gives {name!r} under {part}, which no sentence of {' or '.join(names)} reads"
                    yield finding("E106", what, document, keys, _near(name, read))


def _read_by(construction: Construction, design: Design) -> tuple[set[str], set[str]]:
    """The frame's slots, and the frame's words, that sentences of ``design`` read."""
    parts = [
        part
        for kind in design.kinds
        for template in construction.templates_for(kind)
        for part in construction.premise_parts(kind, template.name)
    ]
    parts += [part for rule in design.rules for wording in construction.rules[rule].wordings for part in parse_pattern(wording)]
    used = [construction.slots[name] for name in construction.design_slots(design)]
    words = {part.slot for part in parts if part.slot} - construction.slots.keys()
    words |= {"number"} if any(slot.number == "frame" for slot in used) else set()
    words |= {"det"} if any(part.form == "np" for part in parts) else set()
    return {slot.source for slot in used if not slot.lexical}, words


def uneven_predicate(construction: Construction) -> Iterator[Finding]:
    """E107: a predicate that takes more arguments here than there. (Arguments in the wrong order cannot be seen.)"""
    used: dict[str, list[tuple[Place, Atom]]] = {}
    for place, atom in _atoms(construction):
        used.setdefault(atom.predicate, []).append((place, atom))
    for name, uses in used.items():
        predicate = construction.predicates.get(name)
        pair = used.get(predicate.contrary, []) if predicate else []
        counts = Counter(len(atom.args) for _, atom in (*uses, *pair))
        usual = counts.most_common(1)[0][0]
        seen: set[tuple[str, int]] = set()
        for (document, keys), atom in uses:
            if len(atom.args) != usual and (where := (str(document.path), document.line(keys))) not in seen:
                seen.add(where)
                message = f"{name!r} has {len(atom.args)} argument{'s' * (len(atom.args) != 1)} in {atom}, elsewhere {usual}"
                yield finding("E107", message, document, keys, f"the gloss of {name!r} says what x, y and z are: {_gloss(predicate)}")


def _gloss(predicate: Predicate | None) -> str:
    return predicate.gloss if predicate else "declare it under predicates"


def circular_slots(construction: Construction) -> Iterator[Finding]:
    """E108: slots that are related to one another in a circle, so that none can be filled first."""
    told: set[str] = set()
    for name in construction.slots:
        chain: list[str] = []
        at = name
        while at in construction.slots and at not in chain:
            chain.append(at)
            at = construction.slots[at].parent
        if at == name and name not in told:
            told.update(chain)
            message = f"slot {name!r} is related to itself" + (f" by way of {', '.join(chain[1:])}" if chain[1:] else "")
            yield finding("E108", message, *construction.place("slots", name, "related"), "fill one of them by a class or the frame")


def optional_verb(construction: Construction) -> Iterator[Finding]:
    """E109: a verb slot that sentences may lack."""
    for slot in construction.slots.values():
        if slot.may_lack and (slot.role == Role.verb or slot.name in construction.verb_slots):
            place = construction.place("slots", slot.name, "optional")
            yield finding("E109", f"slot {slot.name!r} is optional: there would be sentences without a verb", *place, "drop `optional`")


def unfit_square(construction: Construction) -> Iterator[Finding]:
    """E111: what ``natural`` tells a writer does not fit the design whose name it has."""
    for square in construction.natural.values():
        for fault, keys in square_faults(construction, square):
            yield finding("E111", f"natural: {square.design}: {fault}", construction.document, ["natural", *keys], "see docs/natural.md")
