"""Commands to look around and to begin: list, new, sample, explain, check."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option, echo, style

from cxgen.cli.options import Form, Name, Wug, commands, completions, open_project
from cxgen.cli.output import Format, emit, note
from cxgen.errors import CxgenError, install
from cxgen.facade import LINEAGE, MATERIAL, Constructicon, Entry, readable

if TYPE_CHECKING:
    import polars as pl

_FINDING = ("code", "file", "line", "message", "hint")
_LISTED = ("name", "rank", "form", "look-alike", "templates", "hypotheses", "verbs")
_COLOURS = {"entailment": typer.colors.GREEN, "neutral": typer.colors.YELLOW, "contradiction": typer.colors.RED}
_Groups = Iterable[tuple[str, list[tuple[str, str]]]]  # a heading, and what is below it: a mark and a text

app = commands()


@app.command("list")
def list_constructions(form: Form = Format.table) -> None:
    """List the constructions, most substantive first. Files that cannot be read are named on stderr, and the others listed.

    Example: cxgen list --format json
    """
    from cxgen.sampling import verb_pools

    constructicon, rows = Constructicon(), []
    names, errors = constructicon.readable()
    for name in names:
        try:
            entry = constructicon[name].construction
        except CxgenError as error:
            errors.append(error)
            continue
        verbs = {lemma for pool in verb_pools(entry, "sliced") for lemma in pool}
        counts = (len(entry.templates), len(entry.rules), len(verbs))
        rows.append(dict(zip(_LISTED, (name, entry.schematicity, entry.form, ", ".join(entry.lookalikes), *counts), strict=True)))
    for line in dict.fromkeys(f"left out: {error.where}: {error.message}" for error in errors):
        note(line)
    emit(sorted(rows, key=lambda row: int(row["rank"])), form, _LISTED)


@app.command()
def new(name: Annotated[str, Argument(metavar="NAME", help="A name for it: lower-case letters, digits and hyphens.")]) -> None:
    """Write templates/NAME.yaml: a small construction, with comments, to change into one of your own.

    Example: cxgen new ditransitive
    """
    from importlib import resources

    from cxgen.files import write_text
    from cxgen.layout import TEMPLATES

    if not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise CxgenError(f"not a name: {name!r}", hint="lower-case letters, digits and hyphens, a letter first: my-construction")
    project = Constructicon().project
    taken = project.template_files().get(name)
    if taken is not None:
        raise CxgenError(f"there is a construction {name!r} already", file=taken, hint="take another name")
    path = project.root / TEMPLATES / f"{name}.yaml"
    text = resources.files("cxgen.constructicon").joinpath("skeleton.yaml").read_text("utf-8")
    write_text(path, text.replace("NAME", name).replace("TITLE", name.replace("-", " ").capitalize()))
    echo(f"{path}: written; look at it with `cxgen sample {name}`")


@app.command()
def sample(
    construction: Name,
    n: Annotated[int, Option("--n", min=1, help="How many premises.")] = 10,
    seed: Annotated[int, Option(help="Another seed, other items.")] = 1,
    only: Annotated[str, Option("--label", help="Only entailment, neutral or contradiction.")] = "",
    kind: Annotated[str, Option(help="Only premises of this kind.")] = "",
    family: Annotated[str, Option(help="Benchmark family, such as nli or minimal_pairs, or a suite: cc_syntax, cc_semantics.")] = "nli",
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
    blocks = _counted(entry.blocks(n, family=family, wug=wug.value if wug else "", seed=seed, kind=kind, label=only), n)
    if form is Format.table:
        shown = (group for items in blocks for group in FAMILIES[family].shown(items))
        _echo_groups((f"{style(row['premise'], bold=True)} {style(_kind(row), dim=True)}", lines) for row, lines in shown)
    else:
        columns = [*LINEAGE, *(column.name for column in FAMILIES[family].columns("")), *MATERIAL]
        emit((row for items in blocks for row in readable(items, family).iter_rows(named=True)), form, columns)


def _counted(blocks: Iterable["pl.DataFrame"], n: int) -> Iterator["pl.DataFrame"]:
    """The blocks, and a line on stderr if they end before ``n`` premises."""
    shown = 0
    for items in blocks:
        shown += items["premise_id"].n_unique()
        yield items
    if shown < n:
        note(f"only {shown} of {n} premises: the lexicon allows no others like these")


def _kind(row: dict[str, Any]) -> str:
    return f"[{row['construction']}: {row['kind']}]"


def _echo_groups(groups: _Groups) -> None:
    for number, (heading, lines) in enumerate(groups, 1):
        echo(f"{number:3d}. {heading}")
        for mark, text in lines:
            echo(f"     {style(mark.ljust(13), fg=_COLOURS.get(mark))} {text}")


def _sample_suite(rows: "pl.DataFrame", suite: str, form: Format, ignored: list[str]) -> None:
    """Print groups of rows of a suite that belong together; ``ignored`` are given options that it has no use for."""
    from cxgen.suites import SUITES

    if ignored:
        raise CxgenError(f"{', '.join(ignored)}: not for {suite}", hint="suites have --n, --seed and --format")
    if form is Format.table:
        _echo_groups((style(heading, dim=True), lines) for heading, lines in SUITES[suite].shown(rows))
    else:
        emit(rows.iter_rows(named=True), form, rows.columns)


@app.command()
def explain(construction: Name, wug: Wug = None, form: Form = Format.table) -> None:
    """Print the premise x hypothesis label matrix, computed from facts and claims; with --wug, what pseudowords leave of it.

    Below it, what each label turns on: another kind that is said with the same open-class words and has another label there, or "words".
    Of a design that cannot be balanced it says which kind lacks which label, and which hypothesis cannot be used.

    Examples:  cxgen explain resultative
               cxgen explain resultative --wug content
    """
    entry = Constructicon()[construction]
    table = entry.explain(wug.value if wug else "")
    if form is not Format.table:
        emit(table.iter_rows(named=True), form, table.columns)
        return
    loaded = entry.construction
    echo(f"{loaded.title}: {loaded.form}\n{loaded.meaning}\n")
    if wug:
        from cxgen.sampling import broken_slots

        broken = broken_slots(loaded, wug.value)
        names = [name for name in loaded.slots if name in broken]
        echo(f"pseudowords in {', '.join(names) or 'no slot'}; (x): a label that rested on a replaced word's meaning\n")
    whole = entry.explain() if wug else table
    before = {(row["design"], row["kind"], row["rule"]): row["label"] for row in whole.iter_rows(named=True)}
    for design in loaded.designs:
        _explain_design(entry, design, table.filter(design=design).rows(named=True), before, balance=not wug)


def _explain_design(entry: Entry, name: str, rows: list[dict[str, Any]], before: dict[tuple[str, str, str], str], *, balance: bool) -> None:
    """The hypotheses of a design, its labels, what each turns on and, unless words are replaced, why it gives no sets."""
    loaded, design = entry.construction, entry.construction.designs[name]
    squares, faults = _soundness(entry, name, rows) if balance else ("", [])
    echo(f"{style(f'design {name}', bold=True)} for {', '.join(design.configs)}{squares}")
    for number, rule in enumerate(design.rules, 1):
        echo(f"  h{number} {loaded.rules[rule].says}   e.g. {loaded.rules[rule].wordings[0]}")
    cells = {(row["kind"], row["rule"]): row for row in rows}
    kinds = dict.fromkeys(row["kind"] for row in rows)
    width = max(map(len, kinds), default=0) + 2
    widest = max((len(row["turns_on"]) for row in rows), default=1)
    echo(" " * (width + 2) + " ".join(f"h{number}".ljust(4) for number in range(1, len(design.rules) + 1)))
    for kind in kinds:
        marks = [_initial(cells.get((kind, rule)), before.get((name, kind, rule), "")) for rule in design.rules]
        echo(f"  {kind.ljust(width)}{' '.join(marks)} {loaded.kinds[kind].gloss}")
    echo("  turns on")
    for kind in kinds:
        others = [cells[kind, rule]["turns_on"] if (kind, rule) in cells else "-" for rule in design.rules]
        echo(f"  {kind.ljust(width)}{' '.join(other.ljust(widest) for other in others).rstrip()}")
    echo("".join(f"  {fault}\n" for fault in faults))


def _initial(cell: dict[str, Any] | None, before: str) -> str:
    """A label's initial, coloured, with the one that it had before in brackets where that was another."""
    if cell is None:
        return "-".ljust(4)
    label = cell["label"]
    initial = label[0].upper() if label == before else f"{label[0].upper()}({before[0].upper()})"
    return style(initial.ljust(4), fg=_COLOURS[label])


def _soundness(entry: Entry, name: str, rows: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """How many balanced selections a design has, if it needs any, and why its configs give no sets."""
    from cxgen.families import CONFIGS, DEFAULT, family_of
    from cxgen.semantics import RULE, solve, unbalanced
    from cxgen.vocabulary import LABELS

    design = entry.construction.designs[name]
    labels: dict[str, dict[str, int]] = {}
    for row in rows:
        labels.setdefault(row["kind"], {})[row["rule"]] = LABELS.index(row["label"])
    balanced = any(config in CONFIGS and family_of(config).name == DEFAULT for config in design.configs)
    number = len(solve(labels)) if balanced else -1
    faults = [*(f"! {reason}" for reason in unbalanced(labels)), RULE] if number == 0 else []
    for config in design.configs:
        if config not in CONFIGS:
            faults.append(f"! {config}: unknown config; there are {', '.join(CONFIGS)}")
        elif not balanced or family_of(config).name != DEFAULT:
            reason = family_of(config).unsound(entry.construction, design, config)
            faults += [f"! {config}: {reason}"] if reason else []
    return f" ({number} balanced selection{'' if number == 1 else 's'} of cells)" if balanced else "", faults


@app.command()
def check(
    construction: Annotated[str | None, Argument(metavar="[CONSTRUCTION]", help="Default: all.", autocompletion=completions)] = None,
    file: Annotated[Path | None, Argument(metavar="[FILE]", help="After `scenes`: a table of scenes.")] = None,
    form: Form = Format.table,
    strict: Annotated[bool, Option(help="Warnings fail too.")] = False,
    output: Annotated[Path | None, Option("--output", "-o", help="Write the findings here, as JSON, whole or not at all.")] = None,
    codes: Annotated[bool, Option("--codes", help="List the codes and what they find.")] = False,
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
        note(f"form_check is not tried on the premises, which needs spaCy; {install('annotate')}")
    checked, findings = lint_project(project, constructicon.lexicon, Chunks.load(*project.chunk_files()), construction or "")
    rows = [{name: getattr(item, name) for name in _FINDING} | {"file": CxgenError("", file=item.file).where} for item in findings]
    if output is not None:
        from cxgen.tables import write_json

        write_json(rows, output)
    elif form is not Format.table:
        emit(rows, form, _FINDING)
    if form is Format.table:
        for row in rows:
            echo(f"{row['file']}:{row['line']}: {row['code']} {row['message']}\n  hint: {row['hint']}")
        echo(f"{checked} constructions, {len(findings)} findings")
    if any(item.code.startswith("E") or strict for item in findings):
        raise typer.Exit(2)


def _check_scenes(what: str, file: Path, form: Format) -> None:
    from cxgen.curate.scenes import check_scenes

    if what != "scenes":
        raise CxgenError(f"{what!r} takes no file", hint="write `cxgen check scenes FILE`, or only the construction")
    project, params = open_project()
    report = check_scenes(project, file, params)
    if form is not Format.table:
        emit([asdict(report)], form)
    else:
        for row in report.faults:
            echo(f"{file}:{row['line']}: {row['column']}{': ' if row['column'] else ''}{row['fault']}\n  hint: {row['hint']}")
        for rows in filter(None, (report.forms, report.verbs)):
            emit(rows, form)
        for line in (*report.premises, f"{file}: {len(report.faults)} faults"):
            echo(line)
    if report.faults:
        raise typer.Exit(2)
