"""Checks on constructions that need no generating: one function and one stable code per kind of fault."""

from collections.abc import Collection, Iterator

from cxgen.check import contents, names
from cxgen.check.core import CHECKS, Finding, finding
from cxgen.check.trees import TREES, spacy_is_there, tree_findings
from cxgen.constructicon import Construction, load_construction, readable_targets
from cxgen.constructicon.load import unknown_words
from cxgen.errors import CxgenError, unknown
from cxgen.lexicon import Lexicon
from cxgen.project import Project, shipped_folder
from cxgen.trees import Chunks

__all__ = [
    "CHECKS",
    "TREES",
    "Finding",
    "check_project",
    "contents",
    "explanations",
    "findings",
    "names",
    "require_sound",
    "spacy_is_there",
]
_DRAWING = {"E201", "E207"}  # they look at every word, or draw items: before a preview, the generator says as much


def explanations() -> dict[str, str]:
    """Code -> what it finds, as the functions of the checks say."""
    texts = {code: str(check.__doc__)[6:].partition("\n")[0].rstrip(".") for code, check in CHECKS.items()}
    return dict(sorted({"E000": "a file that cannot be read", **TREES, **texts}.items()))


def findings(construction: Construction, chunks: Chunks | None = None, codes: Collection[str] = ()) -> Iterator[Finding]:
    """Every finding, or those of ``codes``, errors first; a check that earlier errors make meaningless is left out.

    ``chunks`` are the annotated closed-class words; without them the trees (E4xx) are not checked.
    """
    failed = ""
    for code in sorted({*CHECKS, "E4xx"}):
        if failed and code[1] > failed:
            return
        run = CHECKS[code](construction) if code in CHECKS else tree_findings(construction, chunks) if chunks else ()
        for found in dict.fromkeys(run) if code in codes or not codes else ():
            failed = code[1] if found.code.startswith("E") else failed
            yield found


def require_sound(construction: Construction, codes: str = "E") -> None:
    """Raise the first error (with ``codes``: that begins so) before anything is drawn; of what is shipped only names are looked at."""
    if codes == "E":
        for error in unknown_words(construction):
            raise error
    shipped = all(document.path.is_relative_to(shipped_folder()) for document in construction.documents)
    looked_for = [code for code in CHECKS if code.startswith("E1" if shipped else codes) and code not in _DRAWING]
    for found in findings(construction, codes=looked_for):
        raise CxgenError(f"{found.code} {found.message}", file=found.file, line=found.line, hint=found.hint)


def check_project(project: Project, lexicon: Lexicon, chunks: Chunks | None = None, only: str = "") -> tuple[int, list[Finding]]:
    """How many constructions of a project (or ``only`` one) were checked, and the findings, each once, those of its own scenes included.

    E000: a file that cannot be read, the others being checked; the file of ``only``: an error.
    """
    targets, errors = ([only], []) if only else readable_targets(project, strict=True)
    found = [_unreadable(error, project) for error in errors]
    found += _stray_scenes(lexicon, project.template_files() if only or errors else targets)
    for name in targets:
        try:
            found += findings(load_construction(project, name, lexicon, strict=True), chunks=chunks)
        except CxgenError as error:
            if only:
                raise
            found.append(_unreadable(error, project))
    return len(targets), list(dict.fromkeys(found))


def _unreadable(error: CxgenError, project: Project) -> Finding:
    return Finding("E000", error.message, error.file or project.root, error.line or 1, error.hint)


def _stray_scenes(lexicon: Lexicon, targets: Collection[str]) -> Iterator[Finding]:
    """Tables in the project's lexicons/scenes for constructions that do not exist, so that nothing reads them."""
    for name in set(lexicon.constructions).difference(targets):
        error = unknown("construction", name, targets)
        for source in {frame.source.path: frame.source for frame in lexicon.frames(name) if frame.source}.values():
            yield finding("E101", f"frames for an {error.message}", source, ["construction"], error.hint)
