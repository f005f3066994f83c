"""Commands to look around: list, sample, explain, hypothesise."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option, colors, echo, style

from cxgen.build.preview import LINEAGE, MATERIAL, readable
from cxgen.cli.options import Form, Name, Wug, commands, load_all
from cxgen.cli.output import Format, Row, emit, note
from cxgen.constructicon import Construction, Design
from cxgen.errors import CxgenError, some, unknown
from cxgen.facade import Constructicon
from cxgen.families import CONFIGS, DEFAULT, FAMILIES, family_of
from cxgen.families.turns import NEEDED, TURNS, summed
from cxgen.sampling import broken_slots, verb_pools
from cxgen.semantics import RULE, label_matrix, solve, unbalanced
from cxgen.tables import require_ending, write_rows
from cxgen.vocabulary import LABELS

_FEW = 3  # designs whose matrices are printed without being asked for
_COLOURS = {"entailment": colors.GREEN, "neutral": colors.YELLOW, "contradiction": colors.RED}
_LISTED = ("name", "rank", "form", "look-alike", "templates", "hypotheses", "verbs")
app = commands()


@app.command("list")
def list_constructions(form: Form = Format.table) -> None:
    """List the constructions, most substantive first. Files that cannot be read are named on stderr, and the others listed."""
    rows = []
    for item in sorted(load_all(Constructicon()), key=lambda item: item.schematicity):
        verbs = {lemma for pool in verb_pools(item, "sliced") for lemma in pool}
        row = (item.name, item.schematicity, item.form, ", ".join(item.lookalikes), len(item.templates), len(item.rules), len(verbs))
        rows.append(dict(zip(_LISTED, row, strict=True)))
    emit(rows, form, _LISTED, brief=("name", "form"))


@app.command(
    epilog="cxgen sample resultative --n 50\n"
    "cxgen sample caused-motion --kind swap-thing-in --label neutral --format jsonl\n"
    "cxgen sample let-alone --wug content"
)
def sample(
    construction: Name,
    n: Annotated[int, Option("--n", min=1, max=10**9, help="How many premises; the last set may be cut.")] = 12,
    seed: Annotated[int, Option(help="Another seed, other items.")] = 1,
    only: Annotated[str, Option("--label", help="Only entailment, neutral or contradiction.")] = "",
    kind: Annotated[str, Option(help="Only premises of this kind.")] = "",
    design: Annotated[str, Option(help="Only sets of this design, such as those with look-alikes.")] = "",
    family: Annotated[str, Option(help="Benchmark family, such as nli or minimal_pairs, or a suite: cc_syntax, cc_semantics.")] = "nli",
    wug: Wug = None,
    form: Form = Format.table,
) -> None:
    """Preview a construction's items: premises with their hypotheses and labels."""
    entry = Constructicon()[construction]
    if family not in FAMILIES:
        from cxgen.suites import SUITES

        rows = entry.sample(n, family=family, seed=seed)
        ignored = [option for option, value in (("--label", only), ("--kind", kind), ("--design", design), ("--wug", wug)) if value]
        if ignored:
            raise CxgenError(f"{', '.join(ignored)}: not for {family}", hint="suites have --n, --seed and --format")
        if form is Format.table:
            _echo_groups((style(heading, dim=True), lines) for heading, lines in SUITES[family].shown(rows))
        else:
            emit(rows.iter_rows(named=True), form, rows.columns)
        return
    if not entry.shipped:
        from cxgen.check import announced

        for line in announced(entry.construction):
            note(line)
    blocks = entry.blocks(n, family=family, wug=wug.value if wug else "", seed=seed, kind=kind, label=only, design=design)
    blocks = _counted(blocks, n, None if wug or kind or only else entry.construction)
    if form is Format.table:
        groups = (group for items in blocks for group in FAMILIES[family].shown(items))
        _echo_groups((style(row["premise"], bold=True) + style(f" [{_whose(row, family)}]", dim=True), lines) for row, lines in groups)
    else:
        own = FAMILIES[family]
        columns = [*dict.fromkeys((*own.compared.values(), *LINEAGE, *(column.name for column in own.columns("")), *MATERIAL))]
        emit((row for items in blocks for row in readable(items, family).iter_rows(named=True)), form, columns)


def _whose(row: Row, family: str) -> str:
    """The construction and kind of a premise, and its config where that is not called like the family."""
    return f"{row['construction']}: {row['kind']}" + (f", {row['config']}" if row["config"] != family else "")


def _counted(blocks: Iterable[pl.DataFrame], n: int, loaded: Construction | None) -> Iterator[pl.DataFrame]:
    """The blocks, and a line on stderr if they end before ``n`` premises, or within a set of whole ones, those of ``loaded``."""
    shown, last = 0, pl.DataFrame()
    for last in blocks:
        shown += last["premise_id"].n_unique()
        yield last
    if shown < n:
        note(f"only {shown} of {n} premises: the lexicon allows no others like these")
    if loaded and last.height:
        row = last.row(-1, named=True)
        size = len(loaded.designs[row["design"]].kinds)
        lack = size - last.filter(contrast_set=row["contrast_set"])["premise_id"].n_unique()
        if lack > 0 and n > size:
            note(f"{n} premises: the last set is not whole, --n {n + lack} shows all of it")


def _echo_groups(groups: Iterable[tuple[str, list[tuple[str, str]]]]) -> None:
    for number, (heading, lines) in enumerate(groups, 1):
        echo(f"{number:3d}. {heading}")
        for mark, text in lines:
            echo(f"     {style(mark.ljust(13), fg=_COLOURS.get(mark))} {text}")


@app.command(epilog="cxgen explain resultative\ncxgen explain resultative --wug content\ncxgen explain resultative --cells")
def explain(
    construction: Name,
    wug: Wug = None,
    only: Annotated[str, Option("--design", help="The matrix of this design.")] = "",
    every: Annotated[bool, Option("--all", help=f"The matrices of all designs, also of more than {_FEW}.")] = False,
    by_need: Annotated[bool, Option("--cells", help="What the items of each cell need: the construction, the verb, or words.")] = False,
    form: Form = Format.table,
) -> None:
    """Print the premise x hypothesis label matrix, computed from facts and claims; with --wug, what pseudowords leave of it.

    Of a construction with many designs: a line for each, with what is claimed, how often each label is given, and what is wrong with it.
    Below it, what each label turns on: another kind that is said with the same open-class words and has another label there, what a
    look-alike is misread as ("misreading"), or "words".
    Of a design that cannot be balanced it says which kind lacks which label, and which hypothesis cannot be used. With --cells: which
    shares of the items need the construction, by config, design and cell.
    """
    entry = Constructicon()[construction]
    if by_need and (wug or only):
        hint = "what items need is told of real words, design by design: give one of them"
        raise CxgenError(f"--cells with {'--wug' if wug else '--design'}", hint=hint)
    if by_need:
        _emit_cells(entry.cells(), form)
        return
    loaded, table = entry.construction, entry.explain(wug.value if wug else "")
    designs = list(loaded.designs.values())
    if only and only not in loaded.designs:
        raise unknown("design", only, loaded.designs, file=loaded.document.path)
    if only:
        table, designs = table.filter(design=only), [loaded.designs[only]]
    if form is not Format.table:
        emit(table.iter_rows(named=True), form, table.columns)
        return
    echo(f"{loaded.title}: {loaded.form}\n{loaded.meaning}\n")
    if wug:
        broken = broken_slots(loaded, wug.value)
        names = [name for name in loaded.slots if name in broken]
        echo(f"pseudowords in {', '.join(names) or 'no slot'}; (x): a label that rested on a replaced word's meaning\n")
        cell = ("design", "kind", "rule")
        table = table.join(entry.explain().select(*cell, before="label"), on=cell, maintain_order="left")
    if len(designs) > _FEW and not every:
        emit([_in_a_line(loaded, design, table.filter(design=design.name)["label"].to_list(), wug=bool(wug)) for design in designs], form)
        echo(f"E, N, C: labels of its matrix, which `--design {designs[0].name}` shows; --all shows all of them")
        return
    for design in designs:
        cells = {(row["kind"], row["rule"]): row for row in table.filter(design=design.name).iter_rows(named=True)}
        squares, faults = ("", []) if wug else _soundness(loaded, design)
        echo(f"{style(f'design {design.name}', bold=True)} for {', '.join(design.configs) or 'no config'}{squares}")
        for number, rule in enumerate(design.rules, 1):
            echo(f"  h{number} {loaded.rules[rule].says}   e.g. {loaded.rules[rule].wordings[0]}")
        _echo_matrix(loaded, design, cells)
        echo("".join(f"  {fault}\n" for fault in faults))


@app.command(epilog="cxgen hypothesise premises.csv -o items.jsonl\ncxgen hypothesise --parts")
def hypothesise(
    table: Annotated[Path | None, Argument(help="CSV, TSV, JSON lines or parquet: premise, construction, its parts.")] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Write the items there (.jsonl, .csv, .tsv, .parquet).")] = None,
    parts: Annotated[bool, Option("--parts", help="Print which parts each construction has.")] = False,
    form: Form = Format.table,
) -> None:
    """Hypotheses about premises of your own whose parts you give, as CxNLI makes them, with labels from facts.

    Verbs are given as lemmas, the other parts as they stand in the sentence; a column `reading` names a look-alike.
    """
    from cxgen.build.hypothesise import hypothesise as asked
    from cxgen.build.hypothesise import parts_of

    project = Constructicon().project
    if parts or table is None:
        known = [(one.name, *entry) for one in load_all(Constructicon()) for entry in parts_of(one).items()]
        emit([{"construction": name, "reading": reading, "parts": ", ".join(slots)} for name, reading, slots in known], form)
        return
    if output:
        require_ending(output)
    items = asked(project, table)
    if output:
        write_rows(items, output)
        echo(f"{output}: {items.height} items", err=form is not Format.table)
    else:
        emit(items.iter_rows(named=True), form, items.columns)


def _emit_cells(cells: pl.DataFrame, form: Format) -> None:
    """What the items of each config need, those of each design, and those of each cell."""
    parts = [summed(cells, "config"), summed(cells, "config", "design"), cells]
    if form is not Format.table:
        emit(pl.concat(parts, how="diagonal").select(cells.columns).iter_rows(named=True), form, cells.columns)
        return
    echo(NEEDED)
    for part in parts:
        echo()
        emit(part.rows(named=True), form)


def _in_a_line(loaded: Construction, design: Design, labels: list[str], *, wug: bool) -> Row:
    """A design's configs, what its hypotheses claim, how often which label stands in its matrix, and what is wrong with it."""
    claims = dict.fromkeys(str(loaded.rules[rule].claim) for rule in design.rules)
    counts = {label[0].upper(): labels.count(label) for label in LABELS}
    faults = [] if wug else _soundness(loaded, design)[1]
    head = {"design": design.name, "config": ", ".join(design.configs) or "none", "kinds": len(design.kinds), "claims": some([*claims], 3)}
    return {**head, **counts, **({"fault": faults[0].removeprefix("! ")} if faults else {})}


def _echo_matrix(loaded: Construction, design: Design, cells: dict[tuple[str, str], Row]) -> None:
    """The labels' initials, each with the one that it had before in brackets where that was another; then what each label turns on."""
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    width = max(map(len, kinds), default=0) + 2
    widest = max((len(row["turns_on"]) for row in cells.values()), default=1)
    echo(" " * (width + 2) + " ".join(f"h{number}".ljust(4) for number in range(1, len(design.rules) + 1)))
    for kind in kinds:
        marks = []
        for row in (cells.get((kind, rule), {"label": "-"}) for rule in design.rules):
            label, before = row["label"], row.get("before") or row["label"]
            text = label[0].upper() if label == before else f"{label[0].upper()}({before[0].upper()})"
            marks.append(style(text.ljust(4), fg=_COLOURS.get(label)))
        echo(f"  {kind.ljust(width)}{' '.join(marks)} {loaded.kinds[kind].gloss}")
    echo(f"  {TURNS}{'; -: is not asked' if len(cells) < len(kinds) * len(design.rules) else ''}")
    for kind in kinds:
        others = [cells[kind, rule]["turns_on"] if (kind, rule) in cells else "-" for rule in design.rules]
        echo(f"  {kind.ljust(width)}{' '.join(other.ljust(widest) for other in others).rstrip()}")


def _soundness(loaded: Construction, design: Design) -> tuple[str, list[str]]:
    """How many balanced selections of cells a design has, if it needs any, and why its configs give no sets."""
    labels, squares, faults = label_matrix(loaded, design), "", []
    for config in design.configs:
        if config not in CONFIGS:
            faults.append(f"! {config}: unknown config; there are {', '.join(CONFIGS)}")
        elif family_of(config).name != DEFAULT:
            reason = family_of(config).unsound(loaded, design, config)
            faults += [f"! {config}: {reason}"] if reason else []
        elif not squares:
            number = len(solve(labels))
            squares = f" ({number} balanced selection{'' if number == 1 else 's'} of cells)"
            faults += [] if number else [*(f"! {reason}" for reason in unbalanced(labels)), RULE]
    return squares, faults
