"""The command ``generate``: the candidates of a pipeline, or, with ``--out``, any number of finished rows in shards."""

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
    from cxgen.project import Project
    from cxgen.stages.stream import Run


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

    With --out no premise occurs twice. The run can be killed and continued (--resume), and
    each shard made alone (--shard). docs/scale.md says how to plan a run of billions.

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
    _stream(project, settings, constructions, n, out, config, shard_rows, wug, shard, resume, engine, workers, form)


def _candidates(project: Project, settings: Params, workers: int | None) -> None:
    from cxgen.build.pool import executor
    from cxgen.build.run import generate as drawn
    from cxgen.build.warn import tell, warnings

    with executor(workers or settings.workers) as pool:
        table = drawn(project, settings, pool)
    tell(warnings(table, settings.request.rows, settings.request.oversample))
    typer.echo(f"{table.height} items in {table['contrast_set'].n_unique()} contrast sets: {layout.CANDIDATES}")


def _stream(
    project: Project,
    settings: Params,
    constructions: list[str] | None,
    n: int | None,
    out: Path,
    config: str,
    shard_rows: int,
    modes: list[Mode] | None,
    shards: list[int] | None,
    resume: bool,
    engine: Engine,
    workers: int | None,
    form: Format,
) -> None:
    from cxgen.build.params import Wug
    from cxgen.build.run import construction_names
    from cxgen.build.warn import tell
    from cxgen.families import CONFIGS, family_of
    from cxgen.stages import stream
    from cxgen.stages.engines import engine as opened

    if config not in CONFIGS:
        raise unknown("config", config, CONFIGS)
    if modes and config not in family_of(config).substituted:
        others = ", ".join(name for name in CONFIGS if name in family_of(name).substituted)
        raise CxgenError(f"--wug: sets of {config} are not said with pseudowords", hint=f"--config with one that is: {others}")
    wug = Wug(tuple(mode.value for mode in Mode if mode in modes), settings.wug.share) if modes else None
    names = list(dict.fromkeys(constructions or construction_names(project, settings)))
    request = stream.single(settings.request, config, n or settings.request.rows(config))
    wanted = stream.Wanted(project, names, config, request, out, shard_rows, wug)
    run = stream.earlier(wanted, resume=resume or bool(shards))
    _require_shards(run, shards)
    if run is None and not resume and not shards:
        with busy("counting what can be said"):
            crowded = list(stream.crowded(wanted))
        tell(crowded)
    with opened(engine, workers or settings.workers) as pool:
        if run is None:
            with busy("finding sets that are new"):
                run = stream.prepare(wanted, pool)
            _require_shards(run, shards)
        summary = stream.run(run, pool, shards)
    _tell(summary, out, form)


def _require_shards(run: Run | None, shards: list[int] | None) -> None:
    """Refuse the first of ``shards`` that ``run``, if it is planned, does not have."""
    for number in shards or ():
        if run and number >= len(run.manifest.shards):
            message = f"there is no shard {number}: the run has {len(run.manifest.shards)}"
            raise CxgenError(message, hint="they are numbered from 0")


def _tell(summary: dict[str, Any], out: Path, form: Format) -> None:
    emit(summary["sources"], form)
    short = [entry for entry in summary["sources"] if entry["kept"] < entry["wanted"]]
    for entry in short:
        where = f"{entry['construction']}, design {entry['design']} in {entry['split']}"
        typer.echo(f"warning: {where}: {entry['kept']} new contrast sets of {entry['wanted']}: nothing else can be said", err=True)
    told = f"{summary['rows']} rows in {summary['shards']} of {summary['of']} shards: {out / 'data'}"
    if "pseudowords" in summary:
        told += f"; {summary['pseudowords']['rows']} rows with pseudowords: {out / 'wug'}"
    typer.echo(told, err=form is not Format.table)


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
    names = list(constructions or settings.constructions or constructicon.readable()[0])
    request = settings.request if n is None else replace(settings.request, sizes={**settings.request.sizes, "nli": n})
    loaded = [constructicon[name].construction for name in names]
    with busy("counting what can be said"):
        rows = [row for each in loaded for row in counted(each, request)]
    rows.sort(key=itemgetter("construction", "config"))
    emit(rows if by_design else _summed(rows), form)


def _summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per construction and config: the sum of its sets, and the design and split of which most is asked for."""
    found = []
    for (construction, config), group in groupby(rows, key=itemgetter("construction", "config")):
        mine = list(group)
        tight = max(mine, key=itemgetter("used"))
        found.append(
            {
                "construction": construction,
                "config": config,
                "wanted": sum(row["wanted"] for row in mine),
                "capacity": sum(row["capacity"] for row in mine),
                "used": tight["used"],
                "enough": all(row["enough"] for row in mine),
                "tightest": f"{tight['design']} in {tight['split']}",
            }
        )
    return found


def audit(
    folder: Annotated[Path, typer.Argument(help="Folder that `cxgen generate --out` has written.")],
    workers: Workers = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Count a finished run of `generate --out` again: balance, leaks and repetitions. Exit code 2 if anything is wrong.

    The dataset of the pipeline is audited where it is written, by `cxgen split` and `cxgen package`.

    Example: cxgen audit big --workers 2
    """
    from cxgen.build.pool import executor
    from cxgen.stages import recount

    _, settings = open_project(params)
    with executor(workers or settings.workers) as pool:
        found = recount.audit(folder, pool)
    emit(found["parts"], form)
    told = f"{found['rows']} rows in {found['sets']} contrast sets and {found['shards']} shards; {len(found['violations'])} rules hold"
    typer.echo(told, err=form is not Format.table)
