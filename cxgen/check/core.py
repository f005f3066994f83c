"""The registry of checks, and how to run them: on a construction, or on all of a project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from cxgen.check import contents, evenness, items, references, style
from cxgen.check.finding import Finding, finding
from cxgen.check.trees import TREES, Trees
from cxgen.constructicon import Construction, load_construction, readable_targets
from cxgen.constructicon.load import unknown_words
from cxgen.errors import CxgenError, unknown
from cxgen.lexicon import Lexicon
from cxgen.project import Project, shipped_folder
from cxgen.trees import Chunks

Check = Callable[[Construction], Iterable[Finding]]

# In order: what a later check looks at is sound by the earlier ones.
CHECKS: dict[str, Check] = {
    "E101": references.unknown_slot,
    "E102": references.unknown_form,
    "E103": references.unknown_binding,
    "E104": references.unknown_name,
    "E105": references.unknown_predicate,
    "E106": references.unread_frame_slot,
    "E107": references.uneven_predicate,
    "E108": references.circular_slots,
    "E109": references.optional_verb,
    "E111": references.unfit_square,
    "E201": contents.unfillable_slot,
    "E202": contents.contradictory_facts,
    "E203": contents.one_label_hypothesis,
    "E204": contents.unbalanced_design,
    "E206": contents.same_sentence,
    "E207": items.repeated_words,
    "E208": items.faulty_items,
    "W301": style.unused_slot,
    "W302": style.duplicate_surface,
    "W303": style.missing_lookalike,
    "W305": style.unmentioned_noun,
    "W306": style.unused_part,
    "W308": evenness.uneven_kinds,
    "W309": style.missing_misreading,
}


def explanations() -> dict[str, str]:
    """Code -> what it finds, as the functions of the checks say."""
    checks = {"E110": stray_frames, **CHECKS, **TREES}
    found = {"E000": "a file that cannot be read"}
    found |= {code: str(check.__doc__).partition(": ")[2].partition("\n")[0].rstrip(".") for code, check in checks.items()}
    return dict(sorted(found.items()))


def lint(construction: Construction, skip: frozenset[str] = frozenset(), chunks: Chunks | None = None) -> Iterator[Finding]:
    """Every finding but those of the codes ``skip``, errors first; a check that earlier errors make meaningless is left out.

    Args:
        construction: what to check.
        skip: codes not to look for.
        chunks: the annotated closed-class words; without them the trees (E4xx) are not checked.
    """
    failed = ""
    checks = {code: partial(check, construction) for code, check in CHECKS.items()}
    if chunks is not None:
        trees = Trees(construction, chunks)
        checks |= {code: partial(check, trees) for code, check in TREES.items()}
    for code, run in sorted(checks.items()):
        if failed and code[1] > failed:
            return
        if code in skip:
            continue
        for found in run():
            if code.startswith("E"):
                failed = code[1]
            yield found


def require_sound(construction: Construction, codes: str = "E") -> None:
    """Raise the first error before anything is drawn: of a user's own construction any, of a shipped one only names (E1).

    The rest of what is shipped is left to `cxgen check`, and so is E208, which draws items. Of E201 only unknown words are looked for: the
    generator says the rest.

    Args:
        codes: only codes that begin so: ``E1`` for names that refer to something.

    Raises:
        CxgenError: the first error.
    """
    if codes == "E":
        for error in unknown_words(construction):
            raise error
    shipped = all(document.path.is_relative_to(shipped_folder()) for document in construction.documents)
    skip = frozenset(code for code in CHECKS if not code.startswith("E1" if shipped else codes) or code in {"E201", "E208"})
    for found in lint(construction, skip):
        raise CxgenError(f"{found.code} {found.message}", file=found.file, line=found.line, hint=found.hint)


def lint_project(project: Project, lexicon: Lexicon, chunks: Chunks | None = None, only: str = "") -> tuple[int, list[Finding]]:
    """Check every construction of a project, and that every frame of its own lexicon is for one of them.

    Args:
        project: whose.
        lexicon: its lexicon.
        chunks: as for `lint`.
        only: check this construction alone; by default all.

    Returns:
        How many constructions were checked, and the findings, each once. E000: a file that cannot be read; the others are checked.

    Raises:
        CxgenError: the file of ``only`` cannot be read.
    """
    names, errors = ([only], []) if only else readable_targets(project, strict=True)
    targets = project.template_files() if only or errors else names
    found = [_unreadable(error, project) for error in errors]
    found += stray_frames(lexicon, targets)
    for name in names:
        try:
            found += lint(load_construction(project, name, lexicon, strict=True), chunks=chunks)
        except CxgenError as error:
            if only:
                raise
            found.append(_unreadable(error, project))
    return len(names), list(dict.fromkeys(found))


def _unreadable(error: CxgenError, project: Project) -> Finding:
    return Finding("E000", error.message, error.file or project.root, error.line or 1, error.hint)


def stray_frames(lexicon: Lexicon, targets: Collection[str]) -> Iterator[Finding]:
    """E110: a table in the project's lexicons/scenes is for a construction that does not exist, so that nothing reads it."""
    for name in lexicon.constructions:
        if name not in targets:
            error = unknown("construction", name, targets)
            for source in {frame.source.path: frame.source for frame in lexicon.frames(name) if frame.source is not None}.values():
                yield finding("E110", f"frames for an {error.message}", source, ["construction"], error.hint)
