"""The nouns of the domain, as plain frozen data."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cxgen.constructicon.pattern import Part, parse_pattern
from cxgen.lexicon import Frame, Lexicon
from cxgen.schema import Document

Place = tuple[Document, list[str | int]]  # a file and the keys that lead to a node of it
_ATOM = re.compile(r"^(not )?([a-z][a-z-]*)\(([^)]*)\)$")
ANYTHING = "..."
_EITHER = " | "
# The forms that hypotheses about a writer's words can have.
_SAYABLE = {"", "a", "np", "bare", "base", "third", "ing", "past", "participle", "was", "is", "has", "does", "this"}


def listed(value: Any) -> tuple[Any, ...]:
    """One value, or several, as several."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


@dataclass(frozen=True)
class Atom:
    """A predicate over slots, such as ``reached(theme, goal)``."""

    predicate: str
    args: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> tuple["Atom", bool]:
        """The atom and its polarity: ``not p(x)`` gives ``(p(x), False)``."""
        match = _ATOM.match(text)
        if match is None:
            raise ValueError(f"not a claim: {text!r}")
        return cls(match[2], tuple(part.strip() for part in match[3].split(","))), match[1] is None

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.args)})"


@dataclass(frozen=True)
class Predicate:
    """What a claim can say."""

    name: str
    gloss: str
    contrary: str = ""  # a predicate that cannot be true of the same arguments
    asymmetric: bool = False  # p(x, y) excludes p(y, x)


@dataclass(frozen=True)
class Slot:
    """A place to fill: from ``classes``, or by the frame."""

    name: str
    role: str
    classes: tuple[str, ...] = ()
    source: str = ""  # the frame's slot that fills it
    number: str = "singular"  # or plural, or frame: the frame's word ``number``
    carries: bool = False  # it carries the construction, so the strict frequency band applies
    optional: float = 0.0  # share of sets without it
    by_frame: bool = False  # it is left out where the frame does not fill it
    wrap: str = "{}"  # text around the filler
    distinct: tuple[str, ...] = ()  # slots that must hold another lemma
    deprel: str = ""  # its relation in the tree where nothing else says so, ``>`` and a head if need be

    @property
    def may_lack(self) -> bool:
        """Whether there are sets without it."""
        return self.by_frame or self.optional > 0

    @property
    def from_frame(self) -> bool:
        """Whether the frame fills it."""
        return not self.classes


@dataclass(frozen=True)
class Facts:
    """What is true and what is false."""

    entails: tuple[Atom, ...] = ()
    excludes: tuple[Atom, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A premise kind (a look-alike's is ``lookalike/kind``): what its sentences look like, what they entail and what they exclude."""

    name: str
    gloss: str
    construction: str  # whose meaning its sentences have
    verb: str  # the slot of its verb
    bindings: dict[str, str]  # text for ``{@key}`` in templates
    entails: tuple[Atom, ...]
    excludes: tuple[Atom, ...]
    rests_on: tuple[str, ...] = ()  # slots without whose words what it entails and excludes would be open
    misread: Facts | None = None  # what would hold, too, if what looks like the target in its sentences were an instance of it
    unasked: tuple[Atom, ...] = ()  # claims about which its premises get no hypothesis


@dataclass(frozen=True)
class Template:
    """A premise pattern and the kinds to which it applies (``only`` empty: all but ``excepted``)."""

    name: str
    pattern: str
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    def applies(self, kind: str) -> bool:
        """Whether ``kind`` can be said with it."""
        return (kind in self.only if self.only else True) and kind not in self.excepted


@dataclass(frozen=True)
class Rule:
    """A hypothesis: a claim with a polarity, and ways to word it."""

    name: str
    claim: Atom
    polarity: bool
    wordings: tuple[str, ...]

    @property
    def says(self) -> str:
        """The claim with its polarity, as template files write it."""
        return str(self.claim) if self.polarity else f"not {self.claim}"


@dataclass(frozen=True)
class Design:
    """The plan of a contrast set: which premise kinds meet which hypotheses."""

    name: str
    kinds: tuple[str, ...]
    rules: tuple[str, ...]
    weight: float  # share of a config's items
    frames: str  # the name by which frames are chosen
    configs: tuple[str, ...] = ("nli",)  # the datasets that its sets go to
    variant: str = ""  # of pairs about participants: from which side continuations ask, A or B
    entity_type: str = ""  # and what the participants are
    switched: bool = False  # and whether its second kind is the first with the participants in one another's places

    @property
    def served_by(self) -> str:
        """What scenes call it in their cell `designs`."""
        return self.frames.removesuffix(f"-{self.entity_type}") if self.entity_type else self.frames


@dataclass(frozen=True)
class Square:
    """A design that a writer fills in words of its own (section ``natural`` of a file): what it is told, how sentences are known."""

    design: str
    tells: str  # what happens in a set, in plain words
    slots: dict[str, str]  # slot -> what is to be marked as such
    kinds: dict[str, str]  # kind -> what its sentence must say
    says: tuple[str, ...]  # patterns that a sentence must show; `` | `` divides those of which one is enough, ``...`` is any words
    avoid: str  # what no sentence may say
    words: dict[str, dict[str, tuple[str, ...]]]  # choice -> frame word -> the ways to write it; the first one stands in hypotheses
    needs: tuple[tuple[str, ...], ...]  # lists of words, of each of which a sentence needs one

    @classmethod
    def of(cls, design: str, raw: Mapping[str, Any]) -> "Square":
        """From a schema-checked mapping."""
        words = {choice: {name: listed(value) for name, value in named.items()} for choice, named in raw.get("words", {}).items()}
        tells, avoid = (" ".join(raw.get(key, "").split()) for key in ("tells", "avoid"))
        needs = tuple(map(tuple, raw.get("needs", ())))
        return cls(design, tells, dict(raw["slots"]), dict(raw["kinds"]), tuple(raw["says"]), avoid, words or {"": {}}, needs)

    def patterns(self, kind: Kind) -> list[list[tuple[Part, ...]]]:
        """For each of ``says`` the alternatives, with the bindings of ``kind``; errors as `parse_pattern`."""
        bindings = {**kind.bindings, "verb": kind.verb}
        return [[parse_pattern(text, bindings) for text in says.split(_EITHER)] for says in self.says]

    def parts(self, kind: Kind) -> set[Part]:
        """The parts of all its patterns."""
        return {part for alternatives in self.patterns(kind) for parts in alternatives for part in parts}

    def marked(self, construction: "Construction", kind: str) -> tuple[str, ...]:
        """The slots that a sentence of ``kind`` must have marked, in order: those of its patterns, and those that no kind's have."""
        shown = {name: {part.slot for part in self.parts(construction.kinds[name]) if part.form != "poss"} for name in self.kinds}
        return tuple(slot for slot in self.slots if slot in shown[kind] or not any(slot in own for own in shown.values()))


@dataclass(frozen=True)
class Construction:
    """A construction with its look-alikes merged in."""

    name: str
    title: str
    form: str
    meaning: str
    schematicity: int
    predicates: dict[str, Predicate]
    slots: dict[str, Slot]
    kinds: dict[str, Kind]
    templates: dict[str, Template]
    rules: dict[str, Rule]
    designs: dict[str, Design]
    frames: tuple[Frame, ...]
    lookalikes: tuple[str, ...]
    form_check: tuple[tuple[dict[str, Any], ...], ...]
    documents: tuple[Document, ...]  # its file, then those of its look-alikes, or the parts of its file that describe them
    lexicon: Lexicon  # with the words of its own files
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names for several kinds
    places: dict[tuple[str, str], Place] = field(default_factory=dict)  # (section, name), ("wordings", rule) -> where it is declared
    argument_structure: bool = True  # whether a verb could hold its meaning
    natural: dict[str, Square] = field(default_factory=dict)  # design -> what a writer is told who fills its square
    refused: tuple[Frame, ...] = ()  # scenes of which judges left no verb

    @property
    def document(self) -> Document:
        """Its own file."""
        return self.documents[0]

    def place(self, section: str, name: str, *keys: str | int) -> Place:
        """Where an entry of a section, or a node under it, is declared."""
        document, start = self.places.get((section, name), (self.document, [section, name]))
        return document, [*start, *keys]

    def templates_for(self, kind: str) -> list[Template]:
        """The templates with which ``kind`` can be said, in file order."""
        return [template for template in self.templates.values() if template.applies(kind)]

    def premise_parts(self, kind: str, template: str) -> tuple[Part, ...]:
        """The parts of a premise of ``kind`` in ``template``."""
        chosen = self.kinds[kind]
        return parse_pattern(self.templates[template].pattern, {**chosen.bindings, "verb": chosen.verb})

    @cached_property
    def verb_slots(self) -> tuple[str, ...]:
        """The slots whose fillers are premise verbs."""
        return tuple(dict.fromkeys(kind.verb for kind in self.kinds.values()))

    def fillers(self, slot: Slot) -> set[str]:
        """The classes and lexemes that a slot, or a frame for it, names."""
        return {*slot.classes, *(name for frame in self.frames for name in frame.slots.get(slot.source, ()))}

    @cached_property
    def parts_of_speech(self) -> dict[str, frozenset[str]]:
        """Slot -> the parts of speech of what can fill it, as far as its classes exist."""
        known = {slot.name: filter(self.lexicon.has, self.fillers(slot)) for slot in self.slots.values()}
        return {name: frozenset(self.lexicon.resolve(filler).pos for filler in fillers) for name, fillers in known.items()}

    def design_slots(self, design: Design) -> tuple[str, ...]:
        """Every slot that a sentence of ``design`` uses, in declaration order."""
        premises = [self.premise_parts(kind, template.name) for kind in design.kinds for template in self.templates_for(kind)]
        wordings = [parse_pattern(wording) for rule in design.rules for wording in self.rules[rule].wordings]
        used = {part.slot for parts in (*premises, *wordings) for part in parts}
        return tuple(name for name in self.slots if name in used)


def verb_columns(designs: Iterable[Design], kinds: Mapping[str, Kind], slots: Mapping[str, Slot], frame: Frame) -> set[str]:
    """The columns of ``frame`` that hold the verbs of kinds of the designs that it serves; E101 says which names are declared nowhere."""
    served = {kind for design in designs if design.frames in frame.designs for kind in design.kinds}
    return {slots[kinds[kind].verb].source for kind in served if kind in kinds and kinds[kind].verb in slots}


def verb_rows(construction: Construction, frame: Frame) -> dict[str, tuple[int, ...]]:
    """The columns of a scene that hold verbs -> the rows of the lexicon that they name, in their order."""
    columns = verb_columns(construction.designs.values(), construction.kinds, construction.slots, frame)
    return {slot: construction.lexicon.named(*frame.slots[slot]) for slot in frame.slots.keys() & columns}


def square_faults(construction: Construction, square: Square) -> Iterator[tuple[str, list[str]]]:
    """What is wrong with a square: in words, and the keys under ``natural`` that lead to it."""
    design = construction.designs.get(square.design)
    if design is None:
        yield f"there is no design {square.design!r}", [square.design]
        return
    if set(design.kinds) != set(square.kinds):
        odd = sorted(set(design.kinds) ^ set(square.kinds))
        yield f"the kinds are not those of the design: {', '.join(odd)}", [square.design, "kinds"]
        return
    for slot in square.slots:
        if slot not in construction.slots:
            yield f"there is no slot {slot!r}", [square.design, "slots", slot]
    try:
        shown = set().union(*(square.parts(construction.kinds[kind]) for kind in design.kinds))
    except (KeyError, ValueError) as error:
        yield f"says: {error}", [square.design, "says"]
        return
    claimed = {part for rule in design.rules for wording in construction.rules[rule].wordings for part in parse_pattern(wording)}
    for form in sorted({part.form for part in claimed} - _SAYABLE):
        yield f"its hypotheses ask for the form :{form}, which a writer's words do not have", [square.design]
    known = set(square.slots).union(*square.words.values())
    for name in sorted({part.slot for part in shown | claimed if part.slot} - known):
        where = "slots" if name in construction.slots else "words"
        yield f"{{{name}}} is said in a premise or hypothesis, and {where} does not have it", [square.design]
