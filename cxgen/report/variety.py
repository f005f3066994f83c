"""How varied the sentences are, beside a plain fill of one template with the same words."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.preview import sample_items
from cxgen.build.tables import dataset as read_dataset
from cxgen.build.tables import natural
from cxgen.constructicon import Construction, load_construction
from cxgen.families import DEFAULT
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.bleu import self_bleu
from cxgen.report.breadth import breadth
from cxgen.schema import TARGET
from cxgen.streams import order_key
from cxgen.tables import write_json

SENTENCES = 300  # distinct-2 falls with the number of sentences: both sides get as many
BLEU_SENTENCES = 100


def run(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``: what `variety` gives.

    Where writers wrote sets, too, what `beside` gives stands under ``writers``.
    """
    lexicon = Lexicon.of(project)
    table = read_dataset(project, DEFAULT)
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, seed)
    for name, entry in beside(natural(project), table.filter(pl.col("config") == DEFAULT), seed).items():
        if name in report:
            report[name]["writers"] = entry
    write_json(report, project.root / layout.metric("variety"))
    return report


def variety(dataset: pl.DataFrame, constructions: dict[str, Construction], seed: int) -> dict[str, Any]:
    """Per construction: numbers of sentences, the largest share of a template, `breadth`, and the measures of ``spread`` for its premises
    and hypotheses, beside those of ``plain_fill``.

    Args:
        dataset: columns ``construction, contrast_of, contrast_set, premise, hypothesis, template, verb, slots, split``.
        constructions: name -> construction; look-alikes and opposites are measured without a plain fill.
        seed: the project's seed.
    """
    report: dict[str, Any] = {}
    for (name,), rows in dataset.group_by("construction", maintain_order=True):
        premises = rows.unique("premise", maintain_order=True)
        largest = premises["template"].value_counts(sort=True)
        entry: dict[str, Any] = {
            "premises": premises.height,
            "hypotheses": rows["hypothesis"].n_unique(),
            "templates": largest.height,
            "largest template share": round(largest["count"][0] / premises.height, 4),
            "lexemes": rows.select(pl.col("slots").list.eval(pl.element().struct.field("sense")).explode().n_unique()).item(),
            "breadth": breadth(rows),
            "spread": _both(rows, seed),
        }
        if str(name) in constructions:
            entry["spread of a plain fill"] = _both(plain_fill(constructions[str(name)], seed), seed)
        report[str(name)] = entry
    return dict(sorted(report.items()))


def beside(written: pl.DataFrame, dataset: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Per construction that writers wrote sets of: ``sets``, and ``spread`` of as many of their sentences and of the templates'.

    Args:
        written: items of config ``natural``, columns as for `variety`.
        dataset: those of ``nli``.
        seed: the project's seed.
    """
    report: dict[str, Any] = {}
    for (name,), rows in written.group_by(TARGET.alias("target"), maintain_order=True):
        others = dataset.filter(name == TARGET)
        most = min(rows["contrast_set"].n_unique(), others["contrast_set"].n_unique())
        sides = {"natural": _both(rows, seed, most), "nli": _both(others, seed, most)} if most else {"natural": _both(rows, seed)}
        report[str(name)] = {"sets": rows["contrast_set"].n_unique(), **sides}
    return dict(sorted(report.items()))


def plain_fill(construction: Construction, seed: int) -> pl.DataFrame:
    """What filling one premise template and one hypothesis with the same words gives: the first of each."""
    design = next(design for design in construction.designs.values() if set(design.configs) & {"nli", "distinction"})
    kind, rule = design.kinds[0], design.rules[0]
    template = construction.templates_for(kind)[0]
    plain = replace(
        construction,
        designs={design.name: design},
        templates={name: replace(each, pattern=template.pattern) for name, each in construction.templates.items()},
        rules={name: replace(each, wordings=each.wordings[:1]) for name, each in construction.rules.items()},
    )
    items = sample_items(plain, seed, SENTENCES, "nli")
    premises = items.filter(pl.col("kind") == kind).select("contrast_set", "premise").unique(maintain_order=True)
    hypotheses = items.filter(pl.col("rule") == rule).select("contrast_set", "hypothesis").unique(maintain_order=True)
    return premises.join(hypotheses, on="contrast_set", maintain_order="left")


def _both(rows: pl.DataFrame, seed: int, most: int = SENTENCES) -> dict[str, dict[str, float]]:
    """Of a contrast set, whose premises share their words, one item takes part; of ``most`` sets at the most."""
    drawn = sorted(rows.select("contrast_set", "premise", "hypothesis").iter_rows(), key=lambda row: order_key(seed, *row))
    one = {row[0]: row for row in drawn}.values()
    return {name: spread(pl.Series([row[n] for row in islice(one, most)]), seed) for n, name in ((1, "premises"), (2, "hypotheses"))}


def spread(texts: pl.Series, seed: int) -> dict[str, float]:
    """Distinct-2 (higher is more varied; Li et al. 2016, "A diversity-promoting objective function", sec. 5) and type-token ratio of 300
    sentences and self-BLEU (lower is more varied; Zhu et al. 2018, "Texygen", sec. 3) of 100, drawn by hash.
    """
    distinct_texts = texts.unique(maintain_order=True)
    drawn = sorted(distinct_texts, key=lambda text: order_key(seed, text))[:SENTENCES]
    words = [text.lower().rstrip(".").split() for text in drawn]
    few = words[:BLEU_SENTENCES]
    tokens = [word.strip(",;:") for sentence in words for word in sentence]
    ratio = round(len(set(tokens)) / max(len(tokens), 1), 4)
    return {"distinct-2": distinct(words), "self-BLEU": round(self_bleu(few), 4) if len(few) > 1 else 0.0, "type-token": ratio}


def distinct(sentences: list[list[str]]) -> float:
    """Distinct bigrams over bigrams."""
    pairs = [pair for words in sentences for pair in pairwise(words)]
    return round(len(set(pairs)) / max(len(pairs), 1), 4)
