"""Words that people accept for a frame's slot, written into a frame file; pinned to their main sense where WordNet is there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from cxgen.constructicon import Construction
from cxgen.curate.wordnet import find_wordnet, open_wordnet
from cxgen.errors import CxgenError, SchemaError, needs
from cxgen.files import write_atomically
from cxgen.layout import LEXICONS
from cxgen.lexicon import Frame, Lexicon
from cxgen.project import Project
from cxgen.schema import read_yaml

_SECTIONS = {"noun": "nouns", "verb": "verbs", "adjective": "adjectives", "adverb": "adverbs"}
_UPOS = {"noun": "NOUN", "verb": "VERB", "adjective": "ADJ", "adverb": "ADV"}
_WORDNET = {"noun": "n", "verb": "v", "adjective": "a", "adverb": "r"}
_MORE = "-more"


def accept_words(project: Project, construction: Construction, frame: str, slot: str, words: Iterable[str]) -> tuple[Path, list[Any]]:
    """Add ``words`` to what fills ``slot`` in ``frame``.

    A frame that stands in the project's own file for the construction gets them there; beside one of the lexicon's a frame ``NAME-more`` is
    put into that file, with the other slots and words of the first.

    Args:
        words: as they stand in a sentence; they are entered by their lemmas.

    Returns:
        The file, and what was entered: a lemma that the lexicon knows, or ``{lemma, sense}``; without WordNet, a lemma.

    Raises:
        CxgenError: nothing to enter, a slot that is filled by fixed text or another slot, or a frame file that breaks its schema.
    """
    (scene,) = (each for each in construction.frames if each.name == frame)
    pos = next(iter(sorted(construction.parts_of_speech[slot] & _SECTIONS.keys())), "")
    source = construction.slots[slot].source
    if not pos or source not in scene.slots:
        raise CxgenError(
            f"frame {frame!r} fills {slot!r} with no words of its own",
            hint="give a slot that the frame fills with nouns, verbs or adjectives",
        )
    known = {construction.lexicon.lemmas[row] for name in scene.slots[source] for row in construction.lexicon.resolve(name).ids}
    lemmas = [lemma for lemma in dict.fromkeys(_lemma(word, pos, construction.lexicon) for word in words) if lemma not in known]
    if not lemmas:
        raise CxgenError(f"frame {frame!r} has these words already", hint="accept others")
    entries = [_entry(lemma, pos, construction.lexicon, sense) for lemma, sense in _senses(lemmas, pos, construction.lexicon)]
    path = project.root / LEXICONS / "frames" / f"{construction.name}.yaml"
    text = path.read_text("utf-8") if path.exists() else f"construction: {construction.name}\nframes:\n"
    tried = (_into(path, text, name, source, pos, entries) for name in (scene.name, scene.name + _MORE) if path.exists())
    changed = next((found for found in tried if found), "") or text.rstrip("\n") + "\n" + _frame(scene, source, pos, entries)
    _write(path, changed)
    return path, entries


def _write(path: Path, text: str) -> None:
    """Write a frame file, if its schema allows what it says.

    Raises:
        SchemaError: it does not; nothing is changed.
    """

    def checked(temporary: Path) -> None:
        temporary.write_text(text, "utf-8")
        read_yaml(temporary, "frames")

    try:
        write_atomically(path, checked)
    except SchemaError as error:
        raise SchemaError(f"the words cannot be put there: {error.message}", file=path, hint="add them by hand") from error


def _lemma(word: str, pos: str, lexicon: Lexicon) -> str:
    from lemminflect import getLemma

    text = word.strip().lower()
    if (text, pos) in lexicon.first:
        return text
    before, _, head = text.rpartition(" ") if pos != "verb" else ("", "", text.partition(" ")[0])
    after = text.partition(" ")[2] if pos == "verb" else ""
    return " ".join(part for part in (before, getLemma(head, upos=_UPOS[pos])[0], after) if part)


def _senses(lemmas: list[str], pos: str, lexicon: Lexicon) -> list[tuple[str, str]]:
    """(lemma, sense key) of each: of those that the lexicon does not have, the main sense; empty without WordNet, or if it has none."""
    new = [lemma for lemma in lemmas if (lemma, pos) not in lexicon.first]
    found: dict[str, str] = {}
    try:
        with needs("WordNet is read by nltk", "lexicon"):
            there = find_wordnet() is not None
    except CxgenError:
        there = False
    if new and there:
        with open_wordnet() as wordnet:
            for lemma in new:
                main = next(iter(wordnet.synsets(lemma.replace(" ", "_"), _WORDNET[pos])), None)
                same = [each.key() for each in (main.lemmas() if main else ()) if each.name().replace("_", " ").lower() == lemma]
                found[lemma] = same[0] if same else ""
    return [(lemma, found.get(lemma, "")) for lemma in lemmas]


def _entry(lemma: str, pos: str, lexicon: Lexicon, sense: str) -> Any:
    return lemma if (lemma, pos) in lexicon.first or not sense else {"lemma": lemma, "sense": sense}


def _into(path: Path, text: str, frame: str, slot: str, pos: str, entries: list[Any]) -> str | None:
    """``text`` with ``entries`` at the end of the list of ``slot`` in ``frame``; None if there is no such list. The rest stays as it is."""
    root = yaml.compose(text)
    frames = _child(root, "frames")
    scenes = frames.value if isinstance(frames, yaml.SequenceNode) else []
    scene = next((each for each in scenes if getattr(_child(each, "name"), "value", "") == frame), None)
    listed = _child(_child(scene, _SECTIONS[pos]), slot) if scene else None
    if listed is None:
        return None
    if not isinstance(listed, yaml.SequenceNode):
        raise CxgenError(f"{slot} of frame {frame!r} is no list", hint="write [WORD]", file=path, line=listed.start_mark.line + 1)
    if listed.flow_style:
        end = listed.end_mark.index - 1
        return text[:end].rstrip(" ,\n") + "".join(f", {_flow(entry)}" for entry in entries) + text[end:]
    last = listed.value[-1]
    line = text.index("\n", last.end_mark.index) if "\n" in text[last.end_mark.index :] else len(text)
    margin = " " * (last.start_mark.column - 2)
    return text[:line] + "".join(f"\n{margin}- {_flow(entry)}" for entry in entries) + text[line:]


def _child(node: Any, key: str) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _flow(entry: Any) -> str:
    text: str = yaml.safe_dump(entry, default_flow_style=True, width=10_000, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def _frame(scene: Frame, slot: str, pos: str, entries: list[Any]) -> str:
    """A frame beside ``scene``: its other slots, and ``entries`` for ``slot``."""
    others = {name: list(values) for name, values in scene.slots.items() if name != slot}
    raw = {"name": scene.name + _MORE, "design": list(scene.designs), "slots": others, _SECTIONS[pos]: {slot: entries}}
    if scene.words:
        raw["words"] = dict(scene.words)
    lines = yaml.safe_dump([raw], sort_keys=False, allow_unicode=True, width=140, default_flow_style=None).splitlines()
    return "".join(f"  {line}\n" for line in lines)
