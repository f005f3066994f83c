"""What a label turns on: another reading of the same words, or the words; and which items need the construction."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.families.core import Family
from cxgen.measures.words import open_words
from cxgen.sampling.pools import Pools, design_pools
from cxgen.sampling.ways import WORD_FORMS
from cxgen.semantics import label_matrix, misread_labels, solve
from cxgen.vocabulary import LABELS, NEUTRAL, Role

WORDS, MISREADING = "words", "misreading"
TURNS = "turns on: a kind with the same open-class words and another label there; misreading: taking it for the target; words: no kind has"
NEEDS = ("construction", "verb", "words")
NEEDED = """\
An item needs the construction if another reading of its premise's words gives another label, its claim is about the clause of the
construction's verb, and this verb does not hold the meaning by itself. Another reading is another kind of the design with the same
open-class words (of a look-alike or opposite: a kind of the target), or what a look-alike is misread as."""
_JOINS = (  # those of templates/_shared.yaml, and others of one's own
    *("and", "then", "but", "before", "after", "while", "as", "when"),
    *("because", "so", "although", "though", "whereas", "unless"),
)
_Clauses = list[Counter[str]]


def turns(construction: Construction, design: Design, broken: frozenset[str] = frozenset()) -> dict[str, dict[str, str]]:
    """Cell of a design's label matrix -> another reading that gives another label (see `NEEDED`), an opposite one if possible: a kind, or
    ``MISREADING``; or ``WORDS``. With pseudowords in the slots ``broken``."""
    matrix = label_matrix(construction, design, broken)
    bags = {kind: [sum(clauses, Counter[str]()) for clauses in _premises(construction, kind)] for kind in matrix}
    targets = [kind for kind in matrix if construction.kinds[kind].construction == construction.name]
    taken = {kind: misread_labels(construction, design, kind) for kind in matrix}

    def turns_on(kind: str, rule: str, label: int) -> str:
        if taken[kind].get(rule, label) != label:
            return MISREADING
        others = [other for other in (matrix if kind in targets else targets) if bags[other] == bags[kind]]
        others = [other for other in others if matrix[other].get(rule, label) != label]
        return min(others, key=lambda other: matrix[other][rule] == NEUTRAL, default=WORDS)

    return {kind: {rule: turns_on(kind, rule, label) for rule, label in row.items()} for kind, row in matrix.items()}


def cells(construction: Construction, family: Family) -> pl.DataFrame:
    """The cells of the family's designs: ``config, design, kind, rule, claim, label``, ``turns_on``, the cell's ``share`` of the
    config's items, and ``construction, verb, words``: the shares of its own items that need each, given the verbs of the scenes."""
    rows = [row for design in construction.designs.values() for row in _cells(construction, design, family)]
    texts = dict.fromkeys(("config", "design", "kind", "rule", "claim", "label", "turns_on"), pl.String)
    table = pl.DataFrame(rows, schema=texts | dict.fromkeys(("share", *NEEDS), pl.Float64), orient="row")
    return table.with_columns(pl.col("share") / pl.col("share").sum().over("config"))


def _cells(construction: Construction, design: Design, family: Family) -> Iterator[tuple[Any, ...]]:
    configs, matrix = [config for config in design.configs if config in family.configs], label_matrix(construction, design)
    selections = solve(matrix) if configs else []
    if not selections:
        return
    counts, premises = Counter(chain.from_iterable(selections)), {kind: [*_premises(construction, kind)] for kind in matrix}
    other, pools = turns(construction, design), design_pools(construction, design, {}, None)
    lexical = {kind: _lexical(construction, pools, kind) for kind in matrix}
    for config in configs:
        sharing, counted = family.sharing(construction, design, config), family.rows_per_set(construction, design, config)
        weight = design.weight / sum(one.weight for one in sharing) / counted / len(selections)
        for cell, count in sorted(counts.items(), key=lambda item: (design.kinds.index(item[0].kind), design.rules.index(item[0].rule))):
            rule, reading, verb = construction.rules[cell.rule], other[cell.kind][cell.rule], lexical[cell.kind]
            turned = 0.0 if reading == WORDS else _within(construction, cell.kind, premises[cell.kind], rule.claim.args, cell.label)
            needs = (turned * (1 - verb), turned * verb, 1 - turned)
            yield config, design.name, cell.kind, cell.rule, rule.says, LABELS[cell.label], reading, weight * count, *needs


def _lexical(construction: Construction, pools: Pools, kind: str) -> float:
    """About the share of a kind's sets whose verb holds the meaning; 0 for kinds of another construction, which are not asked about."""
    own, lemmas = construction.kinds[kind], construction.lexicon.lemmas
    if own.construction != construction.name:
        return 0.0
    verbs, seldom = enumerate(zip(pools.frames, pools.candidates[own.verb], strict=True)), pools.seldom[own.verb]
    chances = [(frame, rows, [seldom.get((at, row), 1.0) for row in rows]) for at, (frame, rows) in verbs]  # as they are drawn
    held = [np.average([lemmas[row] in frame.entails_alone for row in rows], weights=weights) for frame, rows, weights in chances]
    return float(pools.weights @ held)


def summed(table: pl.DataFrame, *by: str) -> pl.DataFrame:
    """`cells` by the columns ``by``: their ``share`` of the items, and of these the shares that need each of ``NEEDS``."""
    needs = [((pl.col(name) * pl.col("share")).sum() / pl.col("share").sum()).alias(name) for name in NEEDS]
    return table.group_by(by, maintain_order=True).agg(pl.col("share").sum(), *needs)


def _within(construction: Construction, kind: str, premises: Sequence[_Clauses], slots: Sequence[str], label: int) -> float:
    """The share of a kind's ``premises`` whose verb's clause mentions ``slots``: all that are there, or one if the label is no neutral.

    Where this clause has no agent, the subject of another one is its own."""
    verb, agents = construction.kinds[kind].verb, {name for name, slot in construction.slots.items() if slot.role == Role.agent}
    within = []
    for clauses in premises:
        own = next((clause for clause in clauses if verb in clause), Counter[str]()).keys()
        elsewhere = set(slots) & sum(clauses, Counter[str]()).keys() - own - (set() if own & agents else agents)
        within.append(not elsewhere or (label != NEUTRAL and bool(set(slots) & own - agents)))
    return float(np.mean(within))


def _premises(construction: Construction, kind: str) -> Iterator[_Clauses]:
    """The slots and open-class words (in quotes) of a kind's premises, template by template, clause by clause."""
    own = re.findall(r"\w+", construction.form.lower())  # which join no clause of another event: *hardly ... when*
    joins = rf"\b(?:{'|'.join(word for word in _JOINS if word not in own)})\b"
    for template in construction.templates_for(kind):
        parts = construction.premise_parts(kind, template.name)
        joined = re.match(joins, parts[0].text.lstrip(), re.IGNORECASE)  # then a comma ends the first clause
        ends, clauses = re.compile(f"{joins}|," if joined else joins, re.IGNORECASE), [Counter[str]()]
        for part in parts:
            if part.slot and not (part.form in WORD_FORMS and WORD_FORMS[part.form].closed):
                clauses[-1][part.slot] += 1
            first, *others = ("",) if part.slot else ends.split(part.text.replace("'s", " "))
            clauses[-1].update(f"'{word}'" for word in open_words(first))
            clauses += [Counter(f"'{word}'" for word in open_words(text)) for text in others]
        yield _predicated(construction, clauses)


def _predicated(construction: Construction, clauses: _Clauses) -> _Clauses:
    """What says nothing by itself, with no verb, word of the scene or other word, belongs to the clause before it."""
    said = {name for name, slot in construction.slots.items() if slot.role != Role.verb}
    whole = clauses[:1]
    for clause in clauses[1:]:
        if clause.keys() <= said:
            whole[-1] += clause
        else:
            whole.append(clause)
    return whole
