"""Items as questions, answers to them, and what answers are worth. A new score is a line in `SCORES`: reports and tables have it."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from cxgen.constructicon.load import VARIANTS
from cxgen.errors import DataError, needs
from cxgen.measures.figures import Resampling, figure
from cxgen.schema import TARGET
from cxgen.streams import order_keys
from cxgen.suites import SUITES, scoring_of
from cxgen.suites.cc_semantics import BASE
from cxgen.vocabulary import NEUTRAL, Role

Figures = Mapping[str, dict[str, Any] | None]
WUG = "_wug"
CELL = ["construction", "cluster"]
_DIFFERENCE = pl.col("hit") - pl.col("other")  # of two answers to the same question; a column of a user's may be called so, too
_TEXTS = ("source_id", "real", "pair_group", "variant", "entity_type", "mode")  # columns that not every config has, like the next
_FLAGS = ("switched", "wording_held_out", "template_held_out")
_OPTIONAL = pl.DataFrame(schema=dict.fromkeys(_TEXTS, pl.String) | dict.fromkeys(_FLAGS, pl.Boolean))
_OF_FAMILIES = {
    "construction": TARGET,
    "premise": pl.col("construction"),
    "split": pl.col("split"),
    "design": pl.concat_str(TARGET, "design", separator="/"),
    "band": pl.col("band"),
    "verb_role": pl.col("verb_role"),
    "variant": pl.col("variant"),
    "side": pl.when(pl.col("variant") != "").then(pl.concat_str(TARGET, "variant", separator="/")),
    "entity_type": pl.col("entity_type"),
    "switched": pl.when(pl.col("switched").any().over(TARGET)).then("switched"),  # not of participants that cannot change places
    **{name: pl.col(name) for name in ("mode", "wording_held_out", "template_held_out")},
}
# Columns of `questions` and `answered` that are no ways to divide items.
FIXED = ("id", "config", "like", "contrast_set", "right", "lure", "cluster", "source_id", "group", "answer", "answers", "numbers", "hit")
# Ways to divide the items of a config. Which of them a config has depends on its columns and on how many values there are.
DIMENSIONS = tuple(dict.fromkeys((*_OF_FAMILIES, *(name for suite in SUITES.values() for name in suite.dimensions))))
# The columns of `questions` that a user's items may lack.
NO_QUESTIONS = pl.DataFrame(schema=dict.fromkeys((*DIMENSIONS, "source_id", "group"), pl.String) | {"lure": pl.Int8})


def questions(rows: pl.DataFrame, config: str, sources: pl.DataFrame | None = None) -> pl.DataFrame:
    """The items of a config as questions; ``sources``: of items with pseudowords, those with the real words.

    ``id, config, contrast_set``; ``like`` (the config without pseudowords: whose scoring it has, whose train split is learnt from);
    ``right, lure`` (i8: positions of the right answer and of a misreading's, null where there is none); ``cluster`` (what its contrast set
    is resampled with: the verb of most of its items, the real one under a pseudoword; what a suite says); ``source_id`` (of pseudowords);
    ``group`` (premises with the same two answers); `DIMENSIONS` (strings, null where they do not apply)."""
    suite, scoring = SUITES.get(config), scoring_of(config)
    right, lured = scoring.right().cast(pl.Int8), scoring.lured(rows.columns).cast(pl.Int8)
    if sources is not None:
        rows = rows.join(sources.select(source_id="id", real="verb"), on="source_id", how="left", maintain_order="left")
    if not suite:
        fillers = rows.select("id", "verb", "slots").explode("slots").unnest("slots").filter(role=Role.verb.value)
        bands = fillers.filter(pl.col("lemma") == pl.col("verb")).unique("id", keep="first").select("id", "band")
        rows = rows.join(bands, on="id", how="left", maintain_order="left")
    rows = pl.concat([rows, _OPTIONAL], how="diagonal_relaxed")
    own = {"construction": pl.col("construction"), "split": pl.col("split"), **suite.dimensions} if suite else _OF_FAMILIES
    none, words = pl.lit(None, dtype=pl.String), {"true": "yes", "false": "no", "": None}
    return rows.select(
        *("id", "contrast_set", right.alias("right"), lured.alias("lure")),
        (suite.cluster if suite else pl.coalesce("real", "verb").mode().min().over("contrast_set")).alias("cluster"),
        *(own.get(name, none).cast(pl.String).replace(words).alias(name) for name in DIMENSIONS),
        config=pl.lit(config),
        like=pl.lit(config.removesuffix(WUG)),
        source_id="source_id",
        group="pair_group",
    )


def first_sets(asked: pl.DataFrame, limit: int) -> pl.DataFrame:
    """Of `questions` of one config at most ``limit``, in whole contrast sets, as many of each construction as can be: of a smaller limit, a
    part of these. DataError where the first one is larger."""
    sets = asked.group_by("contrast_set", maintain_order=True).agg(pl.len().alias("items"), pl.col("construction").min())
    sets = sets.with_columns(order=pl.Series(order_keys(("limit",), sets["contrast_set"]), dtype=pl.Binary)).sort("order")
    sets = sets.with_columns(before=pl.col("items").cum_sum().over("construction") - pl.col("items")).sort("before", "order")
    if (least := sets["items"][0]) > limit:
        raise DataError(f"--limit {limit} is less than the first contrast set of {asked['config'][0]}", hint=f"--limit {least} or more")
    return asked.join(sets.filter(pl.col("items").cum_sum() <= limit), on="contrast_set", how="semi", maintain_order="left")


def answered(asked: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """`questions` with what ``answers`` (of `predictions`) says of them, by ``id``: ``answers``, ``answer`` (i8: the one that there is) and
    ``hit``, see `_given`: undecided is wrong."""
    both = asked.join(answers, on="id", how="left", maintain_order="left")
    one = pl.when(pl.col("answers").list.len() == 1).then(pl.col("answers").list.first())
    return both.with_columns(answer=one, hit=_given("right"))


def _given(name: str) -> pl.Expr:
    """How far the answer in column ``name`` was given: 1 or 0; 1/k where k have the largest number and it is among them, as often as a
    guess finds it."""
    found = pl.col("answers").list.contains(pl.col(name)).cast(pl.Float64) / pl.col("answers").list.len()
    return pl.when(pl.col("answers").list.len() > 0).then(found).fill_null(0.0)


def _accuracy(rows: pl.DataFrame, how: Resampling) -> Figures:
    """The share of items that are right, and of contrast sets in which every item is (Gardner et al. 2020)."""
    sets = rows.group_by("contrast_set", maintain_order=True).agg(pl.col(CELL).first(), value=pl.col("hit").product())
    return {"accuracy": figure(rows.select(*CELL, value="hit"), how), "consistency": figure(sets, how)}


def _capture(rows: pl.DataFrame, how: Resampling) -> Figures:
    """Of items with a ``lure`` the share answered with it; and on neutral ones that share less the share answered with the third label:
    above 0, it is the misreading and not mere doubt."""
    rows = rows.filter(pl.col("lure").is_not_null())
    if not rows.height:
        return {}
    taken, other = _given("lure"), pl.when(pl.col("lure") != pl.col("right")).then("hit").otherwise(0.0)
    third = (pl.col("answers").list.len() > 0).cast(pl.Float64) - taken - other
    excess = rows.filter(right=NEUTRAL).select(*CELL, value=taken - third)
    return {"capture": figure(rows.select(*CELL, value=taken), how), "excess": figure(excess, how)}


def _biases(rows: pl.DataFrame, how: Resampling) -> Figures:
    """The biases of CxMP (Oba and Sugawara 2026, section 5.2), means within constructions, then over them. With acc(c, e, v, o) the
    accuracy on construction c, entity type e, side v, order o: ``bias_i`` of abs(acc(c, e, v, original) - acc(c, e, v, switched)), that of
    who goes by the continuation alone; ``bias_ii`` of abs(acc(c, e, A) - acc(c, e, B)), of who takes the first participant, or the nearest
    one. Participants that cannot change places have one order. No intervals: resampling adds to absolute differences; ``guesser`` is what a
    guesser gets with as many items, the mean of abs(x) for a normal x of the differences' variance."""
    gap, both = pl.col("score").max() - pl.col("score").min(), pl.col("orders") == 2
    orders = rows.drop_nulls(["variant", "entity_type"]).group_by("construction", "entity_type", "variant", "switched", maintain_order=True)
    by_side = orders.agg(score=pl.col("hit").mean(), noise=0.25 / pl.len())
    sides = by_side.group_by("construction", "entity_type", "variant", maintain_order=True).agg(
        pl.col("score").mean(), pl.col("noise").sum(), gap=gap, orders=pl.len(), fixed=pl.col("switched").is_null().all()
    )
    types = sides.filter(both | pl.col("fixed")).group_by("construction", "entity_type")
    of_types = types.agg(gap=gap, sides=pl.len(), noise=(pl.col("noise") / pl.col("orders") ** 2).sum())
    figures: dict[str, dict[str, Any] | None] = {}
    for name, part in (("bias_i", sides.filter(both)), ("bias_ii", of_types.filter(sides=len(VARIANTS)))):
        guessed = (pl.col("noise") * 2 / math.pi).sqrt().mean()
        means = part.group_by("construction").agg(pl.col("gap").mean(), guesser=guessed).select(pl.col("gap", "guesser").sort().mean())
        if part.height:
            value, guesser = (round(mean, 4) for mean in means.row(0))
            figures[name] = {"value": value, "low": None, "high": None, "guesser": guesser}
    return figures


def _failures(rows: pl.DataFrame, how: Resampling) -> Figures:
    """How two premises with the same two continuations fail together, as shares of the pairs of premises that are decided as a whole:
    the same continuation is chosen after both; each time the one that the other premise entails."""
    pairs = rows.filter(pl.col("group").is_not_null()).group_by("group", maintain_order=True)
    decided = (pl.len() == 2) & pl.col("answer").is_not_null().all()
    whole = pairs.agg(pl.col(CELL).first(), pl.col("hit").sum(), decided=decided).filter("decided")
    wrong = {"same_choice": pl.col("hit") == 1, "both_wrong": pl.col("hit") == 0}
    return {name: figure(whole.select(*CELL, value=value), how) for name, value in wrong.items()} if whole.height else {}


# Names of figures -> what gives those of them that apply, from rows of `answered`.
SCORES: dict[tuple[str, ...], Callable[[pl.DataFrame, Resampling], Figures]] = {
    ("accuracy", "consistency"): _accuracy,
    ("capture", "excess"): _capture,
    ("bias_i", "bias_ii"): _biases,
    ("same_choice", "both_wrong"): _failures,
}


def scores(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """What the answers to a config's questions are worth: `part` over all, ``chance`` (of a guess) and ``by``: dimension -> value ->
    `part`; where there are scenarios, these. Questions that have no right answer count only there."""
    more = _scenarios(rows, how) if rows["like"][0] in SUITES else {}  # a user's items may have such a column
    chance = 1 / len(scoring_of(rows["like"][0]).answers)
    rows = rows.filter(pl.col("right").is_not_null())
    by: dict[str, dict[str, Any]] = {}
    for dimension in (name for name in rows.columns if name not in FIXED):
        values = rows[dimension].drop_nulls().unique().sort()
        if len(values) > 1 or (dimension == "construction" and len(values)):
            by[dimension] = {value: part(rows.filter(pl.col(dimension) == value), how) for value in values}
    return {**part(rows, how), "chance": round(chance, 4), "by": by, **({"scenarios": more} if more else {})}


def part(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """``items, right, undecided, sets, verbs`` (counts, `right` that of `_given`; sets count as far as their items are among ``rows``) and
    the figures that apply."""
    right, undecided = round(float(rows["hit"].sum()), 2), int((rows["answers"].list.len() == 0).sum())
    counts: dict[str, Any] = {"items": rows.height, "right": int(right) if right.is_integer() else right, "undecided": undecided}
    counts |= {"sets": rows["contrast_set"].n_unique(), "verbs": rows.select(CELL).unique().height}
    return counts | {name: value for function in SCORES.values() for name, value in function(rows, how).items()}


def _scenarios(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """After Weissweiler et al. 2022, Tables 2 to 5: ``accuracy`` and ``flips`` (share of decided base items that are answered with the
    other word here): scenario -> ``-`` (as answered) and every calibration (None without numbers) -> figure; ``should_flip``: scenario ->
    share whose right answer is the other one here. A tie is half right, and decides nothing.

    Calibrated is P(word | text) / mean P(word | calibration's examples) (section 4.1.3), from numbers that are log-probabilities."""
    rows = rows.drop_nulls("scenario")
    tests, open_ones = rows.drop_nulls("right").sort("scenario", maintain_order=True), rows.filter(pl.col("right").is_null())
    numbers = [pl.col("numbers").list.get(place) for place in (0, 1)]
    priors = (((number - number.max()).exp().mean().log() + number.max()).alias(f"prior_{place}") for place, number in enumerate(numbers))
    means = open_ones.group_by("contrast_set", "scenario").agg(*priors)
    report: dict[str, Any] = {"accuracy": {}, "flips": {}, "should_flip": {}}
    for name in ("-", *open_ones["scenario"].unique().sort()) if tests.height else ():
        own = tests
        if name != "-":
            own = own.join(means.filter(scenario=name).drop("scenario"), on="contrast_set", maintain_order="left")
            more = (numbers[0] - pl.col("prior_0")) - (numbers[1] - pl.col("prior_1"))
            own = own.with_columns(more=more, answer=pl.when(more > 0).then(0).when(more < 0).then(1))
            own = own.with_columns(hit=pl.when(more == 0).then(0.5).otherwise((pl.col("answer") == pl.col("right")).cast(pl.Float64)))
        known = name == "-" or not own["more"].null_count()
        base = own.filter(scenario=BASE).select("contrast_set", base="answer", base_right="right")
        for (scenario,), here in own.group_by("scenario", maintain_order=True):
            report["accuracy"].setdefault(scenario, {})[name] = figure(here.select(*CELL, value="hit"), how) if known else None
            both = here.join(base, on="contrast_set", maintain_order="left") if scenario != BASE else here.clear()
            if both.height:
                decided = both.drop_nulls(["answer", "base"]).select(*CELL, value=pl.col("answer") != pl.col("base"))
                report["flips"].setdefault(scenario, {})[name] = figure(decided, how) if known else None
                report["should_flip"][scenario] = round((both["right"] != both["base_right"]).sum() / both.height, 4)
    return report if tests.height else {}


def compared(first: pl.DataFrame, second: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """How two answerers of the same questions (from `answered`) differ, item by item: ``items``; ``accuracy``, ``consistency`` (figures:
    the first's less the second's); ``only_first``, ``only_second`` (items that one alone gets right; of guesses, see `_given`, as many as
    are to be expected); ``p``: McNemar's exact test on these, which takes items for independent, as those of a set are not: where it and
    the interval disagree, believe the interval."""
    with needs("comparing predictions needs SciPy", "report"):
        from scipy.stats import binomtest
    both = first.sort("id").drop("other", strict=False).join(second.select("id", other="hit"), on="id", maintain_order="left")
    sets = both.group_by("contrast_set", maintain_order=True).agg(pl.col(CELL).first(), pl.col("hit", "other").product())
    only = [round(float((both[one] * (1 - both[two])).sum())) for one, two in (("hit", "other"), ("other", "hit"))]
    figures = {name: figure(rows.select(*CELL, value=_DIFFERENCE), how) for name, rows in (("accuracy", both), ("consistency", sets))}
    p = float(binomtest(only[0], sum(only)).pvalue) if any(only) else 1.0
    return {"items": both.height, **figures, "only_first": only[0], "only_second": only[1], "p": p}


def wug_differences(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """What pseudowords cost: config -> mode (and ``all``) -> ``items`` and the figures ``wug, real, difference`` (paired item by item); of
    configs all of whose items with real words are among ``rows``, too."""
    report: dict[str, Any] = {}
    values = {"wug": pl.col("hit"), "real": pl.col("other"), "difference": _DIFFERENCE}
    for config in sorted(name for name in set(rows["config"]) if name.endswith(WUG)):
        real = rows.filter(config=config.removesuffix(WUG)).select(source_id="id", other="hit")
        broken = rows.filter(config=config).drop("other", strict=False)
        pairs = broken.join(real, on="source_id", how="inner", maintain_order="left")
        if pairs.height == broken.height:
            modes = {"all": pairs, **{mode: pairs.filter(mode=mode) for mode in pairs["mode"].unique().sort()}}
            report[config] = {
                mode: {"items": own.height, **{name: figure(own.select(*CELL, value=value), how) for name, value in values.items()}}
                for mode, own in modes.items()
            }
    return report
