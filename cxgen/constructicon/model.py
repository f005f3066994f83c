"""The nouns of the domain, as plain frozen data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cxgen.constructicon.natural import Square
from cxgen.constructicon.pattern import Part, parse_pattern
from cxgen.errors import SchemaError
from cxgen.lexicon import Frame, Lexicon
from cxgen.schema import Document

Place = tuple[Document, list[str | int]]  # a file and the keys that lead to a node of it
_ATOM = re.compile(r"^(not )?([a-z][a-z-]*)\(([^)]*)\)$")


@dataclass(frozen=True)
class Atom:
    """A predicate over slots, such as ``reached(theme, goal)``."""

    predicate: str
    args: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> tuple[Atom, bool]:
        """The atom and its polarity: ``not p(x)`` gives ``(p(x), False)``."""
        match = _ATOM.match(text)
        if match is None:
            raise ValueError(f"not a claim: {text!r}")
        args = tuple(part.strip() for part in match[3].split(","))
        return cls(match[2], args), match[1] is None

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.args)})"


@dataclass(frozen=True)
class Predicate:
    """What a claim can say.

    Attributes:
        contrary: a predicate that cannot be true of the same arguments.
        asymmetric: p(x, y) excludes p(y, x).
        lexical: its last argument is a property to which lexical relations apply.
        either_way: what it says of a property it says of the complement too.
    """

    name: str
    gloss: str
    contrary: str = ""
    asymmetric: bool = False
    lexical: bool = False
    either_way: bool = False


@dataclass(frozen=True)
class Slot:
    """A place to fill.

    Attributes:
        role: agent, theme, patient, goal, result, verb, ...
        classes: word classes to draw from; empty when the frame or a relation fills it.
        source: the frame's slot that fills it; its own name unless the file says otherwise.
        lexical: lexical relation to ``parent``, or empty.
        number: singular, plural, or frame (the frame's word ``number``).
        carries: it carries the construction, so the strict frequency band applies.
        optional: share of sets without it.
        by_frame: it is left out where the frame does not fill it.
        wrap: text around the filler.
        distinct: slots that must hold another lemma.
        deprel: what it is in the tree where nothing else says so: a relation of Universal Dependencies, ``>`` and a head if need be.
    """

    name: str
    role: str
    classes: tuple[str, ...] = ()
    source: str = ""
    lexical: str = ""
    parent: str = ""
    number: str = "singular"
    carries: bool = False
    optional: float = 0.0
    by_frame: bool = False
    wrap: str = "{}"
    distinct: tuple[str, ...] = ()
    deprel: str = ""

    @property
    def may_lack(self) -> bool:
        """Whether there are sets without it."""
        return self.by_frame or self.optional > 0

    @property
    def from_frame(self) -> bool:
        """Whether the frame fills it."""
        return not self.classes and not self.lexical


@dataclass(frozen=True)
class Facts:
    """What is true and what is false."""

    entails: tuple[Atom, ...] = ()
    excludes: tuple[Atom, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A premise kind: what its sentences look like, what they entail and what they exclude.

    Attributes:
        name: as designs name it; a look-alike's is ``lookalike/kind``.
        construction: the construction whose meaning its sentences have.
        verb: the slot of its verb.
        bindings: text for ``{@key}`` in templates.
        rests_on: slots whose words its facts need: with other words there, what it entails and excludes would be open.
        misread: what would hold, too, if what looks like the target in its sentences were an instance of it; None if nothing does.
        unasked: claims about which its premises get no hypothesis.
    """

    name: str
    gloss: str
    construction: str
    verb: str
    bindings: dict[str, str]
    entails: tuple[Atom, ...]
    excludes: tuple[Atom, ...]
    rests_on: tuple[str, ...] = ()
    misread: Facts | None = None
    unasked: tuple[Atom, ...] = ()


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
    """The plan of a contrast set: which premise kinds meet which hypotheses.

    Attributes:
        configs: the datasets that its sets go to; each belongs to a benchmark family.
        weight: share of a config's items.
        frames: the name by which frames are chosen.
        variant: of a design of pairs about participants: from which side its continuations ask, A or B; else empty.
        entity_type: what its participants are, see `cxgen.constructicon.entities`; empty where it has no variant.
        switched: its second kind is the first with the participants in one another's places.
    """

    name: str
    kinds: tuple[str, ...]
    rules: tuple[str, ...]
    weight: float
    frames: str
    configs: tuple[str, ...] = ("nli",)
    variant: str = ""
    entity_type: str = ""
    switched: bool = False


@dataclass(frozen=True)
class Construction:
    """A construction with its look-alikes merged in.

    Attributes:
        lexicon: the words that it draws from, those of its own files included.
        documents: its file, then those of its look-alikes (or the parts of its file that describe them).
        groups: names for several kinds.
        natural: design -> what a writer is told who fills its square.
        places: (section, name) -> where the entry is declared; ("wordings", rule) leads to a rule's wordings.
    """

    name: str
    title: str
    form: str
    meaning: str
    schematicity: int
    sources: tuple[str, ...]
    predicates: dict[str, Predicate]
    slots: dict[str, Slot]
    kinds: dict[str, Kind]
    templates: dict[str, Template]
    rules: dict[str, Rule]
    designs: dict[str, Design]
    frames: tuple[Frame, ...]
    lookalikes: tuple[str, ...]
    form_check: tuple[tuple[dict[str, Any], ...], ...]
    documents: tuple[Document, ...]
    lexicon: Lexicon
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: dict[tuple[str, str], Place] = field(default_factory=dict)
    natural: dict[str, Square] = field(default_factory=dict)

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
        known = self._parts.get((kind, template))
        if known is None:
            chosen = self.kinds[kind]
            known = parse_pattern(self.templates[template].pattern, {**chosen.bindings, "verb": chosen.verb})
            self._parts[kind, template] = known
        return known

    @cached_property
    def _parts(self) -> dict[tuple[str, str], tuple[Part, ...]]:
        return {}

    @cached_property
    def verb_slots(self) -> tuple[str, ...]:
        """The slots whose fillers are premise verbs."""
        return tuple(dict.fromkeys(kind.verb for kind in self.kinds.values()))

    @cached_property
    def parts_of_speech(self) -> dict[str, frozenset[str]]:
        """Slot -> the parts of speech of what can fill it, as far as its classes exist."""
        return {name: self._filled_by(slot) for name, slot in self.slots.items()}

    def _filled_by(self, slot: Slot) -> frozenset[str]:
        if slot.lexical:
            return frozenset({"adjective"})
        names = {*slot.classes, *(value for frame in self.frames for value in frame.slots.get(slot.source, ()))}
        known = [self.lexicon.resolve(value) for value in names if value in self.lexicon.classes or value in self.lexicon.index]
        return frozenset(group.pos for group in known)

    def design_slots(self, design: Design) -> tuple[str, ...]:
        """Every slot that a sentence of ``design`` uses, parents of related slots included, in declaration order."""
        key = design.kinds, design.rules
        if key not in self._slots_of:
            self._slots_of[key] = self._used_slots(design)
        return self._slots_of[key]

    @cached_property
    def _slots_of(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]:
        return {}

    def _used_slots(self, design: Design) -> tuple[str, ...]:
        used: set[str] = set()
        for kind in design.kinds:
            for template in self.templates_for(kind):
                used.update(part.slot for part in self.premise_parts(kind, template.name) if part.slot)
        for rule in design.rules:
            for wording in self.rules[rule].wordings:
                used.update(part.slot for part in parse_pattern(wording) if part.slot)
        for name in self.slots:
            parent = self.slots[name].parent if name in used else ""
            while parent and parent not in used:
                used.add(parent)
                parent = self.slots[parent].parent
        return tuple(name for name in self.slots if name in used)

    def draw_order(self, design: Design) -> list[Slot]:
        """The slots of ``design`` in the order in which they are drawn: related slots after their parents."""
        pending = [self.slots[name] for name in self.design_slots(design)]
        ordered: list[Slot] = []
        while pending:
            known = {slot.name for slot in ordered}
            ready = next((slot for slot in pending if not slot.parent or slot.parent in known), None)
            if ready is None:
                names = ", ".join(slot.name for slot in pending)
                raise SchemaError(f"{self.name}: the slots {names} are related to one another in a circle", file=self.document.path)
            pending.remove(ready)
            ordered.append(ready)
        return ordered
