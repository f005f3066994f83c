"""The nouns of the domain, as plain frozen data."""

import re
from collections.abc import Iterator
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
    """What a claim can say: not if its ``contrary`` does; p(x, y) excludes p(y, x) if ``asymmetric``.

    If ``lexical``, its last argument is a property to which lexical relations apply; if ``either_way``, what it says of a property it says
    of the complement too.
    """

    name: str
    gloss: str
    contrary: str = ""
    asymmetric: bool = False
    lexical: bool = False
    either_way: bool = False


@dataclass(frozen=True)
class Slot:
    """A place to fill: from ``classes``, by the ``lexical`` relation to ``parent``, or, with neither, by the frame.

    Attributes:
        source: the frame's slot that fills it; its own name unless the file says otherwise.
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
    """A premise kind (a look-alike's is ``lookalike/kind``): what its sentences look like, what they entail and what they exclude.

    Attributes:
        construction: the construction whose meaning its sentences have.
        verb: the slot of its verb; ``bindings`` are the other texts for ``{@key}`` in templates.
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
        weight: share of a config's items; ``configs`` are the datasets that its sets go to.
        frames: the name by which frames are chosen.
        variant: of a design of pairs about participants: from which side its continuations ask, A or B; else empty.
        entity_type: what its participants are; empty where it has no variant.
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
        chosen = self.kinds[kind]
        return parse_pattern(self.templates[template].pattern, {**chosen.bindings, "verb": chosen.verb})

    @cached_property
    def verb_slots(self) -> tuple[str, ...]:
        """The slots whose fillers are premise verbs."""
        return tuple(dict.fromkeys(kind.verb for kind in self.kinds.values()))

    @cached_property
    def parts_of_speech(self) -> dict[str, frozenset[str]]:
        """Slot -> the parts of speech of what can fill it, as far as its classes exist."""
        filled = {}
        for slot in self.slots.values():
            names = {*slot.classes, *(name for frame in self.frames for name in frame.slots.get(slot.source, ()))}
            known = frozenset(self.lexicon.resolve(name).pos for name in names if self.lexicon.has(name))
            filled[slot.name] = frozenset({"adjective"}) if slot.lexical else known
        return filled

    def _parts(self, design: Design) -> Iterator[Part]:
        for kind in design.kinds:
            for template in self.templates_for(kind):
                yield from self.premise_parts(kind, template.name)
        for rule in design.rules:
            for wording in self.rules[rule].wordings:
                yield from parse_pattern(wording)

    def design_slots(self, design: Design) -> tuple[str, ...]:
        """Every slot that a sentence of ``design`` uses, parents of related slots included, in declaration order."""
        used = {part.slot for part in self._parts(design)}
        for name in self.slots:
            parent = self.slots[name].parent if name in used else ""
            while parent and parent not in used:
                used.add(parent)
                parent = self.slots[parent].parent
        return tuple(name for name in self.slots if name in used)

    def draw_order(self, design: Design) -> list[Slot]:
        """The slots of ``design`` in the order in which they are drawn: related slots after their parents."""
        pending = [self.slots[name] for name in self.design_slots(design)]
        ordered: dict[str, Slot] = {}
        while pending:
            ready = next((slot for slot in pending if not slot.parent or slot.parent in ordered), None)
            if ready is None:
                names = ", ".join(slot.name for slot in pending)
                raise SchemaError(f"{self.name}: the slots {names} are related to one another in a circle", file=self.document.path)
            pending.remove(ready)
            ordered[ready.name] = ready
        return list(ordered.values())
