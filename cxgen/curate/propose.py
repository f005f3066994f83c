"""Clauses from the lexicon: patterns of scenes with many words, or classes -> scenes with a few of them, which judges are to decide on.

A pattern is a line like that of a scene (`cxgen.lexicon.scenes`), in ``lexicons/patterns/NAME.tsv``. ``@noun.food`` and ``@verb.contact``
are the lexemes of a lexicographer file of WordNet, ``@names`` and its like the word classes; names stay classes in what is proposed.
"""

from collections.abc import Iterator
from pathlib import Path

from cxgen.constructicon import Construction, load_construction
from cxgen.errors import CxgenError, unknown
from cxgen.files import alone, read_if_there, write_text
from cxgen.layout import LEXICONS
from cxgen.lexicon import Lexicon
from cxgen.lexicon.scenes import ABOUT, CIRCUMSTANCES, FOLDER, PROPOSED, PROPOSED_HEAD, Scene, SceneTable, read_scenes, table_lines
from cxgen.lexicon.words import LEXNAMES, lexfile
from cxgen.project import Project
from cxgen.streams import order_key
from cxgen.vocabulary import BANDS

PATTERNS = LEXICONS / "patterns"
_VERBS, _FILLERS = 8, 4  # that a scene has of its pattern's: few enough for judges to see every word of it
_WHOLE = (*ABOUT, *CIRCUMSTANCES)  # columns that stay as they are: no clause is known by them


def propose(project: Project, name: str, n: int, seed: int) -> tuple[Path, int]:
    """Write scenes of the patterns of a construction that say about ``n`` clauses, evenly over patterns and their verbs; the file, and how
    many scenes it has now.

    Scenes that were proposed before stay, so that what judges said of them does. Raises `CxgenError` where there is no pattern.
    """
    project.template_file(name)  # an unknown name has no patterns, and a near one
    path, out = project.root / PATTERNS / f"{name}.tsv", project.root / LEXICONS / FOLDER / f"{name}{PROPOSED}.tsv"
    if not path.is_file():
        hint = "write one: a scene whose cells hold classes, @noun.food or @names"
        raise CxgenError(f"there are no patterns of {name}", file=path, hint=hint)
    lexicon, table = Lexicon.of(project), read_scenes(path)
    dealt = [(pattern, slot) for pattern in table.scenes for slot in _verbs(pattern)[:1]]
    if not dealt:
        raise CxgenError("no pattern has verbs", file=path, hint="give some, in a column that is called verb:verb")
    _require_known(load_construction(project, name, lexicon, heard=False), table)
    with alone(out):
        text = read_if_there(out, PROPOSED_HEAD).rstrip("\n") + "\n"
        before, columns, said = {line.partition("\t")[0] for line in text.splitlines()}, "", 0
        for number in range(n):
            for pattern, slot in dealt:
                cells = {} if said >= n else dict(_cells(pattern, slot, lexicon, seed, number))
                said += len(cells.get(slot, ()))
                if not cells or cells["id"][0] in before:
                    continue
                head, row = table_lines(cells, pattern.types)
                text, columns = text + (f"{row}\n" if head == columns else f"{head}\n{row}\n"), head
        write_text(out, text)
    return out, len(read_scenes(out).scenes)


def _require_known(construction: Construction, table: SceneTable) -> None:
    """See that the designs, columns and classes of WordNet's that patterns name are there: judges are asked about what comes of them."""
    designs = {name for key, raw in construction.document.data["designs"].items() for name in (key, raw.get("frames", key))}
    columns = {slot.source for slot in construction.slots.values()}
    for scene in table.scenes:
        files = [text[1:] for texts in scene.slots.values() for text in texts if text[0] == "@" and "." in text]
        asked = (("design", scene.cells["designs"], designs), ("column", scene.slots, columns), ("lexicographer file", files, {*LEXNAMES}))
        for what, names, known in asked:
            for name in (name for name in names if name not in known):
                raise unknown(what, name, known, file=table.path, line=scene.line)


def _verbs(pattern: Scene) -> list[str]:
    """The columns of verbs, that which is called so first."""
    return sorted((name for name in pattern.slots if pattern.types[name] == "verb"), key=lambda name: name != "verb")


def _cells(pattern: Scene, slot: str, lexicon: Lexicon, seed: int, number: int) -> Iterator[tuple[str, list[str]]]:
    """The columns of the ``number``-th scene of a pattern: some of its verbs, all in turn, and of each other cell some words."""

    def shuffled(texts: list[str], *key: str | int) -> list[str]:
        return sorted(_words(texts, lexicon), key=lambda word: order_key(seed, name, *key, word.partition("~")[0]))

    name, verbs = pattern.cells["id"][0], _words(pattern.cells[slot], lexicon)
    times, place = divmod(number, hands := -(-len(verbs) // _VERBS))
    for column, texts in pattern.cells.items():
        if column == "id":
            yield column, [f"{name}-{seed}-{number}"]
        elif column == slot:
            yield column, shuffled(texts, column, times)[place::hands]
        elif column == "words":
            yield column, pattern.pairs
        elif column in _WHOLE:
            yield column, texts
        else:
            yield column, shuffled(texts, column, number)[:_FILLERS]


def _words(texts: list[str], lexicon: Lexicon) -> list[str]:
    """The words of a cell, classes of WordNet's written out: what is neither rare nor capital, pinned to its sense."""
    words: dict[str, None] = {}
    for text in texts:
        if text[0] == "@" and "." in text:
            for lemma, key, band in lexicon.table.select("lemma", "key", "band").iter_rows():
                if lexfile(key) == text[1:] and band != BANDS[0] and lemma.islower():
                    words[f"{lemma}~{key.partition('%')[2]}"] = None
        else:
            words[text] = None
    return list({word.partition("~")[0]: word for word in reversed(words)}.values())[::-1]  # the first sense of each
