"""One page about the dataset: what it is, contrast sets, constructions, results, measures, audit. It loads nothing from elsewhere."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.gold import annotated
from cxgen.build.params import Params
from cxgen.build.tables import packaged_content, read_split, table_file, with_natural
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError
from cxgen.families import DEFAULT, NATURAL, REJECTED
from cxgen.files import read_json, require_place, write_text
from cxgen.lexicon import Lexicon
from cxgen.measures import measures
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.report import rendered
from cxgen.schema import TARGET
from cxgen.semantics import label_matrix
from cxgen.streams import order_keys
from cxgen.trees import Sentence
from cxgen.version import DATA_VERSION, __version__
from cxgen.vocabulary import BANDS, LABELS, SPLITS, VERB_ROLES, Role

_METRICS = ("splits", "baselines", "variety", "reading", "natural", "wug", "judge", "results")
_MOST_PAGE = 5 << 20  # bytes
_MOST_REFUSED = 3  # candidates of a construction shown for each question that judges are asked
_FIGURES = ("consistency", "capture", "excess")
_PARTS = ("construction", "verb_role", "design")
_LETTERS = [name[0].upper() for name in LABELS]
Row = dict[str, Any]
Tokens = list[tuple[str, str]]  # texts, spaces included, each with its slot or an empty one
Way = tuple[int, int, frozenset[int]]  # from a sentence to another: steps, how many places of the first they touch, which


def write_page(project: Project, path: Path, evaluations: Sequence[Path] = (), per_design: int = 12) -> int:
    """Write the page, with scores that ``cxgen evaluate --json`` printed and contrast sets ``per_design``; its size in bytes."""
    require_place(path)
    items = with_natural(project, "")
    metrics = {name: read_json(file, "run `dvc repro`") for name in _METRICS if (file := project.root / layout.metric(name)).is_file()}
    scores = [row for file in evaluations for row in _scores(file, packaged_content(project))]
    shown = _some_sets(items.drop_nulls("label"), per_design)
    tokens = {sentence.item: _tokens(sentence) for sentence, _ in annotated(project, shown.filter(pl.col("config") != NATURAL))}
    lexicon = Lexicon.of(project)
    constructions = [load_construction(project, name, lexicon) for name in items.select(TARGET).to_series().unique().sort()]
    sets = list(_grids(shown, tokens))
    text = rendered(
        "page",
        files("cxgen.report") / "page.html.j2",
        lambda: _facts(project, items, metrics, constructions, sets, scores),
        html=True,
        faults=lambda measure: "; ".join(broken_gates(measure)) or "broken",
    )
    size = len(text.encode())
    if size > _MOST_PAGE:
        raise DataError(f"the page would have {size / 2**20:.1f} MB", file=path, hint=f"show fewer sets: --sets {max(per_design // 2, 1)}")
    write_text(path, text)
    return size


def _facts(
    project: Project, items: pl.DataFrame, metrics: Row, constructions: Sequence[Construction], sets: list[Row], scores: list[Row]
) -> Row:
    """What the page says of the tables, the metrics, the constructions and evaluations."""
    counted = {"sets": "contrast_set", "premises": "premise_id", "verbs": "verb"}
    numbers = [pl.col(column).n_unique().alias(what) for what, column in counted.items()]
    numbers += [(pl.col("split") == split).sum().alias(split) for split in SPLITS]
    breadths = {name: entry["breadth"] for name, entry in metrics.get("variety", {}).items() if "breadth" in entry}
    audits = metrics.get("splits", {}).get("violations", {})
    audits = audits | {name: metrics[name]["violations"] for name in ("wug", "natural") if name in metrics}
    models = metrics.get("judge", {"judges": [], "agreement": {}})
    found = metrics.get("results", {})
    ours = found.get("content_hash", "") == packaged_content(project)  # else they are of another dataset, or of nobody knows which
    results: Row = found if ours else {"rows": [], "data_version": DATA_VERSION, "date": ""}
    return {
        "about": Params.read(project.params).publish,
        "versions": {"cxgen": __version__, "data": DATA_VERSION, "date": date.today()},
        "total": items.height,
        "first": _typical(sets, config=DEFAULT),
        "gallery": list(_gallery(project, constructions, items, sets, models.get("constructions", {}))),
        "results": results,
        "left_out": bool(found) and not ours,
        "scores": _by_config([*results["rows"], *scores]),
        "yours": bool(scores),
        "counts": items.group_by("config", maintain_order=True).agg(pl.len().alias("items"), *numbers).to_dicts(),
        "baselines": metrics.get("baselines", {}),
        "known": measures(),
        "violations": [{"part": part, "what": what, "count": count} for part, own in audits.items() for what, count in own.items()],
        "breadths": breadths,
        "reaches": {name: metrics["variety"][name]["reach"] for name in breadths},
        "reading": metrics.get("reading", {"answers": 0}),
        "models": models,
        "matrices": map(_matrices, constructions),
        "sets": json.dumps(sets, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "shown": len(sets),
        "all_sets": items.filter(pl.col("config").is_in([one["config"] for one in sets])).select("config", "contrast_set").n_unique(),
        "labels": dict(zip(_LETTERS, LABELS, strict=True)),
        "splits": SPLITS,
    }


def _scores(path: Path, content: str | None) -> list[Row]:
    """Rows of an evaluation, of the dataset with this ``content``, as ``results.json`` has them: of each config all, and parts by
    construction, verb role and design."""
    hint = "expected what `cxgen evaluate ... --json` prints"
    told = read_json(path, hint)
    rows: list[Row] = []
    try:
        for report in told if told and isinstance(told, list) else [told]:
            own = report.get("about", {}).get("content_hash")
            if own and content and own != content:
                what = f"an evaluation on another dataset: its content hash is {own[:16]}, that of this one {content[:16]}"
                raise DataError(what, file=path, hint="score the predictions again here: `cxgen evaluate FILE --json`")
            for config, whole in report["configs"].items():
                divided = {f"{by} {value}": own for by in _PARTS for value, own in whole["by"].get(by, {}).items()}
                for place, part in {"all": whole, **divided}.items():
                    row = {"name": report["name"] + "", "setting": "", "config": config, "part": place, "items": int(part["items"])}
                    figure = part["accuracy"]
                    row |= {"accuracy": _share(0 + figure["value"]), "low": _share(figure["low"]), "high": _share(figure["high"])}
                    row |= {figure: _share((part.get(figure) or {}).get("value"), -1) for figure in _FIGURES}
                    rows.append(row | {"chance": _share(whole["chance"]), "yours": True})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError("no evaluation", file=path, hint=hint) from error
    return rows


def _share(figure: float | None, least: int = 0) -> float | None:
    if figure is not None and not least <= figure <= 1:
        raise ValueError(figure)
    return figure


def _by_config(scores: Sequence[Row]) -> list[Row]:
    """Results by config: ``config``, the further ``figures`` that any row has, and ``parts``: what they divide by -> value -> rows."""
    configs: dict[str, Row] = {}
    for row in scores:
        own = configs.setdefault(row["config"], {"config": row["config"], "figures": [], "parts": {}})
        by, _, value = row["part"].partition(" ")
        own["parts"].setdefault(by, {}).setdefault(value, []).append(row)
        own["figures"] += [figure for figure in _FIGURES if row.get(figure) is not None and figure not in own["figures"]]
    return list(configs.values())


def _gallery(
    project: Project, constructions: Iterable[Construction], items: pl.DataFrame, sets: Sequence[Row], judged: Mapping[str, Any]
) -> Iterator[Row]:
    """Of each construction what it is, the place of a typical set, bars of counts (title, class, name -> count), and refused clauses."""
    none = pl.DataFrame(schema=dict.fromkeys(("construction", "reason", "id")))
    refused = read_split(project, REJECTED, REJECTED) if table_file(project, REJECTED, REJECTED).is_file() else none
    question = pl.col("reason").str.split(":").list.first()
    refused = refused.with_columns(order=order_keys((1, "page"), refused["id"])).sort("order")
    refused = refused.filter(pl.int_range(pl.len()).over("construction", question) < _MOST_REFUSED).sort(question, maintain_order=True)
    for each in constructions:
        own = items.filter(TARGET.eq(each.name))
        premises = own.unique("premise_id", keep="first", maintain_order=True)
        verbs = premises.select("verb", "slots").explode("slots").unnest("slots").filter(role=Role.verb, lemma=pl.col("verb"))
        bars = [
            ("Verbs", "split", own.filter(construction=each.name).select("verb", "split").unique()["split"], SPLITS),
            ("Frequency of the verb (premises)", "band", verbs["band"], BANDS),
            ("Lexical: the verb holds the meaning (premises)", "role", premises["verb_role"], VERB_ROLES),
        ]
        yield {
            "construction": each,
            "set": _typical(sets, construction=each.name),
            "bars": [(title, kind, {name: (own == name).sum() for name in names}) for title, kind, own, names in bars if own.count()],
            "judged": judged.get(each.name, {}),
            "refused": refused.filter(construction=each.name).to_dicts(),
        }


def _typical(sets: Sequence[Row], **wanted: str) -> int | None:
    """The place of the set to show first of those that have what is ``wanted``: a hypothesis takes most labels in it, and it is short."""

    def rank(place: int) -> tuple[int, int]:
        texts = [piece[0] for premise in sets[place]["premises"] for piece in premise["pieces"]] + sets[place]["hypotheses"]
        return -max(len({*column} - {""}) for column in zip(*sets[place]["cells"], strict=True)), sum(map(len, texts))

    places = [place for place, one in enumerate(sets) if all(one[key] == value for key, value in wanted.items())]
    own = [place for place in places if sets[place]["config"] == DEFAULT]
    return min(own or places, key=rank, default=None)


def _matrices(construction: Construction) -> Row:
    """Label matrices of a construction, each once, with the designs that have it: hypotheses (claim, a wording) and premise kinds."""
    tables: dict[Any, Row] = {}
    for design in construction.designs.values():
        matrix = label_matrix(construction, design)
        rules = [construction.rules[rule] for rule in dict.fromkeys(rule for row in matrix.values() for rule in row)]
        if not rules:
            continue
        kinds = [(kind, [_LETTERS[row[rule.name]] if rule.name in row else "" for rule in rules]) for kind, row in matrix.items()]
        table = tables.setdefault(repr(([rule.says for rule in rules], kinds)), {"designs": [], "rules": rules, "kinds": kinds})
        table["designs"].append(design.name)
    return {"construction": construction, "tables": list(tables.values())}


def _some_sets(items: pl.DataFrame, per_design: int) -> pl.DataFrame:
    """The items of ``per_design`` contrast sets of each config, construction and design."""
    by = ["config", "target", "design"]
    sets = items.select("config", "design", "contrast_set", target=TARGET).unique().sort(*by, "contrast_set")
    sets = sets.with_columns(order=order_keys((1, "page"), sets["contrast_set"])).sort(*by, "order")
    chosen = sets.filter(pl.int_range(pl.len()).over(by) < per_design)
    return items.join(chosen, on=["config", "contrast_set"], how="semi", maintain_order="left")


def _tokens(sentence: Sentence) -> Tokens:
    return [(token.form + (" " if token.space_after else ""), token.slot or "") for token in sentence.tokens]


def _pieces(premises: Sequence[Tokens]) -> Iterator[list[list[str | int]]]:
    """Each premise of a set divided at the borders of its slots: texts, slots (or empty), and 1 where another premise differs."""
    units = []
    for tokens in premises:
        fillers = groupby(enumerate(tokens), key=lambda token: token[1][1] or token[0])  # a slot's words are one unit
        units.append([("".join(text for _, (text, _) in group), slot if isinstance(slot, str) else "") for slot, group in fillers])
    words = [[text.strip().lower() for text, _ in own] for own in units]
    for texts, own in zip(words, units, strict=True):
        changed = frozenset().union(*(_changed(texts, other) for other in words))
        marked = ((text, slot, int(place in changed)) for place, (text, slot) in enumerate(own))
        yield [["".join(text for text, *_ in part), *key] for key, part in groupby(marked, key=lambda unit: unit[1:])]


def _changed(own: Sequence[str], other: Sequence[str]) -> frozenset[int]:
    """The places of ``own`` that are replaced or left out in a shortest way to make ``other`` of it (Levenshtein 1966)."""

    def marked(way: Way, place: int) -> Way:
        return way[0] + 1, way[1] + 1, way[2] | {place}

    ways: list[Way] = [(steps, 0, frozenset()) for steps in range(len(other) + 1)]
    for place, unit in enumerate(own):
        before, ways = ways, [marked(ways[0], place)]
        for last, up, theirs in zip(before, before[1:], other, strict=False):
            if unit == theirs:
                ways.append(last)
            else:
                ways.append(min(marked(last, place), marked(up, place), (ways[-1][0] + 1, *ways[-1][1:])))
    return ways[-1][2]


def _grids(items: pl.DataFrame, tokens: Mapping[str, Tokens]) -> Iterator[Row]:
    """Contrast sets for the browser: premises in pieces (those without ``tokens`` by words), hypotheses, and a letter per cell."""
    for _, rows in items.group_by("config", "contrast_set", maintain_order=True):
        premises = rows.unique("premise_id", keep="first", maintain_order=True).to_dicts()
        hypotheses = rows["hypothesis"].unique(maintain_order=True).to_list()
        labels = {row[:2]: _LETTERS[row[2]] for row in rows.select("premise_id", "hypothesis", "label").iter_rows()}
        words = [tokens.get(row["premise_id"]) or [(word, "") for word in re.findall(r"\S+\s*", row["premise"])] for row in premises]
        told = [{"kind": row["kind"], "of": row["construction"], "pieces": own} for row, own in zip(premises, _pieces(words), strict=True)]
        first = premises[0]
        yield {
            "id": first["contrast_set"],
            "construction": first["contrast_of"] or first["construction"],
            **{name: first[name] for name in ("config", "design", "split")},
            "premises": told,
            "hypotheses": hypotheses,
            "cells": [[labels.get((row["premise_id"], text), "") for text in hypotheses] for row in premises],
        }
