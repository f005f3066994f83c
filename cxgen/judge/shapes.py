"""The form check of a block: a tree is matched once for all premises whose fillers have the same shapes, found from the draws."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Part, Template
from cxgen.judge.form import FormJudge
from cxgen.sets import Block, Rows
from cxgen.sets.realise import frame_words
from cxgen.trees import Chunks

_WIDE = 1 << 40  # products of numbers of classes below it do not overflow


class ShapeJudge:
    """Judges the premises of blocks as `FormJudge` judges those of tables, which it asks about one of each shape."""

    def __init__(self, construction: Construction, chunks: Chunks) -> None:
        """Compile the patterns; raises as `FormJudge` does."""
        self.construction = construction
        self._form = FormJudge(construction, chunks)
        self._numbers: dict[Hashable, int] = {}
        self._classes: dict[tuple[str, str], NDArray[np.int64]] = {}
        self._known: dict[tuple[str, str], dict[tuple[int, ...], bool]] = {}

    def holds(self, block: Block) -> NDArray[np.bool_]:
        """Of every premise of ``block``, in its order, whether it has the construction's form; opposites always have.

        Raises:
            DataError: a premise that its template and fillers do not give, or a template that gives no tree.
        """
        found = np.ones(len(block.chosen), dtype=bool)
        if not self.construction.form_check:
            return found
        mine = {self.construction.name, *self.construction.lookalikes}
        slots = [slot.name for slot in block.fillers.slots]
        for kind, template, places in block.groups():
            if self.construction.kinds[kind].construction not in mine:
                continue
            shapes, which = self._shapes(block, kind, template, places)
            known = self._known.setdefault((kind, template.name), {})
            for shape, place in shapes.items():
                if shape not in known:
                    fillers = dict(zip(slots, block.fillers.rows[place].tolist(), strict=True))
                    known[shape] = self._form.holds(kind, template.name, block.said[place], fillers)
            found[places] = np.array([known[shape] for shape in shapes])[which]
        return found

    def _shapes(self, block: Block, kind: str, template: Template, places: Rows) -> tuple[dict[tuple[int, ...], int], NDArray[np.int64]]:
        """The shapes of the premises at ``places``, each with the first one's place, and which of them each premise has."""
        parts = [part for part in self.construction.premise_parts(kind, template.name) if part.slot]
        columns = [self._column(block, part, places % len(block)) for part in parts]
        code = np.zeros(len(places), dtype=np.int64)
        for column in columns:
            if (int(code.max()) + 1) * (int(column.max()) + 1) > _WIDE:
                code = np.unique(code, return_inverse=True)[1]
            code = code * (int(column.max()) + 1) + column
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
        rows = np.stack(columns, axis=1)[first].tolist() if columns else [[] for _ in first]
        return {tuple(row): place for row, place in zip(rows, places[first].tolist(), strict=True)}, which

    def _column(self, block: Block, part: Part, rows: Rows) -> NDArray[np.int64]:
        """The class of what stands at ``part`` in the sets ``rows``: the same for fillers of which no pattern can tell."""
        if part.slot not in self.construction.slots:
            texts = frame_words(part.slot, self.construction, block.pools)
            return np.array([self._number(text) for text in texts], dtype=np.int64)[block.plan.frame[rows]]
        slot = self.construction.slots[part.slot]
        table = block.forms.table(slot, part.form)
        keys = block.forms.keys(slot, part.form, block.plan, block.pools, rows)
        classes = self._classes.setdefault((slot.name, part.form), np.full(len(table.texts), -1, dtype=np.int64))
        fresh = np.zeros(len(classes), dtype=bool)
        fresh[keys] = True
        for key in np.flatnonzero(fresh & (classes < 0)).tolist():
            way, row = divmod(key, table.lexemes)
            nothing = key == len(classes) - 1
            classes[key] = self._number(None if nothing else (self._form.shapes(row, part.form), way))
        return classes[keys]

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))
