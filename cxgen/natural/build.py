"""Items of the sets that writers wrote, by the family ``nli``, split by verb like those of ``nli``, and audited: `outputs/natural`."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen import layout
from cxgen.build import audit
from cxgen.build.params import Params, Request
from cxgen.build.pool import Executor, executor
from cxgen.build.samplers import divided, fillable
from cxgen.build.tables import WRITTEN, have_none, read_dropped, rows_of, table_file, table_hashes, whole
from cxgen.constructicon import Construction, Design, load_construction
from cxgen.errors import DataError, unknown
from cxgen.families import DEFAULT, NATURAL, columns_of, family_of
from cxgen.files import require_place
from cxgen.lexicon import Lexicon
from cxgen.natural.sets import Asked, Written, check
from cxgen.natural.words import Fillers, say
from cxgen.project import Project
from cxgen.sampling import Draws, split_of
from cxgen.sampling.plan import Rows, pick
from cxgen.schema import TARGET, Column, Contract, conform, polars_schema
from cxgen.schema.columns import SLOT
from cxgen.streams import address, chance_of, codes_of
from cxgen.tables import read_table, track, write_json, write_table
from cxgen.vocabulary import CONSTRUCTIONAL, EXTENDED, LEXICAL, PROTOTYPICAL, SPLITS, WRITING, Split

_TYPES = {
    "marks": pl.List(pl.Struct({"slot": pl.String, "text": pl.String})),
    "seeds": pl.List(pl.String),
    "judgments": pl.List(pl.Struct(dict.fromkeys(("task", "hypothesis", "judge", "model", "prompt", "value"), pl.String))),
}
_VALUES = {"task": WRITING, "acceptability": (PROTOTYPICAL, EXTENDED)}
_NAMES = "set construction design kind sentence marks choice task prompt seeds model by acceptability judgments"  # see docs/natural.md
COLUMNS = tuple(Column(name, _TYPES.get(name, pl.String), "", values=_VALUES.get(name, ())) for name in _NAMES.split())
_HINT = "restore the file, or accept sets anew: cxgen elicit ... --accept"


def set_id(written: Written) -> str:
    """Content address of a set: its sentences."""
    name, design, *_ = written.asked.id.split(".")
    return address(name, design, *(written.sentences[kind] for kind in sorted(written.sentences)))


def read_accepted(path: Path) -> pl.DataFrame:
    """The accepted sets, a row per kind, columns ``COLUMNS``; no rows if there is no such file."""
    there = os.path.lexists(path)
    return read_table(path, Contract(COLUMNS, key=("set", "kind")), _HINT) if there else pl.DataFrame(schema=polars_schema(COLUMNS))


def _sets(construction: Construction, accepted: pl.DataFrame, look_up: Fillers, path: Path) -> Iterator[Written]:
    """The accepted sets of ``construction``, checked once more against its file as it is now; ``path`` is theirs, for messages."""
    for rows in accepted.filter(construction=construction.name).partition_by("set", maintain_order=True):
        name, design, task, choice, seeds = rows.select("set", "design", "task", "choice", "seeds").row(0)
        if design not in construction.natural:
            raise DataError(f"set {name}: {construction.name} has no square {design!r} for writers", file=path, hint=_HINT)
        entries = rows.select("kind", "sentence", "marks").iter_rows()
        kinds = {kind: {"sentence": text, "slots": {mark["slot"]: mark["text"] for mark in marks}} for kind, text, marks in entries}
        asked = Asked(f"{construction.name}.{design}.{name}", design, task, {"seeds": f"words: {', '.join(seeds)}"})
        written = check(construction, asked, json.dumps({"choice": choice, "kinds": kinds}), look_up)
        if not isinstance(written, Written):
            hint = f"mend {construction.document.path.name}, or take the set out of the file"
            raise DataError(f"set {name} is none of {construction.name} any more: {written[0]}", file=path, hint=hint)
        if set_id(written) != name:
            raise DataError(f"set {name} holds other sentences than those that were accepted", file=path, hint=_HINT)
        yield written


@dataclass(frozen=True)
class _Draws:
    """Sets of one design and split, with what a family asks of `cxgen.sampling.Draws`; chances are drawn by a set's id."""

    construction: Construction
    design: Design
    split: str
    sets: Mapping[str, Written]  # by id
    look_up: Fillers
    request: Request
    broken, modes = (), None

    def __len__(self) -> int:
        return len(self.sets)

    def _chance(self, *stream: str) -> NDArray[np.float64]:
        return np.array([chance_of(self.request.seed, name, *stream) for name in self.sets])

    def choose(self, name: str, size: int) -> Rows:
        return pick(self._chance(name), size)

    def statements(self) -> pl.DataFrame:
        return pl.concat(map(self._statement, self.design.rules))

    def _statement(self, name: str) -> pl.DataFrame:
        wordings, texts, choice = self.construction.rules[name].wordings, [], []
        held = self.request.hold_out.of_wordings(len(wordings))
        for (set_name, written), coin in zip(self.sets.items(), self._chance("wordings?"), strict=True):
            out = any(held) and self.split == Split.test and coin < 0.5
            chances = {at: chance_of(self.request.seed, set_name, "wording", name, at) for at in range(len(wordings)) if held[at] == out}
            choice.append(max(chances, key=chances.__getitem__))
            texts.append(say(wordings[choice[-1]], written.fillers, written.words, self.look_up))
        said = {"wording": pl.Series(choice, dtype=pl.Int16), "wording_held_out": [held[at] for at in choice]}
        return pl.DataFrame({"hypothesis": texts, **said, "said": codes_of((name,), texts)})

    def gather(self, rows: Rows) -> pl.DataFrame:
        premises = [self._premise(kind, name, written) for kind in self.design.kinds for name, written in self.sets.items()]
        table = pl.DataFrame(
            premises, schema_overrides={**dict.fromkeys(("contrast_of", "verb_role", "acceptability"), pl.String), "slots": pl.List(SLOT)}
        )[rows]
        constants = {"design": self.design.name, "template_held_out": False, "frame": "a writer's", "split": self.split, "config": NATURAL}
        codes = pl.Series("code", codes_of((), table["premise_id"]))
        return table.with_columns(codes, *(pl.lit(value).alias(name) for name, value in constants.items()))

    def _premise(self, kind: str, name: str, written: Written) -> dict[str, Any]:
        target, meaning, text, marks = self.construction.name, self.construction.kinds[kind], written.sentences[kind], written.marks[kind]
        verb, alone = written.fillers[meaning.verb]["lemma"], {verb for frame in self.construction.frames for verb in frame.entails_alone}
        return {
            "contrast_set": name,
            "premise_id": address(name, kind, text),
            "construction": meaning.construction,
            "contrast_of": None if meaning.construction == target else target,
            "kind": kind,
            "template": written.asked.task,
            "premise": text,
            "verb": verb,
            "verb_role": (LEXICAL if verb in alone else CONSTRUCTIONAL) if self.construction.argument_structure else None,
            "acceptability": None,
            "slots": [{name: own[name] for name in SLOT.to_schema()} for slot, own in written.fillers.items() if slot in marks],
        }


def items_of(construction: Construction, sets: Iterable[Written], look_up: Fillers, request: Request) -> pl.DataFrame:
    """The items of ``sets``, split by verb like those of ``nli``: columns of config ``natural``, ``config``."""
    splits = divided(fillable(construction, request), request)
    groups: dict[tuple[str, str], dict[str, Written]] = {}
    for written in sets:
        verb = written.fillers[construction.kinds[next(iter(written.sentences))].verb]["lemma"]
        split = split_of(verb, splits, request.shares, request.seed, construction.name)
        groups.setdefault((written.asked.design, split), {})[set_id(written)] = written
    schema = polars_schema(columns_of(NATURAL)) | {"config": pl.String}
    tables = [pl.DataFrame(schema=schema)]
    for (name, split), own in sorted(groups.items()):
        draws = _Draws(construction, construction.designs[name], split, own, look_up, request)
        tables.append(family_of(NATURAL).items(cast("Draws", draws)).select(list(schema)))
    return pl.concat(tables)


def run(project: Project, params: Params, pool: Executor | None = None, begun: Project | None = None) -> dict[str, Any]:
    """Write ``outputs/natural/natural/`` and the metric ``natural``, and return it. Sets on ``pipelines/dropped.csv`` are left out.
    ``begun``: where a build writes that is not in its place yet, see `whole`."""
    require_place(project.root / layout.metric(NATURAL))
    path = project.root / layout.NATURAL_SETS
    accepted, dropped = read_accepted(path), pl.col("set").is_in(list(read_dropped(project.root / layout.DROPPED)))
    if refused := accepted.filter(dropped)["set"].n_unique():
        sys.stderr.write(f"warning: {refused} sets that readers refused are left out: {layout.DROPPED}\n")
    accepted = accepted.filter(~dropped)
    names = accepted["construction"].unique().sort().to_list()
    for name in set(names) - project.template_files().keys():
        raise unknown("construction", name, project.template_files(), file=path)
    with nullcontext(pool) if pool else executor(min(params.workers, len(names))) as workers:
        made = track(workers.map(partial(_items, project, params.request, accepted), names), "natural", len(names))
        rows = pl.concat([pl.DataFrame(schema=polars_schema(columns_of(NATURAL))), *made])
    groups = accepted.group_by("by", "model").agg(sets=pl.col("set").n_unique(), prompts=pl.col("prompt").unique().sort())
    judges = accepted["judgments"].explode().drop_nulls().struct.field("judge")
    report: dict[str, Any] = {
        "constructions": _counts(rows),
        "origins": groups.sort(["sets", "by", "model"], descending=[True, False, False]).to_dicts(),
        "judges": judges.unique().sort().to_list(),
        "violations": violations(rows, rows_of(begun or project, DEFAULT)),
    }
    if problems := [f"{what}: {count}" for what, count in report["violations"].items() if count]:
        hint = "run `cxgen build` first, then this again"
        raise DataError(f"the writers' items are not sound: {'; '.join(problems)}", file=path, hint=hint)
    tables = {(NATURAL, split): rows.filter(split=split) for split in SPLITS if rows.height}
    with whole(project, begun) as out:
        for split in SPLITS:
            path = table_file(out, NATURAL, split)
            write_table(tables[NATURAL, split], path) if tables else have_none(path)
        write_json({**report, WRITTEN: table_hashes(tables)}, out.root / layout.metric(NATURAL))
    return report


def _items(project: Project, request: Request, accepted: pl.DataFrame, name: str) -> pl.DataFrame:
    construction = load_construction(project, name, Lexicon.of(project))
    look_up = Fillers(construction)
    items = items_of(construction, _sets(construction, accepted, look_up, project.root / layout.NATURAL_SETS), look_up, request)
    look_up.save()
    return conform(items, columns_of(NATURAL))


def violations(rows: pl.DataFrame, nli: pl.DataFrame) -> dict[str, int]:
    """How often each rule is broken; ``nli``: ``verb, split, construction, contrast_of`` of the items of ``nli``."""
    verbs, others = (table.select("verb", "split", target=TARGET).unique() for table in (rows, nli))
    splits = pl.concat([verbs, others]).group_by("target", "verb").agg(n=pl.col("split").n_unique())
    crossing = splits.filter(pl.col("n") > 1).join(verbs, on=["target", "verb"], how="semi").height
    own = audit.violations(rows.with_columns(config=pl.lit(NATURAL)), family_of(NATURAL))
    return {"verbs in two splits, those of nli counted": crossing, **own}


def _counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Construction -> ``sets, items, verbs`` -> split -> how many."""
    own = {"sets": pl.col("contrast_set").n_unique(), "items": pl.len(), "verbs": pl.col("verb").n_unique()}
    counts = rows.group_by("split", target=TARGET).agg(**own).rows_by_key(["target", "split"], named=True, unique=True)
    names = sorted({name for name, _ in counts})
    return {name: {what: {split: counts.get((name, split), {}).get(what, 0) for split in SPLITS} for what in own} for name in names}
