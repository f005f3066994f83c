"""Checks on constructions that need no generating: one function and one stable code per kind of fault."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, lru_cache, partial
from pathlib import Path
from secrets import token_hex

from cxgen import layout
from cxgen.check.core import CHECKS, Finding
from cxgen.check.trees import TREES, tree_faults
from cxgen.check.words import announced, telling_words
from cxgen.constructicon import Construction, load_construction
from cxgen.constructicon.load import readable_targets, unknown_words
from cxgen.errors import CxgenError, unknown
from cxgen.files import read_if_there, read_text
from cxgen.lexicon import Lexicon
from cxgen.lexicon.words import Reference
from cxgen.measures.fits import Map
from cxgen.project import Project, shipped_folder
from cxgen.trees import Chunks
from cxgen.trees.phrases import lemmas_of

__all__ = ["CHECKS", "TREES", "Finding", "announced", "check_project", "explanations", "findings"]
__all__ += ["require_sound", "telling_words"]
_READ = re.compile(
    r"templates/(grammars/)?[^/]+\.yaml|lexicons/((scenes|patterns)/[^/]+\.tsv|classes/[^/]+\.yaml|(overrides|chunks|refused)\.yaml|splits\.tsv)"
)
_WORD = re.compile(r"[\w'-]+")
_NEAR = 0.85  # how alike a misspelt verb is to what is meant, which begins with the same letter: kik and kick
_DRAWING = {"E201"}  # it looks at every word: before a preview, the generator says as much


def explanations() -> dict[str, str]:
    """Code -> what it finds, as the functions of the checks say."""
    texts = {code: str(check.__doc__)[6:].partition("\n")[0].rstrip(".") for code, check in CHECKS.items()}
    texts |= {"E000": "a file that cannot be read", "W000": "a file, or a row of splits.tsv or overrides.yaml, that nothing reads", **TREES}
    return dict(sorted(texts.items()))


def findings(construction: Construction, chunks: Chunks | None = None, codes: Collection[str] = ()) -> Iterator[Finding]:
    """Every finding once, or those of ``codes``, errors first; a check that earlier errors make meaningless is left out.

    ``chunks`` are the annotated closed-class words; without them the trees (E4xx) are not checked.
    """
    failed = ""
    trees: dict[str, list[CxgenError]] = {}
    for code in sorted({*CHECKS, *(TREES if chunks else ())}):
        if failed and code[1] > failed:
            return
        if (codes and code not in codes) or (failed and code == "E207"):  # which draws items
            continue
        if chunks and code in TREES:
            trees = trees or tree_faults(construction, chunks)
        found = _found(code, CHECKS[code](construction) if code in CHECKS else trees[code], construction.document.path)
        failed = code[1] if found and code.startswith("E") else failed
        yield from found


def _found(code: str, faults: Iterable[CxgenError], file: Path) -> list[Finding]:
    return [*dict.fromkeys(Finding(code, fault.message, fault.file or file, fault.line or 1, fault.hint) for fault in faults)]


def require_sound(construction: Construction, codes: str = "E") -> None:
    """Raise the first error (with ``codes``: that begins so) before anything is drawn; of what is shipped only names are looked at."""
    if codes == "E":
        for error in unknown_words(construction):
            raise error
    shipped = all(document.path.is_relative_to(shipped_folder()) for document in construction.documents)
    looked_for = [code for code in CHECKS if code.startswith("E1" if shipped else codes) and code not in _DRAWING]
    for found in findings(construction, codes=looked_for):
        raise CxgenError(f"{found.code} {found.message}", file=found.file, line=found.line, hint=found.hint)


def check_project(
    project: Project, lexicon: Lexicon, only: str = "", among: Collection[str] = (), run: Map = map
) -> tuple[int, list[Finding]]:
    """How many constructions of a project (or ``only`` one, or those ``among`` others) were checked, and the findings, each once, those of
    its own scenes included.

    E000: a file that cannot be read, the others being checked; the file of ``only``: an error. ``run`` maps the work.
    """
    targets, errors = ([only], []) if only else readable_targets(project, strict=True)
    found = _found("E101", _stray_scenes(lexicon, project.template_files() if only or errors else targets), project.root)
    strays = () if only else [*_stray_splits(project, lexicon, project.template_files()), *_stray_forms(project, lexicon)]
    found += _found("W000", (*_unread(project), *strays), project.root)
    targets = [name for name in targets if not among or name in among]
    for result in run(partial(_checked, project, token_hex()), targets):
        if isinstance(result, CxgenError):
            if only:
                raise result
            errors.append(result)
        else:
            found += result
    return len(targets), list(dict.fromkeys([*_found("E000", errors, project.root), *found]))


@lru_cache(1)
def _loaded(project: Project, _run: str) -> tuple[Lexicon, Chunks]:
    """What a process loads once for a run; files may have changed since another one."""
    return Lexicon.of(project), Chunks.load(*project.chunk_files())


def _checked(project: Project, run: str, name: str) -> list[Finding] | CxgenError:
    lexicon, chunks = _loaded(project, run)
    try:
        return [*findings(load_construction(project, name, lexicon, strict=True), chunks=chunks)]
    except CxgenError as error:
        return error


def _unread(project: Project) -> Iterator[CxgenError]:
    """Files in the project's own templates and lexicons that are called so that nothing reads them."""
    folders = (layout.TEMPLATES, *([layout.LEXICONS] if project.own_lexicons else ()))
    for path in sorted(path for folder in folders for path in (project.root / folder).rglob("*") if path.is_file()):
        name = path.relative_to(project.root).as_posix()
        if not (_READ.fullmatch(name) or "/." in name or name.endswith((".md", ".lock"))):
            yield CxgenError("nothing reads this file", file=path, hint="see docs/templates.md for names and places; or keep it elsewhere")


def _stray_splits(project: Project, lexicon: Lexicon, files: Mapping[str, Path]) -> Iterator[CxgenError]:
    """Rows of the project's own lexicons/splits.tsv about a construction, or a verb, that is misspelt, since there is none; verbs that
    scenes had once stay silently: those that dictionaries have, and those in use that are like no word of the scenes."""

    @cache
    def words(name: str) -> set[str]:
        """Those of a construction's file and scenes."""
        return {word for text in _texts(files[name], lexicon) for word in _WORD.findall(text)}

    path = project.root / layout.SPLITS
    lines = read_if_there(path).splitlines()
    rows = [(*map(str.strip, line.split("\t")), "") for line in lines[1:]]
    reference, senses = Reference(lexicon.memory), lexicon.senses(verb for _, verb, *_ in rows)
    for number, (name, verb, *_) in enumerate(rows, 2):
        if name and name not in files:
            yield unknown("construction", name, files, file=path, line=number)
        elif name:
            known = (verb, "verb") in senses or verb in lemmas_of(verb).get("VERB", ())
            if words(name) and words(name).isdisjoint({verb, *verb.split()}) and not known:
                near = get_close_matches(verb, [word for word in words(name) if word[0] == verb[:1]], cutoff=_NEAR)
                if near or not verb.islower() or not reference.frequency(verb)[0]:
                    hint = f"did you mean {' or '.join(near)}? Else take the row out" if near else "mend it, or take the row out"
                    yield CxgenError(f"no scene of {name} has the verb {verb!r}", file=path, line=number, hint=hint)


def _stray_forms(project: Project, lexicon: Lexicon) -> Iterator[CxgenError]:
    """Words of the project's own lexicons/overrides.yaml that neither the lexicon has, nor a template or a scene."""
    own = [(lemma, *place) for lemma, pos, _, place in lexicon.stated_forms if not lexicon.known(lemma, pos)]
    own = [one for one in own if one[1].path == project.root / layout.LEXICONS / "overrides.yaml"]
    texts = [text for path in project.template_files().values() if own for text in _texts(path, lexicon)]
    for lemma, document, keys in own:
        if not any(lemma in text for text in texts):
            yield document.wrong(keys, f"no template or scene has the word {lemma!r}", "mend it, or take it out")


def _texts(path: Path, lexicon: Lexicon) -> list[str]:
    """The texts of a construction's file and scenes; none if it cannot be read, which is told of the file itself."""
    with suppress(CxgenError):
        return [read_text(path), *(one.text for one in lexicon.scenes(path.stem).tables)]
    return []


def _stray_scenes(lexicon: Lexicon, targets: Collection[str]) -> Iterator[CxgenError]:
    """Tables in the project's lexicons/scenes for constructions that do not exist, so that nothing reads them."""
    for name in set(lexicon.constructions).difference(targets):
        hint = unknown("construction", name, targets).hint
        for path in dict.fromkeys(frame.source.path for frame in lexicon.frames(name)):
            yield CxgenError(f"frames for an unknown construction {name!r}", file=path, hint=hint)
