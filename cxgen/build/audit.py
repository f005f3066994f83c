"""The audit of what ships, the dataset's and that of a run of ``generate --out``: by counting, not by trusting the generator."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build import wug
from cxgen.build.pool import Executor
from cxgen.build.samplers import Run, construction_of
from cxgen.build.shards import (
    DATA,
    WUG,
    Plan,
    Shard,
    Wanted,
    is_planned,
    planned,
    read_plan,
    record_of,
    sets_of,
    shard_columns,
    split_of,
    with_pseudowords,
)
from cxgen.constructicon import Construction, Part, parse_pattern
from cxgen.constructicon.model import Rule
from cxgen.errors import DataError
from cxgen.families import DEFAULT, FAMILIES, Family, columns_of, family_of
from cxgen.families.nli import HELD, leaked
from cxgen.sampling import broken_slots
from cxgen.schema import TARGET, Contract
from cxgen.semantics import label_matrix
from cxgen.tables import read_table, track
from cxgen.vocabulary import CONSTRUCTIONAL, CONTRADICTION, ENTAILMENT, SPLITS

_HINT = "delete it; the command that made the run makes it again with --resume"
_PARTS = {**{split: [split] for split in SPLITS}, "all": list(SPLITS)}
SHARED, TWICE = "verbs in two splits", "premises in two contrast sets"
_CELL = ("mode", "design", "kind", "claim", "label")
_FILLER = r"[\w ',;-]*"  # what may stand where a pattern has a slot
_Job = tuple[Wanted, Shard, list[str]]  # the run, a shard of it, the files with the real words of one with pseudowords


def audit(dataset: pl.DataFrame) -> dict[str, Any]:
    """The metric ``splits`` of the rows of all configs (column ``config``): counts, and proof that nothing leaks and all is balanced."""

    def per_split(rows: pl.DataFrame) -> dict[str, int]:
        return {split: rows.filter(split=split).height for split in SPLITS} | {"all": rows.height}

    report: dict[str, Any] = {"constructions": {}, "lookalikes": {}, "opposites": {}}
    problems: list[str] = []
    for (name,), rows in sorted(dataset.group_by(TARGET.alias("target"))):
        verbs = {split: set(rows.filter(split=split)["verb"]) for split in SPLITS}
        shared = sorted(verb for verb, count in Counter(verb for part in verbs.values() for verb in part).items() if count > 1)
        own = rows.filter(construction=name)
        premises = own.filter(config=DEFAULT).unique("premise_id")
        report["constructions"][name] = {
            "items": {config: per_split(part) for (config,), part in own.group_by("config")},
            "contrast_sets": {split: rows.filter(split=split)["contrast_set"].n_unique() for split in SPLITS},
            "verbs": {split: len(verbs[split]) for split in SPLITS},
            "verbs_shared": shared,
            "constructional": {split: _constructional(premises.filter(pl.col("split").is_in(chosen))) for split, chosen in _PARTS.items()},
        }
        if shared:
            problems.append(f"{name}: verbs in two splits: {', '.join(shared)}")
        for (config, other), part in rows.filter(pl.col("construction") != name).group_by("config", "construction"):
            if config == "distinction":
                report["lookalikes"][other] = per_split(part)
            elif config == DEFAULT:
                report["opposites"][other] = part.height
    report["violations"] = {family.name: violations(rows, family) for family, rows in by_family(dataset)}
    problems += [f"{name}: {rule}: {count}" for name, counts in report["violations"].items() for rule, count in counts.items() if count]
    if problems:
        hint = "this is a bug in cxgen or in an edited intermediate table"
        raise DataError(f"the dataset is not sound: {'; '.join(problems)}", hint=hint)
    return report


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
    plan = read_plan(folder)
    wanted = planned(run, folder, plan)
    if others := wanted.others(plan):
        hint = "audit it in the project, and with the version of cxgen, that made it"
        raise DataError(f"it cannot be made again: it differs from this project in {others}", file=folder, hint=hint)
    jobs = _jobs(wanted, plan)
    tallies = list(track(pool.map(_count, jobs), "counting", len(jobs)))
    counts: Counter[str] = Counter({"contrast sets that are lacking": _lacking(wanted, plan, tallies)})
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for tally in tallies:
        counts.update(tally["faults"])
        groups[tally["construction"], tally["pseudowords"]].append(tally)
    for group in groups.values():
        counts.update(_between(group))
    broken = "; ".join(f"{rule}: {number}" for rule, number in counts.items() if number)
    if broken:
        at = next((folder / tally["file"] for tally in tallies if any(tally["faults"].values())), None)
        hint = _HINT if at else "this is a bug in cxgen, or files were exchanged"
        raise DataError(f"the run is not sound: {broken}", file=at or folder, hint=hint)
    parts = _parts(tallies, pseudowords=bool(plan["asked"]["pseudowords"]))
    sums = {name: sum(part[name] for part in parts) for name in ("rows", "sets")}
    return {"shards": len(jobs), **sums, "parts": parts, "violations": dict(counts)}


def _lacking(wanted: Wanted, plan: Plan, tallies: Sequence[Mapping[str, Any]]) -> int:
    """By how many sets the shards differ from what the plan kept of each of its sources; those of a construction stand in their order."""
    counts: Counter[tuple[str, int, bool]] = Counter()
    numbers: Counter[str] = Counter()
    for source in plan["sources"]:
        name, kept = source["construction"], source["kept"]
        counts[name, numbers[name], False] += kept
        counts[name, numbers[name], True] += with_pseudowords(kept, wanted.wug)
        numbers[name] += 1
    for tally in tallies:
        counts[tally["construction"], tally["sampler"], tally["pseudowords"]] -= tally["sets"]
    return sum(map(abs, counts.values()))


def _jobs(wanted: Wanted, plan: Plan) -> list[_Job]:
    """A job per shard; all must be there, and nothing else."""
    folder, shards = wanted.folder, plan["shards"]
    there = sum(record_of(folder, plan, number, quick=True) is not None for number in range(len(shards)))
    if there < len(shards):
        raise DataError(f"{there} of {len(shards)} shards are there", file=folder, hint="finish the run with --resume")
    named = {folder / shard["file"] for shard in shards}
    for path in sorted(path for name in (DATA, WUG) for path in (folder / name).rglob("*.parquet") if path not in named):
        raise DataError("no shard of the run", file=path, hint="keep it elsewhere")
    real = defaultdict(list)
    for shard in shards:
        real[shard["construction"], shard["sampler"], shard["pseudowords"]].append(shard["file"])
    beside = [real[shard["construction"], shard["sampler"], False] if shard["pseudowords"] else [] for shard in shards]
    return [(wanted, {**shard, "number": number}, beside[number]) for number, shard in enumerate(shards)]


def _count(job: _Job) -> dict[str, Any]:
    """Of one shard: rows, sets, faults, verbs, what could be held out, and a hash of every premise, as often as there are sets with it."""
    wanted, shard, beside = job
    folder, source, family = wanted.folder, wanted.config, family_of(wanted.config)
    path, columns, numbers = folder / shard["file"], shard_columns(wanted, shard), sets_of(folder, shard["number"])
    counted = tuple(column for column in columns if column.name != "slots")  # which take half of the memory
    rows = read_table(path, Contract(counted, more=True), _HINT).with_columns(config=pl.lit(source))
    if fault := Contract(columns).misfit(pl.scan_parquet(path, glob=False).collect_schema()):
        raise DataError(fault, file=path, hint=_HINT)
    record = record_of(folder, {"shards": {shard["number"]: shard}}, shard["number"])
    construction, claims = construction_of(wanted.run, shard["construction"]), _claims(rows)
    faults = {
        "files that are not as recorded": int(record is None),
        "rows that are not recorded": abs(rows.height - record["rows"]) if record else 0,
        "sets that are not recorded": abs(len(numbers) - record["sets"]) if record else 0,
        "files with other rows than their plan gives": int(record is not None and not is_planned(wanted, shard, numbers)),
        "rows of another construction": rows.filter(TARGET.ne(shard["construction"])).height,
        "rows of another split": rows.filter(pl.col("split") != split_of(shard)).height,
        "labels that do not follow from facts and claims": mislabelled(construction, claims),
        "texts that do not follow their templates": misshapen(construction, rows.rename({family.text: "text"}), claims),
    }
    if shard["pseudowords"]:
        needed = tuple(column for column in columns_of(source) if column.name in {"id", "split", "verb", family.text})
        named = pl.col("id").is_in(rows["source_id"].unique().implode())
        real = pl.concat(read_table(folder / file, Contract(needed, more=True), _HINT).filter(named) for file in beside)
        faults |= wug.violations(rows, real, source)
    else:
        own = family.violations(rows)
        faults |= {"repeated ids": rows.height - rows["id"].n_unique(), **{rule: own[rule] for rule in family.by_set}}
    held = {rule: (mark, *names) for rule, (mark, names) in HELD.items() if mark in rows.columns}
    return {
        **shard,
        "split": split_of(shard),
        "rows": rows.height,
        "sets": len(numbers),
        "faults": faults,
        "verbs": rows["verb"].unique().to_list(),
        "held": {rule: rows.select("split", "construction", "contrast_of", *names).unique() for rule, names in held.items()},
        "premises": rows.select("contrast_set", family.text).unique()[family.text].hash(0).to_numpy(),
    }


def _claims(rows: pl.DataFrame) -> pl.DataFrame:
    """What every sentence beside a premise says of it: ``mode, design, kind, claim, label`` (see `_CELL`) and the sentence, ``text``."""
    sides = [
        ("claim_good", pl.lit(ENTAILMENT, pl.Int8), "diagnostic_good"),
        ("claim_bad", pl.lit(CONTRADICTION, pl.Int8), "diagnostic_bad"),
    ]
    if "label" in rows.columns:
        sides = [("claim", pl.col("label"), "hypothesis")]
        negated = pl.when("polarity").then(pl.lit("")).otherwise(pl.lit("not "))
        rows = rows.with_columns(claim=pl.concat_str("rule", pl.lit(": "), negated, "claim"))
    rows = rows if "mode" in rows.columns else rows.with_columns(mode=pl.lit(""))
    parts = (rows.select("mode", "design", "kind", claim=claim, label=label, text=text) for claim, label, text in sides)
    return pl.concat(parts)


def mislabelled(construction: Construction, claims: pl.DataFrame) -> int:
    """Those of `_claims` whose label their kind has not in the label matrix, with pseudowords in that of their mode."""
    true = [
        (mode, design.name, kind, said, label)
        for mode in claims["mode"].unique()
        for design in construction.designs.values()
        for kind, row in label_matrix(construction, design, broken_slots(construction, mode) if mode else frozenset()).items()
        for rule, label in row.items()
        for said in _said(construction.rules[rule])
    ]
    known = pl.DataFrame(true, schema={name: claims.schema[name] for name in _CELL}, orient="row")
    return int(claims.group_by(_CELL).len().join(known, on=_CELL, how="anti")["len"].sum())


def misshapen(construction: Construction, rows: pl.DataFrame, claims: pl.DataFrame) -> int:
    """How many different premises (``text`` of ``rows``) no template of theirs gives, and texts of `_claims` no wording of the claim."""
    shapes: dict[tuple[Any, ...], list[Sequence[Part]]] = defaultdict(list)
    for kind in construction.kinds:
        for template in construction.templates_for(kind):
            shapes[kind, template.name].append(construction.premise_parts(kind, template.name))
    for rule in construction.rules.values():
        for said in _said(rule):
            shapes[(said,)] += map(parse_pattern, rule.wordings)
    count = 0
    for table, by in ((rows, ["kind", "template"]), (claims, ["claim"])):
        for key, own in table.select(*by, "text").unique().group_by(by):
            count += own.filter(~pl.col("text").str.contains(_shape(shapes[key]))).height
    return count


def _said(rule: Rule) -> tuple[str, str]:
    """What a rule claims, as `_claims` has it of pairs, which name no rule, and of items that do."""
    return rule.says, f"{rule.name}: {rule.says}"


def _shape(patterns: Iterable[Sequence[Part]]) -> str:
    """A regular expression of the sentences that patterns give."""
    bodies = ("".join(_FILLER if part.slot else re.escape(part.text).replace(r"\ ", " *") for part in parts) for parts in patterns)
    return f"(?i)^(?:{'|'.join(bodies) or '[^ -~]'})$"


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
