"""Items as people read them: what is read first; whole sentences in a notebook and on a terminal, a contrast set as a grid."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

import polars as pl

from cxgen.errors import DataError
from cxgen.vocabulary import LABELS

# What is read first of an item: what is given, what is asked or compared, the answer. The first that a table has.
READ = (
    ("premise", "hypothesis", "label"),
    ("context", "diagnostic_good", "diagnostic_bad"),
    ("text", "first", "second", "answer"),
    ("sentence", "label"),
)
# Told apart by colour-blind readers; black on them has a contrast of 4.5 at least (WCAG 2.2, 1.4.3).
COLOURS = dict(zip(LABELS, ("#2b8a6e", "#d99a2b", "#c4564a"), strict=True))
_MOST = 100  # rows that are shown


def read_first(items: pl.DataFrame) -> list[str]:
    """The columns of ``items`` that are read first; none where the table has no items."""
    return next((list(names) for names in READ if set(names) <= set(items.columns)), [])


def ordered(items: pl.DataFrame) -> pl.DataFrame:
    """``items`` with the columns that are read first at their head."""
    first = read_first(items)
    return items.select(*first, *(name for name in items.columns if name not in first))


@dataclass(frozen=True)
class Shown:
    """Items that show themselves: HTML in a notebook, indented lines elsewhere. ``items`` are the table."""

    items: pl.DataFrame

    def __repr__(self) -> str:
        lines, before, columns = [], "", [name.removeprefix("diagnostic_") for name in self._names[1:]]
        for given, *asked in self._rows():
            lines += [given] if given != before else []
            marked = [(asked[1], asked[0])] if asked[-1] in LABELS else zip(columns, asked, strict=True)
            lines += [f"  {mark.ljust(13)} {text}" for mark, text in marked]
            before = given
        return "\n".join([*lines, *self._rest()])

    def _repr_html_(self) -> str:
        one_set = "contrast_set" in self.items.columns and self.items["contrast_set"].n_unique() == 1
        head, rows = self._grid() if one_set and self._names == [*READ[0]] else (self._names, self._table())
        return f"<table>{_row('th', map(escape, head))}{''.join(_row('td', row) for row in rows)}</table>{''.join(self._rest())}"

    @property
    def _names(self) -> list[str]:
        return read_first(self.items)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        return ((*map(str, row),) for row in self.items.select(self._names).head(_MOST).iter_rows())

    def _rest(self) -> list[str]:
        return [f"... {self.items.height - _MOST} more"] if self.items.height > _MOST else []

    def _table(self) -> Iterator[list[str]]:
        before = ""
        for given, *others in self._rows():
            yield [escape(given) if given != before else "", *map(_marked, others)]
            before = given

    def _grid(self) -> tuple[list[str], Iterator[list[str]]]:
        """Premises by hypotheses; the hypotheses stand in the head."""
        cells = {(premise, hypothesis): label for premise, hypothesis, label in self._rows()}
        asked = list(dict.fromkeys(hypothesis for _, hypothesis in cells))
        premises = dict.fromkeys(premise for premise, _ in cells)
        return ["", *asked], ([escape(one), *(_marked(cells.get((one, other), "")) for other in asked)] for one in premises)


def _row(tag: str, cells: Iterable[str]) -> str:
    style = "text-align:left;vertical-align:top;white-space:normal"
    return "".join(["<tr>", *(f'<{tag} style="{style}">{cell}</{tag}>' for cell in cells), "</tr>"])


def _marked(text: str) -> str:
    """A text; a label as a chip."""
    chip = f"background:{COLOURS[text]};color:#000;padding:1px 6px;border-radius:8px" if text in COLOURS else ""
    return f'<span style="{chip}">{text}</span>' if chip else escape(text)


def show(items: pl.DataFrame) -> Shown:
    """Items to look at: whole sentences, labels in colour; a contrast set as a grid of premises and hypotheses.

    Args:
        items: what `sample` and `load` give, or a part of it; the first 100 rows are shown.

    Raises:
        DataError: the table has no items.
    """
    known = isinstance(items, pl.DataFrame)
    if not known or not read_first(items):
        given = f"it has the columns {', '.join(items.columns[:8])}" if known else f"of type {type(items).__name__}"
        expected = "; or ".join(", ".join(names) for names in READ)
        raise DataError(f"no table of items: {given}", hint=f"expected a table of polars with {expected}")
    if read_first(items) == [*READ[0]] and items["label"].dtype.is_integer():  # as the files of the dataset have them
        name = pl.col("label").replace_strict(dict(enumerate(LABELS)), default=pl.col("label").cast(pl.String), return_dtype=pl.String)
        items = items.with_columns(name)
    return Shown(items)
