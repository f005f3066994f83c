"""The form check as a judge: premises that do not instantiate their construction's form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Construction
from cxgen.trees import Annotator, Chunks, FormCheck, Sentence
from cxgen.trees.chunks import Word
from cxgen.trees.form import Words
from cxgen.trees.reading import ABSENT
from cxgen.trees.relations import NOMINAL
from cxgen.trees.sentence import finish
from cxgen.trees.surface import Look, Piece, head
from cxgen.trees.units import Draft
from cxgen.vocabulary import UNACCEPTABLE

REASON = "the sentence does not have the construction's form"
_SCHEMA = {"premise_id": pl.String, "reason": pl.String}


class FormJudge:
    """Judges the premises of one construction and its look-alikes, whose form is the same; opposites are not checked.

    A tree is made once for every kind, template and shape of fillers: which optional ones are there, and what the patterns can tell of
    them. It is matched once where trees differ in nothing that the patterns name. What was found serves for later tables, too.
    """

    def __init__(self, construction: Construction, chunks: Chunks) -> None:
        """Compile the patterns.

        Raises:
            DataError: spaCy is missing.
            SchemaError: a pattern that spaCy does not accept.
        """
        self.construction = construction
        self._check = FormCheck(construction) if construction.form_check else None
        self._annotator = Annotator(construction, chunks, self._shape)
        self._reader = self._annotator.reader
        self._words = Words(construction.form_check)
        self._shapes: dict[Hashable, int] = {}
        self._trees: dict[Hashable, bool] = {}
        self._known: dict[tuple[str, str], dict[tuple[int, ...], bool]] = {}

    def failures(self, premises: pl.DataFrame) -> pl.DataFrame:
        """Those of ``premises`` that none of the construction's patterns matches.

        Args:
            premises: columns ``premise_id, construction, kind, template, premise, slots``; rows of other constructions are left out,
                a premise counts once.

        Returns:
            ``premise_id, reason`` (strings), in order.

        Raises:
            DataError: a premise that its template and fillers do not give, or a template that gives no tree.
        """
        if self._check is None:
            return pl.DataFrame(schema=_SCHEMA)
        mine = premises.filter(pl.col("construction").is_in([self.construction.name, *self.construction.lookalikes]))
        mine = mine.unique("premise_id", keep="first", maintain_order=True)
        holds = np.ones(mine.height, dtype=bool)
        fillers = self._fillers(mine)
        groups = mine.select("kind", "template").with_row_index("row").group_by("kind", "template", maintain_order=True).agg("row")
        for kind, template, listed in groups.iter_rows():
            rows = np.array(listed, dtype=np.int64)
            holds[rows] = self._group(kind, template, mine, rows, fillers)
        failed = mine["premise_id"].filter(pl.Series(~holds))
        return pl.DataFrame({"premise_id": failed, "reason": [REASON] * len(failed)}, schema=_SCHEMA)

    def shapes(self, row: int, form: str) -> tuple[int, ...]:
        """The numbers of the shapes that ``form`` of the lexicon's ``row`` can have, longest way of writing it first."""
        return tuple(reading.shape for reading in self._reader.readings(row, form))

    def _fillers(self, premises: pl.DataFrame) -> dict[str, NDArray[np.int64]]:
        """Slot -> row of the lexicon per premise, -1 where it is not filled."""
        long = premises.select(pl.int_range(pl.len()).alias("n"), "slots").explode("slots").drop_nulls("slots").unnest("slots")
        table = self._reader.lexicon.table.select("lemma", "sense", pl.int_range(pl.len(), dtype=pl.Int64).alias("lexeme"))
        words = table.unique(["lemma", "sense"], keep="first")
        long = long.select("n", "slot", "lemma", "sense").join(
            words, on=["lemma", "sense"], how="left", nulls_equal=True, maintain_order="left"
        )
        for lemma, sense in long.filter(pl.col("lexeme").is_null()).select("lemma", "sense").head(1).iter_rows():
            self._reader.row(lemma, sense)  # says that there is none
        found = {}
        for (name,), part in long.partition_by("slot", as_dict=True).items():
            found[str(name)] = np.full(premises.height, ABSENT, dtype=np.int64)
            found[str(name)][part["n"].to_numpy()] = part["lexeme"].to_numpy()
        return found

    def _group(
        self, kind: str, template: str, premises: pl.DataFrame, rows: NDArray[np.int64], fillers: dict[str, NDArray[np.int64]]
    ) -> list[bool]:
        """Whether each of ``rows``, all of one kind and template, has the form."""
        steps = self._reader.steps(kind, template)
        none = np.full(len(rows), ABSENT, dtype=np.int64)
        fills = zip(*(fillers[step.slot][rows].tolist() if step.slot in fillers else none.tolist() for step in steps), strict=True)
        return [self._holds(kind, template, text, fill) for text, fill in zip(premises["premise"].gather(rows), fills, strict=True)]

    def holds(self, kind: str, template: str, text: str, fillers: Mapping[str, int]) -> bool:
        """Whether ``text``, which ``template`` gives as ``kind`` with ``fillers`` (slot -> row of the lexicon), has the form.

        Raises:
            DataError: it is not what they give, or the template gives no tree.
        """
        return self._holds(kind, template, text, [fillers.get(step.slot, ABSENT) for step in self._reader.steps(kind, template)])

    def _holds(self, kind: str, template: str, text: str, fills: Sequence[int]) -> bool:
        readings = self._reader.read(text, self._reader.steps(kind, template), fills)
        shape = tuple([reading.shape if reading else 0 for reading in readings])
        known = self._known.setdefault((kind, template), {})
        if shape not in known:
            known[shape] = self._matches(text, *self._annotator.sound(kind, template, fills, readings))
        return known[shape]

    def _matches(self, text: str, draft: Draft, verb: int) -> bool:
        words = ((self._words.tags(token), draft.links[at], self._words.matter(token)) for at, token in enumerate(draft.tokens, 1))
        tree = verb, tuple(words)
        if tree not in self._trees:
            assert self._check is not None
            self._trees[tree] = self._check.holds(Sentence("", self.construction.name, text, finish(draft, text), verb))
        return self._trees[tree]

    def _shape(self, look: Look | None, text: str) -> int:
        """The number, from 1, of what matters of a filler."""
        chunk = self._annotator.phrase(text) if look == () else None
        shape: Hashable = text
        if chunk:
            shape = tuple(map(self._told, self._words.telling(chunk))), tuple(chunk.others.items())
        elif look and all(piece.head < 0 or self._words.inert(piece) for piece in look):
            shape = self._outline(look[head(look)])
        elif look:
            shape = tuple((piece.upos, piece.xpos, piece.relation, piece.head, self._words.matter(piece)) for piece in look)
        return self._shapes.setdefault(shape, len(self._shapes) + 1)

    def _outline(self, piece: Piece) -> Hashable:
        """What of a filler's head a tree is made by, and a pattern can ask for."""
        kind = "nominal" if piece.upos in NOMINAL else (piece.upos, piece.xpos, piece.lemma == "be")
        return kind, self._words.tags(piece), self._words.matter(piece)

    def _told(self, word: Word) -> Hashable:
        """What matters of a word of a phrase."""
        return word.upos in NOMINAL, self._words.tags(word), word.link, word.predicate, self._words.matter(word)


def with_form(verdicts: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """``verdicts`` with the premises that are not ``well_formed`` (bool column of ``items``) unacceptable, unless they were already."""
    table = verdicts.join(items.select("id", "well_formed"), on="id", how="left", maintain_order="left")
    hit = ~pl.col("well_formed") & (pl.col("premise_verdict") != UNACCEPTABLE)
    return table.with_columns(
        premise_verdict=pl.when(hit).then(pl.lit(UNACCEPTABLE)).otherwise("premise_verdict"),
        premise_reason=pl.when(hit).then(pl.lit(REASON)).otherwise("premise_reason"),
    ).select(verdicts.columns)
