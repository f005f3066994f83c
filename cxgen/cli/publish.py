"""Commands that give the dataset to others: package, publish, diff, export."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from typer import Argument, Exit, Option, echo

from cxgen.build.gold import annotated, conllu_of, export_conllu, export_docbin
from cxgen.cli.options import Configs, Form, commands, open_project
from cxgen.cli.output import Format, busy, emit, note, written
from cxgen.errors import CxgenError, DataError, install, lacking
from cxgen.evaluation.exports import export as write_tasks
from cxgen.evaluation.report import Part
from cxgen.facade import Constructicon
from cxgen.files import write_text
from cxgen.layout import ANNOTATION, HUB
from cxgen.publish import Release, hub, prepared
from cxgen.publish import package as write
from cxgen.publish.diff import CHANGES, changed_items, counts, differing, read_dataset, summary
from cxgen.vocabulary import Split

_REF = re.compile(r"(?!.*(\.\.|\.lock$|\.$))[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*", re.ASCII)  # as git wants them
_ON_HUB = re.compile(r"(?:hf://datasets/)?(?P<repository>[\w.-]+/[\w.-]+?)(?:@(?P<revision>.+))?")
_LISTED = 20  # labels that differ
_Config = Annotated[str, Option(help="Config of the dataset: nli, distinction, minimal_pairs, cxnli.")]
_Part = Annotated[Split, Option(help="Split of the config.")]
_Output = Annotated[Path | None, Option("--output", "-o", help="File to write; default: outputs/annotation/CONFIG-SPLIT.*")]
_Folder = Annotated[Path, Argument(help="Folder to write: empty, or not there yet.")]
_Wording = Annotated[str, Option(help="How items are put: plain, told, quiz, scene, or one of your own.")]
app, export = commands(), commands()
app.add_typer(export, name="export")


@app.command()
def package() -> None:
    """Write the folder that the Hub will show: outputs/hub, with parquet files, card and dataset_version.json."""
    project, settings = open_project()
    if absent := lacking("jinja2", "pyarrow"):
        raise DataError(f"the card needs {' and '.join(absent)}", hint=install("publish"))
    with busy("writing parquet files and card"):
        record = write(project, settings, project.root / HUB, settings.publish.version)
    rows = sum(entry["rows"] for entry in record["rows"].values())
    echo(f"{rows} rows, content hash {record['content_hash'][:16]}: {HUB}")


@app.command(epilog="cxgen publish me/constructions --dry-run")
def publish(
    repository: Annotated[str, Argument(metavar="OWNER/NAME", help="Dataset repository on the Hub; made if it does not exist.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would be released and what changes; send nothing.")] = False,
    private: Annotated[bool, Option("--private", help="A repository that has to be made is private.")] = False,
    tag: Annotated[str, Option(help="Tag of the release; default: v and publish.version of params.yaml.")] = "",
    revision: Annotated[str, Option(help="Branch that gets the commit.")] = "main",
    replace: Annotated[bool, Option("--replace", help="Replace README.md and all parquet files of a repository not cxgen's.")] = False,
    parent: Annotated[str, Option(help="Refuse unless the branch is still at this commit, which --dry-run shows.")] = "",
    form: Form = Format.table,
) -> None:
    """Release the finished dataset to the Hugging Face Hub: one commit with data and card, then a tag.

    Refuses if the data are not what the pipeline wrote, a metric fails its gate, sources are not committed, items are undecided, the branch
    has moved, the tag exists, or the repository holds what cxgen has not put there. The token: `hf auth login`, or HF_TOKEN.
    """
    if not _REF.fullmatch(repository) or repository.count("/") != 1 or "--" in repository:
        raise CxgenError(f"not a repository: {repository!r}", hint="expected OWNER/NAME, such as me/constructions")
    for what, name in (("tag", tag), ("branch", revision)):
        if name and not _REF.fullmatch(name):
            raise CxgenError(f"not a {what}: {name!r}", hint="expected letters, digits and ._-, such as v1.0.0")
    project, settings = open_project()
    client = hub.api()
    with prepared(project, settings, hub.Target(repository, revision, tag, private, parent, replace)) as release:
        if dry_run:
            _rehearse(client, release, form)
            return
        if release.refusal:
            raise release.refusal
        with busy(f"releasing to {repository}"):
            commit = hub.release(client, release.target, release.folder)
        emit([{"repository": repository, "revision": revision, "commit": commit, "tag": release.target.tag}], form)


def _rehearse(client: Any, release: Release, form: Format) -> None:
    """Print why the release would be refused, if it would, then what it would hold and change; exit code 2 for a refusal."""
    target, new, record = release.target, read_dataset(release.folder), release.record
    old, commit, reached = new.clear(), "", True
    try:
        commit = hub.head(client, target)
        there = (
            f"{target.branch} is at {commit}"
            if commit
            else f"{target.repository} has no {target.branch}, or the token may not see it: it would be made"
        )
        old = read_dataset(hub.download(client, target.repository, commit)) if commit else old
    except CxgenError as error:
        reached = False
        there = f"what is there cannot be compared ({error.message}): all items are shown as added"
    refused = None
    try:
        hub.check(client, target, commit, release.folder)
    except CxgenError as error:  # with its own hint, unless there are other reasons
        refused = error
        release.reasons.extend([error.message] if release.reasons else [])
    if refusal := release.refusal or refused:
        note(f"cxgen: {refusal.render()}\n")
    sizes = [path.stat().st_size for path in release.folder.rglob("*") if path.is_file()]
    note(f"{record['repository']} {record['tag']}, content hash {record['content_hash']}, git {record['git_revision'] or '-'}")
    note(f"{len(sizes)} files, {sum(sizes) / 2**20:,.1f} MB; {there}")
    _show(old, new, form)
    if refusal:
        note("it would be refused, see above; nothing was sent")
        raise Exit(2)
    note(f"it would be released{'' if reached else ', if the Hub agrees, which was not asked'}; nothing was sent")


@app.command(epilog="cxgen diff me/constructions@v1.0.0 outputs/dataset --items --format jsonl")
def diff(
    old: Annotated[str, Argument(help="Dataset folder, a project's, or OWNER/NAME@REVISION on the Hub.")],
    new: Annotated[str, Argument(help="The same, newer.")],
    items: Annotated[bool, Option("--items", help="List the items that changed instead of counting.")] = False,
    every: Annotated[bool, Option("--all", help="Count items by config, split and construction; list every label that differs.")] = False,
    form: Form = Format.table,
) -> None:
    """What changed between two datasets: contrast sets by config, and premises with a hypothesis that has another label now."""
    _show(_dataset(old), _dataset(new), form, items=items, every=every)


def _dataset(name: str) -> pl.DataFrame:
    path = Path(name)
    if path.exists() or path.parts[:1] == HUB.parts[:1] or not (match := _ON_HUB.fullmatch(name)):  # what is not built is none of the Hub
        return read_dataset(path)
    return read_dataset(hub.download(hub.api(), match["repository"], match["revision"] or "main"))


def _show(before: pl.DataFrame, after: pl.DataFrame, form: Format, *, items: bool = False, every: bool = False) -> None:
    changes = changed_items(before, after)
    table = changes if items else (counts if every else summary)(before, after)
    emit(table.to_dicts(), form, table.columns)
    labels = differing(before, after)
    for row in labels[: None if every else _LISTED].iter_rows(named=True):
        note("{config}: {premise} / {hypothesis}: {old}, now {new}".format(**row))
    if labels.height > _LISTED and not every:
        note(f"and {labels.height - _LISTED} more labels that differ: --all lists them")
    kinds = {kind: changes.filter(change=kind).height for kind in CHANGES}
    same = after.height - sum(kinds.values()) + kinds["removed"]
    note(f"items: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}, {same} the same; {labels.height} labels differ")


@export.command(epilog="cxgen export conllu --sample resultative --n 20")
def conllu(
    config: _Config = "nli",
    split: _Part = Split.test,
    output: _Output = None,
    sample: Annotated[str, Option(metavar="CONSTRUCTION", help="Print the trees of premises that `cxgen sample` shows instead.")] = "",
    n: Annotated[int, Option("--n", min=1, max=100_000, help="Of how many, with --sample.")] = 12,
) -> None:
    """CoNLL-U: lemma, UPOS, XPOS, heads, relations, and the construction with its elements in MISC (Cxn=, CxnElt=)."""
    if sample:
        shipped = Constructicon()
        sentences = [*annotated(shipped.project, pl.concat([*shipped[sample].blocks(n)], how="diagonal"))]
        if output:
            write_text(output, conllu_of(sentences))
            written(output, f"{len(sentences)} premises: {output}")
        else:
            echo(conllu_of(sentences), nl=False)
        return
    _annotate(export_conllu, "conllu", config, split, output)


@export.command(epilog="cxgen export docbin --config distinction --split test -o test.spacy")
def docbin(config: _Config = "nli", split: _Part = Split.test, output: _Output = None) -> None:
    """A spaCy DocBin with the same annotation; the fillers are span groups under "slots"."""
    _annotate(export_docbin, "spacy", config, split, output)


def _annotate(write: Callable[..., int], ending: str, config: str, split: Split, output: Path | None) -> None:
    project = Constructicon().project
    path = output or project.root / ANNOTATION / f"{config}-{split.value}.{ending}"
    written(path, f"{write(project, config, split.value, path)} premises: {path}")


@export.command(epilog="cxgen export inspect tasks && inspect eval tasks/cxgen_tasks.py@cxgen --model MODEL -T config=nli")
def inspect(folder: _Folder, configs: Configs = None, split: _Part = Split.test) -> None:
    """A folder with a task for inspect_ai."""
    _for_harness("inspect", folder, configs, split, "plain")


@export.command(epilog="cxgen export lm-eval harness && lm-eval run --include_path harness --tasks cxgen_nli --model hf ...")
def lm_eval(folder: _Folder, configs: Configs = None, split: _Part = Split.test, wording: _Wording = "plain") -> None:
    """A folder of tasks for lm-evaluation-harness: one per construction, a group per config, and the group cxgen."""
    _for_harness("lm_eval", folder, configs, split, wording)


def _for_harness(name: str, folder: Path, configs: list[str] | None, split: Split, wording: str) -> None:
    names = write_tasks(name, Constructicon().project, Part(tuple(configs or ()), (split.value,)), folder, wording)
    echo(f"{', '.join(names)}: {folder}")
