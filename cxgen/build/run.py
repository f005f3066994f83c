"""A build, a job per construction: its finished rows wait in a folder until what holds between constructions is counted."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build import wug
from cxgen.build.audit import audit, balance, require_none
from cxgen.build.clauses import judge_metric, judged_of
from cxgen.build.params import Params, Request
from cxgen.build.pool import HERE, Executor
from cxgen.build.samplers import Run, candidates, nothing_judged, samplers_of, wugs_of
from cxgen.build.tables import WRITTEN, have_none, read_dropped, table_file, table_hashes, warn_of_strangers, whole
from cxgen.constructicon import target_names
from cxgen.errors import DataError
from cxgen.families import CONFIGS, DEFAULT, REJECTED, columns_of, wug_config
from cxgen.files import require_place, scratch
from cxgen.lexicon.verdicts import read_votes
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.sampling import Sampler
from cxgen.schema import conform, polars_schema
from cxgen.schema.columns import REJECTS
from cxgen.suites import SUITES
from cxgen.tables import one_line, track, write_json, write_table
from cxgen.vocabulary import SPLITS

_Suite = tuple[str, dict[str, Any], dict[str, str]]  # name, metric, hashes of the tables


def accept(items: pl.DataFrame, dropped: Mapping[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items of the sets that are not ``dropped`` (set -> reason), and the rows of ``rejected`` about the others."""
    if not dropped:
        return items, pl.DataFrame()
    why = pl.col("contrast_set").replace_strict(dropped, default=None, return_dtype=pl.String)
    told = items.with_columns(reason=pl.format("review: {}", why), votes=pl.lit(""))
    return items.filter(why.is_null()), told.drop_nulls("reason").select([column.name for column in REJECTS])


def choose(accepted: pl.DataFrame, made: Sequence[Sampler], request: Request) -> pl.DataFrame:
    """The first sets of every sampler of a construction that are left, as many as are wanted, in the order in which they were drawn."""
    keys = pl.DataFrame([accepted[name] for name in ("sampler", "set_number")])  # `select` would go through all columns
    # rows of a set are adjacent
    sets = keys.filter(pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in keys.columns))
    left = dict(sets.group_by("sampler").len().iter_rows())
    wanted = [request.sets(one.construction, one.design, one.config)[one.split] for one in made]
    for number, (one, count) in enumerate(zip(made, wanted, strict=True)):
        if left.get(number, 0) < count:
            where = f"{one.construction.name}, design {one.design.name} for {one.config}, {one.split}"
            hint = "raise generate.oversample in params.yaml, or take rows out of pipelines/dropped.csv"
            raise DataError(f"{where}: {count} contrast sets are wanted, {left.get(number, 0)} are left", hint=hint)
    if sets.height == sum(wanted):
        return accepted
    first = sets.filter(pl.int_range(pl.len()).over("sampler") < pl.col("sampler").replace_strict(dict(enumerate(wanted))))
    return accepted.join(first, on=sets.columns, how="semi", maintain_order="left")


@dataclass(frozen=True)
class _Job:
    run: Run
    params: Params
    name: str
    folder: Path  # for its finished rows
    dropped: Mapping[str, str]

    def file(self, config: str) -> Path:
        """Where its finished rows of a config wait."""
        return self.folder / f"{config}.{self.name}.parquet"


def _make(job: _Job) -> dict[str, Any]:
    """Leave the finished rows of a construction; ``rejected``, ``judged`` (see `tally`), ``counts`` (see `wug.counts`), and which sets
    it had of those that are dropped."""
    judged, rejected = judged_of(job.run, job.name) if job.run.request.judged else ({}, pl.DataFrame())
    made = samplers_of(job.run, job.name)
    if not made:
        file, hint = job.run.project.template_files()[job.name], "give a config of its designs a size in params.yaml, or leave it out there"
        raise DataError(f"no design of {job.name} is for a config that is built", file=file, hint=hint)
    drawn = candidates(made, job.run.request, head_room=bool(job.dropped))
    kept, dropped = accept(drawn, job.dropped)
    chosen, rejected = choose(kept, made, job.run.request), pl.concat([rejected, dropped], how="diagonal")
    counts: dict[str, Any] = {}
    finished = {config: conform(rows, columns_of(config)) for config in CONFIGS if (rows := chosen.filter(config=config)).height}
    for config in wug.SOURCES:
        real = wug.sources(chosen, config, job.params.wug.share)
        if real.height:
            rows, columns = wug.wug_items(made, wugs_of(job.run), job.params.wug.modes, real), columns_of(wug_config(config))
            rows = conform(rows, columns) if rows.height else pl.DataFrame(schema=polars_schema(columns))
            finished[wug_config(config)] = rows
            counts[config] = wug.counts(rows, real, job.params.wug.modes)
    for config, rows in finished.items():
        try:
            rows.write_ipc(job.file(config), compression="lz4")
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DataError(f"cannot be written: {one_line(error)}", file=job.file(config), hint="is there room on the disk?") from error
    return {"rejected": rejected, "counts": counts, "judged": judged, "dropped": job.dropped.keys() & {*drawn["contrast_set"]}}


def build(project: Project, params: Params, pool: Executor = HERE, begun: Project | None = None) -> dict[str, Any]:
    """Write the tables, rejects and metrics ``splits, balance, wug`` and, if frozen judgments are replayed, ``judge``, see `whole` of
    ``begun``; the metrics."""
    require_place(project.root / layout.metric("splits"))
    run, dropped = Run(project, params.request), read_dropped(project.root / layout.DROPPED)
    for name in filter(params.request.hears, construction_names(project, params)):  # before the first is made
        if read_votes(project, name).is_empty():
            raise nothing_judged(name, project)
    with whole(project, begun) as out, scratch(project.root / layout.WORK) as folder:
        jobs = [_Job(run, params, name, folder, dropped) for name in construction_names(project, params)]
        made = dict(zip((job.name for job in jobs), track(pool.map(_make, jobs), "building", len(jobs)), strict=True))
        warn_of_strangers(project, set().union(*(part["dropped"] for part in made.values())))
        none = pl.DataFrame(schema=polars_schema(REJECTS))
        rejected = conform(pl.concat([none, *(part["rejected"] for part in made.values())], how="diagonal"), REJECTS)
        write_table(rejected, table_file(out, REJECTED, REJECTED))
        items = _items(jobs, CONFIGS)
        metrics = {"splits": audit(items), "balance": balance(items), "wug": _pseudowords(jobs, made, items)}
        if params.request.judged:
            metrics["judge"] = judge_metric(read_votes(project), {name: part["judged"] for name, part in made.items()}, rejected)
        hashes = table_hashes({(REJECTED, REJECTED): rejected})
        keys = list(product([*CONFIGS, *map(wug_config, wug.SOURCES)], SPLITS))
        for written in pool.map(_finish, [(table_file(out, *key), key, _files(jobs, key[0])) for key in keys]):
            hashes |= written
        for name, of_wugs in (("splits", False), ("wug", True)):
            metrics[name][WRITTEN] = {table: value for table, value in hashes.items() if ("_wug/" in table) == of_wugs}
        for name, metric in metrics.items():
            write_json(metric, out.root / layout.metric(name))
    return metrics


def construction_names(project: Project, params: Params) -> list[str]:
    """The constructions that the parameters ask for."""
    return target_names(project) if params.constructions is None else list(params.constructions)


def _files(jobs: Iterable[_Job], config: str) -> list[Path]:
    return [job.file(config) for job in jobs if job.file(config).exists()]


def _items(jobs: Iterable[_Job], configs: Iterable[str]) -> pl.DataFrame:
    """The finished rows of some configs without their slots, with the column ``config``."""
    tables = []
    for config in configs:
        names = [column.name for column in columns_of(config) if column.name != "slots"]
        tables += [pl.scan_ipc(file, glob=False).select(*names, config=pl.lit(config)).collect() for file in _files(jobs, config)]
    return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()


def _pseudowords(jobs: Sequence[_Job], made: Mapping[str, Mapping[str, Any]], items: pl.DataFrame) -> dict[str, Any]:
    """The metric ``wug``: what there is with pseudowords of ``items``, audited."""
    report: dict[str, Any] = {"constructions": {}, "pairs": {}, "violations": {}}
    for config in wug.SOURCES:
        counts = {name: part["counts"][config] for name, part in made.items() if config in part["counts"]}
        report["constructions" if config == DEFAULT else "pairs"] |= counts
        rows, mark = _items(jobs, [wug_config(config)]), "" if config == DEFAULT else f"{config}: "
        if counts and not rows.height and jobs[0].params.wug.modes:
            modes = " or ".join(jobs[0].params.wug.modes)
            what = f"{wug_config(config)} is empty: with pseudowords for {modes}, nothing that is asked has an answer"
            hint = "`cxgen explain NAME --wug MODE` shows what is left; `wug.modes` here says which words are replaced"
            sys.stderr.write(f"warning: {DataError(what, file=jobs[0].run.project.params, hint=hint).render()}\n")
        broken = wug.violations(rows, items.filter(config=config), config) if rows.height else {}
        report["violations"] |= {mark + rule: count for rule, count in broken.items()}
    require_none(report["violations"], "the pseudoword items are not sound", "this is a bug in cxgen")
    return report


def _finish(job: tuple[Path, tuple[str, str], list[Path]]) -> dict[str, str]:
    """Write a table, or say that there is none; its hash."""
    path, (config, split), files = job
    if not files:
        have_none(path)
        return {}
    rows = pl.concat([pl.scan_ipc(file, glob=False).filter(split=split).collect() for file in files])
    write_table(rows, path)
    return table_hashes({(config, split): rows})


def begin_suites(project: Project, params: Params, out: Project, pool: Executor = HERE) -> Iterator[_Suite]:
    """Begin to make the suites (a pool goes on with them while other things are done) in ``out``: see `finish_suites`."""
    return pool.map(partial(_suite, project, params, out), list(SUITES))


def finish_suites(made: Iterator[_Suite], out: Project) -> dict[str, Any]:
    """Write the metric ``suites`` of what `begin_suites` gives to ``out``, and return it."""
    report: dict[str, Any] = {"suites": {}, WRITTEN: {}}
    for name, metric, hashes in track(made, "suites", len(SUITES)):
        report["suites"][name] = metric
        report[WRITTEN] |= hashes
    write_json(report, out.root / layout.metric("suites"))
    return report


def build_suites(project: Project, params: Params) -> dict[str, Any]:
    """Write ``outputs/suites/`` and the metric ``suites``; return the metric."""
    require_place(project.root / layout.metric("suites"))
    with whole(project) as out:
        return finish_suites(begin_suites(project, params, out), out)


def _suite(project: Project, params: Params, out: Project, name: str) -> _Suite:
    suite = SUITES[name]
    rows = conform(suite.rows(project, params.request.seed, {**suite.sizes, **params.suites.get(name, {})}), suite.columns)
    metric = {"counts": suite.counts(rows), "violations": suite.violations(project, rows), "measures": suite.measures(rows)}
    problems = metric["violations"] | {what: "; ".join(broken_gates(measure)) for what, measure in metric["measures"].items()}
    require_none(problems, f"{name} is not sound", "the files in templates/grammars say what it is made of", project.root / layout.SUITES)
    tables = {(name, split): rows.filter(split=split) for split in suite.splits}
    for key, table in tables.items():
        write_table(table, table_file(out, *key))
    return name, metric, table_hashes(tables)
