"""Do premises of every shape have trees, and the construction's form? Codes E4xx."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

from cxgen.check.contents import premises
from cxgen.check.core import fault
from cxgen.constructicon import Construction, Part, Place
from cxgen.errors import CxgenError, SchemaError, lacking
from cxgen.families import families_of
from cxgen.lexicon.scenes import CIRCUMSTANCES
from cxgen.sampling.draws import realise
from cxgen.sampling.plan import Plan, draw_plan
from cxgen.sampling.pools import ABSENT, Pools, design_pools
from cxgen.sampling.ways import Forms
from cxgen.trees import UNKNOWN, Annotator, Chunks, Misfit, Sentence, dependency_matcher, has_form, vocabulary
from cxgen.vocabulary import Role

TREES = {
    "E401": "words that lexicons/chunks.yaml does not know, or a filler whose relation is neither stated nor unique",
    "E404": "premises that their own form_check refuses (opposites need not have the form), or a pattern of it that cannot be matched",
}
_SETS_PER_FRAME = 12
_HELP = "docs/annotation.md explains it"
_CHUNKS = {  # what is in the reason -> how a chunk can mend it
    " roots:": "; a clause whose verb is in a chunk (!root>0) is made part of another by P= in a chunk of the words before it, "
    'such as "i/PRON/PRP/nsubj>2 heard=hear/VERB/VBD/root>0 that/SCONJ/IN/mark>P P=ccomp>2"',
    "would all be nsubj": "; PREV=nsubj>1 in the chunk of a verb makes what is before it its subject, where the template states nothing",
    "": '; words between two slots can stand under `chunks:` in the template file, such as "open/ADJ/JJ/xcomp>V"',
}
_LEMMA = re.compile(r"'[^']+' (?=\()")  # of a filler, whose slot follows


def tree_faults(construction: Construction, chunks: Chunks) -> dict[str, list[CxgenError]]:
    """What is wrong with the trees of `examples`, by code; each fault in the first premise that has it, or in one of a template."""
    faults: dict[str, dict[str, CxgenError]] = {code: {} for code in TREES}
    annotator, matcher, said = Annotator(construction, chunks), None, set[str]()  # kinds of which it is said already
    if construction.form_check and not lacking("spacy"):  # without it, E404 finds nothing
        try:
            matcher = dependency_matcher(construction, vocabulary())
        except SchemaError as error:
            faults["E404"][""] = error
    trees = [(item, *annotator.tree(item)) for item in examples(construction)]
    sound = {(item["kind"], item["template"]) for item, sentence, _ in trees if sentence}
    for item, sentence, reasons in trees:
        template = construction.place("templates", item["template"])
        where = f"{construction.name}: template {item['template']!r} ({item['kind']})"
        for problem in reasons:
            unread = _unread(annotator, item, problem, sound=(item["kind"], item["template"]) in sound)
            reason = f"{UNKNOWN} {unread[1]!r}" if unread else problem
            place = (unread and _scene(construction, *unread)) or template
            hint = _example(construction, item) if isinstance(reason, Misfit) else "say what the words are"
            hint = f"the words stand in the scenes, column {unread[0]}: take others there, or {hint}" if unread else hint
            hint += next((more for words, more in _CHUNKS.items() if words in reason), "")
            found = fault(place, f"{where}: {reason}: {item['premise']!r}", f"{hint}; {_HELP}")
            told = _LEMMA.sub("", reason)
            if told not in faults["E401"] and (reason.startswith(UNKNOWN) or item["kind"] not in said):
                faults["E401"][told] = found
                said.add(item["kind"])
        own = item["construction"] in {construction.name, *construction.lookalikes}
        if sentence and matcher is not None and own and not has_form(sentence, matcher):
            hint = "change form_check, state a relation in the template, or say `construction: OTHER-NAME` of a kind that is no instance"
            hint += f"; {_HELP}"
            faults["E404"].setdefault(item["template"], fault(template, f"{where}: form_check refuses {_links(sentence)}", hint))
    return {code: [*found.values()] for code, found in faults.items()}


def _unread(annotator: Annotator, item: Mapping[str, Any], reason: str, *, sound: bool) -> tuple[str, str] | None:
    """The slot and the phrase in it that is why a premise has no tree; ``sound``: with other words its template gives one."""
    words = reason.removeprefix(UNKNOWN).strip(" '\"")
    for slot, text in annotator.unread(item):
        if f" {words} " in f" {text} " or (isinstance(reason, Misfit) and (sound or slot in CIRCUMSTANCES)):
            return slot, text
    return None


def _scene(construction: Construction, slot: str, phrase: str) -> Place | None:
    """Where the first scene stands that has a phrase for a slot."""
    source, lexicon = construction.slots[slot].source, construction.lexicon
    having = (
        frame for frame in construction.frames for row in lexicon.named(*frame.slots.get(source, ())) if lexicon.lemmas[row] == phrase
    )
    return next((frame.place for frame in having), None)


def _example(construction: Construction, item: Mapping[str, Any]) -> str:
    """What to state in a premise without a tree, by the slots that it has."""
    kind = construction.kinds[item["kind"]]
    parts = [part for part in construction.premise_parts(kind.name, item["template"]) if part.slot in construction.slots]
    verb = next((part for part in parts if part.slot != kind.verb and construction.slots[part.slot].role == Role.verb), None)
    own = kind.verb
    if verb and (name := next((name for name, text in kind.bindings.items() if text == verb.slot), "")):
        first, second = f"{{@{name}:{verb.form}=root}}", f"{{@verb:{verb.form}=conj>R}}"
        return f"state {{@{name}:{verb.form}=conj>V}} for a second verb after *and*, or {first} and {second}, with {{SLOT=nsubj>R}}"
    if verb:
        return f"state {{{verb.slot}:{verb.form}=conj>{own}}} for a second verb after *and*, and {{SLOT=obj>{verb.slot}}} for its object"
    return f"state what a filler is, such as {{SLOT=obj>{own}}} or {{SLOT=conj>OTHER-SLOT}}"


def _links(sentence: Sentence) -> str:
    """The tree in a line: what depends on what as what."""
    heads = ["0", *(token.form for token in sentence.tokens)]
    links = [f"{token.form}={token.relation}>{heads[token.head]}" for token in sentence.tokens if token.upos != "PUNCT"]
    return f"{sentence.text!r} has {' '.join(links)} (verb: {heads[sentence.verb]})"


def examples(construction: Construction) -> list[dict[str, Any]]:
    """A premise of every shape that the templates give the kinds, with every choice of the frames' words; every phrase is in one.

    Each has ``premise_id, construction, kind, template, premise``, and ``slots`` (of ``slot, lemma, sense``), as items have them.
    """
    lexicon, forms = construction.lexicon, Forms(construction.lexicon)
    items: dict[Any, dict[str, Any]] = {}  # by what they show: a shape, or the row of a phrase
    for design in construction.designs.values():
        if design.configs and not any(family.trees for family in families_of(design)):
            continue
        pools = design_pools(construction, design, {}, None)
        fillers = {slot: lexicon.phrases.intersection(chain(*lists)) for slot, lists in pools.candidates.items()}
        phrases = [(slot, row) for slot, rows in fillers.items() for row in sorted(rows)]
        drawn = _SETS_PER_FRAME * len(pools.frames)  # behind them, a set for each phrase
        stream = ("check", construction.name, design.name)
        plan = draw_plan(construction, design, pools, stream, np.arange(drawn + len(phrases)))
        for number, (slot, row) in enumerate(phrases, drawn):
            plan.fillers[slot][number] = row
        choices, sentences, before = cache(partial(_choices, plan, pools, drawn)), [], len(items)
        for kind, template, parts in premises(construction, design):
            names = tuple(sorted({part.slot for part in parts if part.slot}))
            chosen = {_shape(construction, kind, parts, dict(choice)): number for choice, number in choices(names).items()}
            chosen |= {row: number for number, (slot, row) in enumerate(phrases, drawn) if slot in names}
            chosen = {shape: number for shape, number in chosen.items() if shape not in items}
            sets = np.array([*chosen.values()], dtype=np.int64)
            sentences.append((parts, sets, np.arange(len(sets)) + len(items) - before))
            own = [slot for slot in construction.slots if slot in names and slot in plan.fillers]
            common = {"construction": construction.kinds[kind].construction, "kind": kind, "template": template}
            for shape, number in chosen.items():
                rows = [(slot, row) for slot in own if (row := int(plan.fillers[slot][number])) != ABSENT]
                slots = [{"slot": slot, "lemma": lexicon.lemmas[row], "sense": lexicon.table["sense"][row]} for slot, row in rows]
                items[shape] = {"premise_id": str(len(items)), **common, "slots": slots}
        fresh = list(items.values())[before:]
        for item, text in zip(fresh, realise(sentences, construction, plan, pools, forms, len(fresh)) if fresh else (), strict=True):
            item["premise"] = text
    return list(items.values())


def _choices(plan: Plan, pools: Pools, drawn: int, names: Sequence[str]) -> dict[tuple[tuple[str, Any], ...], int]:
    """The first of the sets with each choice of the frame's words, and of the slots that are left out."""
    first: dict[tuple[tuple[str, Any], ...], int] = {}
    for number, frame in enumerate(plan.frame[:drawn]):
        words = pools.frames[frame].words
        choice = ((name, bool(plan.fillers[name][number] == ABSENT) if name in plan.fillers else words.get(name)) for name in names)
        first.setdefault(tuple(choice), number)
    return first


def _shape(construction: Construction, kind: str, parts: Sequence[Part], chosen: Mapping[str, Any]) -> tuple[Any, ...]:
    """What of a premise its tree depends on; not, of two slots that are alike, which one stands where."""
    own, shape = construction.kinds[kind], []
    for part in parts:
        slot = construction.slots.get(part.slot)
        alike = slot and (slot.deprel, slot.wrap, slot.number, slot.name == own.verb, construction.parts_of_speech[slot.name])
        shape.append((part.text, part.form, part.deprel, chosen.get(part.slot), alike))
    return (own.construction, *chosen, *shape)
