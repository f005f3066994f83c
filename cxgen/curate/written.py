"""Scenes in a model's words: the open places of a minimal pair's premise filled many times (Oba and Sugawara 2026, appendix A, Figure 9).

A scene says what is asked: its premise with a name in braces for every word, and what each variant says after it. What comes back stands
in ``lexicons/scenes/NAME.proposed.tsv``, a scene each, with the closed-class words of the first: nothing is drawn from one before judges
have accepted it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import Outcome
from cxgen.build.preview import sample_items
from cxgen.constructicon import Construction
from cxgen.curate.scenes import blanked, lemma_of, of_frame, part_of_speech, wrong_words
from cxgen.errors import unknown
from cxgen.families.minimal_pairs import CXMP
from cxgen.files import alone, read_if_there, write_atomically
from cxgen.layout import LEXICONS
from cxgen.lexicon.scenes import ABOUT, FOLDER, PROPOSED, PROPOSED_HEAD, Scene, read_scenes, table_lines
from cxgen.project import Project

_PEOPLE = "-female"  # the participants that are shown: all of one gender, so that pronouns agree
_SETS = 40  # premises of a scene that are drawn: enough for every design
_WORD = re.compile(r"[a-z][a-z' -]{0,40}")


def _scene(construction: Construction, name: str) -> tuple[str, Scene]:
    """A frame that a scene of a table makes for pairs, and the scene."""
    named: dict[str, tuple[str, Scene]] = {}
    designs = {design.frames for design in construction.designs.values() if CXMP.name in design.configs}
    for frame in construction.frames:
        if not designs.isdisjoint(frame.designs) and frame.name.endswith(_PEOPLE):
            named.setdefault(frame.scene.cells["id"][0], (frame.name, frame.scene))
    if name not in named:
        raise unknown("scene", name, named, file=construction.document.path)
    return named[name]


def pair_questions(construction: Construction, name: str, count: int, seeds: int) -> tuple[list[str], dict[str, dict[str, str]]]:
    """The slots of a scene of config `cxmp` that are to be filled, and for each seed the fields of the prompt ``pairs``."""
    frame, scene = _scene(construction, name)
    items = sample_items(of_frame(construction, frame), 1, _SETS, CXMP.name)
    own = items.filter(~pl.col("switched"), construction=construction.name)
    rows = own.unique("variant", keep="first", maintain_order=True).to_dicts()
    slots = [filler["slot"] for filler in rows[0]["slots"] if construction.slots[filler["slot"]].source in scene.slots]
    slots = [slot for slot in slots if part_of_speech(construction, slot)]

    def opened(item: Mapping[str, Any], column: str) -> str:
        text: str = item[column]
        for filler in (one for one in item["slots"] if one["slot"] in slots or construction.slots[one["slot"]].source not in scene.slots):
            text = blanked(text, construction.lexicon, filler, f"{{{filler['slot'].upper()}}}") or text
        return re.sub(r"\ban? \{", "a/an {", text)

    gaps = " | ".join(f"{slot.upper()} ({part_of_speech(construction, slot)})" for slot in slots)
    fields = {"construction": construction.title, "meaning": " ".join(construction.meaning.split()), "gaps": gaps, "count": str(count)}
    follows = " ".join(dict.fromkeys(opened(item, "diagnostic_good") for item in rows))
    fields |= {"template": opened(rows[0], "context"), "follows": follows}
    return slots, {f"{name}-{seed}": {**fields, "seed": str(seed)} for seed in range(1, seeds + 1)}


def add_scenes(project: Project, construction: Construction, name: str, slots: list[str], outcome: Outcome) -> tuple[Path, Counter[str]]:
    """Write what a model answered as scenes beside those that were proposed before; the file, and how many were ``added``, or refused and
    why."""
    path, told = project.root / LEXICONS / FOLDER / f"{construction.name}{PROPOSED}.tsv", Counter[str]()
    with alone(path):
        before = read_if_there(path, PROPOSED_HEAD).splitlines()
        known = re.findall(rf"^{re.escape(name)}-more-(\d+)\t", "\n".join(before), re.MULTILINE)
        fillings = enumerate(_fillings(construction, slots, outcome, told), 1 + max(map(int, known), default=0))
        rows = {f"{name}-more-{number}": lemmas for number, lemmas in fillings}
        lines = [*before, *_lines(construction, _scene(construction, name)[1], slots, rows)]

        def write(temporary: Path) -> None:
            temporary.write_text("\n".join(lines) + "\n", "utf-8")
            faults = wrong_words(read_scenes(temporary), construction.lexicon)
            wrong = {row["line"]: row["fault"].partition(" of line")[0] for row in faults if row["line"] > len(before)}
            told.update(wrong.values())
            told["added"] = len(rows) - len(wrong)
            kept = [line for number, line in enumerate(lines, 1) if number not in wrong] if told["added"] else before
            temporary.write_text("\n".join(kept) + "\n", "utf-8")

        write_atomically(path, write)
    return path, told


def _fillings(construction: Construction, slots: list[str], outcome: Outcome, told: Counter[str]) -> Iterator[list[str]]:
    """The lemmas of every filling; what is none is counted in ``told``."""
    parts = [part_of_speech(construction, slot) for slot in slots]
    for said in (said for judgment in outcome.judgments for said in json.loads(judgment.value or "[]")):
        words = [word.strip().lower() for word in said.split("|")]
        if len(words) == len(slots) and all(map(_WORD.fullmatch, words)):
            yield [lemma_of(word, pos, construction.lexicon) for word, pos in zip(words, parts, strict=True)]
        else:
            told["not a word for each place"] += 1


def _lines(construction: Construction, base: Scene, slots: list[str], rows: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Columns, and a line for each row, which has the designs and the closed-class words of ``base``."""
    columns = [construction.slots[slot].source for slot in slots]
    fixed = {column: cell for column, cell in base.cells.items() if column not in {*ABOUT, *columns}}  # phrases
    for name, words in rows.items():
        own = {column: [word] for column, word in zip(columns, words, strict=True)}
        head, row = table_lines({"id": [name], "designs": base.cells["designs"], **own, **fixed, "words": base.pairs}, base.types)
        yield from (row,) if name != next(iter(rows)) else (head, row)
