"""Commands to look around: list, sample, explain, lint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli import suites
from cxgen.cli.names import completions, require_known, sound
from cxgen.cli.output import Format, emit, label, premises
from cxgen.errors import CxgenError, install, unknown
from cxgen.vocabulary import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from cxgen.constructicon import Construction

Name = Annotated[
    str,
    typer.Argument(metavar="CONSTRUCTION", help="A name that `cxgen list` shows, such as resultative.", autocompletion=completions),
]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]


Wug = Annotated[Mode | None, typer.Option("--wug", help="Pseudowords for these words; content: nouns, verbs and adjectives.")]


def load(name: str) -> Construction:
    """A construction by name.

    Raises:
        UnknownNameError: no such construction.
    """
    from cxgen.constructicon import load_construction
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

    project = Project.find()
    require_known(project, name)  # a wrong name should not wait for the lexicon
    lexicon = Lexicon.of(project)
    return load_construction(project, name, lexicon)


def list_constructions(form: Form = Format.table) -> None:
    """List the constructions, most substantive first. Files that cannot be read are named on stderr, and the others listed.

    Example: cxgen list --format json
    """
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project
    from cxgen.sets import verb_pools

    project = Project.find()
    lexicon = Lexicon.of(project)
    rows: list[dict[str, Any]] = [
        {
            "name": item.name,
            "rank": item.schematicity,
            "form": item.form,
            "look-alike": ", ".join(item.lookalikes),
            "templates": len(item.templates),
            "hypotheses": len(item.rules),
            "verbs": len({lemma for pool in verb_pools(item, "sliced") for lemma in pool}),
        }
        for item in sound(project, lexicon)
    ]
    emit(sorted(rows, key=lambda row: int(row["rank"])), form, ("name", "rank", "form", "look-alike", "templates", "hypotheses", "verbs"))


def sample(
    construction: Name,
    n: Annotated[int, typer.Option("--n", min=1, help="How many premises.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed, other items.")] = 1,
    only: Annotated[str | None, typer.Option("--label", help="Only entailment, neutral or contradiction.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only premises of this kind.")] = None,
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
    import polars as pl

    from cxgen.check import require_sound
    from cxgen.cli.draws import premises as drawn
    from cxgen.facade import LINEAGE, MATERIAL, readable
    from cxgen.families import FAMILIES, family_named
    from cxgen.generate import Wugs, sample_items
    from cxgen.project import Project
    from cxgen.vocabulary import LABELS

    others: Sequence[str] = ()
    if family not in FAMILIES:
        from cxgen.suites import SUITES

        others = list(SUITES)
        if family in SUITES:
            asked = {"--label": only, "--kind": kind, "--wug": wug}
            suites.sample(construction, family, n, seed, form, [name for name, value in asked.items() if value is not None])
            return
    chosen = family_named(family, others)
    if only is not None:
        _require_label(only, family)
    loaded = load(construction)
    if kind is not None and kind not in loaded.kinds:
        raise unknown("premise kind", kind, loaded.kinds, file=loaded.document.path)
    require_sound(loaded)
    designs = [d for d in loaded.designs.values() if set(d.configs) & set(chosen.configs) and (kind is None or kind in d.kinds)]
    if not designs and kind:
        raise CxgenError(f"no design of {construction} uses the kind {kind!r}", file=loaded.document.path)
    kinds = 1 if kind else min((len(design.kinds) for design in designs), default=1)
    wugs = Wugs.load(Project.find().snapshot) if wug else None

    def draw(sets: int) -> pl.DataFrame:
        items = sample_items(loaded, seed, sets, family, wugs, wug.value if wug else "")
        items = items if kind is None else items.filter(pl.col("kind") == kind)
        return items if only is None else items.filter(pl.col("label") == LABELS.index(only))

    shown = _Counted(drawn(draw, n, -(-n // (kinds * max(len(designs), 1)))))
    if form is Format.table:
        premises(group for items in shown for group in chosen.shown(items))
    else:
        wanted = [*LINEAGE, *(column.name for column in chosen.columns("")), *MATERIAL]
        emit((row for items in shown for row in readable(items, family).iter_rows(named=True)), form, wanted)
    if shown.premises < n:
        typer.echo(f"only {shown.premises} of {n} premises: the lexicon allows no others like these", err=True)


def _require_label(name: str, family: str) -> None:
    from cxgen.families import own_columns
    from cxgen.vocabulary import LABELS

    if not any(column.labels for column in own_columns(family)):
        raise CxgenError(f"items of {family} have no label", hint="leave --label out")
    if name not in LABELS:
        raise unknown("label", name, LABELS)


class _Counted:
    """Counts the premises of the tables that pass through."""

    def __init__(self, tables: Iterator[pl.DataFrame]) -> None:
        self.tables, self.premises = tables, 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for table in self.tables:
            self.premises += table["premise_id"].n_unique()
            yield table


def explain(construction: Name, wug: Wug = None, form: Form = Format.table) -> None:
    """Print the premise x hypothesis label matrix, computed from facts and claims; with --wug, what pseudowords leave of it.

    Below it, what each label turns on: another kind that is said with the same open-class words and has another label there, or "words".
    Of a design that cannot be balanced it says which kind lacks which label, and which hypothesis cannot be used.

    Examples:  cxgen explain resultative
               cxgen explain resultative --wug content
    """
    from cxgen.check import require_sound
    from cxgen.families.turns import turns
    from cxgen.generate.substitute import broken_slots
    from cxgen.vocabulary import LABELS

    loaded = load(construction)
    require_sound(loaded, "E1")
    broken = broken_slots(loaded, wug.value) if wug else frozenset()
    matrices = {name: _matrix(loaded, name, broken) for name in loaded.designs}
    whole = {name: _matrix(loaded, name) for name in loaded.designs} if wug else matrices
    if form is not Format.table:
        emit(
            [
                {
                    "design": design,
                    "kind": kind,
                    "construction": loaded.kinds[kind].construction,
                    "rule": rule,
                    "label": LABELS[value],
                    "turns_on": turned[kind][rule],
                }
                for design, matrix in matrices.items()
                for turned in [turns(loaded, matrix)]
                for kind, row in matrix.items()
                for rule, value in row.items()
            ],
            form,
        )
        return
    typer.echo(f"{loaded.title}: {loaded.form}\n{loaded.meaning}\n")
    if wug:
        names = [name for name in loaded.slots if name in broken]
        typer.echo(f"pseudowords in {', '.join(names) or 'no slot'}; (x): a label that rested on a replaced word's meaning\n")
    for design, matrix in matrices.items():
        _print_design(loaded, design, matrix, whole[design], balance=not wug)


def _matrix(construction: Construction, design: str, broken: frozenset[str] = frozenset()) -> dict[str, dict[str, int]]:
    """The labels of a design, without the kinds whose facts contradict each other."""
    from cxgen.semantics import Inconsistency, labels_of

    found = {}
    for kind in construction.designs[design].kinds:
        try:
            found[kind] = labels_of(construction, construction.designs[design], kind, broken)
        except Inconsistency as error:
            typer.echo(f"{kind}: its facts make {error} both true and false\n", err=True)
    return found


def _print_design(
    loaded: Construction, design: str, matrix: dict[str, dict[str, int]], whole: dict[str, dict[str, int]], *, balance: bool
) -> None:
    from cxgen.families import CONFIGS, DEFAULT, family_of
    from cxgen.semantics import RULE, solve, unbalanced

    rules = loaded.designs[design].rules
    width = max((len(kind) for kind in matrix), default=0) + 2
    squares = balance and any(family_of(config).name == DEFAULT for config in loaded.designs[design].configs if config in CONFIGS)
    found = len(solve(matrix)) if squares else 0
    many = "1 balanced selection" if found == 1 else f"{found} balanced selections"
    configs = ", ".join(loaded.designs[design].configs)
    typer.echo(typer.style(f"design {design}", bold=True) + f" for {configs}" + (f" ({many} of cells)" if squares else ""))
    for number, rule in enumerate(rules, 1):
        item = loaded.rules[rule]
        typer.echo(f"  h{number} {item.says}   e.g. {item.wordings[0]}")
    typer.echo(" " * (width + 2) + " ".join(f"h{number}".ljust(4) for number in range(1, len(rules) + 1)))
    for kind, row in matrix.items():
        cells = " ".join(_cell(row[rule], whole[kind][rule]) if rule in row else "-".ljust(4) for rule in rules)
        typer.echo(f"  {kind.ljust(width)}{cells} {loaded.kinds[kind].gloss}")
    if matrix:
        _print_turns(loaded, matrix, rules, width)
    if squares and not found:
        for reason in unbalanced(matrix):
            typer.echo(f"  ! {reason}")
        typer.echo(f"  {RULE}")
    if balance and len(matrix) == len(loaded.designs[design].kinds):  # else facts contradict each other, and it has been said
        for config, reason in _no_sets(loaded, design, squares=squares):
            typer.echo(f"  ! {config}: {reason}")
    typer.echo("")


def _print_turns(loaded: Construction, matrix: dict[str, dict[str, int]], rules: Sequence[str], width: int) -> None:
    """What each label turns on, laid out like the labels."""
    from cxgen.families.turns import turns

    found = turns(loaded, matrix)
    widest = max((len(name) for row in found.values() for name in row.values()), default=1)
    typer.echo("  turns on")
    for kind, row in found.items():
        typer.echo(f"  {kind.ljust(width)}{' '.join(row.get(rule, '-').ljust(widest) for rule in rules).rstrip()}")


def _no_sets(loaded: Construction, design: str, *, squares: bool) -> Iterator[tuple[str, str]]:
    """The configs of a design that give no sets, and why; without those that need a square, whose cells have been printed."""
    from cxgen.families import CONFIGS, DEFAULT, family_of

    for config in loaded.designs[design].configs:
        if config not in CONFIGS:
            yield config, f"unknown config; there are {', '.join(CONFIGS)}"
        elif not (squares and family_of(config).name == DEFAULT) and (
            why := family_of(config).unsound(loaded, loaded.designs[design], config)
        ):
            yield config, why


def _cell(now: int, before: int) -> str:
    """A label's initial, coloured, with the one that it had before in brackets where that was another."""
    from cxgen.vocabulary import LABELS

    initial, was = LABELS[now][0].upper(), LABELS[before][0].upper()
    return label(LABELS[now]).replace(LABELS[now], (initial if now == before else f"{initial}({was})").ljust(4))


_FINDING = ("code", "file", "line", "message", "hint")


def lint(
    construction: Annotated[str | None, typer.Argument(metavar="[CONSTRUCTION]", help="Default: all.", autocompletion=completions)] = None,
    form: Form = Format.table,
    strict: Annotated[bool, typer.Option(help="Warnings fail too.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the findings here, as JSON, whole or not at all.")] = None,
) -> None:
    """Check constructions without generating: codes E... and W..., file:line, hint. Exit code 2 if there are errors.

    Where all are checked, a file that cannot be read is a finding, too (E000), and the others are checked.

    Example: cxgen lint resultative --strict
    """
    from cxgen.check import lint_project, spacy_is_there
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project
    from cxgen.trees import Chunks

    project = Project.find()
    if construction is not None:
        require_known(project, construction)
    lexicon = Lexicon.of(project)
    chunks = Chunks.load(*project.chunk_files())
    if not spacy_is_there():
        typer.echo(f"form_check is not tried on the premises, which needs spaCy; {install('annotate')}", err=True)
    checked, found = lint_project(project, lexicon, chunks, construction or "")
    rows = [{name: getattr(item, name) for name in _FINDING} | {"file": CxgenError("", file=item.file).where} for item in found]
    if output is not None:
        from cxgen.tables import write_json

        write_json(rows, output)
    elif form is not Format.table:
        emit(rows, form, _FINDING)
    if form is Format.table:
        for item in found:
            where = CxgenError("", file=item.file, line=item.line).where
            typer.echo(f"{where}: {item.code} {item.message}\n  hint: {item.hint}")
        typer.echo(f"{checked} constructions, {len(found)} findings")
    if any(item.code.startswith("E") or strict for item in found):
        raise typer.Exit(2)
