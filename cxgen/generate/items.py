"""Candidate items of a construction: whole contrast sets, more than needed, for the judge to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import EmptySlotError
from cxgen.generate.filling import Filling, Job, Need, oversampled
from cxgen.generate.request import Request
from cxgen.generate.source import Source, fillable, previews, sources, span, wanted_designs
from cxgen.generate.substitute import Wugs, changed_sets, substituted
from cxgen.vocabulary import SPLITS


def filling(construction: Construction, request: Request) -> Filling:
    """What `generate_items` needs of every source, in the order of `sources`."""
    construction = fillable(construction, request)
    needs = []
    for design, config in wanted_designs(construction, request):
        sets = request.sets(construction, design, config)
        needs += [Need((config, design.name, split), oversampled(sets[split], request.oversample), sets[split]) for split in SPLITS]
    return Filling(construction, needs)


def fill(fillings: Sequence[Filling], run: Callable[[list[tuple[int, Job]]], Iterable[tuple[int, pl.DataFrame]]]) -> None:
    """Make blocks, round by round, until every filling has what it wants.

    Args:
        fillings: one per construction; they are filled.
        run: (number of the filling, job) -> (place of the job, its block), those of a filling in their order: in this process, in a pool,
            or on a cluster.
    """
    while jobs := [(number, job) for number, each in enumerate(fillings) for job in each.jobs()]:
        for at, block in run(jobs):
            number, job = jobs[at]
            fillings[number].take(job, block)


def _alone(sources: Sequence[Source]) -> Callable[[list[tuple[int, Job]]], Iterable[tuple[int, pl.DataFrame]]]:
    """How to `fill` a single filling here."""
    return lambda jobs: ((at, sources[job.source].block(span(job.start, job.count))) for at, (_, job) in enumerate(jobs))


def generate_items(construction: Construction, request: Request) -> pl.DataFrame:
    """Candidate items of every design, config and split.

    Returns:
        The columns of `Source.block`, of all families (null where a family has no such column). Rows of a set are adjacent. No premise
        occurs in two sets of a config.

    Raises:
        EmptySlotError: a slot that nothing fills, or too few distinct sets.
        SchemaError: a design that gives no sets.
    """
    made, whole = sources(construction, request), filling(construction, request)
    fill([whole], _alone(made))
    return whole.table()


def sample_items(
    construction: Construction, seed: int, sets: int, family: str = "", wugs: Wugs | None = None, mode: str = "", start: int = 0
) -> pl.DataFrame:
    """Items of up to ``sets`` contrast sets of every design, over all verbs, for a preview.

    Args:
        construction: whose.
        seed: another seed, other sets.
        sets: per design.
        family: items of this family; by default of the one that each design names first.
        wugs, mode: with pseudowords for the words of ``mode``.
        start: number of the first set.

    Raises:
        EmptySlotError: nothing fills a slot, or nothing survives the pseudowords.
        SchemaError: no design is of the family, or gives sets.
    """
    made = previews(construction, seed, family)
    whole = Filling(construction, [Need((each.config, each.design.name, each.split), sets, 0, drawn=start) for each in made])
    fill([whole], _alone(made))
    items = whole.table()
    if wugs is None:
        return items
    tables = [items.clear()]
    for source in made:
        numbers = items.filter((pl.col("design") == source.design.name) & (pl.col("config") == source.config))["set_number"]
        tables.append(substituted(source, numbers.unique().sort().to_numpy(), wugs, [mode]))
    found = pl.concat([table for table in tables if table.width], how="diagonal_relaxed")
    found = changed_sets(found, items).drop("mode", strict=False)
    if not found.height:
        raise EmptySlotError(
            f"{construction.name}: nothing survives the substitution {mode!r}",
            file=construction.document.path,
            hint=f"see `cxgen explain {construction.name} --wug {mode}`",
        )
    return found


def preview(
    construction: Construction, seed: int, premises: int, family: str = "", wugs: Wugs | None = None, mode: str = "", kind: str = ""
) -> pl.DataFrame:
    """The items of ``premises`` premises, designs taking turns: whole sets, the last one cut off.

    Args:
        kind: only premises of this kind; the rest as for `sample_items`.
    """
    designs = [each.design for each in previews(construction, seed, family) if not kind or kind in each.design.kinds]
    fewest = min((1 if kind else len(design.kinds) for design in designs), default=1)
    items = sample_items(construction, seed, -(-premises // (fewest * max(len(designs), 1))), family, wugs, mode)
    items = items.filter(pl.col("kind") == kind) if kind else items
    order = (
        items.unique("premise_id", keep="first", maintain_order=True).sort("set_number", maintain_order=True)["premise_id"].head(premises)
    )
    return order.to_frame().join(items, on="premise_id", maintain_order="left_right")


def wug_items(construction: Construction, request: Request, wugs: Wugs, modes: Sequence[str], chosen: pl.DataFrame) -> pl.DataFrame:
    """Contrast sets that `generate_items` makes, with pseudowords.

    Args:
        construction, request: as for `generate_items`.
        wugs: the pseudowords.
        modes: which words are replaced; each gives items of its own.
        chosen: ``config, design, split, set_number`` of the sets wanted.

    Returns:
        The columns of `generate_items` and ``mode``: what survives of the sets, labels computed anew, mode by mode.
    """
    wanted = chosen.select("config", "design", "split", "set_number").unique().sort("set_number")
    tables = []
    for source in sources(construction, request, set(chosen["config"])):
        key = (pl.col("config") == source.config) & (pl.col("design") == source.design.name) & (pl.col("split") == source.split)
        table = substituted(source, wanted.filter(key)["set_number"].to_numpy(), wugs, modes)
        if table.height:
            tables.append(table)
    if not tables:
        return pl.DataFrame()
    order = pl.col("mode").replace_strict(modes, range(len(modes)), return_dtype=pl.Int64)
    return pl.concat(tables, how="diagonal").sort(order, maintain_order=True)
