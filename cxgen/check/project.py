"""A project's constructions checked together. Codes E000 and E110, which are no construction's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cxgen.check.core import lint
from cxgen.check.finding import Finding, finding
from cxgen.constructicon import load_construction, readable_targets
from cxgen.errors import CxgenError, unknown
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.trees import Chunks


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
    names, errors = ([only], []) if only else readable_targets(project)
    targets = project.template_files() if only or errors else names
    found = [_unreadable(error, project) for error in errors]
    found += stray_frames(lexicon, targets)
    for name in names:
        try:
            found += lint(load_construction(project, name, lexicon), chunks=chunks)
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
