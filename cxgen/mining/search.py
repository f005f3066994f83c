"""A search: files of raw text -> candidates. An interrupted one goes on where it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs
from cxgen.files import write_text
from cxgen.lexicon import Lexicon
from cxgen.mining.candidates import COLUMNS, grouped, labelled, read_candidates, read_labels, require_output, write_candidates
from cxgen.mining.correlative import Correlative
from cxgen.mining.forms import Forms
from cxgen.mining.texts import Passage, Texts
from cxgen.project import Project
from cxgen.tables import one_line
from cxgen.version import __version__

if TYPE_CHECKING:
    from spacy.language import Language

Finder = Correlative | Forms
BY_TAGS = ("cc", "comparative-correlative")
_DEFAULT = "en_core_web_sm"
_TRIAL = "The sooner we leave, the better it is."
_UNUSED = ("ner", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat", "span_finder", "coref")
_PARSING = ("parser", "lemmatizer", "experimental_biaffine_parser")
_BATCH = 2000  # passages that are read before their candidates are written down


@dataclass(frozen=True)
class Search:
    """What is looked for, in what.

    Attributes:
        name: a construction, by its form patterns; ``cc``: comparative correlatives, by tags.
        model: spaCy pipeline, by name or folder.
        width, most_between, whole: see `Correlative`.
        paragraphs, field: see `Texts`.
    """

    name: str
    model: str = _DEFAULT
    width: int = 2
    most_between: int = 25
    whole: bool = False
    paragraphs: bool = False
    field: str | None = None


def default_output(project: Project, name: str) -> Path:
    """Where candidates are written."""
    return project.root / layout.MINED / f"{'cc' if name in BY_TAGS else name}.jsonl"


def mine(project: Project, search: Search, files: Sequence[Path], output: Path) -> dict[str, Any]:
    """Find candidates, write them to ``output``, and count them.

    Until all is read, candidates are kept beside ``output``, a line for each batch: the same call goes on where an interrupted one was.

    Returns:
        ``construction, files, lines, damaged`` (lines with bytes that are not UTF-8), ``passages`` (that the pipeline read), ``candidates,
        dropped`` (reason -> sentences) and ``groups`` (see `grouped`).

    Raises:
        UnknownNameError: no such construction.
        CxgenError: it has no form patterns, or candidates cannot be written to ``output``.
        DataError: files that cannot be read, or no pipeline.
    """
    for path in files:
        if not path.is_file():
            raise DataError("cannot read: not a file" if path.exists() else "cannot read: no such file", file=path)
    require_output(output, files)
    finder, nlp = _finder(project, search)
    texts = Texts(files, search.paragraphs, search.field)
    states = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    partial = output.with_name(f".{output.name}.partial")
    batches = _resume(partial, json.dumps([asdict(search), finder.patterns, __version__, nlp.meta.get("version"), nlp.pipe_names, states]))
    passages = islice(texts.passages(), sum(batch["read"] for batch in batches), None)
    with partial.open("a", encoding="utf-8") as file:
        while batch := list(islice(passages, _BATCH)):
            batches.append(_searched(nlp, finder, batch))
            file.write(json.dumps(batches[-1], ensure_ascii=False) + "\n")
            file.flush()
    rows = [row for batch in batches for row in batch["rows"]]
    write_candidates(pl.DataFrame(rows, schema=COLUMNS), output)
    partial.unlink()
    return {
        "construction": search.name,
        "files": len(files),
        "lines": texts.lines,
        "damaged": texts.damaged,
        "passages": sum(batch["passages"] for batch in batches),
        "candidates": len(rows),
        "dropped": dict(sum((Counter(batch["dropped"]) for batch in batches), Counter())),
        "groups": grouped(rows),
    }


def _resume(path: Path, identity: str) -> list[dict[str, Any]]:
    """The batches that an interrupted run of the same search wrote; a line that was cut off is dropped, another search's file replaced."""
    first, *lines = path.read_text("utf-8").split("\n")[:-1] or [""] if path.is_file() else [""]
    lines = lines if first == identity else []
    write_text(path, "\n".join([identity, *lines, ""]))
    return [json.loads(line) for line in lines]


def _searched(nlp: Language, finder: Finder, batch: Sequence[Passage]) -> dict[str, Any]:
    """``read`` and ``passages`` (that need be tagged), ``rows``, and ``dropped``: reason -> sentences."""
    rows: list[dict[str, Any]] = []
    dropped: Counter[str] = Counter()
    texts = [(passage.text.replace("\n", " "), passage) for passage in batch if finder.may_have(passage.text)]
    with nlp.memory_zone():  # words met here are forgotten, or they would fill the memory
        for doc, passage in nlp.pipe(texts, as_tuples=True, batch_size=64):
            for tokens, candidate in finder.find(doc):
                if isinstance(candidate, str):
                    dropped[candidate] += 1
                    continue
                line, column = passage.where(tokens[0].idx)
                rows.append(candidate.row(tokens, doc.text) | {"file": str(passage.file), "line": line, "column": column})
    return {"read": len(batch), "passages": len(texts), "dropped": dropped, "rows": rows}


def label(project: Project, name: str, labels: Path, candidates: Path | None, output: Path) -> dict[str, int]:
    """Write the candidates of labelled groups to ``output``, with the labels; return label -> candidates.

    Raises:
        CxgenError: ``output`` is one of the files that are read.
        DataError: see `read_candidates`, `read_labels` and `labelled`.
    """
    path = candidates or default_output(project, name)
    require_output(output, [path, labels])
    rows = labelled(read_candidates(path), read_labels(labels), labels)
    write_candidates(rows, output)
    return dict(sorted(Counter(rows["label"]).items()))


def _finder(project: Project, search: Search) -> tuple[Finder, Language]:
    if search.name in BY_TAGS:
        return Correlative(search.width, search.most_between, search.whole), load_pipeline(search.model, parsed=False)
    construction = load_construction(project, search.name, Lexicon.of(project))
    nlp = load_pipeline(search.model, parsed=True)
    return Forms(construction, nlp), nlp


def load_pipeline(name: str, *, parsed: bool) -> Language:
    """A spaCy pipeline that gives tags and sentences and, if ``parsed``, trees; what is not needed of it is left out.

    Args:
        name: of an installed pipeline, or a folder with one.
        parsed: whether dependencies are needed.

    Raises:
        DataError: spaCy or the pipeline is not installed, is damaged, is not for English, or does not give what is needed.
    """
    with needs("mining needs spaCy", "annotate"):
        import spacy
    try:
        nlp = spacy.load(name, exclude=[*_UNUSED, *(() if parsed else _PARSING)])
    except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
        hint = f"python -m spacy download {_DEFAULT}, or --model with the name of an installed pipeline or a folder"
        raise DataError(f"no spaCy pipeline {name!r} that can be loaded: {one_line(error)}", hint=hint) from error
    if nlp.lang != "en":
        raise DataError(f"the pipeline {name} is for {nlp.lang!r}, not for English", hint="--model NAME")
    if "senter" in nlp.disabled and not parsed:
        nlp.enable_pipe("senter")
    doc = nlp(_TRIAL)
    if not doc.has_annotation("SENT_START"):
        nlp.add_pipe("sentencizer", first=True)
    lacking = [what for what, layer in (("tags", "TAG"), ("trees", "DEP")) if (parsed or layer == "TAG") and not doc.has_annotation(layer)]
    if lacking:
        hint = f"it has {', '.join(nlp.pipe_names) or 'no components'}; --model NAME names another one, such as {_DEFAULT}"
        raise DataError(f"the pipeline {name} gives no {' and no '.join(lacking)}", hint=hint)
    return nlp
