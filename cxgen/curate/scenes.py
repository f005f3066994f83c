"""A table of scenes, looked at before it is used: what is wrong in which row and column, its forms to read, its verbs, some premises."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cxgen.build.params import Params
from cxgen.build.preview import sample_items
from cxgen.build.samplers import divided
from cxgen.check import findings
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import CxgenError
from cxgen.lexicon import Lexicon
from cxgen.lexicon.scenes import Scenes, SceneTable, read_scenes, sense_of
from cxgen.project import Project
from cxgen.vocabulary import INFLECTIONS

_CODES = {"E101", "E106", "E201"}  # names that do not exist, what no sentence reads, words and classes that are not there
_PREMISES = 20
_FORMS = ("lemma", "pos", "sense", "article", "countability", *INFLECTIONS)


@dataclass
class Report:
    """What there is to read; nothing but faults where there are any."""

    faults: list[dict[str, Any]]  # line, column, fault, hint
    forms: list[dict[str, Any]] = field(default_factory=list)  # of the words that the lexicon does not have yet
    verbs: list[dict[str, Any]] = field(default_factory=list)  # design, split, verbs (how many), new (those in no split yet)
    premises: list[str] = field(default_factory=list)


def check_scenes(project: Project, path: Path, params: Params) -> Report:
    """Look at a table of scenes; its file is called like its construction."""
    lexicon, table = Lexicon.of(project), read_scenes(path)
    project.template_file(path.stem)
    if faults := list(_wrong_words(table, lexicon)):
        return Report(faults)
    scenes = {path.stem: Scenes.resolve([table], lexicon)}
    construction = load_construction(project, path.stem, replace(lexicon, known_scenes=scenes))
    if faults := sorted(_faults(table, construction), key=lambda row: row["line"]):
        return Report(faults)
    used = {name for frame in construction.frames for name in frame.designs}
    designs = {name: design for name, design in construction.designs.items() if design.frames in used}
    construction = replace(construction, designs=designs)
    rows = construction.lexicon.table.slice(len(lexicon)).iter_rows(named=True)
    forms = [{name: row[name] for name in _FORMS if row[name]} for row in rows]
    premises = sample_items(construction, params.request.seed, 5)["premise"].unique(maintain_order=True).to_list()
    return Report([], forms, list(_verbs(construction, params)), premises[:: -(-len(premises) // _PREMISES)])


def _row(line: int, column: str, fault: str, hint: str) -> dict[str, Any]:
    return {"line": line, "column": column, "fault": fault, "hint": hint}


def _wrong_words(table: SceneTable, lexicon: Lexicon) -> Iterator[dict[str, Any]]:
    """Words without a sense of their column's type, and scenes that stand there twice."""
    senses = lexicon.senses({lemma for (lemma, _, _), _, _ in table.words()})
    for word, number, slot in table.words():
        try:
            sense_of(word, senses, lexicon)
        except CxgenError as error:
            yield _row(table.scenes[number].line, slot, error.message, error.hint)
    lines: dict[object, int] = {}
    for scene in table.scenes:
        contents = [(slot, sorted(texts)) for slot, texts in scene.slots.items()], list(scene.words.items())
        for key, what in ((scene.cells["id"][0], "the id"), (str(contents), "the words")):
            first = lines.setdefault(key, scene.line)
            if first != scene.line:
                yield _row(scene.line, "id", f"has {what} of line {first}", "change one of them")


def _faults(table: SceneTable, construction: Construction) -> Iterator[dict[str, Any]]:
    """Unknown columns, designs and classes; cells that a design needs, or that nothing reads."""
    sources = {slot.source for slot in construction.slots.values()}
    needed: dict[str, set[str]] = defaultdict(set)
    for design in construction.designs.values():
        slots = (construction.slots[name] for name in construction.design_slots(design))
        needed[design.frames] |= {slot.source for slot in slots if slot.from_frame and not slot.may_lack}
    for scene in table.scenes:
        for slot, texts in scene.slots.items():
            if slot not in sources:
                yield _row(scene.line, slot, "unknown column", f"slots of {construction.name}: {', '.join(sorted(sources))}")
            for text in texts:
                if text[0] == "@" and text[1:] not in construction.lexicon.classes:
                    yield _row(scene.line, slot, f"unknown class {text[1:]!r}", "see `cxgen lexicon classes`")
        for name in scene.cells["designs"]:
            yield from (
                _row(scene.line, slot, f"empty, and {name} needs it", "give words") for slot in sorted(needed[name] - scene.slots.keys())
            )
    for finding in findings(construction, codes=_CODES):
        if finding.file == table.path:
            yield _row(finding.line, "", f"{finding.code} {finding.message}", finding.hint)


def _verbs(construction: Construction, params: Params) -> Iterator[dict[str, Any]]:
    known, splits = params.request.splits.get(construction.name, {}), divided(construction, params.request)
    for design in construction.designs.values():
        slots = {construction.slots[name].source for name in construction.design_slots(design) if name in construction.verb_slots}
        frames = [frame for frame in construction.frames if design.frames in frame.designs]
        keys = {key for frame in frames for slot in slots for key in frame.slots.get(slot, ())}
        verbs = sorted({construction.lexicon.lemmas[row] for key in keys for row in construction.lexicon.resolve(key).ids})
        for split in dict.fromkeys(splits.values()):
            if own := [verb for verb in verbs if splits.get(verb) == split]:
                new = ", ".join(verb for verb in own if verb not in known)
                yield {"design": design.name, "split": split, "verbs": len(own), "new": new}
