"""What a premise consists of before it is a tree: tokens, and the units (fillers, chunks) that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field

from cxgen.constructicon import Part
from cxgen.sampling.ways import WORD_FORMS
from cxgen.trees.chunks import Chunk
from cxgen.trees.surface import Look, head

# Forms that belong to what comes next, as its possessor or determiner.
LEANING = {"poss": "nmod:poss", "poss-of": "nmod:poss", "this": "det"}


@dataclass(frozen=True)
class Token:
    """An annotated token.

    Attributes:
        head: number of the head, from 1; 0 for the root.
        relation: of Universal Dependencies 2.
        slot: the slot that it fills, empty for closed-class words.
        anchor: it is the head of its slot's filler.
        space_after: whether a space follows.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int = 0
    relation: str = ""
    slot: str = ""
    anchor: bool = False
    space_after: bool = True


@dataclass
class Unit:
    """A run of closed-class words (``chunk``), or a filler (``part``): where it starts, how long it is, its head, all from 1."""

    start: int
    size: int
    head: int = 0
    chunk: Chunk | None = None
    part: Part | None = None

    @property
    def form(self) -> str:
        """The form that the pattern asks for; empty for a chunk, too."""
        return self.part.form if self.part else ""

    @property
    def auxiliary(self) -> bool:
        """Whether it is a verb that agrees with a slot."""
        return self.part is not None and WORD_FORMS[self.form].closed and self.form not in LEANING and self.form not in _PRONOUNS


_PRONOUNS = frozenset({"subj", "obj", "refl"})


@dataclass
class Draft:
    """A premise on its way to a tree: ``links`` are token -> (relation, head), ``problems`` what keeps it from being one."""

    tokens: list[Token] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    links: dict[int, tuple[str, int]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def miss(self, word: str, *, beside: bool) -> None:
        """Note a word that nothing knows, together with the one before if that stands ``beside`` it."""
        if beside and self.missing:
            self.missing[-1] += f" {word}"
        else:
            self.missing.append(word)

    def add_chunk(self, chunk: Chunk, slot: str = "") -> None:
        """Append closed-class words; a single one may fill a ``slot`` (*I*, *they*)."""
        self.units.append(Unit(len(self.tokens) + 1, len(chunk.words), chunk=chunk))
        self.tokens += [Token(word.form, word.lemma, word.upos, word.xpos, slot=slot, anchor=bool(slot)) for word in chunk.words]

    def add_filler(self, part: Part, look: Look) -> None:
        """Append a filler with its inner structure. Pronouns and agreeing verbs are not the filler itself."""
        start, top = len(self.tokens) + 1, head(look)
        self.units.append(Unit(start, len(look), start + top, part=part))
        slot = "" if WORD_FORMS[part.form].closed else part.slot
        for number, piece in enumerate(look):
            anchor = bool(slot) and number == top
            self.tokens.append(Token(piece.form, piece.lemma, piece.upos, piece.xpos, slot=slot, anchor=anchor))
            if piece.head >= 0:
                self.links[start + number] = (piece.relation, start + piece.head)
