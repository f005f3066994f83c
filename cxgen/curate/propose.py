"""Clauses from the lexicon: patterns of scenes whose cells hold classes -> scenes of one verb each, which judges are to decide on.

A pattern is a line like that of a scene (`cxgen.lexicon.scenes`), in ``lexicons/patterns/NAME.tsv``. ``@noun.food`` and ``@verb.contact``
are the lexemes of a lexicographer file of WordNet, ``@names`` and its like the word classes; names stay classes in what is proposed.
"""

from collections.abc import Iterator
from pathlib import Path

from cxgen.errors import CxgenError, unknown
from cxgen.files import write_text
from cxgen.layout import LEXICONS
from cxgen.lexicon import Lexicon
from cxgen.lexicon.scenes import FOLDER, PROPOSED, Scene, read_scenes
from cxgen.lexicon.words import LEXNAMES, lexfile
from cxgen.project import Project
from cxgen.streams import order_key
from cxgen.vocabulary import BANDS

PATTERNS = LEXICONS / "patterns"
_FILLERS = 4  # of a cell with a class: enough for two or three participants that are different ones


def propose(project: Project, name: str, n: int, seed: int) -> tuple[Path, int]:
    """Write about ``n`` scenes of the patterns of a construction, evenly over their verbs; the file, and how many there are now.

    Scenes that were proposed before stay, so that what judges said of them does. Raises `CxgenError` where there is no pattern.
    """
    path, out = project.root / PATTERNS / f"{name}.tsv", project.root / LEXICONS / FOLDER / f"{name}{PROPOSED}.tsv"
    if not path.is_file():
        raise CxgenError(
            f"there are no patterns of {name}", file=path, hint="write one: a scene whose cells hold classes, @noun.food or @names"
        )
    lexicon, patterns = Lexicon.of(project), read_scenes(path).scenes
    verbs = [(pattern, slot, verb) for pattern in patterns for slot in _verbs(pattern)[:1] for verb in _words(pattern.cells[slot], lexicon)]
    if not verbs:
        raise CxgenError("no pattern has a column of verbs", file=path, hint="call it verb:verb")
    lines, before = list[str](), set(out.read_text("utf-8").splitlines()) if out.exists() else set[str]()
    for pattern, slot, verb in sorted(verbs, key=lambda own: order_key(f"{seed}{own[2]}"))[:n]:
        for number in range(-(-n // len(verbs))):
            cells = dict(_cells(pattern, slot, verb, lexicon, (seed, number)))
            row = "\t".join(" | ".join(texts) for texts in cells.values())
            columns = "\t".join(name if pattern.types[name] == "noun" else f"{name}:{pattern.types[name]}" for name in cells)
            lines += [] if row in before else [columns, row]
            before.add(row)
    text = (
        out.read_text("utf-8") if out.exists() else "# Proposed: drawn from only if judges accept (cxgen judge); made by cxgen propose.\n"
    )
    write_text(out, text + "".join(f"{line}\n" for at, line in enumerate(lines) if at % 2 or line not in lines[max(0, at - 2) : at : 2]))
    return out, len(read_scenes(out).scenes)


def _verbs(pattern: Scene) -> list[str]:
    """The columns of verbs, that which is called so first."""
    return sorted((name for name in pattern.slots if pattern.types[name] == "verb"), key=lambda name: name != "verb")


def _cells(pattern: Scene, slot: str, verb: str, lexicon: Lexicon, key: tuple[int, int]) -> Iterator[tuple[str, list[str]]]:
    """The columns of a proposed scene: of a class some members, drawn by the pattern, the verb and ``key``."""
    name = pattern.cells["id"][0]
    yield "id", [f"{name}-{verb.partition('~')[0].replace(' ', '-')}-{key[0]}-{key[1]}"]
    yield "designs", pattern.cells["designs"]
    for column, texts in pattern.slots.items():
        if column == slot:
            yield column, [verb]
        elif any("." in text for text in texts if text[0] == "@"):
            yield column, sorted(_words(texts, lexicon), key=lambda word: order_key(f"{key}{name}{verb}{column}{word}"))[:_FILLERS]
        else:
            yield column, texts
    if pattern.words:
        yield "words", [f"{key}={value}" for key, value in pattern.words.items()]


def _words(texts: list[str], lexicon: Lexicon) -> list[str]:
    """The words of a cell, classes of WordNet's written out: what is neither rare nor capital, pinned to its sense."""
    words: dict[str, None] = {}
    for text in texts:
        if text[0] == "@" and "." in text:
            if text[1:] not in LEXNAMES:
                raise unknown("lexicographer file", text[1:], LEXNAMES)
            for lemma, key, band in lexicon.table.select("lemma", "key", "band").iter_rows():
                if lexfile(key) == text[1:] and band != BANDS[0] and lemma.islower():
                    words[f"{lemma}~{key.partition('%')[2]}"] = None
        else:
            words[text] = None
    return list({word.partition("~")[0]: word for word in reversed(words)}.values())[::-1]  # the first sense of each
