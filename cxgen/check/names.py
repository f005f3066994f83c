"""Do names refer to something, and do the parts fit one another? Codes E1xx."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from cxgen.check.core import check, fault
from cxgen.constructicon import Construction, Design, Part, Place, parse_pattern, square_faults
from cxgen.constructicon.model import Atom, Facts
from cxgen.errors import CxgenError, unknown
from cxgen.lexicon import Frame
from cxgen.lexicon.scenes import CIRCUMSTANCES
from cxgen.sampling.ways import FORMS
from cxgen.vocabulary import Role

_SLOT = re.compile(r"[a-z][a-z0-9_-]*")
_BINDING = re.compile(r"\{@([a-z][a-z0-9_-]*)")
_BARE = re.compile(r"\{@([\w-]+)\}")


class Text(NamedTuple):
    """A text with fields: a template's or a binding's of a ``kind``, or a wording (no kind), with what it may bind, and its designs."""

    place: Place
    text: str
    kind: str
    bound: Mapping[str, str]
    designs: list[Design]

    def parts(self) -> tuple[Part, ...]:
        """Its own parts: texts that it binds stand by themselves. KeyError: a binding that is not there; ValueError: stray braces."""
        return parse_pattern(self.text, {name: text if _SLOT.fullmatch(text) else "" for name, text in self.bound.items()})


def texts(construction: Construction) -> Iterator[Text]:
    """Every text with fields of a construction."""
    common = construction.document.data.get("bind", {})
    for kind in construction.kinds.values():
        bound = {**kind.bindings, "verb": kind.verb}
        designs = [design for design in construction.designs.values() if kind.name in design.kinds]
        own = [(construction.place("templates", template.name), template.pattern) for template in construction.templates_for(kind.name)]
        asked: set[str] = set()
        for place, text in own:  # it grows
            yield Text(place, text, kind.name, bound, designs)
            for name in kind.bindings.keys() & set(_BINDING.findall(text)) - asked:
                key = ("bind", name) if common.get(name) == kind.bindings[name] else ("kinds", kind.name, "bind", name)
                own.append((construction.place(*key), kind.bindings[name]))
                asked.add(name)
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


@check
def unknown_name(construction: Construction) -> Iterator[CxgenError]:
    """E101: a name that is declared nowhere: of a slot, kind, hypothesis, predicate or design, or of a construction with scenes."""
    for (document, keys), what, names, known in _named(construction):
        for name in (name for name in names if name not in known):
            error = unknown(what, name, known, file=document.path, line=document.line(keys))
            if what == "design" and "," in name:
                error.hint = f"write {' | '.join(part.strip() for part in name.split(','))}"
            if what == "slot" and name in CIRCUMSTANCES:
                error.hint = f"add `{name}: shared` under slots, and a column {name}:phrase to the scenes"
            elif what == "slot" and name not in document.text:
                error.hint += "; it stands in templates/_shared.yaml, or is put together from fields"
            yield error
    for group in construction.groups.keys() & construction.kinds.keys():
        yield fault(construction.place("groups", group), f"{group!r} is a kind and a group", "give the group another name")


def _named(construction: Construction) -> Iterator[tuple[Place, str, Iterable[str], Mapping[str, object]]]:
    """Where something is named, what it is, which names, and those that are known."""
    place, slots, kinds, rules = construction.place, construction.slots, construction.kinds, construction.rules
    designs, predicates, groups = construction.designs, construction.predicates, construction.groups
    words = cache(partial(_frame_words, construction))
    for text, parts in _readable(construction):
        known = words(frozenset(design.frames for design in text.designs))
        yield text.place, "slot", {part.slot for part in parts if part.slot}, {**slots, **known}
    yield from ((place("kinds", kind.name, "bind", "verb"), "slot", [kind.verb], slots) for kind in kinds.values())
    yield from ((place("kinds", kind.name, "rests_on"), "slot", kind.rests_on, slots) for kind in kinds.values())
    yield from ((place("slots", slot.name), "slot", slot.distinct, slots) for slot in slots.values())
    for where, atom in _atoms(construction):
        yield where, "predicate", [atom.predicate], predicates
        yield where, "slot", atom.args, slots
    yield from (
        (place("predicates", name, "contrary"), "predicate", filter(None, [one.contrary]), predicates) for name, one in predicates.items()
    )
    yield from ((place("designs", design.name, "kinds"), "kind", design.kinds, {**kinds, **groups}) for design in designs.values())
    yield from ((place("designs", design.name, "hypotheses"), "hypothesis", design.rules, rules) for design in designs.values())
    for template in construction.templates.values():
        yield place("templates", template.name), "kind", (*template.only, *template.excepted), {**kinds, **groups}
    yield from ((place("groups", group), "kind", members, kinds) for group, members in groups.items())
    for document in construction.documents:
        for number, entry in enumerate(document.data.get("chunks", ())):
            yield (document, ["chunks", number]), "kind", () if isinstance(entry, str) else entry["only"], {**kinds, **groups}
    served = {design.frames: design.served_by for design in designs.values()}
    framed = dict.fromkeys([*served.values(), *(name for name, design in designs.items() if not design.entity_type)])
    yield from ((frame.place, "design", [served.get(name, name) for name in frame.designs], framed) for frame in construction.frames)


def _frame_words(construction: Construction, wanted: frozenset[str]) -> dict[str, str]:
    """Closed-class words that every frame of the ``wanted`` designs declares; of none (a design misspells a kind): that any does."""
    scenes = (*construction.frames, *construction.refused)
    words = [frame.words for frame in scenes if not wanted or not frame.designs or wanted.intersection(frame.designs)]
    return {name: text for one in words for name, text in one.items() if not wanted or all(name in other for other in words)}


def _atoms(construction: Construction) -> Iterator[tuple[Place, Atom]]:
    """Every fact and claim with its place; misreadings and unasked claims included."""
    for kind in construction.kinds.values():
        misread = kind.misread or Facts()
        lists = [(["entails"], kind.entails), (["excludes"], kind.excludes), (["unasked"], kind.unasked)]
        lists += [(["misread", "entails"], misread.entails), (["misread", "excludes"], misread.excludes)]
        for keys, atoms in lists:
            yield from ((construction.place("kinds", kind.name, *keys, number), atom) for number, atom in enumerate(atoms))
    for rule in construction.rules.values():
        yield construction.place("hypotheses", rule.name, "claim"), rule.claim


@check
def unusable_pattern(construction: Construction) -> Iterator[CxgenError]:
    """E102: stray braces, odd blanks, {@name} that its kind does not bind, in itself or a slot's name, or a form that words lack."""
    broken: dict[tuple[str, str], CxgenError] = {}  # the first kind stands for all that have the text
    for text in texts(construction):
        try:
            parts = text.parts()
        except ValueError as error:
            broken[text.text, ""] = fault(text.place, str(error), "write {slot}, {slot:form}, {slot=relation} or {@binding}")
        except KeyError as error:
            message = f"@{error.args[0]} is needed, which {f'kind {text.kind!r}' if text.kind else 'a hypothesis'} does not bind"
            hint = f"{unknown('', error.args[0], text.bound).hint} Bind it, or name the kind under `except`"
            broken.setdefault((text.text, error.args[0]), fault(text.place, message, hint))
        else:
            if blank := re.search(r"[^\S ]", text.text):
                broken[text.text, ""] = fault(text.place, f"{blank[0]!r} between words", "put one plain space there")
            if foreign := [letter for letter in text.text if letter.isalpha() and letter > "\u024f"]:
                message = f"{foreign[0]!r} (U+{ord(foreign[0]):04X}) is no Latin letter, much as it may look like one"
                broken[text.text, ""] = fault(text.place, message, "type it again")
            if "bind" in text.place[1] and (name := text.place[1][-1]) in _BINDING.findall(text.text):
                broken[text.text, ""] = fault(text.place, f"{{@{name}}} stands in what it binds", f"say there what {name} stands for")
            for name in (name for name in _BARE.findall(text.text) if text.bound.get(name) in construction.slots):
                message = f"{{@{name}}} says {text.bound[name]!r}, the name of a slot, not what fills it"
                broken.setdefault((text.text, name), fault(text.place, message, f"write {{@{name}:FORM}} or {{@{name}=RELATION}}"))
            for part, pos in ((one, pos) for one in parts for pos in construction.parts_of_speech.get(one.slot, ())):
                if part.form not in FORMS.get(pos, ()):
                    message = f"{{{part.slot}:{part.form}}}: a {pos} has no form {part.form!r}"
                    yield fault(text.place, message, f"forms of a {pos}: {', '.join(form or '(none)' for form in FORMS.get(pos, ()))}")
    yield from broken.values()


@check
def dead_words(construction: Construction) -> Iterator[CxgenError]:
    """E106: a frame fills a slot, or gives a word, that no sentence of its own designs reads."""
    read: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for text, parts in _readable(construction):
        for design in text.designs:
            other = {part.slot for part in parts if part.slot and part.slot not in construction.slots}  # E101 says so, if it is no word
            read[design.frames] |= {(section, name) for section in ("slots", "words") for name in other}
            read[design.frames] |= {("words", "det") for part in parts if part.form == "np"}
    for design in construction.designs.values():
        if not construction.kinds.keys() >= {*design.kinds}:
            return  # E101 says so
        try:
            used = [construction.slots[name] for name in construction.design_slots(design)]
        except (KeyError, ValueError):
            return  # E101 or E102 says so
        read[design.frames] |= {("slots", slot.source) for slot in used}
        read[design.frames] |= {("words", "number") for slot in used if slot.number == "frame"}
    given = {name for frame in construction.frames for name in (*frame.slots, *frame.words)}  # a name that none gives is E101's fault
    scenes: dict[Any, list[Frame]] = defaultdict(list)  # frames that stand in one row: one for each type of participants, one for none
    for frame in construction.frames:
        scenes[frame.source.path, frame.number].append(frame)
    for frames in scenes.values():
        names = dict.fromkeys(design for frame in frames for design in (frame.designs or read))
        known = {key for design in names for key in read.get(design, ())}
        for section, name in (*(("slots", name) for name in frames[0].slots), *(("words", name) for name in frames[0].words)):
            if (section, name) not in known and read.keys() >= names.keys():
                message = f"scene {frames[0].name!r} gives {name!r} under {section}, which no sentence of {' or '.join(names)} reads"
                near = {other for kind, other in known if kind == section and (other in construction.slots or other in given)}
                hint = unknown("", name, near).hint
                yield fault(frames[0].place, message, hint)


@check
def misfit(construction: Construction) -> Iterator[CxgenError]:
    """E107: parts that do not fit: counts of a predicate's arguments, a verb that may lack, a square under natural."""
    used = defaultdict(list)
    for place, atom in _atoms(construction):
        used[atom.predicate].append((place, atom))
    for name, predicate in construction.predicates.items():
        counts = Counter(len(atom.args) for _, atom in (*used[name], *used[predicate.contrary]))
        for place, atom in used[name]:
            usual = counts.most_common(1)[0][0]
            if len(atom.args) != usual:
                message = f"{name!r} has {len(atom.args)} argument{'s' * (len(atom.args) != 1)} in {atom}, elsewhere {usual}"
                yield fault(place, message, f"the gloss of {name!r} says what x, y and z are: {predicate.gloss}")
    for slot in construction.slots.values():
        if slot.may_lack and (slot.role == Role.verb or slot.name in construction.verb_slots):
            message = f"slot {slot.name!r} is optional: there would be sentences without a verb"
            yield fault(construction.place("slots", slot.name, "optional"), message, "drop `optional`")
    for square in construction.natural.values():
        for message, keys in square_faults(construction, square):
            yield fault((construction.document, ["natural", *keys]), f"natural: {square.design}: {message}", "see docs/natural.md")
