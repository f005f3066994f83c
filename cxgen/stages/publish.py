"""Releasing the finished dataset to the Hugging Face Hub: the gates, what would change, the commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cxgen.build.params import Params
from cxgen.errors import CxgenError, DataError
from cxgen.layout import UNDECIDED
from cxgen.project import Project
from cxgen.publish import gates, hub
from cxgen.publish.identity import SHIPPED, identity_reasons
from cxgen.stages import package


@dataclass(frozen=True)
class Release:
    """A release that is ready to go.

    Attributes:
        target: where it goes.
        folder: the files, card and ``dataset_version.json`` included.
        record: what ``dataset_version.json`` says.
        reasons: why it may not be released; empty if it may.
    """

    target: hub.Target
    folder: Path
    record: dict[str, Any]
    reasons: tuple[str, ...]


@contextmanager
def prepared(project: Project, params: Params, target: hub.Target) -> Iterator[Release]:
    """Write the release to a temporary folder and ask every gate.

    Raises:
        DataError: the dataset or a metric is missing.
    """
    target = replace(target, tag=target.tag or f"v{params.publish.version}")
    revision, reasons = gates.git_state(project.root)
    reasons += gates.stale_reasons(project.root)
    reasons += gates.metric_reasons(package.read_metrics(project))
    reasons += gates.undecided_reasons(project.root / UNDECIDED)
    reasons += identity_reasons(project, {name: getattr(params.publish, name) for name in SHIPPED})
    version = target.tag.removeprefix("v")
    identity = package.Identity(version, target.repository, target.tag, revision)
    with TemporaryDirectory(prefix="cxgen-release-") as name:
        try:
            record = package.run(project, params, Path(name), identity)
        except DataError as error:
            if not reasons:
                raise
            raise _refused([*reasons, error.message]) from error  # all of them at once
        yield Release(target, Path(name), record, tuple(reasons))


def require(release: Release) -> None:
    """Refuse a release that does not pass its gates.

    Raises:
        CxgenError: with every reason.
    """
    if release.reasons:
        raise _refused(release.reasons)


def _refused(reasons: Iterable[str]) -> CxgenError:
    return CxgenError("\n  ".join(["not released:", *reasons]), hint="put these right, then publish again")
