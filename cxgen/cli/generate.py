"""Commands for runs of any size: capacity, generate, audit."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen import layout
from cxgen.cli.options import Form, Names, ParamsFile, Workers, open_project
from cxgen.cli.output import Format, busy, emit
from cxgen.errors import CxgenError, unknown
from cxgen.facade import Constructicon
from cxgen.vocabulary import Mode

if TYPE_CHECKING:
    from cxgen.build.params import Params
    from cxgen.build.plan import Plan, Wanted
    from cxgen.build.pool import Executor
    from cxgen.project import Project


class Engine(StrEnum):
    """Who makes the shards."""

    local = "local"
    ray = "ray"


def generate(
    constructions: Names = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="With --out: rows per construction; those of opposites come on top.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for finished rows in shards, streamed in constant memory.")] = None,
    config: Annotated[str, typer.Option("--config", help="With --out: nli, distinction or minimal_pairs.")] = "nli",
    shard_rows: Annotated[int, typer.Option("--shard-rows", min=1, help="With --out: most rows of a file.")] = 500_000,
    wug: Annotated[
        list[Mode] | None,
        typer.Option("--wug", help="With --out: a share of the sets (params.yaml) with pseudowords for these words, too; several times."),
    ] = None,
    shard: Annotated[list[int] | None, typer.Option("--shard", min=0, help="With --out: only this shard, from 0; several times.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --out: make what a run that ended early lacks.")] = False,
    engine: Annotated[Engine, typer.Option("--engine", help="With --out: this machine, or a Ray cluster.")] = Engine.local,
    workers: Workers = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Draw candidate contrast sets for `cxgen judge`: outputs/work/candidates.parquet. With --out, finished rows, however many.

    With --out no premise occurs twice. The run can be killed and continued (--resume), and each shard made alone (--shard). docs/scale.md
    says how to plan a run of billions.

    Examples:  cxgen generate --workers 2
               cxgen generate caused-motion way-manner --n 1000000 --out big --workers 2
               cxgen generate caused-motion way-manner --n 1000000 --out big --resume
               cxgen generate let-alone --n 100000 --out nonce --wug verb --wug content
    """
    project, settings = open_project(params)
    if out is None:
        if constructions or n or wug or shard or resume or engine is not Engine.local:
            raise CxgenError(
                "names, --n, --wug, --shard, --resume and --engine are for runs with --out",
                hint="without it params.yaml says what is generated",
            )
        _candidates(project, settings, workers)
        return
    from cxgen.build.params import Wug
    from cxgen.build.plan import Wanted, single
    from cxgen.build.run import construction_names
    from cxgen.build.shards import engine as opened
    from cxgen.build.shards import make_shards

    _require_config(config, wug)
    modes = Wug(tuple(mode.value for mode in Mode if mode in wug), settings.wug.share) if wug else None
    names = tuple(dict.fromkeys(constructions or construction_names(project, settings)))
    request = single(settings.request, config, n or settings.request.rows(config))
    wanted = Wanted(project, names, config, request, out, shard_rows, modes)
    with opened(engine, workers or settings.workers) as pool:
        plan = _planned(wanted, pool, resume=resume, shards=shard or [])
        summary = make_shards(wanted, plan, pool, shard or [])
    _report(summary, out, form)


def _candidates(project: Project, settings: Params, workers: int | None) -> None:
    from cxgen.build.pool import executor
    from cxgen.build.run import generate as drawn
    from cxgen.build.warn import tell, warnings

    with executor(workers or settings.workers) as pool:
        table = drawn(project, settings, pool)
    tell(warnings(table, settings.request.rows, settings.request.oversample))
    typer.echo(f"{table.height} items in {table['contrast_set'].n_unique()} contrast sets: {layout.CANDIDATES}")


def _require_config(config: str, wug: list[Mode] | None) -> None:
    """Refuse a config that there is not, or that has no pseudowords if they are asked for."""
    from cxgen.families import CONFIGS, family_of

    if config not in CONFIGS:
        raise unknown("config", config, CONFIGS)
    if wug and config not in family_of(config).substituted:
        others = ", ".join(name for name in CONFIGS if name in family_of(name).substituted)
        raise CxgenError(f"--wug: sets of {config} have no pseudowords", hint=f"--config with one that has: {others}")


def _planned(wanted: Wanted, pool: Executor, *, resume: bool, shards: list[int]) -> Plan:
    """The plan that is there to go on with, or a new one."""
    from cxgen.build.plan import crowded, earlier, make_plan

    plan = earlier(wanted, resume=resume or bool(shards))
    if plan is None:
        if not resume and not shards:
            for line in crowded(wanted):
                typer.echo(f"warning: {line}", err=True)
        with busy("finding sets that are new"):
            plan = make_plan(wanted, pool)
    for number in shards:
        if number >= len(plan.shards):
            raise CxgenError(f"there is no shard {number}: the run has {len(plan.shards)}", hint="they are numbered from 0")
    return plan


def _report(summary: dict[str, Any], out: Path, form: Format) -> None:
    emit(summary["sources"], form)
    for entry in summary["sources"]:
        if entry["kept"] < entry["wanted"]:
            where = f"{entry['construction']}, design {entry['design']} in {entry['split']}"
            typer.echo(f"warning: {where}: {entry['kept']} new contrast sets of {entry['wanted']}: nothing else can be said", err=True)
    line = f"{summary['rows']} rows in {summary['shards']} of {summary['of']} shards: {out / 'data'}"
    if "pseudowords" in summary:
        line += f"; {summary['pseudowords']['rows']} rows with pseudowords: {out / 'wug'}"
    typer.echo(line, err=form is not Format.table)


def audit(
    folder: Annotated[Path, typer.Argument(help="Folder that `cxgen generate --out` has written.")],
    workers: Workers = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Count a finished run of `generate --out` again: balance, leaks and repetitions. Exit code 2 if anything is wrong.

    The dataset of the pipeline is audited where it is written, by `cxgen build` and `cxgen package`.

    Example: cxgen audit big --workers 2
    """
    from cxgen.build.pool import executor
    from cxgen.build.recount import audit as recount

    _, settings = open_project(params)
    with executor(workers or settings.workers) as pool:
        result = recount(folder, pool)
    emit(result["parts"], form)
    line = f"{result['rows']} rows in {result['sets']} contrast sets and {result['shards']} shards; {len(result['violations'])} rules hold"
    typer.echo(line, err=form is not Format.table)


def capacity(
    constructions: Names = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Items per construction in nli; default: as params.yaml says.")] = None,
    by_design: Annotated[bool, typer.Option("--by-design", help="A row for every design and split.")] = False,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """How many contrast sets each construction can give, beside what is asked for; nothing is drawn.

    `capacity` counts sets that share no premise, at most; `used` is the share of it that is asked for, in the design and split where it is
    highest; `enough` says that so many are easily drawn.

    Examples:  cxgen capacity
               cxgen capacity resultative --n 100000 --by-design
    """
    from cxgen.build.capacity import capacity as counted

    constructicon, (_, settings) = Constructicon(), open_project(params)
    names = list(constructions or settings.constructions or constructicon)
    request = settings.request if n is None else replace(settings.request, sizes={**settings.request.sizes, "nli": n})
    entries = [constructicon[name].construction for name in names]
    with busy("counting what can be said"):
        rows = [row for entry in entries for row in counted(entry, request)]
    rows.sort(key=itemgetter("construction", "config"))
    emit(rows if by_design else _summed(rows), form)


def _summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per construction and config: the sum of its sets, and the design and split of which most is asked for."""
    sums = []
    for (construction, config), group in groupby(rows, key=itemgetter("construction", "config")):
        parts = list(group)
        tight = max(parts, key=itemgetter("used"))
        sums.append(
            {
                "construction": construction,
                "config": config,
                "wanted": sum(row["wanted"] for row in parts),
                "capacity": sum(row["capacity"] for row in parts),
                "used": tight["used"],
                "enough": all(row["enough"] for row in parts),
                "tightest": f"{tight['design']} in {tight['split']}",
            }
        )
    return sums
