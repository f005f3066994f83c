"""Everything that the dataset is made of, and runs of any size: build, splits, natural, suites, capacity, generate, audit."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import Annotated

import polars as pl
from click import Choice
from typer import Argument, Option, echo

from cxgen import layout
from cxgen.build import run
from cxgen.build.audit import audit_run
from cxgen.build.params import Params, Wug, append_splits
from cxgen.build.pool import Executor, cluster, executor
from cxgen.build.samplers import Run, divided, not_judged, unjudged
from cxgen.build.samplers import capacity as counted
from cxgen.build.shards import Plan, Wanted, crowded, earlier, make_plan, make_shards, single, writing
from cxgen.build.tables import whole
from cxgen.cli.options import Form, Names, Workers, commands, open_project
from cxgen.cli.output import Format, Row, busy, emit, note
from cxgen.errors import CxgenError, DataError, install, lacking, unknown
from cxgen.facade import Constructicon
from cxgen.families import CONFIGS, family_of
from cxgen.natural import build as written
from cxgen.suites import SUITES
from cxgen.suites.cc_semantics import split_words
from cxgen.vocabulary import Mode

_Folder = Annotated[Path, Argument(help="Folder that `cxgen generate --out` has written.")]
app, splits = commands(), commands()
app.add_typer(splits, name="splits")


@app.command()
def build(
    workers: Annotated[int | None, Option(min=1, help="Processes; the rows do not depend on it.")] = None,
    form: Form = Format.table,
) -> None:
    """Make the dataset: contrast sets split by verb and audited, with pseudowords, and what writers wrote; and its suites.

    Writes outputs/{dataset,wug,natural,suites} and metrics. Where judge.backend in params.yaml is replay, only clauses that judges have
    accepted are used (`cxgen judge`, pipelines/judgments.parquet).
    """
    project, settings = open_project()
    asked = settings.constructions is None or {suite.construction for suite in SUITES.values()} & set(settings.constructions)
    if absent := lacking("nltk", "sklearn", "jinja2", "pyarrow"):
        what = f"suites, `cxgen report all` and `cxgen package` need {', '.join(absent)}"
        if asked:
            raise DataError(what, hint=install("pipeline"))
        note(f"{what}; {install('pipeline')}")
    if left := settings.left_out(project):
        note(f"not built, since {layout.PARAMS} does not name them under `constructions`: {', '.join(left)}")
    with whole(project) as out, executor(workers or settings.workers) as pool:
        begun = run.begin_suites(project, settings, out, pool) if asked else None
        report = run.build(project, settings, pool, out)
        written.run(project, settings, pool, out)
        if begun is not None or not (project.root / layout.SUITES).is_dir():  # there are those of `cxgen suites`
            run.finish_suites(begun or iter(()), out)
    for folder in (layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES):  # DVC wants what dvc.yaml names, if empty
        (project.root / folder).mkdir(parents=True, exist_ok=True)
    rows = []
    for name, entry in report["splits"]["constructions"].items():
        for config, items in entry["items"].items():
            rows.append({"construction": name, "config": config, **_by_split({"items": items, "verbs": entry["verbs_by_config"][config]})})
    for name, items in report["splits"]["lookalikes"].items():
        rows.append({"construction": name, "config": "distinction", **_by_split({"items": items})})
    for config, part in (("nli_wug", "constructions"), ("minimal_pairs_wug", "pairs")):
        for name, modes in report["wug"][part].items():
            rows.append({"construction": name, "config": config, "all items": sum(mode["items"] for mode in modes.values())})
    emit(rows, form)
    for line in _lacking(report, settings):
        note(line)


def _lacking(report: Row, settings: Params) -> Iterator[str]:
    """What a build leaves out: pseudowords on which every label would rest, and clauses that nobody has judged."""
    for name, modes in report["wug"]["constructions"].items():
        none = [mode for mode, own in modes.items() if not own["items"] and mode != Mode.adjectives]  # which many have none of
        if none:
            why = f"they would replace nothing, or no more than others, or leave no label (`cxgen explain {name} --wug {none[0]}`)"
            yield f"nli_wug has no items of {name} for {', '.join(none)}: {why}"
    for name, entry in report.get("judge", {"constructions": {}})["constructions"].items():
        if entry["unjudged"] and settings.request.hears(name):
            yield not_judged(name, entry["unjudged"])


def _by_split(counts: dict[str, dict[str, int]]) -> Row:
    return {f"{split} {what}": count for what, part in counts.items() for split, count in part.items()}


@splits.command()
def propose(
    constructions: Names = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show the rows, write nothing.")] = False,
    form: Form = Format.table,
) -> None:
    """Append verbs that are in no split yet to lexicons/splits.tsv: those of a new construction evenly, others by hash."""
    project, settings = open_project()
    constructicon = Constructicon()
    names = constructions or run.construction_names(project, settings)
    proposed = {name: divided(constructicon[name].construction, settings.request) for name in names}
    path = project.root / layout.SPLITS
    emit(append_splits(None if dry_run else path, settings.request.splits, proposed), form, ["construction", "verb", "split"])
    if not dry_run:
        note(f"{path}: look at the rows, then commit them")


@app.command()
def natural(form: Form = Format.table) -> None:
    """Make items of the sets that writers wrote (pipelines/natural.parquet), split by verb like nli: outputs/natural."""
    rows = [{"construction": name, **_by_split(counts)} for name, counts in written.run(*open_project())["constructions"].items()]
    if not rows:
        note(f"{layout.NATURAL_SETS} has no sets: `cxgen elicit` has some written, judged and accepted")
    emit(rows, form, ["construction"])


@app.command()
def suites(
    tokenizer: Annotated[
        Path | None, Option(help="Only say which words of cc_semantics the tokenizer of a model in this folder splits.")
    ] = None,
    form: Form = Format.table,
) -> None:
    """Make the suites (cc_syntax, cc_semantics), audit and measure them: outputs/suites."""
    if tokenizer is not None:
        emit([{"word": word} for word in split_words(Constructicon().project, tokenizer)], form, ["word"])
        return
    with busy("making and auditing the suites"):
        report = run.build_suites(*open_project())
    rows: list[Row] = []
    for name, entry in report["suites"].items():
        figures = pl.json_normalize(entry["counts"], separator=" ").row(0, named=True)
        for measure, measured in entry["measures"].items():
            figures |= {f"{measure} {part}": figure for parts in measured["configs"].values() for part, figure in parts.items()}
        rows += [{"suite": name, "what": what, "figure": figure} for what, figure in figures.items()]
    emit(rows, form, ["suite", "what", "figure"])


@app.command(epilog="cxgen capacity resultative --n 100000 --by-design")
def capacity(
    constructions: Names = None,
    n: Annotated[int | None, Option("--n", min=1, max=10**9, help="Items per construction in nli; default: as params.yaml says.")] = None,
    by_design: Annotated[bool, Option("--by-design", help="A row for every design and split.")] = False,
    form: Form = Format.table,
) -> None:
    """How many contrast sets each construction can give, beside what is asked for; nothing is drawn.

    wanted: sets asked for, with those drawn to spare (generate.oversample); capacity: sets that share no premise, at most; used: wanted
    as a share of capacity, in the design and split where it is highest (tightest); enough: so many are easily drawn.
    """
    constructicon, (_, settings) = Constructicon(), open_project()
    names = list(dict.fromkeys(constructions or settings.constructions or constructicon))
    request = settings.request if n is None else replace(settings.request, sizes={**settings.request.sizes, "nli": n})
    with busy("counting what can be said"):
        table = pl.DataFrame([row for name in names for row in counted(constructicon[name].construction, request)])
    for line in chain.from_iterable(unjudged(constructicon[name].construction, request) for name in names):
        note(line)
    if table.is_empty():
        raise CxgenError(f"nothing is asked for of {', '.join(names)}", hint="generate: in params.yaml has the sizes; or give --n")
    if not by_design:  # the sum of its sets, and the design and split of which most is asked for
        parts = table.sort("used", descending=True, maintain_order=True).group_by("construction", "config")
        sums = (pl.col("wanted", "capacity").sum(), pl.first("used"), pl.col("enough").all())
        table = parts.agg(*sums, tightest=pl.format("{} in {}", pl.first("design"), pl.first("split")))
    emit(table.sort("construction", "config", maintain_order=True).rows(named=True), form)
    if form is Format.table:
        echo(dedent(str(capacity.__doc__).partition("\n\n")[2]).rstrip())


@app.command(
    epilog="cxgen generate caused-motion way-manner --n 1000000 --out big --resume\n"
    "cxgen generate let-alone --n 100000 --out nonce --wug verb --wug content"
)
def generate(
    out: Annotated[Path, Option("--out", help="Folder for finished rows in shards, streamed in constant memory.")],
    constructions: Names = None,
    n: Annotated[int | None, Option("--n", min=1, max=10**12, help="rows per construction at least; opposites come on top.")] = None,
    config: Annotated[str, Option("--config", help="nli, distinction or minimal_pairs.")] = "nli",
    shard_rows: Annotated[int, Option("--shard-rows", min=1, help="most rows of a file, which has one contrast set at least.")] = 500_000,
    wug: Annotated[list[Mode] | None, Option("--wug", help="a share of sets with pseudowords for these; repeatable.")] = None,
    shard: Annotated[list[int] | None, Option("--shard", min=0, help="only this shard, from 0; several times.")] = None,
    resume: Annotated[bool, Option("--resume", help="make what a run that ended early lacks.")] = False,
    engine: Annotated[str, Option(click_type=Choice(["local", "ray"]), help="this machine, or a Ray cluster.")] = "local",
    workers: Workers = None,
    form: Form = Format.table,
) -> None:
    """Finished rows, however many, in shards: no premise occurs twice.

    The run can be killed and continued, and each shard made alone, see docs/scale.md.
    """
    project, settings = open_project()
    if config not in CONFIGS:
        raise unknown("config", config, CONFIGS)
    if wug and config not in family_of(config).substituted:
        others = ", ".join(name for name in CONFIGS if name in family_of(name).substituted)
        raise CxgenError(f"--wug: sets of {config} have no pseudowords", hint=f"--config with one that has: {others}")
    modes = Wug(tuple(mode.value for mode in Mode if mode in wug), settings.wug.share) if wug else None
    names = tuple(dict.fromkeys(constructions or run.construction_names(project, settings)))
    constructicon = Constructicon()
    for line in chain.from_iterable(unjudged(constructicon[name].construction, settings.request) for name in names):
        note(line)  # a construction that cannot be loaded is refused before a folder is made
    request = single(settings.request, config, n or settings.request.rows(config))
    wanted = Wanted(Run(project, request), names, config, out, shard_rows, modes)
    with (cluster if engine == "ray" else executor)(workers or settings.workers) as pool, nullcontext() if shard else writing(wanted):
        summary = make_shards(wanted, _planned(wanted, pool, resume=resume, shards=shard or []), pool, shard or [])
    emit(summary["sources"], form)
    for entry in summary["sources"]:
        if entry["kept"] < entry["wanted"]:
            where = f"{entry['construction']}, design {entry['design']} in {entry['split']}"
            note(f"warning: {where}: {entry['kept']} new contrast sets of {entry['wanted']}: nothing else can be said")
    line = f"{summary['rows']} rows in {summary['shards']} of {summary['of']} shards: {out / 'data'}"
    if "pseudowords" in summary:
        line += f"; {summary['pseudowords']['rows']} rows with pseudowords: {out / 'wug'}"
    echo(line, err=form is not Format.table)


def _planned(wanted: Wanted, pool: Executor, *, resume: bool, shards: list[int]) -> Plan:
    plan = earlier(wanted, resume=resume or bool(shards))
    if plan is None:
        for line in () if resume or shards else crowded(wanted):
            note(f"warning: {line}")
        with busy("finding sets that are new"), writing(wanted) if shards else nullcontext():
            plan = make_plan(wanted, pool)
    for number in shards:
        if number >= len(plan["shards"]):
            raise CxgenError(f"there is no shard {number}: the run has {len(plan['shards'])}", hint="they are numbered from 0")
    return plan


@app.command()
def audit(folder: _Folder, workers: Workers = None, form: Form = Format.table) -> None:
    """Count a finished run of `generate --out` again: balance, leaks and repetitions. Exit code 2 if anything is wrong."""
    project, settings = open_project()
    with executor(workers or settings.workers) as pool:
        result = audit_run(Run(project, settings.request), folder, pool)
    emit(result["parts"], form)
    line = f"{result['rows']} rows in {result['sets']} contrast sets and {result['shards']} shards; {len(result['violations'])} rules hold"
    echo(line, err=form is not Format.table)
