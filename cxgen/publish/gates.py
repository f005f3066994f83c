"""What must hold before a dataset is released. Every gate gives its reasons, so that all of them can be shown at once."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cxgen.errors import install
from cxgen.layout import LEXICONS, PIPELINE, TEMPLATES
from cxgen.measures.figures import broken_gates
from cxgen.project import Project, shipped_folder
from cxgen.tables import one_line

SOURCES = (
    "templates",
    "lexicons",
    "params.yaml",
    "pipelines",
    "dvc.yaml",
    "dvc.lock",
    "cxgen",
    "pyproject.toml",
    "requirements.lock",
    "NOTICE",
)
# Digests of what params.yaml ships under publish:, of this version and of earlier ones. A test says which one is new.
SHIPPED: Mapping[str, frozenset[str]] = {
    "title": frozenset({"28a4c9fa868fb752"}),
    "authors": frozenset({"f7e98ba57a2172bd"}),
    "provenance": frozenset({"b4b9bd66ad778e21", "5dc37aebf02c7ff0"}),
    "canary": frozenset({"c0338264b4d8ec28"}),
}
_UNSET = {"title": "cxgen dataset", "authors": "the authors", "provenance": "", "canary": ""}
_MADE = re.compile(r"(^|/)__pycache__/|\.pyc$|(^|/)\.[^/]*cache/")  # ignored, and no sources
_SHOWN = 5


def metric_reasons(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Gates that the metrics fail.

    Args:
        metrics: name -> content of ``outputs/metrics/NAME.json``.
    """
    splits = metrics["splits"]
    for name, entry in splits["constructions"].items():
        if entry["verbs_shared"]:
            yield f"splits.json: {name} has verbs in two splits: {_some(entry['verbs_shared'])}"
    yield from (f"splits.json: {what}: {count}" for each in splits["violations"].values() for what, count in each.items() if count)
    for family, configs in metrics["balance"].items():
        for name, unequal in _unequal(configs).items():
            yield f"balance.json: {family}: {name} has {unequal} unbalanced sentences"
    for file in ("wug", "natural"):
        broken = metrics.get(file, {"violations": {}})["violations"]
        yield from (f"{file}.json: {what}: {count}" for what, count in broken.items() if count)
    for family, measures in metrics["baselines"].items():
        for name, measure in measures.items():
            if not measure.get("passed", True):
                yield from (f"baselines.json: {family}: {name} {fault}" for fault in broken_gates(measure))
    for name, suite in metrics.get("suites", {"suites": {}})["suites"].items():
        yield from (f"suites.json: {name}: {what}: {count}" for what, count in suite["violations"].items() if count)
        for measure, figures in suite["measures"].items():
            yield from (f"suites.json: {name}: {measure} {fault}" for fault in broken_gates(figures))
    errors = sorted({finding["code"] for finding in metrics["lint"] if finding["code"].startswith("E")})
    if errors:
        yield f"lint.json: errors {_some(errors)}"


def _unequal(configs: Mapping[str, Any]) -> dict[str, int]:
    """Construction -> unbalanced sentences, of the configs together where they were counted so."""
    counts: dict[str, int] = {}
    for config, names in configs.items():
        if config == "all" or "all" not in configs:
            for name, entry in names.items():
                counts[name] = counts.get(name, 0) + entry["unequal"]
    return {name: count for name, count in counts.items() if count}


def undecided_reasons(path: Path) -> Iterator[str]:
    """Items that the judge left undecided: the lines of ``undecided.jsonl``."""
    count = sum(1 for line in path.read_bytes().splitlines() if line.strip()) if path.exists() else 0
    if count:
        yield f"{count} items are undecided ({path.name}): judge them, or lower what is asked of the judge"


def git_state(root: Path) -> tuple[str, list[str]]:
    """The project's commit (empty if there is none), and reasons: no repository, or sources that are not committed."""
    try:
        revision = _git(root, "rev-parse", "HEAD").strip()
        status = _git(root, "status", "--porcelain", "-z", "--no-renames", "--ignored=matching", "--untracked-files=all", "--", *SOURCES)
        changed = [entry[3:] for entry in status.split("\0") if entry and not (entry.startswith("!!") and _MADE.search(entry[3:]))]
        hidden = [
            entry[2:] for entry in _git(root, "ls-files", "-v", "-z", "--", *SOURCES).split("\0") if entry[:1].islower() or entry[:1] == "S"
        ]
        links = [name for name in _git(root, "ls-files", "-z", "--", *SOURCES).split("\0") if name and not _plain_file(root, name)]
    except (OSError, subprocess.CalledProcessError):
        return "", ["the project is not in a git repository with a commit: a release names the revision that it was made from"]
    reasons = {"not committed": changed, "changes are hidden from git": hidden, "not a regular file of the work tree": links}
    return revision, [f"{what}: {_some(names)}" for what, names in reasons.items() if names]


def _plain_file(root: Path, name: str) -> bool:
    """Whether a source stands where it seems to stand: a link may lead to anything, and what it leads to is not committed."""
    path = root / name
    return path.is_file() and path.resolve() == root.resolve() / name


def stale_reasons(root: Path) -> Iterator[str]:
    """Stages of the pipeline whose results are not those of the present files, or why that cannot be told; none without a pipeline."""
    if not (root / PIPELINE).is_file():
        return
    try:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo
    except ImportError:
        yield f"DVC is not installed: cannot tell whether the results are up to date; {install('pipeline')}"
        return
    try:
        with Repo(str(root)) as repo:
            changed = sorted(repo.status())
    except (DvcException, OSError, ValueError) as error:  # SCMError, where there is no git, is one of DVC's, too
        yield f"DVC cannot tell whether the results are up to date: {one_line(error)}"
        return
    if changed:
        yield f"out of date: {_some(changed)}: run `dvc repro`"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(root), *arguments]  # which could be any command
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def digest(value: str | Iterable[str]) -> str:
    """Of a text, or of several, whatever the white space."""
    text = value if isinstance(value, str) else ", ".join(value)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def identity_reasons(project: Project, about: Mapping[str, str | Iterable[str]]) -> Iterator[str]:
    """Reasons not to release under these names.

    Args:
        project: whose templates and words are released.
        about: title, authors, provenance and canary, as ``publish:`` in the parameters has them.
    """
    own = own_data(project)
    for name, known in SHIPPED.items():
        value = about[name]
        if digest(value) == digest(_UNSET[name]):
            yield f"params.yaml: publish.{name} is not set"
        elif own and digest(value) in known:
            yield f"params.yaml: publish.{name} is that of cxgen's own data, but {own} is yours: say your own"


def own_data(project: Project) -> str:
    """A file of templates or words that is not as this cxgen, its clone or its wheel, ships it; empty if there is none."""
    shipped = shipped_folder()
    for path in sorted(path for folder in (TEMPLATES, LEXICONS) for path in (project.root / folder).rglob("*") if path.is_file()):
        name = path.relative_to(project.root)
        if not (shipped / name).is_file() or (shipped / name).read_bytes() != path.read_bytes():
            return name.as_posix()
    return ""
