"""Scenes: a table looked at before it is used; words that a model proposes for a slot, and those that people accept into a table."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cxgen.asking import Consultation, Outcome, consult
from cxgen.build.params import Params
from cxgen.build.preview import sample_items
from cxgen.build.samplers import drawable, placed, unfilled, unjudged
from cxgen.check import findings
from cxgen.constructicon import Construction, load_construction
from cxgen.constructicon.model import verb_rows
from cxgen.errors import CxgenError, SchemaError, unknown
from cxgen.families import DEFAULT
from cxgen.files import alone, read_if_there, write_atomically
from cxgen.layout import LEXICONS
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.scenes import FOLDER, Scenes, SceneTable, read_scenes, sense_of, table_lines
from cxgen.lexicon.words import lexfile
from cxgen.project import Project
from cxgen.trees import Chunks
from cxgen.vocabulary import INFLECTIONS, SPLITS

# Names that do not exist, what no sentence reads, words and classes that are not there; words that two slots of a sentence can both say.
_CODES = {"E101", "E106", "E201", "E207"}
_PREMISES = 20
_FORMS = ("lemma", "pos", "sense", "article", "countability", *INFLECTIONS)
_UPOS = {"noun": "NOUN", "verb": "VERB", "adjective": "ADJ", "adverb": "ADV"}
GAP = "_____"
_DOUBTS = {"W310", "W313"}  # words in no list of words, forms that no verb has; marks on what no scene has


@dataclass
class Report:
    """What there is to read; nothing but faults where there are any in lines."""

    faults: list[dict[str, Any]]  # line, column, fault, hint
    doubts: list[dict[str, Any]] = field(default_factory=list)  # the same, of what is probably not meant
    forms: list[dict[str, Any]] = field(default_factory=list)  # of the words that the lexicon does not have yet
    # design, split, verbs (how many), new (those in no split yet), left_out (those that lack a partner of their split in each scene)
    verbs: list[dict[str, Any]] = field(default_factory=list)
    premises: list[str] = field(default_factory=list)
    senses: dict[str, str] = field(default_factory=dict)  # of the verbs of new scenes: verb -> lexicographer file
    unjudged: list[str] = field(default_factory=list)  # how many clauses a build would leave out, since nobody has judged them


def check_scenes(project: Project, path: Path, params: Params) -> Report:
    """Look at a table of scenes; its file is called like its construction."""
    if path.suffix != ".tsv" or path.stem not in project.template_files():
        raise SchemaError("a table of scenes is called CONSTRUCTION.tsv", file=path, hint=f"of {', '.join(project.template_files())}")
    lexicon, table = Lexicon.of(project), read_scenes(path)
    if not table.scenes:
        raise SchemaError("has no scenes", file=path, hint="write a row with columns (id, designs, slots), and a line a scene below it")
    if faults := list(wrong_words(table, lexicon)):
        return Report(faults)
    scenes = {path.stem: Scenes.resolve([table], lexicon)}
    construction = load_construction(project, path.stem, replace(lexicon, known_scenes=scenes))
    for wrong in findings(construction, codes={"E102"}):  # without patterns nobody knows what they read; a word may be said in none
        raise CxgenError(f"{wrong.code} {wrong.message}", file=wrong.file, line=wrong.line, hint=wrong.hint)
    if faults := sorted([*_faults(table, construction), *_found(table, construction, _CODES)], key=lambda row: row["line"]):
        return Report(faults)
    doubts = list(_found(table, construction, _DOUBTS))
    construction = _of_frames(construction, construction.frames)
    if faults := list(_found(table, construction, {"E401"}, Chunks.load(*project.chunk_files()))):
        return Report(faults)
    rows = construction.lexicon.table.slice(len(lexicon)).select(_FORMS).iter_rows(named=True)
    forms = [{name: form for name, form in row.items() if form} for row in rows]
    fresh = _fresh(construction, params)
    premises = sample_items(fresh, params.request.seed, 5)["premise"].unique(maintain_order=True).to_list()
    shown = premises[:: -(-len(premises) // _PREMISES)]
    senses = _senses(fresh) if fresh is not construction else {}
    if any(path.resolve() == one.path.resolve() for one in lexicon.scenes(path.stem).tables):  # what a build has, with the other tables
        lacking = unfilled(load_construction(project, path.stem, lexicon), params.request)
        faults = [_row(1, "", f"E201 {error.message}", error.hint) for error in lacking]
    return Report(faults, doubts, forms, list(_verbs(construction, params)), shown, senses, list(unjudged(construction, params.request)))


def _row(line: int, column: str, fault: str, hint: str) -> dict[str, Any]:
    return {"line": line, "column": column, "fault": fault, "hint": hint}


def wrong_words(table: SceneTable, lexicon: Lexicon) -> Iterator[dict[str, Any]]:
    """Words without a sense of their column's type, and scenes that stand there twice."""
    senses = lexicon.senses({lemma for (lemma, _, _), _, _ in table.words()})
    for word, number, slot in table.words():
        try:
            sense_of(word, senses, lexicon)
        except CxgenError as error:
            yield _row(table.scenes[number].line, slot, error.message, error.hint)
    lines: dict[str, int] = {}
    for scene in table.scenes:
        contents = [(slot, sorted(texts)) for slot, texts in scene.slots.items()], list(scene.words.items())
        for key, what in ((scene.cells["id"][0], "the id"), (str(contents), "the words")):
            if lines.setdefault(key, scene.line) != scene.line:
                yield _row(scene.line, "id", f"has {what} of line {lines[key]}", "change one of them")


def _faults(table: SceneTable, construction: Construction) -> Iterator[dict[str, Any]]:
    """Unknown columns, designs and classes; cells that a design needs, or that nothing reads."""
    sources, needed = {slot.source for slot in construction.slots.values()}, defaultdict[str, set[str]](set)
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
        for design_name, slot in ((name, slot) for name in scene.cells["designs"] for slot in sorted(needed[name] - scene.slots.keys())):
            yield _row(scene.line, slot, f"empty, and {design_name} needs it", "give words")


def _found(table: SceneTable, construction: Construction, codes: set[str], chunks: Chunks | None = None) -> Iterator[dict[str, Any]]:
    for finding in findings(construction, chunks, codes):
        if (own := finding.file == table.path) or finding.code == "E207":  # told where the slots are
            yield _row(finding.line if own else 1, "", f"{finding.code} {finding.message}", finding.hint)


def _verbs(construction: Construction, params: Params) -> Iterator[dict[str, Any]]:
    known, splits = params.request.splits.get(construction.name, {}), placed(construction, params.request)
    for design in construction.designs.values():
        slots = {construction.slots[name].source for name in construction.design_slots(design) if name in construction.verb_slots}
        frames = [frame for frame in construction.frames if design.frames in frame.designs]
        keys = {key for frame in frames for slot in slots for key in frame.slots.get(slot, ())}
        verbs = sorted({construction.lexicon.lemmas[row] for row in construction.lexicon.named(*keys)})
        for split in SPLITS if verbs else ():
            own, used = [verb for verb in verbs if splits.get(verb) == split], drawable(construction, design, split, params.request)
            new, left = ([verb for verb in own if verb not in some] for some in (known, used))
            yield {"design": design.name, "split": split, "verbs": len(used), "new": ", ".join(new), "left_out": ", ".join(left)}


def _fresh(construction: Construction, params: Params) -> Construction:
    """``construction`` with the scenes alone that have a verb which is in no split yet; as it is, if none has, or one needs others."""
    known, lemmas = params.request.splits.get(construction.name, {}), construction.lexicon.lemmas
    verbs = [(frame, {lemmas[row] for rows in verb_rows(construction, frame).values() for row in rows}) for frame in construction.frames]
    fresh = _of_frames(construction, tuple(frame for frame, own in verbs if not own <= known.keys()))
    return fresh if any(design.configs for design in fresh.designs.values()) else construction


def _of_frames(construction: Construction, frames: tuple[Frame, ...]) -> Construction:
    """``construction`` with these scenes alone, and the designs that they serve."""
    used = {name for frame in frames for name in frame.designs}
    designs = {name: design for name, design in construction.designs.items() if design.frames in used}
    return replace(construction, frames=frames, designs=designs)


def _senses(construction: Construction) -> dict[str, str]:
    """The verbs of its scenes that WordNet has, each with the lexicographer file of the sense that is taken."""
    names = {name for frame in construction.frames for slot in construction.verb_slots for name in frame.slots.get(slot, ()) if "%" in name}
    lexicon = construction.lexicon
    return {lexicon.lemmas[lexicon.index[name]]: lexfile(name).removeprefix("verb.") for name in sorted(names)}


def of_frame(construction: Construction, frame: str) -> Construction:
    """``construction`` with a scene by itself, so that it need not be met by chance."""
    frames = tuple(scene for scene in construction.frames if scene.name == frame)
    if not frames:
        raise unknown("frame", frame, {scene.name for scene in construction.frames}, file=construction.document.path)
    return _of_frames(construction, frames)


def slot_questions(construction: Construction, slot: str, n: int, count: int, seed: int, frame: str = "") -> dict[str, dict[str, str]]:
    """Up to ``n`` premises (of ``frame`` only) with ``slot`` open for ``count`` words: premise id -> fields of the prompt ``fill``."""
    if slot not in construction.slots:
        raise unknown("slot", slot, construction.slots, file=construction.document.path)
    if frame:
        construction = of_frame(construction, frame)
    described = {"construction": construction.title, "meaning": " ".join(construction.meaning.split())}
    wanted = {"gap": f"the {construction.slots[slot].role}", "count": str(count)}
    asked = any(DEFAULT in design.configs for design in construction.designs.values())  # else what its frames are for
    items = sample_items(construction, seed, n, DEFAULT if asked else "").unique("premise_id", keep="first", maintain_order=True)
    questions: dict[str, dict[str, str]] = {}
    for item in items.filter(items["construction"] == construction.name).iter_rows(named=True):
        filler = next((filler for filler in item["slots"] if filler["slot"] == slot), None)
        if filler and len(questions) < n and (sentence := blanked(item["premise"], construction.lexicon, filler)):
            questions[item["premise_id"]] = {**described, "sentence": sentence, **wanted}
    if not questions:
        raise CxgenError(f"no premise shows what fills {slot!r}", file=construction.document.path, hint="ask about another slot")
    return questions


def blanked(text: str, lexicon: Lexicon, filler: Mapping[str, Any], gap: str = GAP) -> str:
    """A text with the filler, in whatever form it has, replaced by a gap (by a named one everywhere); empty if it is not to be found."""
    row = lexicon.row(filler["sense"]) if filler["sense"] in lexicon.index else {"lemma": filler["lemma"]}
    forms = sorted({row[name] for name in ("lemma", *INFLECTIONS) if row.get(name)}, key=len, reverse=True)
    opened, places = re.subn(rf"\b({'|'.join(map(re.escape, forms))})\b", gap, text, count=int(gap == GAP), flags=re.IGNORECASE)
    return opened if places else ""


def put(project: Project, questions: Mapping[str, Mapping[str, str]], asked: Consultation) -> Outcome:
    """Put questions to the one model of a consultation about one task, one at a time; how the run went. CxgenError: of no use."""
    asked, prompts = replace(asked, per_request=1, needed=True).bounded(project), consult.load_prompts(project, asked.tasks)
    (outcome,) = consult.ask(asked, prompts, dict.fromkeys(asked.tasks, questions))
    return outcome


def proposals(lexicon: Lexicon, questions: Mapping[str, Mapping[str, str]], outcome: Outcome) -> list[dict[str, Any]]:
    """What a model answered to `slot_questions`: a row per word, ``sentence, filler, in_lexicon``."""
    known, rows = {lemma.lower() for lemma in lexicon.lemmas}, list[dict[str, Any]]()
    for judgment in outcome.judgments:
        for word in dict.fromkeys(word.lower() for word in json.loads(judgment.value or "[]")):
            rows.append({"sentence": questions[judgment.item]["sentence"], "filler": word, "in_lexicon": word in known})
    return rows


def accepted(rows: Iterable[Mapping[str, Any]], chosen: Iterable[str]) -> list[str]:
    """The proposed words that were chosen by name, or all."""
    proposed, words = list(dict.fromkeys(row["filler"] for row in rows)), [word.lower() for word in chosen]
    for word in sorted(set(words) - {"all", *proposed}):
        raise unknown("proposal", word, proposed)
    return proposed if "all" in words else words


def accept_words(project: Project, construction: Construction, frame: str, slot: str, words: Iterable[str]) -> tuple[Path, list[str]]:
    """Add words, as they stand in a sentence, to what fills a slot in a scene of the project's own table; the table, their lemmas.

    Beside a scene of another table a scene ``NAME-more`` is put into the project's, with the other slots and words of the first.
    """
    (scene,) = (scene for scene in construction.frames if scene.name == frame)
    lexicon, source = construction.lexicon, construction.slots[slot].source
    pos = part_of_speech(construction, slot)
    if not pos or source not in scene.slots:
        hint = "give a slot that the frame fills with nouns, verbs or adjectives"
        raise CxgenError(f"frame {frame!r} fills {slot!r} with no words of its own", hint=hint)
    known = {lexicon.lemmas[row] for row in lexicon.named(*scene.slots[source])}
    lemmas = [lemma for lemma in dict.fromkeys(lemma_of(word, pos, lexicon) for word in words) if lemma not in known]
    if not lemmas:
        raise CxgenError(f"frame {frame!r} has these words already", hint="accept others")
    path = project.root / LEXICONS / FOLDER / f"{construction.name}.tsv"
    with alone(path):
        text = "".join(f"{line}\n" for line in read_if_there(path).splitlines())
        changed = _into(text, (frame, f"{frame}-more"), source, lemmas)
        if not changed:
            row = scene.scene
            cells = row.cells | ({"words": row.pairs} if row.words else {}) | {"id": [f"{frame}-more"], source: lemmas}
            changed = text + "".join(f"{line}\n" for line in table_lines(cells, row.types | {source: pos}))

        def write(temporary: Path) -> None:
            temporary.write_text(changed, "utf-8")
            read_scenes(temporary)

        try:
            write_atomically(path, write)
        except SchemaError as error:
            raise SchemaError(f"the words cannot be put there: {error.message}", file=path, hint="add them by hand") from error
    return path, lemmas


def part_of_speech(construction: Construction, slot: str) -> str:
    """Noun, verb or adjective; empty where it is none of them."""
    return min(construction.parts_of_speech[slot] & _UPOS.keys(), default="")


def lemma_of(word: str, pos: str, lexicon: Lexicon) -> str:
    """The lemma of a word as it stands in a sentence."""
    from lemminflect import getLemma

    text = word.strip().lower()
    if lexicon.known(text, pos):
        return text
    words = text.split(" ")
    head = 0 if pos == "verb" else -1
    lemma, listed = (getLemma(words[head], upos=_UPOS[pos], lemmatize_oov=guess) for guess in (True, False))
    if listed or (lemma[0], pos) in lexicon.senses(lemma):  # of a word in no list, the guess cuts off what looks like an ending: bauhaus
        words[head] = lemma[0]
    return " ".join(words)


def _into(text: str, names: Iterable[str], slot: str, lemmas: list[str]) -> str:
    """A table with lemmas in the cell of the first of some scenes that has the slot; empty if none has."""
    rows, columns, cells = [line.split("\t") for line in text.splitlines()], list[str](), dict[str, tuple[list[str], int]]()
    for row in rows:
        if row[0] == "id":
            columns = [cell.partition(":")[0] for cell in row]
        elif slot in columns[: len(row)]:
            cells.setdefault(row[0], (row, columns.index(slot)))
    for row, at in (cells[name] for name in names if name in cells):
        row[at] = " | ".join([*filter(None, [row[at].strip()]), *lemmas])
        return "".join("\t".join(row) + "\n" for row in rows)
    return ""
