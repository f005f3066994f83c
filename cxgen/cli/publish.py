"""Commands that make a release: package, publish, diff."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen import layout
from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, busy, emit
from cxgen.errors import CxgenError

if TYPE_CHECKING:
    import polars as pl

    from cxgen.publish.release import Release

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_REF = re.compile(r"(?!.*(\.\.|\.lock$|\.$))[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*", re.ASCII)  # as git wants them
_ON_HUB = re.compile(r"(?:hf://datasets/)?(?P<repository>[\w.-]+/[\w.-]+?)(?:@(?P<revision>.+))?")


def package(params: ParamsFile = None) -> None:
    """Write the folder that the Hub will show: outputs/hub, with parquet files, card and dataset_version.json.

    Example: cxgen package
    """
    from cxgen.publish.release import Identity
    from cxgen.publish.release import package as write

    project, settings = open_project(params)
    folder = project.root / layout.HUB
    with busy("writing parquet files and card"):
        record = write(project, settings, folder, Identity(settings.publish.version))
    rows = sum(entry["rows"] for entry in record["rows"].values())
    typer.echo(f"{rows} rows, content hash {record['content_hash'][:16]}: {layout.HUB}")


def publish(
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Dataset repository on the Hub; made if it does not exist.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be released and what changes; send nothing.")] = False,
    private: Annotated[bool, typer.Option("--private", help="A repository that has to be made is private.")] = False,
    tag: Annotated[str, typer.Option(help="Tag of the release; default: v and publish.version of params.yaml.")] = "",
    revision: Annotated[str, typer.Option(help="Branch that gets the commit.")] = "main",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace README.md and all parquet files of a repository that is not cxgen's.")
    ] = False,
    parent: Annotated[str, typer.Option(help="Refuse unless the branch is still at this commit, which --dry-run shows.")] = "",
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Release the finished dataset to the Hugging Face Hub: one commit with data and card, then a tag.

    Refuses if the data are not what the pipeline wrote, a metric fails its gate, sources are not committed, items are undecided,
    the branch has moved, the tag exists, or the repository holds what cxgen has not put there.
    The token is that of the hub library: `hf auth login`, or HF_TOKEN.

    Example: cxgen publish me/constructions --dry-run
    """
    from cxgen.publish import hub
    from cxgen.publish.release import prepared

    if not _REPOSITORY.fullmatch(repository):
        raise CxgenError(f"not a repository: {repository!r}", hint="expected OWNER/NAME, such as me/constructions")
    for what, name in (("tag", tag), ("branch", revision)):
        if name and not _REF.fullmatch(name):
            raise CxgenError(f"not a {what}: {name!r}", hint="expected letters, digits and ._-, such as v1.0.0")
    project, settings = open_project(params)
    client = hub.api()
    with prepared(project, settings, hub.Target(repository, revision, tag, private, parent, replace)) as release:
        _describe(release)
        commit = _show_changes(client, release, form) if dry_run else ""
        release.require()
        if dry_run:
            hub.check(client, release.target, commit, release.folder)
            typer.echo("nothing was sent", err=True)
            return
        with busy(f"releasing to {repository}"):
            commit = hub.release(client, release.target, release.folder)
        emit([{"repository": repository, "revision": revision, "commit": commit, "tag": release.target.tag}], form)


def _describe(release: Release) -> None:
    record = release.record
    typer.echo(
        f"{record['repository']} {record['tag']}, content hash {record['content_hash']}, git {record['git_revision'] or '-'}", err=True
    )
    for path in sorted(path for path in release.folder.rglob("*") if path.is_file()):
        typer.echo(f"  {path.stat().st_size:>10,}  {path.relative_to(release.folder)}", err=True)


def _show_changes(client: Any, release: Release, form: Form) -> str:
    """Print the difference to what the branch holds; one line if it holds nothing, or the Hub is out of reach. Returns its commit."""
    from cxgen.publish import diff as stage
    from cxgen.publish import hub

    target = release.target
    new = stage.read_dataset(release.folder)
    old, commit = new.clear(), ""
    try:
        commit = hub.head(client, target)
        if commit:
            typer.echo(f"{target.branch} is at {commit}", err=True)
            folder = hub.download(client, target.repository, commit)
            old = _released(folder, old)
        else:
            typer.echo(f"{target.repository} has no {target.branch}, or the token may not see it: it would be made", err=True)
    except hub.UnreachableError as error:
        typer.echo(f"{error.message}: all items are shown as added", err=True)
    _show(old, new, items=False, every=False, form=form)
    return commit


def _released(folder: Path, nothing: pl.DataFrame) -> pl.DataFrame:
    """The dataset that was released before; ``nothing`` if there is none that can be compared."""
    from cxgen.publish import diff as stage

    try:
        return stage.read_dataset(folder)
    except CxgenError as error:
        typer.echo(f"what is there cannot be compared ({error.message}): all items are shown as added", err=True)
        return nothing


def diff(
    old: Annotated[str, typer.Argument(help="Dataset folder, a project's, or OWNER/NAME@REVISION on the Hub.")],
    new: Annotated[str, typer.Argument(help="The same, newer.")],
    items: Annotated[bool, typer.Option("--items", help="List the items that changed instead of counting.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Count where nothing changed, too.")] = False,
    form: Form = Format.table,
) -> None:
    """What changed between two datasets: counts per config, split, construction and label, or the items themselves.

    Example: cxgen diff me/constructions@v1.0.0 outputs/dataset --items --format jsonl
    """
    _show(_dataset(old), _dataset(new), items=items, every=every, form=form)


def _dataset(name: str) -> pl.DataFrame:
    from cxgen.publish.diff import read_dataset

    if Path(name).exists() or not (match := _ON_HUB.fullmatch(name)):
        return read_dataset(Path(name))
    from cxgen.publish import hub

    return read_dataset(hub.download(hub.api(), match["repository"], match["revision"] or "main"))


def _show(before: pl.DataFrame, after: pl.DataFrame, *, items: bool, every: bool, form: Form) -> None:
    from cxgen.publish import diff as stage

    changes = stage.changed_items(before, after)
    counted = stage.counts if every else stage.changed_counts
    table = changes if items else counted(before, after)
    emit(table.to_dicts(), form, table.columns)
    kinds = dict(changes["change"].value_counts().iter_rows())
    same = after.height - sum(kinds.get(kind, 0) for kind in ("added", "relabelled", "moved"))
    counts = ", ".join(f"{kinds.get(kind, 0)} {kind}" for kind in ("added", "removed", "relabelled", "moved"))
    typer.echo(f"{counts}, {same} the same", err=True)
