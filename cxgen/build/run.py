"""A build: candidates, verdicts on them, the dataset with its audit, and its contrast sets with pseudowords.

A job is a construction, from its templates to its finished rows; what holds between constructions is counted when all are there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build import choose, wug
from cxgen.build.audit import audit, balance
from cxgen.build.content import WRITTEN, table_hashes
from cxgen.build.dropped import read_dropped
from cxgen.build.items import candidates
from cxgen.build.params import Params
from cxgen.build.pool import HERE, Executor
from cxgen.build.request import Request
from cxgen.build.samplers import samplers
from cxgen.build.tables import read_candidates, read_verdicts, table_file
from cxgen.check import require_sound
from cxgen.constructicon import Construction, load_construction, target_names
from cxgen.errors import DataError
from cxgen.families import CONFIGS, DEFAULT, REJECTED, columns_of, wug_config
from cxgen.files import require_place
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling import Sampler, Wugs
from cxgen.schema import TARGET, conform
from cxgen.tables import track, write_json, write_table
from cxgen.vocabulary import SPLITS


class Loaded:
    """What a process keeps loaded during a run."""

    def __init__(self, project: Project, request: Request) -> None:
        self.project, self.request = project, request
        self._samplers: dict[str, list[Sampler]] = {}

    @cached_property
    def lexicon(self) -> Lexicon:
        """The project's lexicon."""
        return Lexicon.of(self.project)

    @cached_property
    def wugs(self) -> Wugs:
        """The pseudowords."""
        return Wugs.load(self.project.snapshot)

    def construction(self, name: str) -> Construction:
        """The construction ``name``, which is sound."""
        construction = load_construction(self.project, name, self.lexicon)
        require_sound(construction)
        return construction

    def samplers(self, name: str) -> list[Sampler]:
        """Its samplers."""
        if name not in self._samplers:
            self._samplers[name] = samplers(self.construction(name), self.request)
        return self._samplers[name]


_LOADED: dict[str, Loaded] = {}


def loaded(run: str, project: Project, request: Request) -> Loaded:
    """What this process keeps for ``run`` only: files may have changed since another."""
    if run not in _LOADED:
        _LOADED.clear()
        _LOADED[run] = Loaded(project, request)
    return _LOADED[run]


@dataclass(frozen=True)
class Job:
    """A construction to make.

    Attributes:
        run: names the run, see `loaded`.
        dropped: contrast sets that readers refused -> reason.
        candidates, verdicts: of the construction, where models have judged it; else it is drawn, and nobody is asked.
    """

    run: str
    project: Project
    params: Params
    name: str
    dropped: Mapping[str, str]
    candidates: pl.DataFrame | None = None
    verdicts: pl.DataFrame | None = None


@dataclass(frozen=True)
class Made:
    """What became of a construction.

    Attributes:
        tables: config -> finished rows, those with pseudowords included.
        rejected: what was refused.
        counts: config with real words -> mode -> how many items with pseudowords there are.
        lacking: why it has too few sets.
    """

    tables: dict[str, pl.DataFrame]
    rejected: pl.DataFrame
    counts: dict[str, dict[str, Any]]
    lacking: DataError | None = None


def draw(job: Job) -> pl.DataFrame:
    """The candidates of a construction: more than are needed, for the judges to choose from."""
    request = job.params.request
    return candidates(loaded(job.run, job.project, request).samplers(job.name), request)


def make(job: Job) -> Made:
    """A construction's part of the dataset."""
    own = loaded(job.run, job.project, job.params.request)
    made = own.samplers(job.name)
    if job.candidates is None or job.verdicts is None:
        items = candidates(made, job.params.request, head_room=bool(job.dropped))
        verdicts = choose.unjudged(items)
    else:
        items, verdicts = job.candidates, job.verdicts
    judged = choose.leave_out(items.join(verdicts, on="id", how="left", maintain_order="left"), job.dropped)
    accepted, rejected = choose.accept(judged, keep_undecided=job.params.keep_undecided)
    try:
        chosen = choose.choose(accepted, choose.wanted_sets(made, job.params.request), made[0].construction)
    except DataError as error:
        return Made({}, rejected, {}, error)
    by_config = {config: chosen.filter(pl.col("config") == config) for config in CONFIGS}
    tables = {config: conform(rows, columns_of(config)) for config, rows in by_config.items() if rows.height}
    counts = {}
    for config in wug.SOURCES:
        real = wug.sources(chosen, config, job.params.wug.share)
        if real.height:
            rows = wug.finished(wug.wug_items(made, own.wugs, job.params.wug.modes, real), config)
            tables[wug_config(config)] = rows
            counts[config] = wug.counts(rows, real, job.params.wug.modes)
    return Made(tables, rejected, counts)


def generate(project: Project, params: Params, pool: Executor = HERE) -> pl.DataFrame:
    """Draw and write the candidates that models are to judge; returns the table."""
    require_place(project.root / layout.CANDIDATES)
    jobs = _jobs(project, params)
    table = pl.concat(track(pool.map(draw, jobs), "generating", len(jobs)), how="diagonal")
    write_table(table, project.root / layout.CANDIDATES)
    return table


def build(project: Project, params: Params, pool: Executor = HERE, *, judged: bool = False) -> dict[str, Any]:
    """Write dataset and pseudoword tables, the rejects, and the metrics ``splits``, ``balance`` and ``wug``.

    Args:
        project: whose.
        params: what is built.
        pool: where constructions are made.
        judged: from the candidates and verdicts that `generate` and the command ``judge`` left; else nobody is asked.

    Returns:
        ``splits``: see `audit`; ``wug``: the metric of that name; ``items``: of every item what `cxgen.build.warn` asks for.

    Raises:
        DataError: too few accepted sets, or the audit found a leak or an imbalance.
    """
    require_place(project.root / layout.metric("splits"))
    jobs = _jobs(project, params)
    if judged:
        jobs = _judged(jobs, read_candidates(project), read_verdicts(project))
    made = dict(zip((job.name for job in jobs), track(pool.map(make, jobs), "building", len(jobs)), strict=True))
    rejected = pl.concat([part.rejected for part in made.values()], how="diagonal")
    write_table(rejected, table_file(project, REJECTED, REJECTED))  # before anything can go wrong: it says why sets are lacking
    for part in made.values():
        if part.lacking:
            raise part.lacking
    tables = {config: _joined(made, config) for config in CONFIGS if any(config in part.tables for part in made.values())}
    items = pl.concat([rows.drop("slots").with_columns(config=pl.lit(config)) for config, rows in tables.items()], how="diagonal")
    splits, balanced = audit(items), balance(items)
    hashes = table_hashes({(REJECTED, REJECTED): rejected}) | _write(project, tables, CONFIGS)
    write_json({**splits, WRITTEN: hashes}, project.root / layout.metric("splits"))
    write_json(balanced, project.root / layout.metric("balance"))
    few = items.select("config", "construction", "contrast_of", "design", "split", "contrast_set", "verb")
    return {"splits": splits, "wug": _with_pseudowords(project, made, tables), "items": few}


def _joined(made: Mapping[str, Made], config: str) -> pl.DataFrame:
    """The rows of a config, construction by construction."""
    return pl.concat([part.tables.pop(config) for part in made.values() if config in part.tables])


def construction_names(project: Project, params: Params) -> list[str]:
    """The constructions that the parameters ask for.

    Raises:
        UnknownNameError: one of them has no file.
    """
    if params.constructions is None:
        return target_names(project)
    for name in params.constructions:
        project.template_file(name)
    return list(params.constructions)


def _jobs(project: Project, params: Params) -> list[Job]:
    run, dropped = secrets.token_hex(8), read_dropped(project.root / layout.DROPPED)
    return [Job(run, project, params, name, dropped) for name in construction_names(project, params)]


def _judged(jobs: Sequence[Job], candidates: pl.DataFrame, verdicts: pl.DataFrame) -> list[Job]:
    """``jobs`` with what was judged."""
    if candidates.join(verdicts, on="id", how="anti").height:
        raise DataError("there are items without a verdict", file=jobs[0].project.root / layout.VERDICTS, hint="run `cxgen judge` again")
    own = candidates.with_columns(target=TARGET).partition_by("target", as_dict=True, include_key=False)
    return [replace(job, candidates=own[job.name,], verdicts=verdicts.join(own[job.name,], on="id", how="semi")) for job in jobs]


def _write(project: Project, tables: Mapping[str, pl.DataFrame], configs: Iterable[str]) -> dict[str, str]:
    """Write the tables of ``configs`` split by split, and remove those of an earlier run with other designs; their hashes."""
    hashes: dict[str, str] = {}
    for config, split in ((config, split) for config in configs for split in SPLITS):
        path = table_file(project, config, split)
        if config in tables:
            rows = tables[config].filter(pl.col("split") == split)
            write_table(rows, path)
            hashes |= table_hashes({(config, split): rows})
        else:
            path.unlink(missing_ok=True)
    return hashes


def _with_pseudowords(project: Project, made: Mapping[str, Made], real: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Count, audit and write what has pseudowords; the metric."""
    report: dict[str, Any] = {"constructions": {}, "pairs": {}, "violations": {}}
    hashes: dict[str, str] = {}
    for config in wug.SOURCES:
        counts = {name: part.counts[config] for name, part in made.items() if config in part.counts}
        report["constructions" if config == DEFAULT else "pairs"] |= counts
        tables = {wug_config(config): _joined(made, wug_config(config))} if counts else {}
        for rows in (rows for rows in tables.values() if rows.height):
            mark = "" if config == DEFAULT else f"{config}: "
            report["violations"] |= {mark + rule: count for rule, count in wug.violations(rows, real[config], config).items()}
        problems = [f"{rule}: {count}" for rule, count in report["violations"].items() if count]
        if problems:
            raise DataError(f"the pseudoword items are not sound: {'; '.join(problems)}", hint="this is a bug in cxgen")
        hashes |= _write(project, tables, [wug_config(config)])
    write_json({**report, WRITTEN: hashes}, project.root / layout.metric("wug"))
    return report
