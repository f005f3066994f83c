"""Words that people accept for a scene's slot, written into the project's table of scenes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError, SchemaError
from cxgen.files import write_atomically
from cxgen.layout import LEXICONS
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.scenes import FOLDER, read_scenes, sense_of
from cxgen.project import Project

_UPOS = {"noun": "NOUN", "verb": "VERB", "adjective": "ADJ", "adverb": "ADV"}
_MORE = "-more"


def accept_words(project: Project, construction: Construction, frame: str, slot: str, words: Iterable[str]) -> tuple[Path, list[str]]:
    """Add ``words`` to what fills ``slot`` in the scene ``frame``.

    A scene of the project's own table gets them there; beside any other a scene ``NAME-more`` is put into that table, with the other slots
    and words of the first.

    Args:
        words: as they stand in a sentence; they are entered by their lemmas.

    Returns:
        The table, and the lemmas that were entered.

    Raises:
        CxgenError: nothing to enter, or a slot that is filled by fixed text or another slot.
    """
    (scene,) = (each for each in construction.frames if each.name == frame)
    lexicon, source = construction.lexicon, construction.slots[slot].source
    pos = next(iter(sorted(construction.parts_of_speech[slot] & _UPOS.keys())), "")
    if not pos or source not in scene.slots:
        hint = "give a slot that the frame fills with nouns, verbs or adjectives"
        raise CxgenError(f"frame {frame!r} fills {slot!r} with no words of its own", hint=hint)
    known = {lexicon.lemmas[row] for name in scene.slots[source] for row in lexicon.resolve(name).ids}
    lemmas = [lemma for lemma in dict.fromkeys(_lemma(word, pos, lexicon) for word in words) if lemma not in known]
    if not lemmas:
        raise CxgenError(f"frame {frame!r} has these words already", hint="accept others")
    path = project.root / LEXICONS / FOLDER / f"{construction.name}.tsv"
    text = path.read_text("utf-8") if path.exists() else ""
    tried = (_into(text, name, source, lemmas) for name in (scene.name, scene.name + _MORE))
    changed = next((found for found in tried if found), "") or f"{text}{_scene(scene, source, pos, lemmas, lexicon)}\n"
    _write(path, changed)
    return path, lemmas


def _write(path: Path, text: str) -> None:
    """Write a table of scenes if it can be read; else nothing is changed."""

    def checked(temporary: Path) -> None:
        temporary.write_text(text, "utf-8")
        read_scenes(temporary)

    try:
        write_atomically(path, checked)
    except SchemaError as error:
        raise SchemaError(f"the words cannot be put there: {error.message}", file=path, hint="add them by hand") from error


def _lemma(word: str, pos: str, lexicon: Lexicon) -> str:
    from lemminflect import getLemma

    text = word.strip().lower()
    if lexicon.known(text, pos):
        return text
    before, _, head = text.rpartition(" ") if pos != "verb" else ("", "", text.partition(" ")[0])
    after = text.partition(" ")[2] if pos == "verb" else ""
    return " ".join(part for part in (before, getLemma(head, upos=_UPOS[pos])[0], after) if part)


def _into(text: str, name: str, slot: str, lemmas: list[str]) -> str:
    """``text`` with ``lemmas`` in the cell of a scene's slot; empty if there is no such cell."""
    lines, columns = text.splitlines(), list[str]()
    for number, line in enumerate(lines):
        cells = line.split("\t")
        if cells[0] == "id":
            columns = [cell.partition(":")[0] for cell in cells]
        elif cells[0] == name and slot in columns[: len(cells)]:
            at = columns.index(slot)
            cells[at] = " | ".join([*filter(None, [cells[at].strip()]), *lemmas])
            lines[number] = "\t".join(cells)
            return "\n".join(lines) + "\n"
    return ""


def _scene(scene: Frame, slot: str, pos: str, lemmas: list[str], lexicon: Lexicon) -> str:
    """The columns and the line of a scene beside ``scene``: its other slots, and ``lemmas`` for ``slot``."""
    cells = {"id": scene.name + _MORE, "designs": " | ".join(scene.designs)}
    for name, fillers in scene.slots.items():
        kinds = sorted({lexicon.resolve(filler).pos for filler in fillers if filler not in lexicon.classes})
        kind = pos if name == slot else next(iter(kinds), "noun")
        cells[f"{name}:{kind}"] = " | ".join(lemmas if name == slot else [_text(filler, kind, lexicon) for filler in fillers])
    if scene.words:
        cells["words"] = " | ".join(f"{key}={value}" for key, value in scene.words.items())
    return "\n".join("\t".join(row) for row in (cells, cells.values()))


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
