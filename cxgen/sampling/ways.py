"""The word forms that a pattern can ask for, every way to write each, and their texts over a lexicon."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import polars as pl

from cxgen.constructicon import Slot
from cxgen.lexicon import Frame, Lexicon
from cxgen.sampling.plan import Plan, Rows
from cxgen.sampling.pools import ABSENT, Pools
from cxgen.streams import Codes, codes_of
from cxgen.vocabulary import OF_NOUNS, POS

_IT, _THEY = 2, 3  # the pronouns


class By(Enum):
    """What chooses among the ways of a form."""

    NOTHING = auto()
    NUMBER = auto()  # singular, plural
    DETERMINER = auto()
    PRONOUN = auto()  # he, she, it, they


@dataclass(frozen=True)
class Way:
    """One way to write a form: a ``column`` of the lexicon, with what stands before and behind it; or a closed-class ``word``."""

    xpos: str
    column: str = ""
    determiner: str = ""
    possessive: bool = False
    word: str = ""
    lemma: str = ""
    upos: str = ""


@dataclass(frozen=True)
class WordForm:
    """A form: part of speech -> ways, among which ``by`` chooses; the last one serves for choices beyond them."""

    by: By
    ways: dict[str, tuple[Way, ...]]

    @property
    def closed(self) -> bool:
        """Whether it is a closed-class word that agrees with the filler, not the filler itself."""
        return all(not way.column for ways in self.ways.values() for way in ways)


def _noun(*ways: tuple[str, str], by: By = By.NUMBER, possessive: bool = False) -> WordForm:
    columns = {"NN": "lemma", "NNS": "plural"}
    nouns = tuple(Way(xpos, columns[xpos], determiner, possessive) for xpos, determiner in ways)
    return WordForm(by, {"noun": nouns, "name": (Way("NNP", "lemma", possessive=possessive),)})


def _closed(by: By, upos: str, words: str, lemma: str = "") -> WordForm:
    pairs = (word.split("/") for word in words.split())
    ways = tuple(Way(xpos, word=word, lemma=lemma or word, upos=upos) for word, xpos in pairs)
    return WordForm(by, {"noun": ways, "name": ways})


def _open(pos: str, column: str, xpos: str) -> WordForm:
    return WordForm(By.NOTHING, {pos: (Way(xpos, column),)})


_THE = _noun(("NN", "the"), ("NNS", "the")).ways
_PLAIN = {pos: (Way(xpos, "lemma"),) for pos, xpos in (("adjective", "JJ"), ("adverb", "RB"), ("phrase", ""))}

WORD_FORMS: dict[str, WordForm] = {
    "": WordForm(By.NUMBER, {**_THE, **_PLAIN}),
    "a": WordForm(By.NUMBER, {**_noun(("NN", "a"), ("NNS", "")).ways, "adjective": (Way("JJ", "lemma", "a"),)}),
    "bare": _noun(("NN", ""), ("NNS", "")),
    "np": _noun(("NN", "the"), ("NN", "a"), ("NN", ""), ("NNS", ""), by=By.DETERMINER),
    "poss-of": _noun(("NN", "the"), ("NNS", "the"), possessive=True),
    "subj": _closed(By.PRONOUN, "PRON", "he/PRP she/PRP it/PRP they/PRP"),
    "obj": _closed(By.PRONOUN, "PRON", "him/PRP her/PRP it/PRP them/PRP"),
    "poss": _closed(By.PRONOUN, "PRON", "his/PRP$ her/PRP$ its/PRP$ their/PRP$"),
    "refl": _closed(By.PRONOUN, "PRON", "himself/PRP herself/PRP itself/PRP themselves/PRP"),
    "was": _closed(By.NUMBER, "AUX", "was/VBD were/VBD", "be"),
    "is": _closed(By.NUMBER, "AUX", "is/VBZ are/VBP", "be"),
    "has": _closed(By.NUMBER, "AUX", "has/VBZ have/VBP", "have"),
    "does": _closed(By.NUMBER, "AUX", "does/VBZ do/VBP", "do"),
    "this": _closed(By.NUMBER, "DET", "this/DT these/DT", "this"),
    "base": _open("verb", "lemma", "VB"),
    "third": _open("verb", "third", "VBZ"),
    "ing": _open("verb", "ing", "VBG"),
    "past": _open("verb", "past", "VBD"),
    "participle": _open("verb", "participle", "VBN"),
    "er": _open("adjective", "comparative", "JJR"),
    "est": _open("adjective", "superlative", "JJS"),
}
AGREEING = frozenset(name for name, form in WORD_FORMS.items() if form.closed and form.by is By.NUMBER)  # was, is, has, does, this
FORMS: dict[str, tuple[str, ...]] = {pos: tuple(name for name, form in WORD_FORMS.items() if pos in form.ways) for pos in POS}


class Forms:
    """The pieces of sentences over a lexicon, in one column that grows: composed once, gathered from by row."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._pieces = [pl.Series([""])]
        self._starts: dict[tuple[str, ...], int] = {}
        self._end = 1
        self._codes = np.zeros(0, dtype=np.uint64)

    @property
    def pieces(self) -> pl.Series:
        """The column; row 0 is empty."""
        if len(self._pieces) > 1:
            self._pieces = [pl.concat(self._pieces, rechunk=True)]
        return self._pieces[0]

    def codes(self, rows: Rows) -> Codes:
        """A number of 64 bits for the text of each of ``rows``, never 0."""
        if len(self._codes) < self._end:
            self._codes = np.concatenate([self._codes, np.zeros(self._end - len(self._codes), dtype=np.uint64)])
        if (lacking := self._codes[rows] == 0).any():
            pieces = np.flatnonzero(np.bincount(rows[lacking]))
            self._codes[pieces] = codes_of((), self.pieces[pieces]) | np.uint64(1)
        return self._codes[rows]

    def literal(self, text: str) -> int:
        """The row of a text."""
        return self._start((text,), lambda: pl.Series([text]))

    def rows(self, slot: Slot, name: str, plan: Plan, pools: Pools) -> Rows:
        """The rows of the form ``name`` of what fills ``slot`` in the sets of a plan."""
        form, fillers = WORD_FORMS[name], plan.fillers[slot.name]
        wrap = "{}" if form.closed else slot.wrap
        rows = self._start((name, wrap), lambda: self._table(form, wrap)) + fillers
        most = max(map(len, form.ways.values()))
        if most > 1:
            rows += np.minimum(choice(form.by, slot, plan, pools, self.lexicon), most - 1) * len(self.lexicon)
        return np.where(fillers == ABSENT, 0, rows) if slot.may_lack else rows

    def _start(self, key: tuple[str, ...], make: Callable[[], pl.Series]) -> int:
        if key not in self._starts:
            self._pieces.append(make())
            self._starts[key], self._end = self._end, self._end + len(self._pieces[-1])
        return self._starts[key]

    def _table(self, form: WordForm, wrap: str) -> pl.Series:
        """The ways to write a form, wrapped: the first of every lexeme, then the second of every one, and so on."""
        before, _, after = wrap.partition("{}")
        columns = []
        for number in range(max(map(len, form.ways.values()))):
            text = pl.lit("")
            for pos, ways in form.ways.items():
                text = pl.when(pl.col("pos") == pos).then(compose(ways[min(number, len(ways) - 1)])).otherwise(text)
            columns.append((pl.lit(before) + text + pl.lit(after)).alias(str(number)))
        return pl.concat([column.alias("") for column in self.lexicon.table.select(columns)])


def compose(way: Way) -> pl.Expr:
    """The text of ``way`` for every row of the lexicon's table."""
    if way.word:
        return pl.lit(way.word)
    text = pl.coalesce(way.column, "lemma")
    if way.possessive:
        bare = text.str.ends_with("s") if way.column == "plural" else pl.lit(value=False)
        text = text + pl.when(bare).then(pl.lit("'")).otherwise(pl.lit("'s"))
    if way.determiner:
        text = pl.concat_str("article" if way.determiner == "a" else pl.lit(way.determiner), pl.lit(" "), text)
    return text


def number_of(slot: Slot, frame: Frame) -> str | None:
    """The number of what fills ``slot`` in a scene."""
    return frame.words.get("number") if slot.number == "frame" else slot.number


def choice(by: By, slot: Slot, plan: Plan, pools: Pools, lexicon: Lexicon) -> Rows:
    """The number of the way that every set takes for what fills ``slot``."""
    if by is By.DETERMINER:
        return np.array([OF_NOUNS["det"].index(frame.words.get("det", "the")) for frame in pools.frames], dtype=np.int64)[plan.frame]
    number = np.array([number_of(slot, frame) == "plural" for frame in pools.frames], dtype=np.int64)[plan.frame]
    if by is By.NUMBER:
        return number
    gender = lexicon.genders[plan.fillers[slot.name]]  # 0 m, 1 f, 2 any, 3 none
    either = (plan.chance(f"{slot.name}#gender") >= 0.5).astype(np.int64)  # a singular *they* would want verbs of its own
    return np.select([number == 1, gender == 2, gender == 3], [_THEY, either, _IT], gender)
