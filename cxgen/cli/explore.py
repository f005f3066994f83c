"""Commands to look around and to begin: list, sample, check, new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli.options import Form, Name, Wug, completions
from cxgen.cli.output import Format, emit, premises
from cxgen.entries import LINEAGE, MATERIAL, readable
from cxgen.errors import CxgenError, install
from cxgen.facade import Constructicon

if TYPE_CHECKING:
    import polars as pl

    from cxgen.constructicon import Construction

_FINDING = ("code", "file", "line", "message", "hint")
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def load(name: str) -> Construction:
    """A construction of the project at hand.

    Raises:
        CxgenError: no such construction, or its file cannot be read.
    """
    return Constructicon()[name].construction


def list_constructions(form: Form = Format.table) -> None:
    """List the constructions, most substantive first. Files that cannot be read are named on stderr, and the others listed.

    Example: cxgen list --format json
    """
    from cxgen.sampling import verb_pools

    constructicon = Constructicon()
    names, errors = constructicon.readable()
    rows = []
    for name in names:
        try:
            entry = constructicon[name].construction
        except CxgenError as error:
            errors.append(error)
            continue
        rows.append(
            {
                "name": name,
                "rank": entry.schematicity,
                "form": entry.form,
                "look-alike": ", ".join(entry.lookalikes),
                "templates": len(entry.templates),
                "hypotheses": len(entry.rules),
                "verbs": len({lemma for pool in verb_pools(entry, "sliced") for lemma in pool}),
            }
        )
    for line in dict.fromkeys(f"left out: {error.where}: {error.message}" for error in errors):
        typer.echo(line, err=True)
    emit(sorted(rows, key=lambda row: int(row["rank"])), form, ("name", "rank", "form", "look-alike", "templates", "hypotheses", "verbs"))


def sample(
    construction: Name,
    n: Annotated[int, typer.Option("--n", min=1, help="How many premises.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed, other items.")] = 1,
    only: Annotated[str, typer.Option("--label", help="Only entailment, neutral or contradiction.")] = "",
    kind: Annotated[str, typer.Option(help="Only premises of this kind.")] = "",
    family: Annotated[
        str, typer.Option(help="Benchmark family, such as nli or minimal_pairs, or a suite: cc_syntax, cc_semantics.")
    ] = "nli",
    wug: Wug = None,
    form: Form = Format.table,
) -> None:
    """Preview a construction's items: premises with their hypotheses and labels.

    Examples:  cxgen sample resultative --n 50
               cxgen sample caused-motion --kind two-goes-there --label neutral --format jsonl
               cxgen sample let-alone --wug content
    """
    from cxgen.families import FAMILIES

    entry = Constructicon()[construction]
    if family not in FAMILIES:
        given = {"--label": only, "--kind": kind, "--wug": wug}
        _sample_suite(entry.sample(n, family=family, seed=seed), family, form, [name for name, value in given.items() if value])
        return
    shown = 0

    def counted(blocks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        nonlocal shown
        for items in blocks:
            shown += items["premise_id"].n_unique()
            yield items

    blocks = counted(entry.blocks(n, family=family, wug=wug.value if wug else "", seed=seed, kind=kind, label=only))
    if form is Format.table:
        premises(group for items in blocks for group in FAMILIES[family].shown(items))
    else:
        columns = [*LINEAGE, *(column.name for column in FAMILIES[family].columns("")), *MATERIAL]
        emit((row for items in blocks for row in readable(items, family).iter_rows(named=True)), form, columns)
    if shown < n:
        typer.echo(f"only {shown} of {n} premises: the lexicon allows no others like these", err=True)


def _sample_suite(rows: pl.DataFrame, suite: str, form: Format, ignored: list[str]) -> None:
    """Print groups of rows of a suite that belong together; ``ignored``: options that it has no use for."""
    from cxgen.suites import SUITES

    if ignored:
        raise CxgenError(f"{', '.join(ignored)}: not for {suite}", hint="suites have --n, --seed and --format")
    if form is not Format.table:
        emit(rows.iter_rows(named=True), form, rows.columns)
        return
    for number, (heading, lines) in enumerate(SUITES[suite].shown(rows), 1):
        typer.echo(f"{number:3d}. {typer.style(heading, dim=True)}")
        for mark, text in lines:
            typer.echo(f"     {mark.ljust(9)} {text}")


def check(
    construction: Annotated[str | None, typer.Argument(metavar="[CONSTRUCTION]", help="Default: all.", autocompletion=completions)] = None,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="After `scenes`: a table of scenes.")] = None,
    form: Form = Format.table,
    strict: Annotated[bool, typer.Option(help="Warnings fail too.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the findings here, as JSON, whole or not at all.")] = None,
    codes: Annotated[bool, typer.Option("--codes", help="List the codes and what they find.")] = False,
) -> None:
    """Check constructions without generating: codes E... and W..., file:line, hint. Exit code 2 if there are errors.

    Every kind of premise in every template, with every choice of the scenes' words, must have a tree and the construction's form.

    Where all are checked, a file that cannot be read is a finding, too (E000), and the others are checked.

    `cxgen check scenes FILE` looks at a table of scenes (NAME.tsv, after its construction): what is wrong in which line and column, the
    forms of new words, the verbs of each design and split, and some premises.

    Examples:  cxgen check resultative --strict
               cxgen check scenes lexicons/scenes/resultative.tsv
    """
    from cxgen.check import explanations, lint_project, spacy_is_there
    from cxgen.trees import Chunks

    if file is not None:
        _check_scenes(construction or "", file, form)
        return
    if codes:
        emit([{"code": code, "finds": finds} for code, finds in explanations().items()], form, ("code", "finds"))
        return
    constructicon = Constructicon()
    project = constructicon.project
    if construction is not None:
        _ = constructicon[construction]
    if not spacy_is_there():
        typer.echo(f"form_check is not tried on the premises, which needs spaCy; {install('annotate')}", err=True)
    checked, findings = lint_project(project, constructicon.lexicon, Chunks.load(*project.chunk_files()), construction or "")
    rows: list[dict[str, Any]] = [
        {name: getattr(item, name) for name in _FINDING} | {"file": CxgenError("", file=item.file).where} for item in findings
    ]
    if output is not None:
        from cxgen.tables import write_json

        write_json(rows, output)
    elif form is not Format.table:
        emit(rows, form, _FINDING)
    if form is Format.table:
        for row in rows:
            typer.echo(f"{row['file']}:{row['line']}: {row['code']} {row['message']}\n  hint: {row['hint']}")
        typer.echo(f"{checked} constructions, {len(findings)} findings")
    if any(item.code.startswith("E") or strict for item in findings):
        raise typer.Exit(2)


def _check_scenes(what: str, file: Path, form: Format) -> None:
    from dataclasses import asdict

    from cxgen.cli.options import open_project
    from cxgen.curate.scenes import check_scenes

    if what != "scenes":
        raise CxgenError(f"{what!r} takes no file", hint="write `cxgen check scenes FILE`, or only the construction")
    project, params = open_project(None)
    report = check_scenes(project, file, params)
    if form is not Format.table:
        emit([asdict(report)], form)
    else:
        for row in report.faults:
            typer.echo(f"{file}:{row['line']}: {row['column']}{': ' if row['column'] else ''}{row['fault']}\n  hint: {row['hint']}")
        for rows in (report.forms, report.verbs):
            if rows:
                emit(rows, form)
        for premise in report.premises:
            typer.echo(premise)
        typer.echo(f"{file}: {len(report.faults)} faults")
    if report.faults:
        raise typer.Exit(2)


def new(name: Annotated[str, typer.Argument(metavar="NAME", help="A name for it: lower-case letters, digits and hyphens.")]) -> None:
    """Write templates/NAME.yaml: a small construction, with comments, to change into one of your own.

    Example: cxgen new ditransitive
    """
    from importlib import resources

    from cxgen.files import write_atomically
    from cxgen.layout import TEMPLATES

    if not _NAME.fullmatch(name):
        raise CxgenError(f"not a name: {name!r}", hint="lower-case letters, digits and hyphens, a letter first: my-construction")
    project = Constructicon().project
    taken = project.template_files().get(name)
    if taken is not None:
        raise CxgenError(f"there is a construction {name!r} already", file=taken, hint="take another name")
    path = project.root / TEMPLATES / f"{name}.yaml"
    text = resources.files("cxgen.constructicon").joinpath("skeleton.yaml").read_text("utf-8")
    text = text.replace("NAME", name).replace("TITLE", name.replace("-", " ").capitalize())
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    typer.echo(f"{path}: written; look at it with `cxgen sample {name}`")
