"""What readers' answers say: agreement, naturalness, what to mend. Intervals resample contrast sets, whose items share words."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.errors import needs
from cxgen.measures.figures import Resampling, figure
from cxgen.review.sample import CHECK, CONTINUATIONS, HYPOTHESIS, ITEM, KEYS, LABELS, MEMBERSHIP, PREMISE, REAL, SENTENCES, TASKS, TEXTS
from cxgen.streams import uniform

Floats = NDArray[np.float64]  # readers x units: the position of the answer among the task's, NaN where there is none
Level = Literal["nominal", "ordinal"]
_STATISTICS = {
    "full": "all say the same",
    "majority": "a majority says the same",
    "alpha": "Krippendorff's alpha",
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
}
DECISIONS = (LABELS, CONTINUATIONS, MEMBERSHIP)  # the tasks with answers that are right
_PASS = 0.75  # share of attention checks that a reader has to get right to count; of those of continuations all
_PAUSE = 10  # minutes without an answer, which are no work
_NATURAL = 4
_BAD = 2.5  # a sentence whose mean is at most this is to be mended
_MOST_MEND = 20  # rows of the table


def score(answers: pl.DataFrame, how: Resampling, everybody: bool = False) -> dict[str, Any]:
    """What answers of `read_answers` are worth; ``everybody``: those of readers who fail the attention checks, too.

    ``readers``: name -> ``list, answers, checks, checks_right, minutes`` (of work, in the form), ``counts``; ``labels, continuations,
    membership``: ``items, answers``, ``agree`` (answers that are right: the computed label, the good continuation, whether it is the
    construction) and ``majority_agrees`` (items whose right answer more than half give), ``readers`` (`_agreement`), ``confusion`` (right
    letter -> answer -> count), and the same of ``groups``; ``sentences``: ``answers, readers``, and for ``premise, hypothesis, real``:
    ``answers, mean, natural`` (share rated 4 or 5), ``distance`` to the real sentences of the same readers, also by ``groups``; ``mend``:
    see `_mend`."""
    readers = _readers(answers, everybody)
    counted = answers.filter(pl.col("reader").is_in([name for name, row in readers.items() if row["counts"]]))
    ours, rated = counted.filter(kind=ITEM), counted.filter((pl.col("task") == SENTENCES) & (pl.col("kind") != CHECK))
    decisions = {}
    for task in DECISIONS:
        own = ours.filter(task=task)
        groups = {name: _decided(rows, task, how, Resampling(0)) for name, rows in _by_group(own)}
        decisions[task] = {**_decided(own, task, how, how), "groups": groups}
    return {"readers": readers, **decisions, "sentences": _sentences(rated, how), "mend": _mend(ours)}


def _readers(answers: pl.DataFrame, everybody: bool) -> dict[str, dict[str, Any]]:
    passed = pl.col("right").str.contains(pl.col("answer"), literal=True).filter(pl.col("kind") == CHECK)
    sums = {"answers": (pl.col("kind") != CHECK).sum(), "checks": passed.count(), "checks_right": passed.sum()}
    counts = (passed.sum() >= _PASS * passed.count()) & (passed | (pl.col("task").filter(pl.col("kind") == CHECK) != CONTINUATIONS)).all()
    gaps = pl.col("at").str.to_datetime(strict=False, time_zone="UTC").drop_nulls().sort().diff().dt.total_seconds() / 60
    sums["minutes"] = pl.when(gaps.count() > 0).then(gaps.filter(gaps <= _PAUSE).sum().round(1))
    rows = answers.group_by("reader").agg(pl.col("list").first(), **sums, counts=counts | everybody).sort("reader").to_dicts()
    return {row.pop("reader"): row for row in rows}


def _decided(rows: pl.DataFrame, task: str, how: Resampling, of_readers: Resampling) -> dict[str, Any]:
    hits = rows.with_columns(value=pl.col("answer") == pl.col("right"), construction="group", cluster="contrast_set")
    items = hits.group_by("code", maintain_order=True).agg(pl.col("construction", "cluster").first(), value=pl.col("value").mean() > 0.5)
    counts = {(right, answer): count for right, answer, count in rows.group_by("right", "answer").len().iter_rows()}
    confusion = {right: {answer: counts.get((right, answer), 0) for answer in KEYS[task]} for right in KEYS[task]}
    shares = {"agree": figure(hits, how), "majority_agrees": figure(items, how), "readers": _agreement(rows, task, of_readers)}
    return {"items": items.height, "answers": hits.height, **shares, "confusion": confusion}


def _sentences(rated: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    table = rated.with_columns(rating=pl.col("answer").cast(pl.Int64), side=pl.col("side").fill_null(REAL))
    base = table.filter(side=REAL).group_by("reader").agg(base=pl.col("rating").mean())
    table = table.join(base, on="reader", how="left", maintain_order="left").with_columns(less=pl.col("rating") - pl.col("base"))
    return {
        "answers": rated.height,
        "readers": _agreement(rated.filter(kind=ITEM), SENTENCES, how),
        **{side: _ratings(table.filter(side=side)) for side in (PREMISE, HYPOTHESIS, REAL)},
        "groups": {name: {side: _ratings(rows.filter(side=side)) for side in (PREMISE, HYPOTHESIS)} for name, rows in _by_group(table)},
    }


def _by_group(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    return ((str(name), own) for (name,), own in rows.drop_nulls("group").sort("group").group_by("group", maintain_order=True))


def _ratings(rows: pl.DataFrame) -> dict[str, Any]:
    values = {"mean": pl.col("rating"), "natural": pl.col("rating") >= _NATURAL, "distance": pl.col("less")}
    means = rows.select(**{name: value.cast(pl.Float64).mean() for name, value in values.items()}).row(0, named=True)
    return {"answers": rows.height, **{name: mean if mean is None else round(mean, 4) for name, mean in means.items()}}


def _mend(ours: pl.DataFrame) -> list[dict[str, Any]]:
    """The items with a wrong answer or a mean rating of at most 2.5, the worst first: ``item, contrast_set, group, task, side``, texts,
    ``right, answers`` (counts), ``against`` (answers that are not right; of labels and continuations), ``notes``."""
    hit, rated = pl.col("answer") == pl.col("right"), pl.col("task") == SENTENCES
    worth = pl.when(rated).then(pl.col("answer").cast(pl.Float64, strict=False)).otherwise(hit.cast(pl.Float64))
    table = ours.with_columns(against=~hit, worth=worth)
    shown = ("item", "contrast_set", "group", "task", "side", *TEXTS, "right")
    cells = {"answers": pl.col("answer"), "against": pl.col("against").sum(), "worth": pl.col("worth").mean()}
    cells["notes"] = pl.col("note").filter(pl.col("note") != "")
    items = table.group_by("code", maintain_order=True).agg(pl.col(shown).first(), **cells)
    bad = pl.when(rated).then(pl.col("worth") <= _BAD).otherwise(pl.col("worth") < 1)
    rows = items.filter(bad).sort("task", "worth", "code").drop("code", "worth").to_dicts()
    for row in rows:
        row["answers"] = {answer: row["answers"].count(answer) for answer in sorted(set(row["answers"]))}
        if row["task"] in {SENTENCES, MEMBERSHIP}:  # what is no reason to drop a set
            del row["against"]
        if row["task"] == SENTENCES:
            del row["right"]
    return rows


def _agreement(answers: pl.DataFrame, task: str, how: Resampling) -> dict[str, Any]:
    """``units`` (rows with two answers or more; others say nothing of agreement), and `statistics` with percentile intervals."""
    places = {answer: float(place) for place, answer in enumerate(KEYS[task])}
    shared = answers.filter(pl.len().over("code") > 1).with_columns(place=pl.col("answer").replace_strict(places, return_dtype=pl.Float64))
    data = shared.pivot("code", index="reader", values="place", maintain_order=True).sort("reader").drop("reader").to_numpy()
    clusters = shared.unique("code", maintain_order=True)["contrast_set"].to_numpy()
    units = [np.flatnonzero(clusters == name) for name in sorted(set(clusters))]
    level: Level = "ordinal" if task == SENTENCES else "nominal"
    samples: list[dict[str, float | None]] = []
    if how.resamples and len(units) > 1:
        drawn = (uniform((how.seed, "agreement"), 0, how.resamples * len(units)) * len(units)).astype(np.int64).reshape(how.resamples, -1)
        samples = [statistics(data[:, np.concatenate([units[place] for place in row])], level) for row in drawn]
    report: dict[str, Any] = {"units": data.shape[1]}
    for name, value in (statistics(data, level) if data.size else dict.fromkeys(_STATISTICS)).items():
        values = [number for sample in samples if value is not None and (number := sample[name]) is not None]
        ends = np.quantile(values, [(1 - how.level) / 2, (1 + how.level) / 2]).round(4).tolist() if values else (None, None)
        report[name] = {"value": None if value is None else round(value, 4), "low": ends[0], "high": ends[1]}
    return report


def statistics(data: Floats, level: Level) -> dict[str, float | None]:
    """The shares of units about which all readers, or more than half of them, say the same (``full, majority``); and, None where only one
    answer occurs, Krippendorff's ``alpha`` (2011), Cohen's kappa (``cohen``) and Fleiss' (``fleiss``)."""
    with needs("agreement needs the package krippendorff", "review"):
        import krippendorff
    values = np.unique(data[~np.isnan(data)])
    counts = np.stack([(data == value).sum(axis=0) for value in values], axis=1)
    most, numbers = counts.max(axis=1), counts.sum(axis=1)
    alpha = float(krippendorff.alpha(reliability_data=data, level_of_measurement=level)) if len(values) > 1 else None
    shares = {"full": float(np.mean(most == numbers)), "majority": float(np.mean(most * 2 > numbers))}
    return {**shares, "alpha": alpha, "cohen": _cohen(data), "fleiss": _fleiss(counts)}


def _cohen(data: Floats) -> float | None:
    """Cohen 1960: the mean over the pairs of readers for whom it is defined, each weighted by the units that both answered."""
    kappas, weights = [], []
    for both in (np.array(pair)[:, ~np.isnan(pair).any(axis=0)] for pair in combinations(data, 2)):
        expected = sum(float(np.prod((both == value).mean(axis=1))) for value in np.unique(both))
        if both.size and expected < 1:
            kappas.append((float(np.mean(both[0] == both[1])) - expected) / (1 - expected))
            weights.append(both.shape[1])
    return float(np.average(kappas, weights=weights)) if kappas else None


def _fleiss(counts: NDArray[np.int64]) -> float | None:
    """Fleiss 1971, over the units (units x answers) with the commonest number of answers n: (P - Pe) / (1 - Pe), P = mean_i sum_j n_ij
    (n_ij - 1) / (n (n - 1)), Pe = sum_j p_j^2."""
    n = int(np.bincount(counts.sum(axis=1)).argmax())
    chosen = counts[counts.sum(axis=1) == n].astype(np.float64)
    expected = float(((chosen.sum(axis=0) / chosen.sum()) ** 2).sum())
    if n < 2 or expected == 1:
        return None
    observed = float(((chosen * (chosen - 1)).sum(axis=1) / (n * (n - 1))).mean())
    return (observed - expected) / (1 - expected)


def tables(report: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The report for people, heading -> rows: readers, figures, groups, what to mend. Cells with intervals are texts."""
    mend = report["mend"]
    more = f"to mend (the worst {_MOST_MEND} of {len(mend)}; all with --json)" if len(mend) > _MOST_MEND else "to mend"
    return {
        "readers": [{"reader": name, **row} for name, row in report["readers"].items()],
        "figures": _figures(report),
        **{f"{task} by group": list(_groups(report[task]["groups"])) for task in DECISIONS},
        f"{SENTENCES} by group": list(_rated(report[SENTENCES]["groups"])),
        more: [_mending(row) for row in mend[:_MOST_MEND]],
    }


def _figures(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows, sentences = [], report[SENTENCES]
    for task in DECISIONS:
        own, right = report[task], TASKS[task]["right"]
        rows += [(task, f"answers that are {right}", own["answers"], _span(own["agree"]))]
        rows += [(task, "items whose majority is it", own["items"], _span(own["majority_agrees"]))]
    for task in (*DECISIONS, SENTENCES):
        part = report[task]["readers"]
        rows += [(task, meaning, part["units"], _span(part[name])) for name, meaning in _STATISTICS.items()]
    for side, what in ((PREMISE, "premises"), (HYPOTHESIS, "hypotheses"), (REAL, "real sentences")):
        ratings = sentences[side]
        if ratings["answers"]:
            away = "" if side == REAL or ratings["distance"] is None else f", {ratings['distance']:+.2f} from real ones"
            text = f"mean {ratings['mean']:.2f}, {ratings['natural']:.1%} rated 4 or 5{away}"
            rows.append((SENTENCES, what, ratings["answers"], text))
    return [{"task": task, "what": what, "of": of, "figure": text} for task, what, of, text in rows if of]


def _span(figure: Mapping[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "-"
    return f"{figure['value']:.3f}" + ("" if figure["low"] is None else f" ({figure['low']:.3f} to {figure['high']:.3f})")


def _groups(groups: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of continuations the two figures of CxMP's Table 3 are ``majority`` and ``all the same``."""
    for name, own in sorted(groups.items()):
        readers = own["readers"]
        figures = {"agree": own["agree"], "majority": own["majority_agrees"], "all the same": readers["full"], "alpha": readers["alpha"]}
        yield {"group": name, "items": own["items"], "answers": own["answers"], **{what: _span(value) for what, value in figures.items()}}


def _rated(groups: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, own in sorted(groups.items()):
        row: dict[str, Any] = {"group": name}
        for side, what in ((PREMISE, "premises"), (HYPOTHESIS, "hypotheses")):
            row |= {what: own[side]["mean"], f"{what} from real": own[side]["distance"]}
        yield row


def _mending(row: Mapping[str, Any]) -> dict[str, Any]:
    answers = " ".join(f"{answer}:{count}" for answer, count in row["answers"].items())
    cells = {"item": row["item"], "group": row["group"], "computed": row.get("right"), "answers": answers}
    return cells | {"text": " / ".join(filter(None, (row[text] for text in TEXTS))), "notes": "; ".join(row["notes"])}
