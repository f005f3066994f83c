"""A search: files of raw text -> candidates, and the labels of their groups. An interrupted one goes on where it was."""

import gzip
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs
from cxgen.files import append_lines, as_text, locked, parse_json, require_other, require_place, visible, write_text
from cxgen.lexicon import Lexicon
from cxgen.mining.find import Candidate, Correlative, Forms
from cxgen.project import Project
from cxgen.streams import order_keys
from cxgen.suites.cc_syntax import FEATURES, LOW
from cxgen.tables import as_texts, numbered_rows, one_line, read_rows, require_ending, track, write_rows
from cxgen.version import __version__

if TYPE_CHECKING:
    from spacy.language import Language

BY_TAGS = ("cc", "comparative-correlative")
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("sentence", "group", "tags"), pl.String),
    "spans": pl.List(pl.Struct({"name": pl.String, "start": pl.Int64, "end": pl.Int64, "text": pl.String})),
    **{"file": pl.String, "line": pl.Int64, "column": pl.Int64},
}
_LONGEST = 20_000  # characters of a passage; a longer line is cut where a sentence ends, or else at a blank
_MOST = 64 << 20  # bytes of a line
_BATCH = 2000  # passages that are read before their candidates are written down
_EXAMPLES, _SHOWN = 2, 160  # of a group; characters of an example
_DEFAULT, _TRIAL = "en_core_web_sm", "The sooner we leave, the better it is."
_UNUSED = ("ner", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat", "span_finder", "coref")
# Data for a probe, after Weissweiler et al. 2022, sections 3.1.2 and 3.1.3.
PER_VALUE = {"train": 10, "test": 5}  # sentences of each value of a feature and each label
_TRAIN = 2 / 3  # share of a label's sentences whose groups train has
_ENDS = (".", "!", "?")
_words = re.compile(r"\w[\w'’-]*").findall
_PARSING = ("parser", "lemmatizer", "experimental_biaffine_parser")


class Passage(NamedTuple):
    """Text that is tagged in one go, and where it begins: line and column (characters of the line, or of the field), from 1."""

    text: str
    file: Path
    line: int
    column: int = 1

    def where(self, start: int) -> tuple[int, int]:
        """Line and column of a character."""
        ends = self.text.count("\n", 0, start)
        return (self.line + ends, start - self.text.rfind("\n", 0, start)) if ends else (self.line, self.column + start)


def passages(files: Sequence[Path], counts: Counter[str], *, paragraphs: bool = False, field: str | None = None) -> Iterator[Passage]:
    """UTF-8 text, plain or gzip, by line, by paragraph, or from a ``field`` of JSON lines, in bearable pieces.

    ``counts`` is told of ``lines``, and of those that are ``damaged``: with bytes that are not UTF-8, or half a surrogate pair, which are
    read as U+FFFD.
    """
    for path in track(files, "reading", len(files)):
        lines = _lines(path, counts)
        whole = (
            _fields(lines, path, field, counts, joined=paragraphs)
            if field is not None
            else _paragraphs(lines, path, 200 if paragraphs else 1)
        )
        for passage in whole:
            text, start, (line, column) = passage.text, 0, passage[2:]
            while start < len(text):
                end = len(text)
                if end - start > _LONGEST:
                    ended = max(text.rfind(f"{mark} ", start, start + _LONGEST) for mark in _ENDS)
                    end = ended + 2 if ended >= 0 else text.rfind(" ", start + 1, start + _LONGEST) + 1 or start + _LONGEST
                piece = Passage(text[start:end], path, line, column)
                yield piece
                start, (line, column) = end, piece.where(end - start)


def _lines(path: Path, counts: Counter[str]) -> Iterator[tuple[int, str]]:
    number = 0
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            for number, data in enumerate(iter(lambda: stream.readline(_MOST + 1), b""), 1):
                if len(data) > _MOST:
                    raise DataError(f"a line of more than {_MOST >> 20} MB", file=path, line=number, hint="break it into lines")
                if b"\0" in data:
                    raise DataError("not text: it holds zero bytes", file=path, line=number, hint="save the text as UTF-8")
                text = data.decode("utf-8", "replace")
                counts.update(lines=1, damaged="\ufffd" in text)
                yield number, text.removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"damaged gzip data: {one_line(error)}", file=path, line=number + 1) from error


def _paragraphs(lines: Iterator[tuple[int, str]], path: Path, most: int) -> Iterator[Passage]:
    """What stands between empty lines, in passages of at most so many lines: of more, up to the last line that ends as sentences do."""
    for filled, group in groupby(lines, key=lambda line: bool(line[1].strip())):
        held = list[tuple[int, str]]()
        while filled and (held := [*held, *islice(group, most - len(held))]):
            ends = [number for number, (_, text) in enumerate(held, 1) if text.rstrip().endswith(_ENDS)]
            cut = ends[-1] if ends and len(held) == most else len(held)
            yield Passage("\n".join(text for _, text in held[:cut]), path, held[0][0])
            held = held[cut:]


def _fields(lines: Iterator[tuple[int, str]], path: Path, field: str, counts: Counter[str], *, joined: bool) -> Iterator[Passage]:
    """A field's text by line, or by what stands between empty lines (``joined``, its lines by as many blanks as breaks)."""
    for number, line in lines:
        row = parse_json(line, path, "without --field a file is read as plain text", number, finite=False) if line.strip() else {field: ""}
        text = row.get(field) if isinstance(row, dict) else None
        if not isinstance(text, str):
            names = ", ".join(list(row)[:8]) if isinstance(row, dict) else "no object"
            raise DataError(f"no text in the field {field!r}", file=path, line=number, hint=f"the line has: {names}")
        counts["damaged"] += "\ufffd" in text and "\ufffd" not in line
        text = re.sub(r"(?<![\r\n])\r?\n(?!\s*[\r\n])", lambda broken: " " * len(broken[0]), text) if joined else text
        column = 1
        for part in text.splitlines(keepends=True):
            yield Passage(part.rstrip("\r\n"), path, number, column)
            column += len(part)


class Search(NamedTuple):
    """What is looked for (a construction, or ``cc``), by which spaCy pipeline; the rest: see `Correlative` and `passages`."""

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
    """Find candidates, write them to ``output``, and count them: ``construction, files, lines, damaged``, ``passages`` (that the pipeline
    read), ``candidates``, ``dropped`` (reason -> sentences) and ``groups`` (``group, count, examples``, the largest first).

    Until all is read, candidates are kept beside ``output``, a line for each batch: the same call goes on where an interrupted one was.
    """
    files = [*{os.path.realpath(path): path for path in files}.values()]  # each once
    for path in files:
        if not path.is_file():
            raise DataError("cannot read: not a file" if path.exists() else "cannot read: no such file", file=path)
    _require_output(output, files)
    by_tags = search.name in BY_TAGS
    construction = None if by_tags else load_construction(project, search.name, Lexicon.of(project))
    nlp = _load_pipeline(search.model, parsed=not by_tags)
    finder = Forms(construction, nlp) if construction else Correlative(search.width, search.most_between, search.whole)
    states = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    partial, counts = output.with_name(f".{output.name}.partial"), Counter(lines=0, damaged=0)
    with locked(partial, "searches into this file"):
        batches = _resume(partial, json.dumps([search, finder.patterns, __version__, nlp.meta.get("version"), nlp.pipe_names, states]))
        texts = passages(files, counts, paragraphs=search.paragraphs, field=search.field)
        unread = islice(texts, sum(batch["read"] for batch in batches), None)
        while batch := list(islice(unread, _BATCH)):
            batches.append(_searched(nlp, finder, batch))
            append_lines(partial, batches[-1])
        rows = pl.DataFrame([row for batch in batches for row in batch["rows"]], schema=COLUMNS)
        write_rows(rows, output)
        partial.unlink()
        Path(f"{partial}.lock").unlink()  # nobody waits for it
    examples = pl.col("sentence").str.slice(0, _SHOWN).unique(maintain_order=True).head(_EXAMPLES)
    groups = rows.group_by("group").agg(count=pl.len(), examples=examples).sort("count", "group", descending=[True, False])
    found = {"passages": sum(batch["passages"] for batch in batches), "candidates": rows.height, "groups": groups.to_dicts()}
    dropped = sum((Counter(batch["dropped"]) for batch in batches), Counter())
    return {"construction": search.name, "files": len(files), **counts, **found, "dropped": dict(dropped)}


def _resume(path: Path, identity: str) -> list[dict[str, Any]]:
    """The batches that an interrupted run of the same search wrote; a line that was cut off is dropped, another search's file replaced."""
    batches: list[dict[str, Any]] = []
    with suppress(ValueError, FileNotFoundError):  # a damaged line, after which nothing counts
        first, *lines = path.read_text("utf-8").split("\n")[:-1]
        for line in lines if first == identity else ():
            batches.append(json.loads(line))
    write_text(path, "\n".join([identity, *map(json.dumps, batches), ""]))
    return batches


def _searched(nlp: "Language", finder: Correlative | Forms, batch: Sequence[Passage]) -> dict[str, Any]:
    """``read`` and ``passages`` (that need be tagged), ``rows``, and ``dropped``: reason -> sentences."""
    rows: list[dict[str, Any]] = []
    dropped: Counter[str] = Counter()
    texts = [(passage.text.replace("\n", " "), passage) for passage in batch if finder.may_have(passage.text)]
    with nlp.memory_zone():  # words met here are forgotten, or they would fill the memory
        for doc, passage in nlp.pipe(texts, as_tuples=True, batch_size=64):
            for candidate in finder.find(doc):
                if isinstance(candidate, str):
                    dropped[candidate] += 1
                else:
                    line, column = passage.where(candidate[0][0].idx)
                    rows.append(_row_of(candidate, doc.text) | {"file": str(passage.file), "line": line, "column": column})
    return {"read": len(batch), "passages": len(texts), "dropped": dropped, "rows": rows}


def _row_of(candidate: Candidate, text: str) -> dict[str, Any]:
    """``sentence, group, tags`` (Penn Treebank) and ``spans``: name, start and end (characters of the sentence) and text."""
    tokens, group, parts = candidate
    begin, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
    places = [(name, first.idx, last.idx + len(last)) for name, first, last in parts]
    spans = [{"name": name, "start": start - begin, "end": stop - begin, "text": text[start:stop]} for name, start, stop in places]
    return {"sentence": text[begin:end], "group": group, "tags": " ".join(token.tag_ for token in tokens), "spans": spans}


def _load_pipeline(name: str, *, parsed: bool) -> "Language":
    """A spaCy pipeline, by name or folder, for English, that gives tags and sentences and, if ``parsed``, trees; the rest is left out."""
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
    layers = {"tags": "TAG", "trees": "DEP"} if parsed else {"tags": "TAG"}
    if lacking := [what for what, layer in layers.items() if not doc.has_annotation(layer)]:
        hint = f"it has {', '.join(nlp.pipe_names) or 'no components'}; --model NAME names another one, such as {_DEFAULT}"
        raise DataError(f"the pipeline {name} gives no {' and no '.join(lacking)}", hint=hint)
    return nlp


def _require_output(path: Path, inputs: Iterable[Path]) -> None:
    require_ending(path)
    require_other(path, inputs)
    require_place(path)


def read_candidates(path: Path) -> pl.DataFrame:
    """A file that `write_rows` wrote."""
    hint = "`cxgen mine CONSTRUCTION FILES` writes it; --candidates names one that -o put elsewhere"
    rows = read_rows(path, hint)
    try:
        rows = rows.select(*COLUMNS) if rows.width else pl.DataFrame(schema=COLUMNS)
        if path.suffix.lower() in {".csv", ".tsv"}:
            rows = rows.with_columns(pl.Series("spans", [json.loads(text) for text in rows["spans"]], COLUMNS["spans"]))
            rows = rows.with_columns(pl.col(pl.String).map_elements(_unmarked, return_dtype=pl.String))
        return rows.cast(pl.Schema(COLUMNS))
    except (ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"no candidates that can be read: {one_line(error)}", file=path, hint=hint) from error


def _unmarked(text: str) -> str:
    """A text without the apostrophe that keeps a spreadsheet from running it; spans do not count it."""
    return text[1:] if as_text(text[1:]) == text else text


def label(project: Project, name: str, table: Path, output: Path, candidates: Path | None = None) -> dict[str, int]:
    """Write the ``candidates`` (none: those of `default_output`) of the groups that ``table`` (columns ``group, label``) labels to
    ``output``; return label -> candidates. Those of ``cc`` with two labels are divided for a probe, and the file NAME-probe beside it has
    its `subsets`. DataError if the table has ``examples`` that are no candidates: it is of another search."""
    path = candidates or default_output(project, name)
    _require_output(output, [path, table])
    rows, hint = read_candidates(path), "columns group and label, as `cxgen mine ... --format csv` prints them, with labels filled in"
    listed, lines = numbered_rows(table, hint)
    if not {"group", "label"} <= set(listed.columns):
        raise DataError(f"has the columns {', '.join(listed.columns) or 'none'}", file=table, hint=hint)
    labels: dict[str, str] = {}
    texts = as_texts(listed, ["group", "label"], table, hint).select("group", pl.col("label").map_elements(visible, return_dtype=pl.String))
    for line, (group, text) in zip(lines, texts.iter_rows(), strict=True):
        if text and labels.setdefault(group, text) != text:
            raise DataError(f"two labels of the group {group!r}: {labels[group]}, {text}", file=table, line=line, hint=hint)
    if not labels:
        raise DataError("no group has a label", file=table, hint=hint)
    hint = f"are these the groups of the candidates in {path}? --candidates names others"
    if foreign := sorted(set(labels) - set(rows["group"])):
        raise DataError(f"{len(foreign)} groups are no candidate's: {', '.join(map(repr, foreign[:3]))}", file=table, hint=hint)
    shown = dict(rows.group_by("group").agg(pl.col("sentence").str.slice(0, _SHOWN)).iter_rows())
    told = listed["examples"].to_list() if "examples" in listed.columns else ()
    for line, group, examples in zip(lines, texts["group"], told, strict=False):
        said = normalize("NFC", examples if isinstance(examples, str) else json.dumps(examples, ensure_ascii=False, default=str))
        found = (normalize("NFC", json.dumps(text, ensure_ascii=False)[1:-1]) in said for text in shown.get(group, ()))
        if examples and group in labels and not any(found):
            hint = f"{hint}; without the column examples nobody asks"
            raise DataError(f"none of the examples of {group!r} is a candidate", file=table, line=line, hint=hint)
    rows = rows.with_columns(label=pl.col("group").replace_strict(labels, default=None, return_dtype=pl.String)).drop_nulls("label")
    counts = dict(sorted(Counter(rows["label"]).items()))
    if name in BY_TAGS and len(counts) > 1:
        if not all({"first", "second"} <= {span["name"] for span in spans} for spans in rows["spans"]):
            raise DataError(f"candidates that are none of {name}", file=path, hint=f"`cxgen mine {name} ... -o FILE` finds some")
        rows = divided(rows)
        write_rows(subsets(rows), output.with_stem(f"{output.stem}-probe"))
    write_rows(rows, output)
    return counts


def divided(rows: pl.DataFrame) -> pl.DataFrame:
    """Candidates with ``label``, each sentence once, with ``split`` and the features: a group of tags is in train or in test as a whole,
    each label's in an order that looks random, train's first, one group in test at least."""
    rows = rows.unique("sentence", keep="first", maintain_order=True)
    groups = rows.group_by("label", "group").len()
    groups = groups.with_columns(order=pl.Series(order_keys(("split",), groups["group"]))).sort("label", "order")
    before = (pl.col("len").cum_sum() - pl.col("len")).over("label")
    last = pl.int_range(pl.len()).over("label") == pl.len().over("label") - 1
    train = (before < _TRAIN * pl.col("len").sum().over("label")) & ~last
    splits = groups.select("label", "group", split=pl.when(train).then(pl.lit("train")).otherwise(pl.lit("test")))
    places = [_places(sentence, spans) for sentence, spans in rows.select("sentence", "spans").iter_rows()]
    features = pl.DataFrame(places, schema=dict.fromkeys(FEATURES, pl.Int64), orient="row")
    return pl.concat([rows.join(splits, on=["label", "group"], maintain_order="left"), features], how="horizontal")


def _places(sentence: str, spans: list[dict[str, object]]) -> tuple[int, int, int, int]:
    starts = {span["name"]: len(_words(sentence[: int(str(span["start"]))])) for span in spans}
    first, second = starts["first"], starts["second"]
    return len(_words(sentence)), first, second, second - first


def subsets(rows: pl.DataFrame) -> pl.DataFrame:
    """Subsets in which a feature is held apart, from `divided`: ``sentence, label, split, feature, value, group``. Of every value that all
    labels have in a split each has equally many sentences, at most `PER_VALUE`; train has the lowest quarter of their range, test all."""
    made = []
    labels = rows["label"].n_unique()
    rows = rows.with_columns(order=pl.Series(order_keys(("subset",), rows["sentence"]))).sort("order")
    for feature in FEATURES:
        own = rows.with_columns(feature=pl.lit(feature), value=feature)
        own = own.filter(pl.col("label").n_unique().over("split", "value") == labels)
        own = own.filter(LOW | (pl.col("split") == "test"))
        least = pl.len().over("split", "value", "label").min().over("split", "value")
        most = pl.col("split").replace_strict(PER_VALUE, return_dtype=pl.UInt32)
        own = own.filter(pl.int_range(pl.len()).over("split", "value", "label") < pl.min_horizontal(least, most))
        made.append(own.select("sentence", "label", "split", "feature", "value", "group"))
    return pl.concat(made).sort("feature", "split", "value", "label", maintain_order=True)
