"""Words for a scene's slot (``cxgen ask``): a model proposes; what people accept gets into the project's table of scenes."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cxgen.asking import Consultation, Limits, Outcome, consult
from cxgen.build.preview import sample_items
from cxgen.constructicon import Construction
from cxgen.errors import CxgenError, SchemaError, unknown
from cxgen.files import write_atomically
from cxgen.layout import LEXICONS
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.scenes import FOLDER, read_scenes, sense_of
from cxgen.project import Project
from cxgen.vocabulary import INFLECTIONS

GAP = "_____"
_UPOS = {"noun": "NOUN", "verb": "VERB", "adjective": "ADJ", "adverb": "ADV"}


def slot_questions(construction: Construction, slot: str, n: int, count: int, seed: int, frame: str = "") -> dict[str, dict[str, str]]:
    """Up to ``n`` premises (of ``frame`` only) with the filler of a slot left open: premise id -> the fields of the prompt ``fill``.

    ``count`` words are wanted for each; premises that do not show the slot are passed over.
    """
    names = [scene.name for scene in construction.frames]
    for what, name, known in (("frame", frame or names[0], names), ("slot", slot, construction.slots)):
        if name not in known:
            raise unknown(what, name, known, file=construction.document.path)
    if frame:  # the scene is drawn by itself, so that it need not be met by chance
        frames = tuple(scene for scene in construction.frames if scene.name == frame)
        designs = {name: design for name, design in construction.designs.items() if design.frames in frames[0].designs}
        construction = replace(construction, frames=frames, designs=designs)
    described = {"construction": construction.title, "meaning": " ".join(construction.meaning.split())}
    wanted = {"gap": f"the {construction.slots[slot].role}", "count": str(count)}
    items = sample_items(construction, seed, n, "nli").unique("premise_id", keep="first", maintain_order=True)
    questions: dict[str, dict[str, str]] = {}
    for item in items.filter(items["construction"] == construction.name).iter_rows(named=True):
        filler = next((filler for filler in item["slots"] if filler["slot"] == slot), None)
        if filler and len(questions) < n and (sentence := _blanked(item["premise"], construction.lexicon, filler)):
            questions[item["premise_id"]] = {**described, "sentence": sentence, **wanted}
    return questions


def _blanked(premise: str, lexicon: Lexicon, filler: Mapping[str, Any]) -> str:
    """A premise with the filler, in whatever form it has, replaced by underscores; empty if it is not to be found."""
    row = lexicon.row(filler["sense"]) if filler["sense"] in lexicon.index else {"lemma": filler["lemma"]}
    forms = sorted({row[name] for name in ("lemma", *INFLECTIONS) if row.get(name)}, key=len, reverse=True)
    blanked, places = re.subn(rf"\b({'|'.join(map(re.escape, forms))})\b", GAP, premise, count=1)
    return blanked if places else ""


def propose(
    project: Project, lexicon: Lexicon, questions: Mapping[str, Mapping[str, str]], model: str, base_url: str | None, limits: Limits
) -> tuple[list[dict[str, Any]], Outcome]:
    """Put questions to a model, one at a time: a row per word, ``sentence, filler, in_lexicon``; and how the run went."""
    consultation = Consultation(models=(model,), tasks=("fill",), base_url=base_url, per_request=1, limits=limits).bounded(project)
    (outcome,) = consult.ask(consultation, consult.load_prompts(project, ["fill"]), {"fill": questions})
    known, rows = {lemma.lower() for lemma in lexicon.lemmas}, list[dict[str, Any]]()
    for judgment in outcome.judgments:
        for word in dict.fromkeys(word.lower() for word in json.loads(judgment.value or "[]")):
            rows.append({"sentence": questions[judgment.item]["sentence"], "filler": word, "in_lexicon": word in known})
    return rows, outcome


def accepted(rows: Iterable[Mapping[str, Any]], chosen: Iterable[str]) -> list[str]:
    """The proposed words that were chosen by name, or all."""
    proposed, words = list(dict.fromkeys(row["filler"] for row in rows)), [word.lower() for word in chosen]
    if "all" in words:
        return proposed
    for word in words:
        if word not in proposed:
            raise unknown("proposal", word, proposed)
    return words


def accept_words(project: Project, construction: Construction, frame: str, slot: str, words: Iterable[str]) -> tuple[Path, list[str]]:
    """Add words, as they stand in a sentence, to what fills a slot in a scene: the table that has them now, and their lemmas.

    A scene of the project's own table gets them there; beside any other a scene ``NAME-more`` is put into that table, with the other slots
    and words of the first.
    """
    (scene,) = (scene for scene in construction.frames if scene.name == frame)
    lexicon, source = construction.lexicon, construction.slots[slot].source
    pos = min(construction.parts_of_speech[slot] & _UPOS.keys(), default="")
    if not pos or source not in scene.slots:
        hint = "give a slot that the frame fills with nouns, verbs or adjectives"
        raise CxgenError(f"frame {frame!r} fills {slot!r} with no words of its own", hint=hint)
    known = {lexicon.lemmas[row] for name in scene.slots[source] for row in lexicon.resolve(name).ids}
    lemmas = [lemma for lemma in dict.fromkeys(_lemma(word, pos, lexicon) for word in words) if lemma not in known]
    if not lemmas:
        raise CxgenError(f"frame {frame!r} has these words already", hint="accept others")
    path = project.root / LEXICONS / FOLDER / f"{construction.name}.tsv"
    text = path.read_text("utf-8") if path.exists() else ""
    changed = _into(text, (frame, f"{frame}-more"), source, lemmas) or text + _beside(scene, source, pos, lemmas, lexicon)

    def write(temporary: Path) -> None:
        temporary.write_text(changed, "utf-8")
        read_scenes(temporary)

    try:
        write_atomically(path, write)
    except SchemaError as error:
        raise SchemaError(f"the words cannot be put there: {error.message}", file=path, hint="add them by hand") from error
    return path, lemmas


def _lemma(word: str, pos: str, lexicon: Lexicon) -> str:
    from lemminflect import getLemma

    text = word.strip().lower()
    if lexicon.known(text, pos):
        return text
    words = text.split(" ")
    head = 0 if pos == "verb" else -1
    words[head] = getLemma(words[head], upos=_UPOS[pos])[0]
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


def _beside(scene: Frame, slot: str, pos: str, lemmas: list[str], lexicon: Lexicon) -> str:
    """The columns and the line of a scene beside another: its other slots, and lemmas for ``slot``."""
    cells = {"id": f"{scene.name}-more", "designs": " | ".join(scene.designs)}
    for name, fillers in scene.slots.items():
        kinds = {lexicon.resolve(filler).pos for filler in fillers if filler not in lexicon.classes}
        kind = pos if name == slot else min(kinds, default="noun")
        cells[f"{name}:{kind}"] = " | ".join(lemmas if name == slot else [_text(filler, kind, lexicon) for filler in fillers])
    if scene.words:
        cells["words"] = " | ".join(f"{key}={value}" for key, value in scene.words.items())
    return "".join("\t".join(row) + "\n" for row in (cells, cells.values()))


def _text(filler: str, pos: str, lexicon: Lexicon) -> str:
    """A class or a lexeme as a cell has it."""
    if filler in lexicon.classes:
        return f"@{filler}"
    row = lexicon.row(filler)
    lemma = str(row["lemma"])
    if row["pos"] != pos:
        return f"{lemma}~{row['pos']}"
    plain = sense_of((lemma, pos, ""), lexicon.senses([lemma]), lexicon) == filler
    return lemma if plain else f"{lemma}~{filler.partition('%')[2] or 'own'}"
