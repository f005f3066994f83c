"""Hypotheses about premises of one's own whose parts are given: those of config ``cxnli``, made as in Scivetti et al. 2025, section 4.1."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import Construction, Design, Part, load_construction, parse_pattern
from cxgen.errors import DataError, unknown
from cxgen.families.nli import CXNLI
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling.ways import WORD_FORMS
from cxgen.semantics import label_matrix
from cxgen.tables import as_texts, numbered_rows
from cxgen.trees.phrases import lemmas_of
from cxgen.vocabulary import LABELS

_HINT = "columns: premise, construction, its parts (see `cxgen hypothesise --parts`); if need be reading, and PART:FORM such as actor:obj"
_ARTICLES = ("the ", "a ", "an ")
_PRONOUNS = {"subj": "they", "obj": "them", "poss": "their"}  # of a part whose forms are not given
# Pronouns that may be given as parts: as subjects, which stand before one of the verbs, elsewhere, as possessors.
_CASES = [case.split() for case in ("I me my", "we us our", "you you your", "he him his", "she her her", "it it its", "they them their")]
_FEW = 4  # letters
_FINITE = {"caused", "did", "was", "stayed", "changed", "became", "traveled", "touched", "already"}
_PLURAL = re.compile(r"\b(we|you|they) was\b", re.IGNORECASE)
SCHEMA = dict.fromkeys(("premise", "hypothesis", "label", "construction", "target", "claim"), pl.String)


def parts_of(construction: Construction) -> dict[str, tuple[str, ...]]:
    """The construction, or one that looks like it -> the slots of what is asked about it; no entry where ``cxnli`` asks nothing."""
    found: dict[str, tuple[str, ...]] = {}
    for reading, (_, design) in _asked(construction).items():
        parts = [part for rule in design.rules for text in construction.rules[rule].wordings for part in parse_pattern(text)]
        found[reading] = tuple(dict.fromkeys(part.slot for part in parts if part.slot))
    return found


def hypothesise(project: Project, path: Path) -> pl.DataFrame:
    """Hypotheses about the premises of a table (CSV, TSV, JSON lines, parquet), one for every wording of every rule, columns `SCHEMA`.

    A row has ``premise``, ``construction``, its parts as columns (verbs as lemmas, others as they stand in the sentence), ``reading`` where
    the premise has another construction than the one whose form it has, and forms that do not follow from a part (``undergoer:obj``: her).
    ``label`` is computed from the facts of that reading, never given. Of correlatives only *more ... more* may be given; of *let alone*
    it is asked what *they* can. DataError, with the line, where a part is lacking, or does not stand in the premise.
    """
    table, lines = numbered_rows(path, _HINT)
    if table.is_empty():
        raise DataError("has no rows", file=path, hint=_HINT)
    table = as_texts(table, [name for name in ("premise", "construction") if name in table.columns], path, _HINT)
    lexicon, known, made = Lexicon.of(project), dict[str, Construction](), list[dict[str, Any]]()
    for line, cells in zip(lines, table.iter_rows(named=True), strict=True):
        row = {name: str(value).strip() for name, value in cells.items() if value is not None}
        for name in ("premise", "construction"):
            if not row.get(name):
                raise DataError(f"no {name}", file=path, line=line, hint=_HINT)
        name = row["construction"]
        if name not in project.template_files():
            raise unknown("construction", name, project.template_files(), file=path, line=line)
        if name not in known:
            known[name] = load_construction(project, name, lexicon)
        made += ({"premise": row["premise"], "target": name, **item} for item in _items(known[name], row, path, line))
    return pl.DataFrame(made, schema=SCHEMA)


def _asked(construction: Construction) -> dict[str, tuple[str, Design]]:
    """The construction, or one that looks like it -> its kind and its design in ``cxnli``."""
    designs = [design for design in construction.designs.values() if CXNLI.name in design.configs]
    return {construction.kinds[kind].construction: (kind, design) for design in designs for kind in design.kinds}


def _items(construction: Construction, row: Mapping[str, str], path: Path, line: int) -> Iterator[dict[str, str]]:
    asked = _asked(construction)
    reading = row.get("reading") or construction.name
    if not asked:
        hint = "`cxgen hypothesise --parts` lists those that it asks about"
        raise DataError(f"{construction.name} has no design of config {CXNLI.name}", file=path, line=line, hint=hint)
    if reading not in asked:
        raise unknown("reading", reading, asked, file=path, line=line)
    kind, design = asked[reading]
    labels = label_matrix(construction, design)[kind]
    there = {part.slot for template in construction.templates_for(kind) for part in construction.premise_parts(kind, template.name)}
    told = {slot: row[slot].lower() for slot in construction.slots if slot in there and row.get(slot)}
    for slot, one in told.items():
        if [*told.values()].count(one) > 1 or re.fullmatch(r"(my|your|him|her|it|our|them)sel(f|ves)", one):
            hint = "hypotheses are about different ones; of this premise none can be made"
            raise DataError(f"{slot} is {one!r}, which is another part, too", file=path, line=line, hint=hint)
    for part in (part for rule in design.rules for text in construction.rules[rule].wordings for part in parse_pattern(text)):
        text = row.get(part.slot, "") if part.slot in there else ""
        verb = text.partition(" ")[0].lower() if _tag(part.form) else ""
        lemmas = lemmas_of(verb).get("VERB", (verb,))
        if text and (verb not in lemmas or not _stands(text, row["premise"], verb=verb != "")):
            why = "which the premise does not have" if verb in lemmas else f"a form of {' or '.join(lemmas)}"
            hint = "are the columns of this row those of its premise? Verbs are lemmas, other parts as they stand in it"
            raise DataError(f"{part.slot} is {text!r}, {why}", file=path, line=line, hint=hint)
    for rule in design.rules:
        for wording in construction.rules[rule].wordings if rule in labels else ():
            try:
                parts = parse_pattern(wording)
                text = "".join(_said(part, row, after.text) for part, after in zip(parts, (*parts[1:], Part()), strict=True))
            except KeyError as error:
                hint = f"of {reading}: {', '.join(parts_of(construction)[reading])}"
                raise DataError(f"no {error.args[0]}, which {rule!r} asks about", file=path, line=line, hint=hint) from None
            text = _PLURAL.sub(r"\1 were", text)
            said = {"hypothesis": text[:1].upper() + text[1:], "label": LABELS[labels[rule]], "claim": construction.rules[rule].says}
            yield {**said, "construction": reading}


def _said(part: Part, row: Mapping[str, str], after: str) -> str:
    """A part of a wording, said of what a row has; ``after``: the text behind it. A KeyError names what the row lacks."""
    form = part.form
    if not part.slot:
        return part.text
    if form and (given := row.get(f"{part.slot}:{form}")):
        return given
    if form in _PRONOUNS:
        return _PRONOUNS[form]
    if not (text := row.get(part.slot, "")):
        raise KeyError(part.slot)
    if tag := _tag(form):
        return _inflected(text, tag)
    if form not in {"", "np", "bare", "poss-of"}:
        raise KeyError(f"{part.slot}:{form}")
    return _named(text, form, subject=not _FINITE.isdisjoint(re.findall(r"\w+", after)[:1]))


def _named(text: str, form: str, *, subject: bool) -> str:
    case = next((case for case in _CASES if text.lower() in {case[0].lower(), case[1]}), None)
    if case:
        return case[2] if form == "poss-of" else case[0] if subject else case[1]
    if form == "bare":
        return _bare(text)
    return f"{text}'" + "s" * (not text.endswith("s")) if form == "poss-of" else text


def _bare(text: str) -> str:
    return next((text[len(article) :] for article in _ARTICLES if text.lower().startswith(article)), text)


def _stands(text: str, premise: str, *, verb: bool) -> bool:
    """Whether a premise has a part: a verb in any form, a pronoun in any case, whatever its article and ending (*happy*: *happier*), of
    words with few letters only such as dictionaries have (*the cat* is not in *the car*, nor *Bo* in *Bill*)."""
    from lemminflect import getAllInflections, getAllInflectionsOOV

    bare = text.partition(" ")[0] if verb else _bare(text)
    before, blank, last = bare.rpartition(" ")
    forms = {bare, *next((case for case in _CASES if text.lower() in map(str.lower, case)), ())}
    inflected = getAllInflections(last, "VERB" if verb else None) or (getAllInflectionsOOV(last, "VERB") if verb else {})
    forms |= {before + blank + form for found in inflected.values() for form in found}
    pattern = "|".join([*map(re.escape, sorted(forms)), *([rf"{re.escape(bare[:-1])}\w*"] if len(last) > _FEW else [])])
    return re.search(rf"(?<!\w)({pattern})(?!\w)", premise, re.IGNORECASE) is not None


def _tag(form: str) -> str:
    """The tag of a verb in this form of a part; empty where the part is no verb."""
    ways = WORD_FORMS[form].ways.get("verb") if form in WORD_FORMS else None
    return ways[0].xpos if ways else ""


def _inflected(text: str, tag: str) -> str:
    from lemminflect import getInflection

    head, _, rest = text.partition(" ")
    return f"{(getInflection(head, tag) or (head,))[0]} {rest}".rstrip()
