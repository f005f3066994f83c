"""Do names refer to something, and do the parts fit one another? Codes E1xx."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cxgen.check.core import Finding, check, finding, near
from cxgen.constructicon import Atom, Construction, Design, Facts, Part, Place, parse_pattern, square_faults
from cxgen.lexicon import Frame
from cxgen.sampling.ways import FORMS
from cxgen.vocabulary import Role

_SLOT = re.compile(r"[a-z][a-z0-9_-]*")
_BINDING = re.compile(r"\{@([a-z][a-z0-9_-]*)")


class Text(NamedTuple):
    """A text with fields: a template's or a binding's of a ``kind``, or a wording (no kind), with what it may bind, and its designs."""

    place: Place
    text: str
    kind: str
    bound: Mapping[str, str]
    designs: list[Design]

    def parts(self) -> tuple[Part, ...]:
        """Its own parts: texts that it binds stand by themselves. KeyError: a binding that is not there; ValueError: stray braces."""
        slots = {name: text if _SLOT.fullmatch(text) else "" for name, text in self.bound.items()}
        return parse_pattern(self.text, slots)


def texts(construction: Construction) -> Iterator[Text]:
    """Every text with fields of a construction."""
    common = construction.document.data.get("bind", {})
    for kind in construction.kinds.values():
        bound = {**kind.bindings, "verb": kind.verb}
        designs = [design for design in construction.designs.values() if kind.name in design.kinds]
        said: dict[tuple[str, ...], str] = {
            ("templates", template.name): template.pattern for template in construction.templates_for(kind.name)
        }
        asked = _BINDING.findall(" ".join(said.values()))
        for name in asked:  # it grows
            key = ("bind", name) if common.get(name) == kind.bindings.get(name) else ("kinds", kind.name, "bind", name)
            if name in kind.bindings and key not in said:
                said[key] = kind.bindings[name]
                asked += _BINDING.findall(kind.bindings[name])
        yield from (Text(construction.place(*key), text, kind.name, bound, designs) for key, text in said.items())
    for rule in construction.rules.values():
        designs = [design for design in construction.designs.values() if rule.name in design.rules]
        for number, text in enumerate(rule.wordings):
            yield Text(construction.place("wordings", rule.name, number), text, "", {}, designs)


def _readable(construction: Construction) -> Iterator[tuple[Text, tuple[Part, ...]]]:
    for text in texts(construction):
        try:
            yield text, text.parts()
        except (KeyError, ValueError):
            continue  # E102 says so


def _frame_place(construction: Construction, frame: Frame, *keys: str | int) -> Place:
    return (frame.source, ["frames", frame.number, *keys]) if frame.source else (construction.document, ["name"])


@check
def unknown_name(construction: Construction) -> Iterator[Finding]:
    """E101: a name that is declared nowhere: of a slot, kind, hypothesis, predicate or design, or of a construction with scenes."""
    for (document, keys), what, name, known in _named(construction):
        if name and name not in known:
            yield finding("E101", f"unknown {what} {name!r} in {'.'.join(map(str, keys))}", document, keys, near(name, known))
    for group in construction.groups.keys() & construction.kinds.keys():
        yield finding("E101", f"{group!r} is a kind and a group", *construction.place("groups", group), "give the group another name")


_Named = Iterator[tuple[Place, str, str, Mapping[str, object]]]  # where, what, which name, and the names that are known


def _named(construction: Construction) -> _Named:
    place, slots, kinds, designs = construction.place, construction.slots, construction.kinds, construction.designs
    for text, parts in _readable(construction):
        sayable = slots | _frame_words(construction, text.designs)
        yield from ((text.place, "slot", part.slot, sayable) for part in parts)
    for kind in kinds.values():
        yield from ((place("kinds", kind.name), "slot", name, slots) for name in (kind.verb, *kind.rests_on))
    for slot in slots.values():
        yield from ((place("slots", slot.name), "slot", name, slots) for name in (*slot.distinct, slot.parent))
    for where, atom in _atoms(construction):
        yield where, "predicate", atom.predicate, construction.predicates
        yield from ((where, "slot", name, slots) for name in atom.args)
    for predicate in construction.predicates.values():
        yield place("predicates", predicate.name, "contrary"), "predicate", predicate.contrary, construction.predicates
    for design in designs.values():
        yield from ((place("designs", design.name, "kinds"), "kind", name, kinds) for name in design.kinds)
        yield from ((place("designs", design.name, "hypotheses"), "hypothesis", name, construction.rules) for name in design.rules)
    for template in construction.templates.values():
        where = place("templates", template.name)
        yield from ((where, "kind", name, kinds | construction.groups) for name in (*template.only, *template.excepted))
    for group, members in construction.groups.items():
        yield from ((place("groups", group), "kind", name, kinds) for name in members)
    framed = designs | {design.frames: design for design in designs.values()}
    for frame in construction.frames:
        yield from ((_frame_place(construction, frame, "design"), "design", name, framed) for name in frame.designs)


def _frame_words(construction: Construction, designs: list[Design]) -> dict[str, str]:
    """Closed-class words that every frame of ``designs`` declares; of none: every frame of the construction."""
    wanted = {design.frames for design in designs}
    words = [frame.words for frame in construction.frames if not wanted or not frame.designs or wanted.intersection(frame.designs)]
    return {name: text for name, text in words[0].items() if all(name in other for other in words)} if words else {}


def _atoms(construction: Construction) -> Iterator[tuple[Place, Atom]]:
    """Every fact and claim with its place; misreadings and unasked claims included."""
    for kind in construction.kinds.values():
        misread = kind.misread or Facts()
        for keys, atoms in (
            (["entails"], kind.entails),
            (["excludes"], kind.excludes),
            (["misread", "entails"], misread.entails),
            (["misread", "excludes"], misread.excludes),
            (["unasked"], kind.unasked),
        ):
            yield from ((construction.place("kinds", kind.name, *keys, number), atom) for number, atom in enumerate(atoms))
    for rule in construction.rules.values():
        yield construction.place("hypotheses", rule.name, "claim"), rule.claim


@check
def unusable_pattern(construction: Construction) -> Iterator[Finding]:
    """E102: a pattern with stray braces, with {@name} that its kind does not bind, or a form that words of the slot do not have."""
    seen = set()
    for text in texts(construction):
        for message, hint in _faults(construction, text):
            own = text.place[0] in construction.documents
            place = text.place if own or "@" not in message else construction.place("kinds", text.kind)
            fault = (str(place[1] if text.place == place else text.text), message.partition(",")[0])
            if fault not in seen:
                seen.add(fault)
                yield finding("E102", message, *place, hint)


def _faults(construction: Construction, text: Text) -> Iterator[tuple[str, str]]:
    """What is wrong with a text, and a hint."""
    try:
        parts = text.parts()
    except KeyError as error:
        who = f"kind {text.kind!r} does not bind" if text.kind else "a hypothesis cannot bind"
        yield f"@{error.args[0]} is needed, which {who}", f"{near(error.args[0], text.bound)} Bind it, or name the kind under `except`"
        return
    except ValueError as error:
        yield str(error), "write {slot}, {slot:form}, {slot=relation} or {@binding}"
        return
    for part in parts:
        for pos in sorted(construction.parts_of_speech.get(part.slot, ())):
            if part.form not in FORMS.get(pos, ()):
                forms = ", ".join(form or "(none)" for form in FORMS.get(pos, ()))
                yield f"{{{part.slot}:{part.form}}}: a {pos} has no form {part.form!r}", f"forms of a {pos}: {forms}"


@check
def dead_words(construction: Construction) -> Iterator[Finding]:
    """E106: a frame fills a slot, or gives a word, that no sentence of its own designs reads."""
    read: dict[str, set[str]] = defaultdict(set)
    for design in construction.designs.values():
        texts = [parts for text, parts in _readable(construction) if design in text.designs]
        try:
            used = [construction.slots[name] for name in construction.design_slots(design)]
        except (KeyError, ValueError):
            return  # E101 or E102 says so
        read[design.frames] |= {slot.source for slot in used if not slot.lexical}
        read[design.frames] |= {f"words {part.slot}" for parts in texts for part in parts if part.slot not in construction.slots}
        read[design.frames] |= {"words number"} if any(slot.number == "frame" for slot in used) else set()
        read[design.frames] |= {"words det"} if any(part.form == "np" for parts in texts for part in parts) else set()
    for frame in construction.frames:
        names = frame.designs or tuple(read)
        if not read.keys() >= {*names}:
            continue
        known = {name for design in names for name in read[design]}
        given = [(name, "slots", name) for name in frame.slots] + [(f"words {name}", "words", name) for name in frame.words]
        for key, section, name in given:
            if key not in known:
                message = f"frame {frame.name!r} gives {name!r} under {section}, which no sentence of {' or '.join(names)} reads"
                yield finding("E106", message, *_frame_place(construction, frame, section, name), near(key, known))


@check
def misfit(construction: Construction) -> Iterator[Finding]:
    """E107: parts that do not fit: counts of a predicate's arguments, slots in a circle, a verb that may lack, a square under natural."""
    used = defaultdict(list)
    for place, atom in _atoms(construction):
        used[atom.predicate].append((place, atom))
    for name, uses in used.items():
        if (predicate := construction.predicates.get(name)) is None:
            continue
        counts = Counter(len(atom.args) for _, atom in (*uses, *used.get(predicate.contrary, ())))
        usual = counts.most_common(1)[0][0]
        for place, atom in uses:
            if len(atom.args) != usual:
                message = f"{name!r} has {len(atom.args)} argument{'s' * (len(atom.args) != 1)} in {atom}, elsewhere {usual}"
                yield finding("E107", message, *place, f"the gloss of {name!r} says what x, y and z are: {predicate.gloss}")
    for slot in construction.slots.values():
        chain = [slot.name]
        while (parent := construction.slots[chain[-1]].parent) in construction.slots and parent not in chain:
            chain.append(parent)
        if parent == slot.name == min(chain):
            message = f"slot {slot.name!r} is related to itself" + (f" by way of {', '.join(chain[1:])}" if chain[1:] else "")
            yield finding("E107", message, *construction.place("slots", slot.name, "related"), "fill one of them by a class or the frame")
        if slot.may_lack and (slot.role == Role.verb or slot.name in construction.verb_slots):
            message = f"slot {slot.name!r} is optional: there would be sentences without a verb"
            yield finding("E107", message, *construction.place("slots", slot.name, "optional"), "drop `optional`")
    for square in construction.natural.values():
        for fault, keys in square_faults(construction, square):
            message = f"natural: {square.design}: {fault}"
            yield finding("E107", message, construction.document, ["natural", *keys], "see docs/natural.md")
