"""The audit of what ships, the dataset's and that of a run of ``generate --out``: by counting, not by trusting the generator."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build import shards
from cxgen.build.pool import Executor
from cxgen.build.samplers import Run
from cxgen.errors import DataError
from cxgen.families import DEFAULT, FAMILIES, Family, family_of
from cxgen.families.nli import HELD, leaked
from cxgen.schema import TARGET, Contract
from cxgen.tables import read_table, track
from cxgen.vocabulary import CONSTRUCTIONAL, SPLITS

_HINT = "delete it; the command that made the run makes it again with --resume"
_PARTS = {**{split: [split] for split in SPLITS}, "all": list(SPLITS)}
SHARED, TWICE = "verbs in two splits", "premises in two contrast sets"


def audit(dataset: pl.DataFrame) -> dict[str, Any]:
    """The metric ``splits`` of the rows of all configs (column ``config``): counts, and proof that nothing leaks and all is balanced."""

    def per_split(rows: pl.DataFrame) -> dict[str, int]:
        return {split: rows.filter(split=split).height for split in SPLITS} | {"all": rows.height}

    def verbs_of(rows: pl.DataFrame) -> dict[str, int]:
        return {split: rows.filter(split=split)["verb"].n_unique() for split in SPLITS}

    report: dict[str, Any] = {"constructions": {}, "lookalikes": {}, "opposites": {}}
    problems: dict[str, object] = {}
    for (name,), rows in sorted(dataset.group_by(TARGET.alias("target"))):
        verbs = {split: set(rows.filter(split=split)["verb"]) for split in SPLITS}
        shared = sorted(verb for verb, count in Counter(verb for part in verbs.values() for verb in part).items() if count > 1)
        own = rows.filter(construction=name)
        premises = own.filter(config=DEFAULT).unique("premise_id")
        configs = [(str(config), part) for (config,), part in sorted(own.group_by("config"))]
        report["constructions"][name] = {
            "items": {config: per_split(part) for config, part in configs},
            "contrast_sets": {split: rows.filter(split=split)["contrast_set"].n_unique() for split in SPLITS},
            "verbs": verbs_of(own),  # without those of its look-alike
            "verbs_by_config": {config: verbs_of(part) for config, part in configs},
            "verbs_shared": shared,
            "constructional": {split: _constructional(premises.filter(pl.col("split").is_in(chosen))) for split, chosen in _PARTS.items()},
        }
        problems[f"{name}: verbs in two splits"] = ", ".join(shared)
        for (config, other), part in sorted(rows.filter(pl.col("construction") != name).group_by("config", "construction")):
            if config == "distinction":
                report["lookalikes"][other] = per_split(part)
            elif config == DEFAULT:
                report["opposites"][other] = part.height
    report["violations"] = {family.name: violations(rows, family) for family, rows in by_family(dataset)}
    problems |= {f"{name}: {rule}": count for name, counts in report["violations"].items() for rule, count in counts.items()}
    require_none(problems, "the dataset is not sound", "this is a bug in cxgen or in an edited intermediate table")
    return report


def require_none(faults: Mapping[str, object], what: str, hint: str, file: Path | None = None) -> None:
    """See that there are no ``faults``: rules, and how often they are broken, or by what; a `DataError` says ``what`` is not sound."""
    if broken := "; ".join(f"{rule}: {count}" for rule, count in faults.items() if count):
        raise DataError(f"{what}: {broken}", file=file, hint=hint)


def _constructional(premises: pl.DataFrame) -> float | None:
    """The share of the premises whose verb does not hold the construction's meaning; None where no verb could."""
    share = premises.select((pl.col("verb_role") == CONSTRUCTIONAL).mean()).item()
    return None if share is None else round(share, 4)


def by_family(dataset: pl.DataFrame) -> Iterator[tuple[Family, pl.DataFrame]]:
    """The families that ``dataset`` (column ``config``) has items of, with these."""
    for family in FAMILIES.values():
        rows = dataset.filter(pl.col("config").is_in(list(family.configs)))
        if rows.height:
            yield family, rows


def violations(rows: pl.DataFrame, family: Family) -> dict[str, int]:
    """How often each rule of all families and of ``family`` is broken in its rows."""
    sets = rows.select("config", "contrast_set", "split").unique()
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "contrast sets in two splits": sets.height - sets.select("config", "contrast_set").unique().height,
        **family.violations(rows),
    }


def balance(dataset: pl.DataFrame) -> dict[str, Any]:
    """The counts that prove the balance: family -> what its ``balance`` says."""
    return {family.name: family.balance(rows) for family, rows in by_family(dataset)}


def audit_run(run: Run, folder: Path, pool: Executor) -> dict[str, Any]:
    """Count the run in ``folder`` again: ``shards, rows, sets``, ``parts`` (see `_parts`), ``violations`` (all 0, else a `DataError`)."""
    plan = shards.read_plan(folder)
    wanted = shards.planned(run, folder, plan)
    if others := wanted.others(plan):
        hint = "audit it in the project, and with the version of cxgen, that made it"
        raise DataError(f"it cannot be made again: it differs from this project in {others}", file=folder, hint=hint)
    if [(name, count) for name, _, _, count in wanted.samplers()] != [(one["construction"], one["wanted"]) for one in plan["sources"]]:
        raise DataError("the manifest asks for other sets than were planned", file=folder, hint="make the run anew in another folder")
    jobs = _jobs(wanted, plan)
    tallies = list(track(pool.map(_count, jobs), "counting", len(jobs)))
    counts: Counter[str] = Counter({"contrast sets that are lacking": _lacking(wanted, plan, tallies)})
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for tally in tallies:
        counts.update(tally["faults"])
        groups[tally["construction"], tally["pseudowords"]].append(tally)
    for group in groups.values():
        counts.update(_between(group))
    at = next((folder / tally["file"] for tally in tallies if any(tally["faults"].values())), None)
    require_none(counts, "the run is not sound", _HINT if at else "this is a bug in cxgen, or files were exchanged", at or folder)
    parts = _parts(tallies, pseudowords=bool(plan["asked"]["pseudowords"]))
    sums = {name: sum(part[name] for part in parts) for name in ("rows", "sets")}
    return {"shards": len(jobs), **sums, "parts": parts, "violations": dict(counts)}


def _lacking(wanted: shards.Wanted, plan: shards.Plan, tallies: Sequence[Mapping[str, Any]]) -> int:
    """By how many sets the shards differ from what the plan kept of each of its sources; those of a construction stand in their order."""
    counts: Counter[tuple[str, int, bool]] = Counter()
    numbers: Counter[str] = Counter()
    for source in plan["sources"]:
        name, kept = source["construction"], source["kept"]
        counts[name, numbers[name], False] += kept
        counts[name, numbers[name], True] += shards.with_pseudowords(kept, wanted.wug)
        numbers[name] += 1
    for tally in tallies:
        counts[tally["construction"], tally["sampler"], tally["pseudowords"]] -= tally["sets"]
    return sum(map(abs, counts.values()))


def _jobs(wanted: shards.Wanted, plan: shards.Plan) -> list[tuple[shards.Wanted, shards.Shard]]:
    """A job per shard; all must be there, and nothing else."""
    folder, parts = wanted.folder, plan["shards"]
    lacking = [shard["file"] for number, shard in enumerate(parts) if shards.record_of(folder, plan, number, quick=True) is None]
    if lacking:
        what = f"{len(parts) - len(lacking)} of {len(parts)} shards are there; this one is lacking, or not as recorded"
        raise DataError(what, file=folder / lacking[0], hint="finish the run with --resume")
    named = {folder / shard["file"] for shard in parts}
    for path in sorted(path for name in (shards.DATA, shards.WUG) for path in (folder / name).rglob("*.parquet") if path not in named):
        raise DataError("no shard of the run", file=path, hint="keep it elsewhere")
    return [(wanted, {**shard, "number": number}) for number, shard in enumerate(parts)]


def _count(job: tuple[shards.Wanted, shards.Shard]) -> dict[str, Any]:
    """Of one shard: rows, sets, faults, verbs, what could be held out, and a hash of every premise, as often as there are sets with it."""
    wanted, shard = job
    folder, family = wanted.folder, family_of(wanted.config)
    path, columns, numbers = folder / shard["file"], shards.shard_columns(wanted, shard), shards.sets_of(folder, shard["number"])
    counted = tuple(column for column in columns if column.name != "slots")  # which take half of the memory
    mode = pl.col("mode") if shard["pseudowords"] else pl.lit(wanted.config)
    rows = read_table(path, Contract(counted, more=True), _HINT).with_columns(config=mode)
    if fault := Contract(columns).misfit(pl.scan_parquet(path, glob=False).collect_schema()):
        raise DataError(fault, file=path, hint=_HINT)
    record = shards.record_of(folder, {"shards": {shard["number"]: shard}}, shard["number"])
    recorded = record is not None and record["sets"] == len(numbers)
    own, rules = family.violations(rows), family.survives if shard["pseudowords"] else family.by_set
    faults = {
        "files that are not as recorded": int(not recorded),
        "files with other rows than their plan gives": int(record is not None and not shards.is_planned(wanted, shard, numbers)),
        "repeated ids": rows.height - rows["id"].n_unique(),
        **{rule: own[rule] for rule in rules},
    }
    held = {rule: (mark, *names) for rule, (mark, names) in HELD.items() if mark in rows.columns}
    return {
        **shard,
        "split": path.parent.name,
        "rows": rows.height,
        "sets": len(numbers),
        "faults": faults,
        "verbs": rows["verb"].unique().to_list(),
        "held": {rule: rows.select("split", "construction", "contrast_of", *names).unique() for rule, names in held.items()},
        "premises": rows.select("contrast_set", family.text).unique()[family.text].hash(0).to_numpy(),
    }


def _between(tallies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How often what holds between shards of a construction is broken."""
    splits = Counter(verb for _, verb in {(tally["split"], verb) for tally in tallies for verb in tally["verbs"]})
    premises = np.concatenate([tally["premises"] for tally in tallies])
    counts = {SHARED: sum(number > 1 for number in splits.values()), TWICE: len(premises) - len(np.unique(premises))}
    for rule in tallies[0]["held"]:
        counts[rule] = leaked(pl.concat(tally["held"][rule] for tally in tallies), HELD[rule][0], *HELD[rule][1])
    return counts


def _parts(tallies: Sequence[Mapping[str, Any]], *, pseudowords: bool) -> list[dict[str, Any]]:
    """Rows of ``construction, split, rows, sets, verbs`` and, if the run has pseudowords, ``rows with pseudowords``."""
    names = ("construction", "split", "pseudowords", "rows", "sets", "verbs")
    table = pl.DataFrame([{name: tally[name] for name in names} for tally in tallies])
    real = {name: pl.col(name).filter(~pl.col("pseudowords")) for name in ("rows", "sets", "verbs")}
    counts = {"rows": real["rows"].sum(), "sets": real["sets"].sum(), "verbs": real["verbs"].explode().n_unique()}
    counts |= {"rows with pseudowords": pl.col("rows").filter("pseudowords").sum()} if pseudowords else {}
    return table.group_by("construction", "split", maintain_order=True).agg(**counts).to_dicts()
