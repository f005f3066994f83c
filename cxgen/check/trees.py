"""Do premises of every shape have trees, and the construction's form? Codes E4xx."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from typing import Any

import numpy as np

from cxgen.check.core import Finding, finding
from cxgen.constructicon import Construction, Part
from cxgen.errors import SchemaError
from cxgen.lexicon import Lexicon
from cxgen.sampling.draws import realise
from cxgen.sampling.plan import Plan, draw_plan
from cxgen.sampling.pools import ABSENT, Pools, design_pools
from cxgen.sampling.ways import Forms
from cxgen.trees import Annotator, Chunks, FormCheck, Sentence

TREES = {
    "E401": "words that lexicons/chunks.yaml does not know, or a filler whose relation is neither stated nor unique",
    "E404": "premises that their own form_check refuses (opposites need not have the form), or a pattern of it that cannot be matched",
}
_SETS_PER_FRAME = 12
_HELP = "docs/annotation.md explains it"
_Item = dict[str, Any]


def spacy_is_there() -> bool:
    """Whether E404 can ask spaCy; without it, it finds nothing."""
    return find_spec("spacy") is not None


def tree_findings(construction: Construction, chunks: Chunks) -> Iterator[Finding]:
    """What is wrong with the trees of `examples`."""
    annotator, check = Annotator(construction, chunks), None
    if construction.form_check and spacy_is_there():
        try:
            check = FormCheck(construction)
        except SchemaError as error:
            yield Finding("E404", error.message, construction.document.path, error.line or 1, error.hint)
    treeless: dict[str, list[_Item]] = defaultdict(list)
    refused: dict[str, list[tuple[_Item, Sentence]]] = defaultdict(list)
    for item in examples(construction):
        sentence, faults = annotator.tree(item)
        for fault in faults:
            treeless[fault].append(item)
        if sentence and check and item["construction"] in {construction.name, *construction.lookalikes} and not check.holds(sentence):
            refused[item["template"]].append((item, sentence))
    for fault, items in treeless.items():
        hint = f"state it in the template, or add the words, as they stand between two slots, under chunks: in this file; {_HELP}"
        yield _finding("E401", f"{fault}: {_places(items)}", construction, items[0], hint)
    for failed in refused.values():
        item, sentence = failed[0]
        message = f"form_check refuses {_places([item for item, _ in failed])}: {_links(sentence)}"
        yield _finding("E404", message, construction, item, f"change form_check, or state a relation in the template; {_HELP}")


def _finding(code: str, message: str, construction: Construction, item: _Item, hint: str) -> Finding:
    return finding(code, f"{construction.name}: {message}", construction.document, ["templates", item["template"]], hint)


def _places(items: Sequence[_Item]) -> str:
    """Where the fault is: the first template, and how many more."""
    kinds = dict.fromkeys(item["kind"] for item in items if item["template"] == items[0]["template"])
    others = len({item["template"] for item in items}) - 1
    more = f" and {others} other template{'s' * (others > 1)}" if others else ""
    return f"template {items[0]['template']!r} ({', '.join(kinds)}){more}"


def _links(sentence: Sentence) -> str:
    """The tree in a line: what depends on what as what."""
    heads = ["0", *(token.form for token in sentence.tokens)]
    links = [f"{token.form}={token.relation}>{heads[token.head]}" for token in sentence.tokens if token.upos != "PUNCT"]
    return f"{sentence.text!r} has {' '.join(links)} (verb: {heads[sentence.verb]})"


def examples(construction: Construction) -> list[_Item]:
    """A premise of every kind in every template, with every choice of the frames' words and of optional slots; every phrase is in one.

    Each has ``premise_id, construction, kind, template, premise``, and ``slots`` (of ``slot, lemma, sense``), as items have them.
    """
    items: dict[tuple[Any, ...], _Item] = {}
    forms = Forms(construction.lexicon)
    shown: set[int] = set()
    for design in construction.designs.values():
        pools = design_pools(construction, design, {}, None)
        sets = np.arange(_SETS_PER_FRAME * len(pools.frames))
        plan = draw_plan(construction, design, pools, ("check", construction.name, design.name), sets)
        for kind in design.kinds:
            for template in construction.templates_for(kind):
                parts = construction.premise_parts(kind, template.name)
                slots = [slot for slot in construction.slots if slot in plan.fillers and slot in {part.slot for part in parts}]
                shapes = _shapes(parts, plan, pools)
                chosen: dict[Any, tuple[int, dict[str, int]]] = {shape: (number, {}) for shape, number in shapes.items()}
                first = next(iter(shapes.values()))
                chosen |= {row: (first, {slot: row}) for slot, row in _phrases(slots, pools, construction.lexicon, shown)}
                chosen = {shape: choice for shape, choice in chosen.items() if (kind, template.name, shape) not in items}
                own = _swapped(plan, list(chosen.values()))
                every = np.arange(len(own))
                texts = realise([(parts, every, every)], construction, own, pools, forms, len(own)).to_list() if chosen else []
                for at, (shape, text) in enumerate(zip(chosen, texts, strict=True)):
                    item: _Item = {"premise_id": str(len(items)), "kind": kind, "template": template.name, "premise": text}
                    item |= {"construction": construction.kinds[kind].construction, "slots": _slots(construction.lexicon, own, slots, at)}
                    items[kind, template.name, shape] = item
    return list(items.values())


def _shapes(parts: Sequence[Part], plan: Plan, pools: Pools) -> dict[tuple[Any, ...], int]:
    """What of a premise's words is no filler of the lexicon (the frame's words, and which slots are left out) -> the first such set."""
    named = dict.fromkeys(part.slot for part in parts if part.slot)
    words = [tuple(frame.words.get(name) for name in named if name not in plan.fillers) for frame in pools.frames]
    shapes: dict[tuple[Any, ...], int] = {}
    absent = [(name, (plan.fillers[name] == ABSENT).tolist()) for name in named if name in plan.fillers]
    for number, frame in enumerate(plan.frame.tolist()):
        shapes.setdefault((*words[frame], *(name for name, left_out in absent if left_out[number])), number)
    return shapes


def _phrases(slots: Sequence[str], pools: Pools, lexicon: Lexicon, shown: set[int]) -> Iterator[tuple[str, int]]:
    """Each phrase that was not shown yet: a slot of it, and its row."""
    for slot in sorted(pools.candidates.keys() & slots):
        for row in sorted(lexicon.phrases.intersection(chain.from_iterable(pools.candidates[slot])) - shown):
            shown.add(row)
            yield slot, row


def _swapped(plan: Plan, chosen: Sequence[tuple[int, dict[str, int]]]) -> Plan:
    """Sets of the plan by number, each with other fillers for some slots."""
    at = np.array([number for number, _ in chosen], dtype=np.int64)
    fillers, number, pronoun = ({slot: drawn[at] for slot, drawn in own.items()} for own in (plan.fillers, plan.number, plan.pronoun))
    for place, (_, swap) in enumerate(chosen):
        for slot, row in swap.items():
            fillers[slot][place] = row
    return Plan(plan.stream, plan.numbers[at], plan.frame[at], fillers, number, pronoun)


def _slots(lexicon: Lexicon, plan: Plan, slots: Sequence[str], at: int) -> list[dict[str, Any]]:
    rows = [(slot, int(plan.fillers[slot][at])) for slot in slots if plan.fillers[slot][at] != ABSENT]
    return [{"slot": slot, "lemma": lexicon.lemmas[row], "sense": lexicon.table["sense"][row]} for slot, row in rows]
