"""From YAML files to :class:`Construction`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cxgen.constructicon.model import Atom, Construction, Design, Facts, Kind, Predicate, Rule, Slot, Square, Template, listed, verb_columns
from cxgen.constructicon.pattern import form_pattern
from cxgen.constructicon.shared import Places, Shared, fault, look_alikes
from cxgen.errors import CxgenError, SchemaError, UnknownNameError
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.own import Sources, extended
from cxgen.lexicon.snapshot import missing
from cxgen.lexicon.verdicts import Verdict, judged_frames, read_votes, verdicts
from cxgen.project import Project
from cxgen.schema import Document, read_yaml

# Of pairs about participants, after CxMP's four: entity type -> the class that they come from; a frame may have common nouns of its own.
ENTITIES = {"humans": "pair-people", "female": "top-female-names", "male": "top-male-names", "letters": "letter-names"}
VARIANTS = ("A", "B")
COMMON = "humans"
_SIDES = re.compile(r"\[([^][|]*)\|([^][|]*)\]")  # [was|was not]: what a wording says, and what its denial says
_Groups = Mapping[str, tuple[str, ...]]
_Source = tuple[Document, Places]  # a construction's or look-alike's part of a file, with everything written out


def target_names(project: Project) -> list[str]:
    """Names of the constructions that are not look-alikes, sorted; an error if a file cannot be read."""
    names, errors = readable_targets(project)
    if errors:
        raise errors[0]
    return names


def readable_targets(project: Project, *, strict: bool = False) -> tuple[list[str], list[CxgenError]]:
    """The names of `target_names` whose files can be read, and what is wrong with the others; if ``strict``, of what is shipped, too."""
    try:
        shared = Shared.of(project, strict=strict)
    except CxgenError as error:
        return [], [error]  # any file may need it
    names, errors = [], []
    for name, path in project.template_files().items():
        try:
            document = read_yaml(path) if shared.trusts(path) else _read(shared, name)[0]
            if "lookalike_of" not in document.data:
                names.append(name)
        except CxgenError as error:
            errors.append(error)
    return names, errors


def load_construction(project: Project, name: str, lexicon: Lexicon, *, strict: bool = False, heard: bool = True) -> Construction:
    """One construction with its look-alikes, without the clauses that judges refused unless they are not ``heard``.

    What is shipped is checked against its schema if ``strict``, or if it cannot be read.
    """
    try:
        shared = Shared.of(project, strict=strict)
        document, places = _read(shared, name)
        target = document.data.get("lookalike_of")
        if target:
            message = f"{name!r} is a look-alike: its items come with those of {target!r}"
            raise fault(message, (document, ["lookalike_of"]), f"ask for {target}, whose kinds {name}/... these are")
        known = verdicts(read_votes(project, name), name) if heard else None
        return _assemble([(document, places), *_lookalikes(shared, document)], lexicon, known)
    except (AttributeError, LookupError, TypeError, ValueError):
        if strict:
            raise
        return load_construction(project, name, lexicon, strict=True, heard=heard)


def _read(shared: Shared, name: str) -> _Source:
    path = shared.project.template_file(name)
    source = shared.take_in(read_yaml(path))
    document = source[0]
    if document.data["name"] != name:
        message = f"name is {document.data['name']!r} but the file is {path.name!r}"
        raise fault(message, (document, ["name"]), "give file and construction the same name")
    return source


def _lookalikes(shared: Shared, document: Document) -> Iterator[_Source]:
    """Those that the file brings itself, or those that it names."""
    name, named = document.data["name"], document.data.get("lookalikes", [])
    if isinstance(named, dict):
        for other in named.keys() & shared.project.template_files():
            whose = "the construction itself" if other == name else f"the construction in {other}.yaml"
            message, place = f"the look-alike {other!r} is named like {whose}", (document, ["lookalikes", other])
            own = shared.project.template_file(other)
            if shared.project.ships(document.path) and not shared.project.ships(own):
                raise SchemaError(f"is named like a look-alike of {name!r}, in {document.path.name}", file=own, hint="give it another name")
            raise fault(message, place, "give it a name that no template file has")
        yield from map(shared.take_in, look_alikes(document))
        return
    for number, other in enumerate(named):
        source = _read(shared, other)
        owner = source[0].data.get("lookalike_of")
        if not owner:
            raise fault(f"{other!r} does not say lookalike_of: {name}", (source[0], []), f"add lookalike_of: {name}")
        if owner != name:
            hint = "a look-alike belongs to one construction: describe it in this file, under lookalikes and another name, or drop it"
            raise fault(f"{other!r} is the look-alike of {owner!r}", (document, ["lookalikes", number]), hint)
        yield source


def _form(document: Document, number: int, text: str) -> tuple[dict[str, Any], ...]:
    try:
        return form_pattern(text)
    except ValueError as error:
        raise fault(f"form_check: {error}", (document, ["form_check", number]), "see docs/annotation.md") from None


def _assemble(sources: list[_Source], lexicon: Lexicon, known: Mapping[str, Verdict] | None) -> Construction:
    data, places = sources[0][0].data, Places()
    slots: dict[str, Slot] = {}
    kinds: dict[str, Kind] = {}
    groups: dict[str, tuple[str, ...]] = {}
    words = Sources()
    for number, (document, own_places) in enumerate(sources):
        prefix = f"{document.data['name']}/" if number else ""
        slots |= {name: _slot(name, raw) for name, raw in document.data.get("slots", {}).items()}
        for name, raw in document.data["kinds"].items():
            kinds[prefix + name] = _kind(prefix + name, raw, document.data["name"], data.get("bind", {}))
        for name, members in document.data["groups"].items():
            groups[name] = (*groups.get(name, ()), *(prefix + member for member in members))
        places |= {(section, prefix + name if section == "kinds" else name): at for (section, name), at in own_places.items()}
        words.add(document)
    lexicon = extended(lexicon, words, data["name"])
    designs = {name: _design(name, raw, groups) for name, raw in data["designs"].items()}
    entities = {name: raw["pairs"]["entities"] for name, raw in data["designs"].items() if "pairs" in raw}
    frames = lexicon.frames(data["name"])
    if known or (known is not None and any(frame.proposed for frame in frames)):
        frames = list(judged_frames(frames, lambda frame: verb_columns(designs.values(), kinds, slots, frame), lexicon, known))
    construction = Construction(
        name=data["name"],
        title=data["title"],
        form=data["form"],
        meaning=data["meaning"].strip(),
        schematicity=data["schematicity"],
        argument_structure=data.get("argument_structure", True),
        predicates={name: Predicate(name, **raw) for name, raw in data["predicates"].items()},
        slots=slots,
        kinds=kinds,
        templates={
            name: Template(name, raw["pattern"], *(_ungrouped(raw.get(key, ()), groups) for key in ("only", "except")))
            for name, raw in data["templates"].items()
        },
        rules=_rules(data["hypotheses"], places),
        designs=dict(_designs_by_entity(designs, entities)),
        frames=tuple(_frames_by_entity((frame for frame in frames if all(frame.slots.values())), designs, entities)),
        lookalikes=tuple(data.get("lookalikes", ())),
        form_check=tuple(_form(sources[0][0], number, text) for number, text in enumerate(data.get("form_check", []))),
        documents=tuple(document for document, _ in sources),
        groups=groups,
        places=places,
        lexicon=lexicon,
        natural={name: Square.of(name, raw) for name, raw in data.get("natural", {}).items()},
        refused=tuple(_frames_by_entity((frame for frame in frames if not all(frame.slots.values())), designs, entities)),
    )
    for kind, name in {kind: one.name for one in designs.values() for kind in one.kinds if kind in kinds}.items():
        if not construction.templates_for(kind):
            message = f"no template says kind {kind!r}, which design {name!r} has"
            raise fault(message, construction.place("kinds", kind), "name it, or its group, before a block under templates")
    return construction


def _slot(name: str, raw: dict[str, Any]) -> Slot:
    plain = {key: raw[key] for key in ("role", "number", "carries", "wrap") if key in raw}
    classes, distinct, optional = listed(raw.get("class", ())), tuple(raw.get("distinct", ())), raw.get("optional", 0)
    source, by_frame = raw["frame"] if isinstance(raw.get("frame"), str) else name, optional == "frame"
    slot = Slot(name, **plain, classes=classes, source=source, distinct=distinct, by_frame=by_frame, deprel=raw.get("relation", ""))
    return slot if by_frame else replace(slot, optional=float(optional))


def _kind(name: str, raw: dict[str, Any], owner: str, common: dict[str, str]) -> Kind:
    bindings, facts = {**common, **raw.get("bind", {})}, _facts(raw)
    verb, unasked = bindings.pop("verb", "verb"), tuple(Atom.parse(text)[0] for text in raw.get("unasked", ()))
    kind = Kind(name, raw["gloss"], raw.get("construction", owner), verb, bindings, facts.entails, facts.excludes)
    misread = _facts(raw["misread"]) if "misread" in raw else None
    return replace(kind, rests_on=tuple(raw.get("rests_on", ())), misread=misread, unasked=unasked)


def _facts(raw: Mapping[str, Any]) -> Facts:
    """What is true and what is false; ``not p(x)`` under ``entails`` is false."""
    entails, excludes = ([Atom.parse(text) for text in raw.get(key, ())] for key in ("entails", "excludes"))
    false = [atom for atom, holds in entails if not holds] + [atom for atom, _ in excludes]
    return Facts(tuple(atom for atom, holds in entails if holds), tuple(false))


def _ungrouped(names: Iterable[str], groups: _Groups) -> tuple[str, ...]:
    """``names`` with those of groups replaced by their members."""
    return tuple(dict.fromkeys(member for name in names for member in groups.get(name, (name,))))


def _design(name: str, raw: dict[str, Any], groups: _Groups) -> Design:
    weight, frames, pairs = float(raw.get("weight", 1)), raw.get("frames", name), raw.get("pairs", {})
    kinds, configs, switched = _ungrouped(raw["kinds"], groups), listed(raw.get("config", "nli")), pairs.get("switched", bool(pairs))
    return Design(name, kinds, tuple(raw["hypotheses"]), weight, frames, configs, pairs.get("variant", ""), switched=switched)


def _designs_by_entity(designs: Mapping[str, Design], entities: Mapping[str, Any]) -> Iterator[tuple[str, Design]]:
    """``designs``, those with participants (``entities``: design -> their slots) once per entity type."""
    for name, design in designs.items():
        if name not in entities:
            yield name, design
        for kind in ENTITIES if name in entities else ():
            yield f"{name}-{kind}", replace(design, name=f"{name}-{kind}", frames=f"{design.frames}-{kind}", entity_type=kind)


def _frames_by_entity(frames: Iterable[Frame], designs: Mapping[str, Design], entities: Mapping[str, Any]) -> Iterator[Frame]:
    """``frames``, those of designs with participants once per entity type, filled with such participants."""
    slots: dict[str, set[str]] = {}
    for name, participants in entities.items():
        slots.setdefault(designs[name].frames, set()).update(participants)
    made = {f"{name}-{kind}": name for name in slots for kind in ENTITIES}
    for frame in frames:
        if wrong := next((name for name in frame.designs if name in made), ""):
            hint = f"write {made[wrong]}; the participants are filled in, of each type in turn"
            raise SchemaError(f"design {wrong!r} is made of {made[wrong]!r}", file=frame.source.path, line=frame.scene.line, hint=hint)
        own = [name for name in frame.designs if name in slots]
        others = tuple(name for name in frame.designs if name not in slots)
        if others or not own:
            yield replace(frame, designs=others)
        for kind, group in ENTITIES.items() if own else ():
            filled = {slot: (group,) for name in own for slot in slots[name] if kind != COMMON or slot not in frame.slots}
            yield replace(frame, name=f"{frame.name}-{kind}", designs=tuple(f"{name}-{kind}" for name in own), slots=frame.slots | filled)


def _rules(entries: Mapping[str, dict[str, Any]], places: Places) -> dict[str, Rule]:
    """The rules of every hypothesis entry; ``places`` learns where those with two sides stand."""
    rules: dict[str, Rule] = {}
    declared = {name: places["hypotheses", name] for name in entries}
    for name, raw in entries.items():
        claim, polarity = Atom.parse(raw["claim"])
        for rule, holds, key, wordings in _sides(name, raw.get("opposite", f"not-{name}"), raw):
            document, keys = declared[name]
            if rule in rules:
                raise fault(f"two hypotheses are named {rule!r}", (document, keys), "call its `no` side otherwise: opposite: NAME")
            rules[rule] = Rule(rule, claim, holds == polarity, wordings)
            places["hypotheses", rule], places["wordings", rule] = (document, keys), (document, [*keys, key])
    return rules


def _sides(name: str, opposite: str, raw: Mapping[str, Any]) -> list[tuple[str, bool, str, tuple[str, ...]]]:
    """(name, whether it makes the claim, key, wordings) of an entry's rule, or of the two that make and deny its claim."""
    if "yes" in raw:
        return [(name, True, "yes", tuple(raw["yes"])), (opposite, False, "no", tuple(raw["no"]))]
    if not any(_SIDES.search(text) for text in raw["wordings"]):
        return [(name, True, "wordings", tuple(raw["wordings"]))]
    yes, no = (tuple(_SIDES.sub(rf"\{side}", text) for text in raw["wordings"]) for side in (1, 2))
    return [(name, True, "wordings", yes), (opposite, False, "wordings", no)]


def unknown_words(construction: Construction) -> Iterator[UnknownNameError]:
    """Every class or word, named in a slot or a frame of ``construction``, that its lexicon does not have; with file and line."""
    lexicon = construction.lexicon
    for document in construction.documents:
        for slot, raw in document.data.get("slots", {}).items():
            for number, name in enumerate(listed(raw.get("class", ()))):
                if not lexicon.has(name):
                    yield missing(lexicon, name, document.path, document.line(("slots", slot, "class", number)))
    for frame in construction.frames:
        for name in (name for names in frame.slots.values() for name in names if not lexicon.has(name)):
            yield missing(lexicon, name, frame.source.path, frame.scene.line)
