"""Clauses: what every scene says with each of its verbs, as sentences that judges are shown."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.samplers import Run, items_of, previews
from cxgen.constructicon import Construction, load_construction
from cxgen.families import FAMILIES
from cxgen.families.scoring import Choices
from cxgen.lexicon import Lexicon
from cxgen.lexicon.verdicts import MAJORITY, ONE, THIRD, against, read_votes, verdicts
from cxgen.measures.figures import agreement
from cxgen.sampling.draws import Draws, Sampler, realise, span
from cxgen.vocabulary import EXTENDED, INTERPRETATION, PROTOTYPICAL, REFUSING

MANY = 1_000_000
SCHEMA = dict.fromkeys(("item", "clause", "construction", "design", "scene", "verb", "sentence", "other"), pl.String)
SIDES = Choices.answers
_CLAIM = ("clause", "config", "variant", "kind", "claim_good", "claim_bad")
# What else could decide: the share of votes against a clause that refuses it, and how many judges vote.
RULES = {"kept by all": (ONE, MANY), "kept by most": (MAJORITY, MANY), "kept by two": (THIRD, 2)}
SPLIT = 10  # clauses that are shown, of those on which judges agree least
_EACH, _ROUNDS = 25, 8  # draws for each clause that is sought, and how often


def clauses(construction: Construction) -> pl.DataFrame:
    """A row for every clause, and whose sentence it is shown as, columns `SCHEMA`; what no draw gives (see `cxgen check`) is not there.

    ``item``: what votes are on; ``clause``: its address; ``construction``: whose the sentence is; ``sentence``: in the plainest template;
    ``other``: the same words in other places, as another kind of the design has them.
    """
    tables = [pl.DataFrame(schema=SCHEMA)]
    for sampler in previews(construction, 0):
        kinds = [construction.kinds[name] for name in sampler.design.kinds]
        for whose, verb in dict.fromkeys((kind.construction, kind.verb) for kind in kinds):
            own = [kind.name for kind in kinds if (kind.construction, kind.verb) == (whose, verb)]
            tables.append(_shown(sampler, whose, verb, own))
    return pl.concat(tables).unique("item", keep="first", maintain_order=True)


def interpretations(construction: Construction) -> pl.DataFrame:
    """A row for every clause of minimal pairs and each of its continuations: ``item`` (what votes are on), ``construction, sentence,
    interpretation``. Of participants in the first order, and not again where the same is claimed with names in the place of nouns."""
    tables = [pl.DataFrame(schema=dict.fromkeys((*_CLAIM, "design", "sentence", *SIDES), pl.String))]
    configs = {config for design in construction.designs.values() for config in design.configs}
    for name in (name for name, family in FAMILIES.items() if isinstance(family.scoring, Choices) and configs & set(family.configs)):
        for sampler in previews(construction, 0, name):
            for slot in dict.fromkeys(construction.kinds[kind].verb for kind in sampler.design.kinds):
                draws, _, addresses = _drawn(sampler, slot)
                items = items_of(draws).filter(~pl.col("switched"), construction=construction.name)
                clause = pl.col("set_number").replace_strict(draws.plan.numbers, addresses, return_dtype=pl.String)
                texts = {side: f"diagnostic_{side}" for side in SIDES}
                tables += [items.select(*_CLAIM[1:], "design", clause=clause, sentence="context", **texts)]
    pairs = pl.concat(tables, how="diagonal").unique(_CLAIM, keep="first", maintain_order=True)
    item = [pl.format(f"{construction.name}/{{}}/{{}}.{{}}-{side}", "clause", "design", "kind") for side in SIDES]
    whose = pl.lit(construction.name).alias("construction")
    return pl.concat(pairs.select(whose, "sentence", item=name, interpretation=side) for name, side in zip(item, SIDES, strict=True))


def _drawn(sampler: Sampler, slot: str) -> tuple[Draws, list[str], list[str]]:
    """A draw of every frame with each of its verbs in ``slot``; the verbs, and the clauses' addresses."""
    draws, source = sampler.draw(np.array(_numbers(sampler, slot), dtype=np.int64)), sampler.construction.slots[slot].source
    verbs = [sampler.construction.lexicon.lemmas[row] for row in draws.plan.fillers[slot]]
    return draws, verbs, [sampler.pools.frames[frame].clause(source, verb) for frame, verb in zip(draws.plan.frame, verbs, strict=True)]


def _shown(sampler: Sampler, whose: str, slot: str, kinds: list[str]) -> pl.DataFrame:
    construction, frames = sampler.construction, sampler.pools.frames
    draws, verbs, addresses = _drawn(sampler, slot)
    plan, rows = draws.plan, np.arange(len(draws), dtype=np.int64)

    def said(kind: str) -> pl.Series:
        patterns = [construction.premise_parts(kind, template.name) for template in construction.templates_for(kind)]
        parts = min(patterns, key=lambda own: (len(own), sum(len(part.text) for part in own)))
        return realise([(parts, rows, rows)], construction, plan, sampler.pools, draws.forms, len(draws))

    scenes = [frames[frame].name for frame in plan.frame]
    table = pl.DataFrame({"clause": addresses, "scene": scenes, "verb": verbs, "sentence": said(kinds[0]), "other": said(kinds[-1])})
    item = pl.format(f"{construction.name}/{{}}/{whose}", "clause")
    return table.with_columns(item=item, construction=pl.lit(whose), design=pl.lit(sampler.design.name)).select(list(SCHEMA))


def _numbers(sampler: Sampler, slot: str) -> list[int]:
    """Of every frame with each of its verbs, the first set that has them."""
    wanted = {(frame, verb) for frame, verbs in enumerate(sampler.pools.candidates[slot]) for verb in verbs}
    found: dict[tuple[int, int], int] = {}
    size = _EACH * len(wanted)
    for start in range(0, _ROUNDS * size, size):
        plan = sampler.draw(span(start, size)).plan
        for number, pair in enumerate(zip(plan.frame.tolist(), plan.fillers[slot].tolist(), strict=True), start):
            found.setdefault(pair, number)
        if found.keys() >= wanted:
            break
    return sorted(found.values())


def tally(construction: Construction, votes: pl.DataFrame) -> tuple[dict[str, int], pl.DataFrame]:
    """What came of the clauses of a construction that was loaded unheard, and the rows of ``rejected`` about those that are refused.

    The counts: ``clauses``, of these ``proposed`` from the lexicon; those ``unjudged``, ``refused`` (and by what: `REFUSING`,
    ``interpretation``), ``kept``, of these ``prototypical`` and ``extended``; and how many another rule would keep (`RULES`).
    """
    table, known = clauses(construction), verdicts(votes, construction.name)
    said = votes.group_by("item", maintain_order=True).agg(votes=pl.format("{} {}: {}", "task", "judge", "value").sort().str.join("; "))
    found = {clause: known.get(clause) for clause in table["clause"].unique(maintain_order=True)}
    refused = {clause: verdict.refused for clause, verdict in found.items() if verdict and verdict.refused}
    kept = Counter(verdict.acceptability for verdict in found.values() if verdict and not verdict.refused)
    scenes = {frame.name for frame in construction.frames if frame.proposed}
    counts = {"clauses": len(found), "proposed": sum(clause.partition("/")[0] in scenes for clause in found)}
    counts |= {"unjudged": sum(verdict is None for verdict in found.values()), "refused": len(refused)}
    counts |= {task: sum(reason.startswith(task) for reason in refused.values()) for task in (*REFUSING, INTERPRETATION)}
    counts |= {"kept": kept.total(), PROTOTYPICAL: kept[PROTOTYPICAL], EXTENDED: kept[EXTENDED]}
    clause = pl.col("item").str.extract("/(.+)/")
    addressed = votes.filter(pl.col("task") != "role", clause.is_in(list(found))).with_columns(clause=clause)
    for rule, (share, judges) in RULES.items():
        heard = addressed.filter(pl.col("judge").rank("dense").over("item", "task") <= judges)
        out = heard.select("item", "task", "clause").unique().join(against(heard, share), on=["item", "task"], how="left")
        refuse = pl.col("refused").fill_null(True).any()  # null: nobody decided
        counts[rule] = out.group_by("clause").agg(refuse).filter(~pl.col("refused")).height
    reasons = pl.DataFrame(list(refused.items()), schema={"clause": pl.String, "reason": pl.String}, orient="row")
    rows = table.join(reasons, on="clause", how="inner", maintain_order="left").join(said, on="item", how="left", maintain_order="left")
    return counts, rows.select(
        id="item",
        construction=pl.lit(construction.name),
        frame="scene",
        verb="verb",
        premise="sentence",
        reason="reason",
        votes=pl.col("votes").fill_null(""),  # shown otherwise since it was judged
    )


def judged_of(run: Run, name: str) -> tuple[dict[str, int], pl.DataFrame]:
    """The `tally` of the construction ``name``."""
    return tally(load_construction(run.project, name, Lexicon.of(run.project), heard=False), read_votes(run.project, name))


def judge_metric(votes: pl.DataFrame, counts: Mapping[str, Mapping[str, int]], rejected: pl.DataFrame) -> dict[str, Any]:
    """The metric ``judge``: `tally` by construction, who judged, by which prompts (hashes), how far they agree, and the most split clauses
    of ``rejected`` (``split``: sentence, task, votes, votes against it)."""
    prompts = votes.group_by("task").agg(pl.col("prompt").unique().sort()).sort("task")
    split = against(votes).filter(pl.col("task").is_in(REFUSING), pl.col("bad") > 0, pl.col("bad") < pl.col("votes"))
    split = split.join(rejected.select(item="id", sentence="premise"), on="item")
    split = split.sort((pl.col("bad") / pl.col("votes") - 0.5).abs(), "votes", "item", descending=[False, True, False])
    return {
        "constructions": counts,
        "judges": votes["judge"].unique().sort().to_list(),
        "prompts": dict(prompts.iter_rows()),
        "agreement": agreement(votes),
        "split": split.unique("item", keep="first", maintain_order=True).head(SPLIT).select("sentence", "task", "votes", "bad").to_dicts(),
    }
