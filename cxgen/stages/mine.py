"""Looking for a construction in raw text."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import CxgenError
from cxgen.files import require_place
from cxgen.lexicon import Lexicon
from cxgen.mining.correlative import Correlative
from cxgen.mining.forms import Forms
from cxgen.mining.found import Dropped, Found, row
from cxgen.mining.groups import grouped, labelled, read_candidates, read_labels, require_ending, write_candidates
from cxgen.mining.partial import Partial
from cxgen.mining.pipeline import DEFAULT, load
from cxgen.mining.texts import Passage, Place, Texts
from cxgen.project import Project
from cxgen.version import __version__

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

BY_TAGS = ("cc", "comparative-correlative")
# What is read before what was found is written down: passages and characters to tag, passages in all.
_BATCH, _CHARACTERS, _PASSAGES = 512, 500_000, 50_000
_HUGE = 4 * _CHARACTERS  # to tag, where a line goes on and on


@dataclass(frozen=True)
class Search:
    """What is looked for, in what.

    Attributes:
        name: a construction; ``cc`` for the comparative correlative.
        model: spaCy pipeline, by name or folder.
        width, most_between, whole: see `Correlative`.
        paragraphs, field: see `Texts`.
    """

    name: str
    model: str = DEFAULT
    width: int = 2
    most_between: int = 25
    whole: bool = False
    paragraphs: bool = False
    field: str | None = None


class Finder(Protocol):
    """Finds candidates in tagged or parsed text."""

    @property
    def rules(self) -> Sequence[Any]:
        """What decides beside the options."""

    def may_have(self, text: str) -> bool:
        """Whether a passage need be read by the pipeline."""

    def find(self, doc: Doc) -> Iterator[tuple[list[Token], Found | Dropped]]:
        """Sentences with a candidate each, or with the reason for which there is none."""


def default_output(project: Project, name: str) -> Path:
    """Where candidates are written."""
    return project.root / layout.MINED / f"{_file_name(name)}.jsonl"


def _file_name(name: str) -> str:
    return "cc" if name in BY_TAGS else name


def mine(project: Project, search: Search, files: Sequence[Path], output: Path) -> dict[str, Any]:
    """Find candidates, write them to ``output``, and count them.

    Until all is read, what was found is kept beside ``output``: the same call goes on where an interrupted one was.

    Returns:
        ``construction, files, lines, damaged`` (lines with bytes that are no UTF-8), ``passages`` (that the pipeline read), ``candidates,
        dropped`` (reason -> sentences) and ``groups`` (see `grouped`).

    Raises:
        UnknownNameError: no such construction.
        CxgenError: it has no form patterns, or an output that is none.
        DataError: files that cannot be read, or no pipeline.
    """
    require_ending(output)
    require_place(output)
    texts = Texts(files, paragraphs=search.paragraphs, field=search.field)
    finder, nlp = _finder(project, search)
    with Partial(_partial_of(output), _identity(search, files, finder, nlp)) as partial:
        tally = _Tally(**partial.counts)
        with _progress(texts) as advance:
            for batch, place in _batches(texts, partial.place, finder):
                rows = _candidates(nlp, finder, batch, texts.files, tally)
                partial.add(rows, place, asdict(tally))
                advance()
    write_candidates(partial.rows(), output)
    groups = grouped(partial.rows())
    partial.path.unlink()
    read = {"lines": texts.place.lines, "damaged": texts.place.damaged}
    return {"construction": search.name, "files": len(files), **read, **asdict(tally), "groups": groups}


def label(project: Project, name: str, labels: Path, candidates: Path | None, output: Path) -> dict[str, int]:
    """Write the candidates of labelled groups to ``output``, with the labels; return label -> candidates.

    Raises:
        DataError: see `read_candidates`, `read_labels` and `labelled`.
    """
    require_ending(output)
    path = candidates or default_output(project, name)
    if output.resolve() == path.resolve():
        raise CxgenError("would overwrite the candidates", file=output, hint="name another file")
    rows = list(labelled(read_candidates(path), read_labels(labels), labels))
    write_candidates(rows, output, ["label"])
    return dict(sorted(Counter(row["label"] for row in rows).items()))


@dataclass
class _Tally:
    """What was counted, of an interrupted run's, too."""

    passages: int = 0
    candidates: int = 0
    dropped: dict[str, int] = field(default_factory=dict)


def _finder(project: Project, search: Search) -> tuple[Finder, Language]:
    if search.name in BY_TAGS:
        return Correlative(search.width, search.most_between, whole=search.whole), load(search.model, parsed=False)
    construction = load_construction(project, search.name, Lexicon.of(project))
    nlp = load(search.model, parsed=True)
    return Forms(construction, nlp), nlp


def _identity(search: Search, files: Sequence[Path], finder: Finder, nlp: Language) -> str:
    """What candidates depend on: what is looked for with what, and the files as they are."""
    states = [(str(path.absolute()), found.st_size, found.st_mtime_ns) for path in files for found in [path.stat()]]
    told = [asdict(search), __version__, finder.rules, nlp.meta.get("version"), nlp.pipe_names, states]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _partial_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _batches(texts: Texts, start: Place, finder: Finder) -> Iterator[tuple[list[Passage], Place | None]]:
    """Passages to be tagged, and the place behind them; None within a line. The last one ends where the texts do."""
    batch: list[Passage] = []
    size = read = 0
    for passage in texts.passages(start):
        read += 1
        if finder.may_have(passage.text):
            batch.append(passage)
            size += len(passage.text)
        full = len(batch) >= _BATCH or size >= _CHARACTERS or read >= _PASSAGES
        if (full and passage.after is not None) or size >= _HUGE:
            yield batch, passage.after
            batch, size, read = [], 0, 0
    yield batch, texts.place


def _candidates(nlp: Language, finder: Finder, batch: Sequence[Passage], files: Sequence[Path], tally: _Tally) -> list[dict[str, Any]]:
    rows = []
    with nlp.memory_zone():  # words met here are forgotten, or they would fill the memory
        texts = ((passage.text.replace("\n", " "), passage) for passage in batch)
        for doc, passage in nlp.pipe(texts, as_tuples=True, batch_size=64):
            for tokens, found in finder.find(doc):
                if isinstance(found, Dropped):
                    tally.dropped[found.reason] = tally.dropped.get(found.reason, 0) + 1
                    continue
                line, column = passage.where(tokens[0].idx)
                rows.append(row(found, tokens, doc.text) | {"file": str(files[passage.file]), "line": line, "column": column})
    tally.passages += len(batch)
    tally.candidates += len(rows)
    return rows


@contextmanager
def _progress(texts: Texts) -> Iterator[Callable[[], None]]:
    """A bar over the bytes of the files; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    with Progress("reading", BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("reading", total=texts.total)
        yield lambda: bar.update(task, completed=texts.done)
