"""From units to a tree: every token gets its relation and head, as docs/annotation.md says ("What a filler is in the sentence")."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from cxgen.constructicon import Part, Slot
from cxgen.sampling.ways import WORD_FORMS
from cxgen.trees.words import NOMINAL, Link, Word, base, stated

LEANING = {"poss": "nmod:poss", "poss-of": "nmod:poss", "this": "det"}  # forms that belong to what comes next
_SMALL = frozenset({"ADV", "ADP", "PART", "SCONJ"})  # they lean on what comes next, if their heads are there, too
_ONCE = frozenset({"nsubj", "csubj", "obj", "iobj"})  # a verb has one of each
_COMPLEMENTS = frozenset({"obj", "iobj", "ccomp", "xcomp"})  # what a noun is after the verb, but not before it: *Ann was given a cake*
_STATE = "state what {0} is: `relation:` in the slot, or {{{1}=RELATION}} in the template"

Fixed = tuple[str, int | str]  # a relation, and the number of its head; R and OBJ depend on the whole tree, and stay till it is there


class Misfit(str):
    """What is wrong with a tree as a whole, all of whose words are known."""


@dataclass
class Unit:
    """A run of closed-class words that gives ``others`` links, or a filler (``part``); ``start`` is the number of its first token."""

    words: tuple[Word, ...]
    others: Mapping[str, Link] = field(default_factory=dict)
    part: Part | None = None
    slot: str = ""
    start: int = 0

    @property
    def head(self) -> int:
        """The number of a filler's head."""
        return self.start + self.words.index(self.top)

    @property
    def top(self) -> Word:
        """The head of a filler."""
        return next((word for word in self.words if not word.head), self.words[0])


class Linker:
    """Makes a tree of the units of a sentence, whose verb fills ``verb_slot``; what keeps it from being one is in ``problems``."""

    def __init__(self, units: Sequence[Unit], verb_slot: str, slots: Mapping[str, Slot]) -> None:
        self.units = units
        self.slots = slots
        self.problems: list[str] = []
        self.words = [word for unit in units for word in unit.words]
        self.links: dict[int, Fixed] = {}
        self.weak: dict[int, tuple[Link, int]] = {}  # what a preposition or conjunction makes of the noun behind it if nothing else does
        for unit, start in zip(units, accumulate((len(unit.words) for unit in units), initial=1), strict=False):
            unit.start = start
            inner = enumerate(unit.words if unit.part else (), start)
            self.links |= {number: (word.relation, start + int(word.head) - 1) for number, word in inner if word.head.isdigit()}
        self.fillers = {unit.slot: unit.head for unit in reversed(units) if unit.part}
        self.verb = self.fillers.get(verb_slot, 0)
        self.predicate = next((number for number, word in enumerate(self.words, 1) if word.predicate), self.verb)
        verbs = [n for n, word in enumerate(self.words, 1) if word.predicate or (word.upos == "VERB" and word.relation != "case")]
        self.verbs = [next((n for n in verbs if 0 <= n - unit.start < len(unit.words)), 0) for unit in units]  # of each unit, if it has one

    def link(self) -> dict[int, tuple[str, int]]:
        """Token -> its relation and head; nothing where there are problems."""
        if not self.verb:
            self.problems = ["its verb is not in it"]
            return {}
        for number, unit in enumerate(self.units):
            if not unit.part:
                self._chunk(number, unit)
        for number, unit in enumerate(self.units):
            if unit.part:
                self._filler(number, unit, unit.part)
        self.links.setdefault(self.predicate, ("root", 0))
        heads = {} if self.problems else self._resolved()
        self.problems = self.problems or self._faults(heads)
        return heads

    def _chunk(self, number: int, unit: Unit) -> None:
        for place, word in enumerate(unit.words, unit.start):
            relation, head = self._fixed((word.relation, word.head), number)
            if word.upos == "AUX" and (word.relation, word.head) == ("aux", "VERB"):
                relation = self._as_auxiliary(word, int(head))
            elif word.head == "P" and unit.words[0].upos != "PUNCT":
                verbs = [verb for verb in reversed(self.verbs[:number]) if verb and self.words[verb - 1].xpos != "VB"]
                if number and self.units[number - 1].words[-1].upos == "CCONJ":  # it belongs to what the conjunction opens
                    verbs = [*filter(None, self.verbs[number + 1 :]), *verbs]
                head = next(iter(verbs), self.predicate)
            self.links.setdefault(place, (relation, head))
        for anchor, link in unit.others.items():
            name = anchor.rstrip("?")
            place = self._anchor(name, number) if name in {"V", "P", "VERB"} else self._neighbour(number, name, fillers=True)
            if place and anchor.endswith("?"):
                self.weak.setdefault(place, (link, number))
            elif place:
                self.links[place] = self._fixed(link, number)

    def _fixed(self, link: Link, number: int) -> Fixed:
        relation, head = link
        if head.isdigit():
            return relation, self.units[number].start + int(head) - 1 if int(head) else 0
        return relation, head if head in {"R", "OBJ"} else self._anchor(head, number)

    def _anchor(self, name: str, number: int) -> int:
        """The token that a unit calls so."""
        verbs = {"V": [], "P": [], "VERB": self.verbs[number + 1 :], "HOST": self.verbs[:number][::-1]}
        if name in verbs:
            return next(filter(None, verbs[name]), self.verb if name in {"V", "VERB"} else self.predicate)
        if name == "LAST":  # the adjunct right before
            before = self.units[number - 1]
            return before.start + next(place for place, word in enumerate(before.words) if word.head == "P")
        place = self._neighbour(number, name) if name in {"NEXT", "PREV"} else self.fillers.get(name, 0)
        if not place:
            lack = {"NEXT": "needs a word after it to belong to", "PREV": "needs a word before it to belong to"}
            text = " ".join(word.form for word in self.units[number].words)
            self.problems.append(f"{text!r} {lack.get(name, f'belongs to {{{name}}}, which is not in the sentence')}")
        return place

    def _neighbour(self, number: int, name: str, *, fillers: bool = False) -> int:
        """The head of what stands next or before, what leans on it left out; 0 if there is none."""
        places = range(number + 1, len(self.units)) if name == "NEXT" else range(number - 1, -1, -1)
        place = next((place for place in places if not self._leans(place)), None)
        if place is None:
            return 0
        unit = self.units[place]
        if unit.part or (fillers and place == places[0]):
            return unit.head if unit.part else 0
        nouns = [(word.head.isdigit(), n) for n, word in enumerate(unit.words, unit.start) if word.upos in NOMINAL]
        return min(nouns, default=(False, 0))[1]

    def _leans(self, number: int) -> str:
        """As what a unit belongs to the noun that comes next, if it does: his, this, the dog's; an adjective before a bare noun."""
        unit = self.units[number]
        if not unit.part:
            leans = all(word.head in {"NEXT", "VERB"} or (word.head.isdigit() and word.upos in _SMALL) for word in unit.words)
            return unit.words[0].relation if leans else ""
        if unit.part.deprel or unit.part.form in LEANING:
            return "" if unit.part.deprel else LEANING[unit.part.form]
        behind = [unit for unit in self.units[number:] if not unit.part or unit.top.upos != "ADJ"][:1]
        bare = any(noun.part and noun.part.form == "bare" and noun.top.upos in NOMINAL for noun in behind)
        return "amod" if unit.top.upos == "ADJ" and bare else ""

    def _filler(self, number: int, unit: Unit, part: Part) -> None:
        text, place, weak, slot = part.deprel, unit.head, self.weak.get(unit.head), self.slots.get(part.slot)
        open_ones = (n for n, word in enumerate(unit.words) if word.head == "NEXT")
        self.links |= {unit.start + n: self._fixed((unit.words[n].relation, "NEXT"), number) for n in open_ones}
        if not text and place in self.links:
            return
        if not text and slot and slot.deprel and part.form not in LEANING and not _agrees(part) and place != self.verb:
            core = slot.deprel.partition(">")[0] in _COMPLEMENTS
            text = slot.deprel if not core or (place > self.verb and not weak) else ""
        if weak and not _agrees(part) and (not text or (text == "root" and weak[0][0] == "ccomp")):  # *I remember that ...*
            self.links[place] = self._fixed(*weak)
            return
        try:
            self.links[place] = self._fixed(stated(text), number) if text else self._default(number, unit, part)
        except ValueError as error:
            self.problems.append(f"{{{_written(part)}}}: {error}")

    def _default(self, number: int, unit: Unit, part: Part) -> Fixed:
        """The relation that follows from the place of a filler of which nothing is stated."""
        place, word = unit.head, unit.top
        if leaning := self._leans(number):
            return leaning, self._anchor("NEXT", number)
        if place == self.verb:
            return ("root", 0) if self.verb == self.predicate else ("xcomp", self.predicate)
        after = [verb for verb in (*self.verbs[number + 1 :], self.verb, self.predicate) if verb > place]
        if _agrees(part) and after:  # it belongs to the next verb or predicate
            return self._as_auxiliary(word, min(after)), min(after)
        links = {"ADV": ("advmod", self.predicate), "ADJ": ("xcomp", self.verb)}
        links |= dict.fromkeys(NOMINAL, ("nsubj", self.predicate) if place < self.verb else ("obj", self.verb))
        if word.upos not in links or (word.upos == "ADJ" and place < self.verb):
            raise ValueError(f"what it is in the sentence does not follow from its place: {_STATE.format(part.slot, _written(part))}")
        return links[word.upos]

    def _as_auxiliary(self, word: Word, head: int) -> str:
        """What *be*, *have*, *can* is to the word that it belongs to."""
        verb = self.words[head - 1]
        if word.lemma not in {"be", "get"} or verb.xpos == "VBG":
            return "aux"
        return "aux:pass" if verb.upos == "VERB" else "cop"

    def _resolved(self) -> dict[int, tuple[str, int]]:
        """All links, with R and OBJ known, complements that have subjects of their own, and subjects of passives."""
        root = next((number for number, (relation, _) in self.links.items() if relation == "root"), 0)
        objects = (unit.head for unit in self.units if unit.part and self.links[unit.head] == ("obj", self.verb))
        late = {"R": root, "OBJ": next(objects, self.verb)}
        heads = {number: (relation, late[head] if isinstance(head, str) else head) for number, (relation, head) in self.links.items()}
        for number, (relation, head) in list(heads.items()):
            over, above = heads.get(head, ("", 0))
            if base(relation) == "nsubj" and over == "xcomp" and number > above:
                heads[head] = ("ccomp", above)
        for number in () if self._circle(heads) else heads:
            while self._crosses(heads, number):  # it belongs to the clause around that of its head
                heads[number] = heads[number][0], heads[heads[number][1]][1]
        passive = {head for relation, head in heads.values() if relation == "aux:pass"}
        return {n: ("nsubj:pass" if relation == "nsubj" and head in passive else relation, head) for n, (relation, head) in heads.items()}

    @staticmethod
    def _crosses(heads: Mapping[int, tuple[str, int]], number: int) -> bool:
        """Whether a word between a token and its head depends on neither."""
        top = heads[number][1]
        above = list(range(min(number, top) + 1, max(number, top))) if top else []
        while above and 0 not in above:
            above = [heads[place][1] for place in above if place not in {number, top}]
        return bool(above)

    @staticmethod
    def _circle(heads: Mapping[int, tuple[str, int]]) -> list[int]:
        """The tokens that do not depend on the root."""
        below = {0}
        for _ in heads:
            below |= {number for number, (_, head) in heads.items() if head in below}
        return sorted(heads.keys() - below)

    def _faults(self, heads: Mapping[int, tuple[str, int]]) -> list[str]:
        """One root, one subject and one object per verb, no circle."""
        roots = [number for number, (relation, _) in heads.items() if relation == "root"]
        if len(roots) != 1:
            none = "the tree has no root (a verb that is written out is known in the past: *said*, *heard*)"
            return [Misfit(f"the tree has {len(roots)} roots: {self._named(roots)}") if roots else none]
        faults: list[str] = []
        once = defaultdict(list)
        for number, (relation, head) in sorted(heads.items()):
            once[head, base(relation)].append(number)
        for (head, relation), numbers in once.items():
            if relation in _ONCE and len(numbers) > 1:
                slot = next((unit.part.slot for unit in self.units if unit.part and unit.head in numbers), "slot")
                rivals = f"{self._named(numbers)} would all be {relation} of {self._named([head])}"
                faults.append(Misfit(f"{rivals}: {_STATE.format(slot, slot)}"))
        for number, (relation, head) in heads.items():
            if relation == "aux:pass" and any(heads[n] == ("mark", head) for n in range(number + 1, head)):  # *was hard to find*
                hint = "say what it belongs to (docs/annotation.md: a chunk, or {slot=RELATION>HEAD})"
                faults.append(f"{self._named([number])} would make a passive of the infinitive {self._named([head])}: {hint}")
        if circle := self._circle(heads):
            faults.append(Misfit(f"{self._named(circle)} do not depend on the root, but in a circle"))
        return faults

    def _named(self, numbers: Sequence[int]) -> str:
        slots, forms = [unit.slot for unit in self.units for _ in unit.words], [word.form for word in self.words]
        which = [slot or (f"word {n}" if forms.count(form) > 1 else "") for n, (slot, form) in enumerate(zip(slots, forms, strict=True), 1)]
        return " and ".join(f"{forms[n - 1]!r}{f' ({which[n - 1]})' if which[n - 1] else ''}" for n in numbers)


def _written(part: Part) -> str:
    return f"{part.slot}:{part.form}" if part.form else part.slot


def _agrees(part: Part) -> bool:
    """Whether it is a verb that agrees with its slot: *was, has, does*."""
    return WORD_FORMS[part.form].closed and part.form not in {*LEANING, "subj", "obj", "refl"}
