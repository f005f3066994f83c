"""Hypotheses about premises of one's own whose parts are given: those of config ``cxnli``, made as in Scivetti et al. 2025, section 4.1."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import Construction, Part, load_construction, parse_pattern
from cxgen.errors import DataError, unknown
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling.ways import WORD_FORMS
from cxgen.semantics import label_matrix
from cxgen.tables import numbered_rows
from cxgen.vocabulary import LABELS

CONFIG = "cxnli"
_HINT = "columns: premise, construction, its parts (see `cxgen hypothesise --parts`); if need be reading, and PART:FORM such as actor:obj"
_ARTICLES = ("the ", "a ", "an ")
_PRONOUNS = {"subj": "they", "obj": "them", "poss": "their"}
SCHEMA = dict.fromkeys(("premise", "hypothesis", "label", "construction", "target", "claim"), pl.String)


def parts_of(construction: Construction) -> dict[str, tuple[str, ...]]:
    """The construction, or one that looks like it -> the slots of what is asked about it; no entry where ``cxnli`` asks nothing."""
    found: dict[str, tuple[str, ...]] = {}
    for reading, (_, rules) in _asked(construction).items():
        parts = [part for rule in rules for text in construction.rules[rule].wordings for part in parse_pattern(text)]
        found[reading] = tuple(dict.fromkeys(part.slot for part in parts if part.slot))
    return found


def hypothesise(project: Project, path: Path) -> pl.DataFrame:
    """Hypotheses about the premises of a table (CSV, TSV, JSON lines, parquet), one for every wording of every rule, columns `SCHEMA`.

    A row has ``premise``, ``construction``, its parts as columns (verbs as lemmas, others as they stand in the sentence), ``reading`` where
    the premise has another construction than the one whose form it has, and forms that do not follow from a part (``undergoer:obj``: her).
    ``label`` is computed from the facts of that reading, never given. DataError, with the line, where a part is lacking.
    """
    table, lines = numbered_rows(path, _HINT)
    lexicon, known, made = Lexicon.of(project), dict[str, Construction](), list[dict[str, Any]]()
    for line, cells in zip(lines, table.iter_rows(named=True), strict=True):
        row = {name: str(value).strip() for name, value in cells.items() if value is not None}
        for name in ("premise", "construction"):
            if not row.get(name):
                raise DataError(f"no {name}", file=path, line=line, hint=_HINT)
        name = row["construction"]
        if name not in known:
            known[name] = load_construction(project, name, lexicon)
        made += ({"premise": row["premise"], "target": name, **item} for item in _items(known[name], row, path, line))
    return pl.DataFrame(made, schema=SCHEMA)


def _asked(construction: Construction) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The construction, or one that looks like it -> its kind in ``cxnli``, and the rules there."""
    designs = [design for design in construction.designs.values() if CONFIG in design.configs]
    return {construction.kinds[kind].construction: (kind, design.rules) for design in designs for kind in design.kinds}


def _items(construction: Construction, row: Mapping[str, str], path: Path, line: int) -> Iterator[dict[str, str]]:
    asked = _asked(construction)
    reading = row.get("reading") or construction.name
    if reading not in asked:
        raise unknown("reading", reading, asked, file=path, line=line)
    kind, rules = asked[reading]
    labels = next(
        label_matrix(construction, one)[kind] for one in construction.designs.values() if one.rules == rules and kind in one.kinds
    )
    for rule in rules:
        for wording in construction.rules[rule].wordings if rule in labels else ():
            try:
                text = "".join(_said(part, row) for part in parse_pattern(wording))
            except KeyError as error:
                hint = f"of {reading}: {', '.join(parts_of(construction)[reading])}"
                raise DataError(f"no {error.args[0]}, which {rule!r} asks about", file=path, line=line, hint=hint) from None
            said = {"hypothesis": text[:1].upper() + text[1:], "label": LABELS[labels[rule]], "claim": construction.rules[rule].says}
            yield {**said, "construction": reading}


def _said(part: Part, row: Mapping[str, str]) -> str:
    """A part of a wording, said of what a row has; a KeyError names what it lacks."""
    form, given = part.form, row.get(f"{part.slot}:{part.form}" if part.form else part.slot, "")
    if not part.slot or given:
        return given or part.text
    if form in _PRONOUNS:
        return _PRONOUNS[form]
    if not (text := row.get(part.slot, "")):
        raise KeyError(part.slot)
    if form == "bare":
        return next((text[len(article) :] for article in _ARTICLES if text.lower().startswith(article)), text)
    if form == "poss-of":
        return f"{text}'" if text.endswith("s") else f"{text}'s"
    if form in WORD_FORMS and (ways := WORD_FORMS[form].ways.get("verb")):
        from lemminflect import getInflection

        head, _, rest = text.partition(" ")
        return f"{(getInflection(head, ways[0].xpos) or (head,))[0]} {rest}".rstrip()
    if form in {"", "np"}:
        return text
    raise KeyError(f"{part.slot}:{form}")
