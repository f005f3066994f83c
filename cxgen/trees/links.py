"""From units to a tree.

A filler's relation is what the template states in its place (``{recipient=iobj}``), else what a neighbouring chunk gives it, else the
``relation`` that its slot states, else what its place tells, if only one filler can be meant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from cxgen.constructicon import Slot
from cxgen.sampling.ways import WORD_FORMS
from cxgen.trees.chunks import Link, Word
from cxgen.trees.relations import COMPLEMENTS, NOMINAL, ONCE, base, stated
from cxgen.trees.units import LEANING, Draft, Unit

_AUXILIARY = Link("aux", "VERB")
_SMALL = frozenset({"ADV", "ADP", "PART", "SCONJ"})  # they lean on what comes next, if their heads are there, too
_STATE = "state its relation: `relation:` in the slot, or {{{0}=RELATION}} in the template"


class Linker:
    """Gives every token of a draft its relation and head; what it cannot is added to the draft's problems."""

    def __init__(self, draft: Draft, verb: int, slots: Mapping[str, Slot]) -> None:
        self.draft = draft
        self.slots = slots
        self.verb = verb
        self.predicate = _marked(draft) or verb
        self.links: dict[int, Link] = {}
        self.weak: dict[
            int, tuple[Link, int, Unit]
        ] = {}  # what a preposition or a conjunction makes of the noun behind it, if that states nothing

    def link(self) -> None:
        """Fill ``draft.links``."""
        units = self.draft.units
        for number, unit in enumerate(units):
            if unit.chunk:
                self._chunk(number, unit)
        for number, unit in enumerate(units):
            if unit.part:
                self._filler(number, unit)
        self.links.setdefault(self.predicate, Link("root", "0"))
        if not self.draft.problems:
            self._resolve()
            self._passive()
            self._check()

    def _chunk(self, number: int, unit: Unit) -> None:
        assert unit.chunk is not None
        for offset, word in enumerate(unit.chunk.words):
            link = self._fixed(word.link, number, unit)
            if word.upos == "AUX" and word.link == _AUXILIARY:
                link = Link(self._as_auxiliary(word.lemma, int(link.head)), link.head)
            if word.link.head == "P" and unit.chunk.words[0].upos != "PUNCT":
                link = Link(link.relation, str(self._clause(number)))
            self.links.setdefault(unit.start + offset, link)
        for anchor, link in unit.chunk.others.items():
            place = {"V": self.verb, "P": self.predicate}.get(anchor) or self._other(number, anchor)
            if place:
                if anchor.endswith("?"):
                    self.weak.setdefault(place, (link, number, unit))
                else:
                    self.links[place] = self._fixed(link, number, unit)

    def _other(self, number: int, anchor: str) -> int:
        if anchor in {"VERB", "VERB?"}:
            return self._next_verb(number)
        return self._neighbour(number, anchor.rstrip("?"), fillers=True)

    def _fixed(self, link: Link, number: int, unit: Unit) -> Link:
        """A chunk's link, its head as the number of a token where that is known by now."""
        head = link.head
        if head.isdigit():
            return Link(link.relation, str(unit.start + int(head) - 1 if int(head) else 0))
        return Link(link.relation, self._anchor(head, number))

    def _anchor(self, name: str, number: int) -> str:
        """The token of which ``name`` is the anchor, seen from a unit; R and OBJ stay, as they depend on the whole tree."""
        known = {"V": lambda: self.verb, "P": lambda: self.predicate, "VERB": lambda: self._next_verb(number)}
        known |= {"HOST": lambda: self._last_verb(number), "LAST": lambda: self._last_adjunct(number)}
        if name in known:
            return str(known[name]())
        text = self._text(self.draft.units[number])
        if name in {"NEXT", "PREV"}:
            place = self._neighbour(number, name)
            if not place:
                self.draft.problems.append(f"{text!r} needs a word {'after' if name == 'NEXT' else 'before'} it to belong to")
            return str(place)
        if name.islower():
            heads = (unit.head for unit in self.draft.units if unit.part and unit.part.slot == name and not WORD_FORMS[unit.form].closed)
            place = next(heads, 0)
            if not place:
                self.draft.problems.append(f"{text!r} belongs to {{{name}}}, which is not in the sentence")
            return str(place)
        return name

    def _last_adjunct(self, number: int) -> int:
        """The head of the adjunct right before a unit."""
        unit = self.draft.units[number - 1]
        return unit.start + next(n for n, word in enumerate(unit.chunk.words if unit.chunk else ()) if word.link.head == "P")

    def _next_verb(self, number: int) -> int:
        """The next verb, or predicate, behind a unit; the construction's where there is none."""
        return next((place for unit in self.draft.units[number + 1 :] if (place := self._verb_of(unit))), self.verb)

    def _last_verb(self, number: int) -> int:
        """The last verb before a unit; the predicate where there is none."""
        return next((place for unit in reversed(self.draft.units[:number]) if (place := self._verb_of(unit))), self.predicate)

    def _clause(self, number: int) -> int:
        """The predicate of the clause in which a unit stands: the last verb before it that is no infinitive."""
        for unit in reversed(self.draft.units[:number]):
            place = self._verb_of(unit)
            if place and self.draft.tokens[place - 1].xpos != "VB":
                return place
        return self.predicate

    def _verb_of(self, unit: Unit) -> int:
        if unit.chunk is None:
            return unit.head if self.draft.tokens[unit.head - 1].upos == "VERB" else 0
        verbs = (n for n, word in enumerate(unit.chunk.words) if word.predicate or (word.upos == "VERB" and word.link.relation != "case"))
        return next((unit.start + n for n in verbs), 0)

    def _neighbour(self, number: int, name: str, *, fillers: bool = False) -> int:
        """The head of what stands next or before, what leans on it left out; 0 if there is none."""
        units = self.draft.units
        step = 1 if name == "NEXT" else -1
        place = number + step
        while 0 <= place < len(units) and self._leans(place):
            place += step
        if not 0 <= place < len(units):
            return 0
        other = units[place]
        if other.chunk is None:
            return other.head
        if fillers and place == number + step:
            return 0
        nouns = [(word.link.head.isdigit(), other.start + n) for n, word in enumerate(other.chunk.words) if word.upos in NOMINAL]
        return min(nouns, default=(False, 0))[1]

    def _leans(self, number: int) -> str:
        """As what the filler belongs to the noun that comes next, if it does: his, this, the dog's; an adjective before a bare noun."""
        unit = self.draft.units[number]
        if unit.chunk and all(_leaning(word) for word in unit.chunk.words):
            return unit.chunk.words[0].link.relation
        if unit.part is None or unit.part.deprel:
            return ""
        if unit.form in LEANING:
            return LEANING[unit.form]
        if self.draft.tokens[unit.head - 1].upos == "ADJ" and self._bare_noun(number + 1):
            return "amod"
        return ""

    def _bare_noun(self, number: int) -> bool:
        """Whether a noun without determiner comes next, perhaps after another adjective."""
        if number >= len(self.draft.units) or (unit := self.draft.units[number]).part is None:
            return False
        upos = self.draft.tokens[unit.head - 1].upos
        return unit.form == "bare" and upos in NOMINAL if upos != "ADJ" else self._bare_noun(number + 1)

    def _filler(self, number: int, unit: Unit) -> None:
        part = unit.part
        assert part is not None
        slot = self.slots.get(part.slot)
        after_verb = unit.head > self.verb
        text = part.deprel
        if not text and (unit.head in self.links or (unit.head == self.verb and unit.head in self.weak)):
            if unit.head not in self.links:
                self.links[unit.head] = self._fixed(*self.weak[unit.head])
            return
        if not text and slot and slot.deprel and unit.form not in LEANING and not unit.auxiliary and unit.head != self.verb:
            core = slot.deprel.partition(">")[0] in COMPLEMENTS
            text = slot.deprel if (after_verb and unit.head not in self.weak) or not core else ""
        if text == "root" and self._embedded(unit.head):
            self.links[unit.head] = self._fixed(*self.weak[unit.head])
        elif text:
            try:
                relation, head = stated(text)
            except ValueError as error:
                self.draft.problems.append(f"{{{part.slot}}}: {error}")
                return
            self.links[unit.head] = Link(relation, "0" if head == "0" else self._anchor(head, number))
        elif unit.head in self.weak:
            self.links[unit.head] = self._fixed(*self.weak[unit.head])
        else:
            self._default(number, unit)

    def _embedded(self, place: int) -> bool:
        """Whether a verb stands in a clause that another verb takes: *I remember that*."""
        return place in self.weak and self.weak[place][0].relation == "ccomp"

    def _default(self, number: int, unit: Unit) -> None:
        """The relation that follows from the place of a filler of which nothing is stated."""
        assert unit.part is not None
        upos = self.draft.tokens[unit.head - 1].upos
        leaning = self._leans(number)
        link = None
        if leaning:
            link = Link(leaning, self._anchor("NEXT", number))
        elif unit.head == self.verb:
            link = Link("root", "0") if self.verb == self.predicate else Link("xcomp", str(self.predicate))
        elif unit.auxiliary:
            link = self._auxiliary(unit)
        elif upos == "ADV":
            link = Link("advmod", str(self.predicate))
        elif upos == "ADJ" and unit.head > self.verb:
            link = Link("xcomp", str(self.verb))
        elif upos in NOMINAL:
            link = Link("nsubj", str(self.predicate)) if unit.head < self.verb else Link("obj", str(self.verb))
        if link is None:
            what = f"what {self._text(unit)!r} is in the sentence does not follow from its place"
            self.draft.problems.append(f"{what}: {_STATE.format(unit.part.slot)}")
        else:
            self.links[unit.head] = link

    def _auxiliary(self, unit: Unit) -> Link | None:
        """*was*, *has*, *does*: it belongs to the next of verb and predicate."""
        head = min((place for place in (self.verb, self.predicate) if place > unit.head), default=0)
        if not head:
            return None
        return Link(self._as_auxiliary(self.draft.tokens[unit.head - 1].lemma, head), str(head))

    def _as_auxiliary(self, lemma: str, head: int) -> str:
        """What *be*, *have*, *can* is to the word that it belongs to."""
        verb = self.draft.tokens[head - 1]
        if lemma not in {"be", "get"} or verb.xpos == "VBG":
            return "aux"
        return "aux:pass" if verb.upos == "VERB" else "cop"

    def _resolve(self) -> None:
        """Heads that depend on the whole tree: R and OBJ."""
        root = next((str(number) for number, link in self.links.items() if link.relation == "root"), "0")
        objects = (unit.head for unit in self.draft.units if unit.part and self.links[unit.head] == Link("obj", str(self.verb)))
        late = {"R": root, "OBJ": str(next(objects, self.verb))}
        for number, link in self.links.items():
            self.draft.links[number] = (link.relation, int(late.get(link.head, link.head)))
        for number, (relation, head) in list(self.draft.links.items()):
            over, above = self.draft.links.get(head, ("", 0))
            if base(relation) == "nsubj" and over == "xcomp" and number > above:  # a complement with a subject of its own
                self.draft.links[head] = ("ccomp", above)

    def _passive(self) -> None:
        """The subject of a passive verb is one."""
        links = self.draft.links
        passive = {head for relation, head in links.values() if relation == "aux:pass"}
        for number, (relation, head) in links.items():
            if relation == "nsubj" and head in passive:
                links[number] = ("nsubj:pass", head)

    def _check(self) -> None:
        """One root, no circle, one subject and one object per verb."""
        links, problems = self.draft.links, self.draft.problems
        roots = [number for number, (relation, _) in links.items() if relation == "root"]
        if len(roots) != 1:
            problems.append(f"the tree has {len(roots)} roots: {self._words(roots)}" if roots else "the tree has no root")
            return
        once: dict[tuple[int, str], list[int]] = defaultdict(list)
        for number, (relation, head) in links.items():
            if base(relation) in ONCE:
                once[head, base(relation)].append(number)
        for (head, relation), numbers in once.items():
            if len(numbers) > 1:
                who = self._words(sorted(numbers))
                slot = next((unit.part.slot for unit in self.draft.units if unit.part and unit.head in numbers), "slot")
                problems.append(f"{who} would all be {relation} of {self._words([head])}: {_STATE.format(slot)}")
        for number in links:
            path, here = set(), number
            while here and here not in path:
                path.add(here)
                here = links[here][1]
            if here:
                problems.append(f"{self._words(sorted(path))} depend on each other in a circle")
                return

    def _text(self, unit: Unit) -> str:
        return " ".join(token.form for token in self.draft.tokens[unit.start - 1 : unit.start - 1 + unit.size])

    def _words(self, numbers: list[int]) -> str:
        tokens = [self.draft.tokens[number - 1] for number in numbers]
        return " and ".join(f"{token.form!r} ({token.slot})" if token.slot else repr(token.form) for token in tokens)


def _leaning(word: Word) -> bool:
    """Whether a word of a chunk belongs to what comes next, or to a word of the chunk that does."""
    return word.link.head in {"NEXT", "VERB"} or (word.link.head.isdigit() and word.upos in _SMALL)


def _marked(draft: Draft) -> int:
    """The token that a chunk marks as the predicate; 0 if none does."""
    for unit in draft.units:
        for offset, word in enumerate(unit.chunk.words if unit.chunk else ()):
            if word.predicate:
                return unit.start + offset
    return 0
