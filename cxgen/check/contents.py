"""Does what the file says work out (E2xx), and is it probably meant (W3xx)?"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from statistics import fmean

import polars as pl

from cxgen.check.core import Finding, check, finding
from cxgen.check.names import texts
from cxgen.constructicon import Atom, Construction, Design, Kind, Part, Place, Slot, parse_pattern
from cxgen.constructicon.load import unknown_words
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, family_of
from cxgen.lexicon import Frame, Lexicon
from cxgen.sampling import Forms, Sampler, design_pools, span
from cxgen.sampling.pools import ABSENT, crowded, frame_candidates, frames_of
from cxgen.sampling.ways import WORD_FORMS
from cxgen.semantics import Inconsistency, label_matrix, misread_truth, truth
from cxgen.vocabulary import LABELS, NEUTRAL, NOT_NOUNS, Role

_SETS = 16  # whose items are looked at
_WORD = re.compile(r"[\w'’-]+")
_NEGATIVE = {"not", "no", "never", "nobody", "nothing", "none", "neither", "nor", "without", "cannot"}
_DEFINITE = ("", "a", "poss-of")  # forms of a noun that bring a determiner
_BY_KIND, _BY_LABEL = "words shared with a hypothesis", "words shared by premise and hypothesis"
_MOST = {"words": 0.3, "negations": 0.05, _BY_KIND: 0.25, _BY_LABEL: 0.25}  # how much kinds, or labels, may differ
_Fillers = dict[str, tuple[float, float, float]]  # slot -> of what may fill it, on average: words, negations, share of nouns


@check
def unfillable_slot(construction: Construction) -> Iterator[Finding]:
    """E201: a class or word does not exist, no frame of a design fills all its slots with enough words, or a related word is missing."""
    unknown = [Finding("E201", e.message, e.file or construction.document.path, e.line or 1, e.hint) for e in unknown_words(construction)]
    yield from unknown
    for design in () if unknown else construction.designs.values():
        place = construction.place("designs", design.name)
        try:
            pools = design_pools(construction, design, {}, None)
        except CxgenError as error:
            yield finding("E201", error.message, *place, error.hint)
            continue
        slots = construction.draw_order(design)
        for number, frame in enumerate(pools.frames):
            if names := crowded(slots, {name: lists[number] for name, lists in pools.candidates.items()}, construction.lexicon):
                message = f"slots {', '.join(map(repr, names))} must hold different words, for which frame {frame.name!r} has too few"
                yield finding("E201", message, *construction.place("slots", names[0]), "add words to their classes")
        fillers = {name: set(chain.from_iterable(lists)) for name, lists in pools.candidates.items()}
        for slot in (slot for slot in slots if slot.lexical):
            related = {row: construction.lexicon.related(slot.lexical, row) for row in fillers[slot.parent]}
            fillers[slot.name] = set(chain.from_iterable(related.values()))
            lacking = sorted(construction.lexicon.lemmas[row] for row, others in related.items() if not others)
            if lacking:
                message = f"slot {slot.name!r} in design {design.name!r}: no {slot.lexical} in the lexicon for {', '.join(lacking[:5])}"
                hint = "add the relation under lexicons/classes, or drop the word from the frames"
                yield finding("E201", message, *construction.place("slots", slot.name), hint)


@check
def contradictory_facts(construction: Construction) -> Iterator[Finding]:
    """E202: from a kind's facts, or from those of its misreading, an atom follows together with its negation."""
    for kind in construction.kinds.values():
        for key, follow in (("entails or excludes", truth), ("misread", misread_truth)):
            try:
                follow(kind, construction)
            except Inconsistency as error:
                misread = key == "misread"
                message = f"kind {kind.name!r}{', if it is misread,' if misread else ''} makes {error} both true and false"
                yield finding("E202", message, *construction.place("kinds", kind.name, *[key] * misread), f"change {key}")


@check
def unbalanced_design(construction: Construction) -> Iterator[Finding]:
    """E204: a design from which a config's family can make no contrast sets, or a hypothesis that can only ever take one label."""
    for design in construction.designs.values():
        place, matrix = construction.place("designs", design.name), _matrix(construction, design)
        for rule in design.rules if matrix else ():
            labels = {row[rule] for row in matrix.values() if rule in row}
            if len(labels) < 2:
                label = f"always {LABELS[labels.pop()]}" if labels else "never asked"
                message = f"hypothesis {rule!r} is {label} in design {design.name!r}"
                yield finding("E204", message, *place, "add premise kinds that decide it otherwise, or leave it out of the design")
        for config in design.configs:
            if config not in CONFIGS:
                yield finding("E204", f"design {design.name!r}: unknown config {config!r}", *place, f"configs: {', '.join(CONFIGS)}")
            elif matrix and (why := family_of(config).unsound(construction, design, config)):
                hint = f"`cxgen explain {construction.name}` shows the labels; docs/templates.md explains the square"
                yield finding("E204", f"design {design.name!r}: {why}", *place, hint)


@check
def same_sentence(construction: Construction) -> Iterator[Finding]:
    """E206: two kinds of a design are said in the same words, so that a sentence has two sets of labels, or stands in a set twice."""
    for design in construction.designs.values():
        first: dict[tuple[Part, ...], str] = {}
        alike: dict[tuple[str, str], str] = {}  # two kinds -> a template that says both alike
        for kind, template, parts in _premises(construction, design):
            alike.setdefault((first.setdefault(parts, kind), kind), template)
        for (other, kind), template in alike.items():
            same = _truth(construction.kinds[other], construction) == _truth(construction.kinds[kind], construction)
            message = f"kind {kind!r} says in {template!r} what {other!r} says{'' if same else ', with other facts'}"
            hint = "take one out of the design" if same else f"word them apart: {construction.kinds[kind].gloss}"
            yield from [finding("E206", message, *construction.place("kinds", kind), hint)] if kind != other else []


@check
def faulty_items(construction: Construction) -> Iterator[Finding]:
    """E207: in a frame, two slots of a premise can hold the same word; or its family finds fault with an item of a design's first sets."""
    forms = Forms(construction.lexicon)
    for design in construction.designs.values():
        for frame in frames_of(construction, design):
            for one, other, words in _repeats(construction, design, frame):
                message = f"frame {frame.name!r}: slots {one!r} and {other!r} of one sentence can both say {', '.join(sorted(words)[:3])}"
                hint = f"take it from one of them, or say distinct: [{one}] of {other}"
                yield finding("E207", message, *construction.place("slots", other), hint)
        for config in design.configs:
            try:
                if config not in CONFIGS or (family := family_of(config)).unsound(construction, design, config):
                    continue  # E204 says so
                items = family.items(Sampler.preview(construction, design, config, 1, forms).draw(span(0, _SETS)))
            except (CxgenError, Inconsistency):
                continue  # E201 and E202 say so
            for item in items.with_columns(fault=family.fault()).filter(pl.col("fault") != "").head(1).iter_rows(named=True):
                asked = item["hypothesis"] if "hypothesis" in item else item["diagnostic_good"]
                message = f"design {design.name!r}: {item['fault']}: {item['premise']!r} with {asked!r}"
                yield finding("E207", message, *construction.place("designs", design.name), "change the wording, or the template")


def _repeats(construction: Construction, design: Design, frame: Frame) -> Iterator[tuple[str, str, set[str]]]:
    """Pairs of slots that occur together, with the words that a frame has for both; a result is not to repeat its verb either."""
    lexicon = construction.lexicon
    rows = {name: _candidates(frame, construction.slots[name], lexicon) for name in construction.design_slots(design)}
    together = {frozenset(p) for _, _, parts in _premises(construction, design) for p in combinations({part.slot for part in parts}, 2)}
    for one, other in combinations(map(construction.slots.__getitem__, rows), 2):
        roles = {one.role, other.role}
        if {one.name, other.name} not in together or one.name in other.distinct or other.name in one.distinct:
            continue
        words: set[str] = set()
        if roles == {Role.result, Role.verb}:
            verbs, results = (rows[slot.name] for slot in sorted((one, other), key=lambda slot: slot.role != Role.verb))
            words = {lexicon.lemmas[result] for result in results for verb in verbs if _repeats_verb(lexicon, result, verb)}
        elif not roles & {Role.modifier, Role.property, Role.result} and roles - NOT_NOUNS:
            words = {lexicon.lemmas[row] for row in rows[one.name]} & {lexicon.lemmas[row] for row in rows[other.name]}
        if words:
            yield one.name, other.name, words


def _repeats_verb(lexicon: Lexicon, result: int, verb: int) -> bool:
    """*Flatten the dough flat*: whether a result says what the verb does."""
    word, derived = lexicon.lemmas[result].lower(), lexicon.table["derived"][verb]
    return lexicon.lemmas[verb].lower().startswith(word.removesuffix("e")) or (derived is not None and word in derived.to_list())


@check
def needless_part(construction: Construction) -> Iterator[Finding]:
    """W301: a slot, kind, hypothesis or predicate that nothing uses, an unasked claim that none makes, or a text that stands twice."""
    designs = construction.designs.values()
    claims = {rule.claim for rule in construction.rules.values()}
    facts = [atom for kind in construction.kinds.values() for atom in (*kind.entails, *kind.excludes)]
    predicates = {atom.predicate for atom in (*facts, *claims)} | {other.contrary for other in construction.predicates.values()}
    for section, names, used in (
        ("slots", construction.slots, {name for design in designs for name in construction.design_slots(design)}),
        ("kinds", construction.kinds, {name for design in designs for name in design.kinds}),
        ("hypotheses", construction.rules, {name for design in designs for name in design.rules}),
        ("predicates", construction.predicates, predicates),
    ):
        for name in names.keys() - used:
            yield finding("W301", f"{name!r} ({section}) is never used", *construction.place(section, name), "remove it, or use it")
    for kind in construction.kinds.values():
        for number, atom in enumerate(kind.unasked):
            if atom not in claims:
                place = construction.place("kinds", kind.name, "unasked", number)
                yield finding("W301", f"no hypothesis claims {atom}, which is to stay unasked", *place, "remove it, or mend its arguments")
    first: dict[tuple[str, str], Place] = {}
    for text in texts(construction):
        if "bind" not in text.place[1] and first.setdefault((text.kind, text.text), text.place) != text.place:
            yield finding("W301", f"{text.text!r} stands there twice", *text.place, "remove one")


@check
def missing_lookalike(construction: Construction) -> Iterator[Finding]:
    """W303: no look-alike, and no reason given; or one that is to be distinguished, and nothing says what it would be misread as."""
    if not construction.lookalikes and "no_lookalike" not in construction.document.data:
        hint = "add lookalikes: [NAME] with a file of its own, or no_lookalike: the reason"
        yield finding("W303", "there is no look-alike of the same form", construction.document, ["name"], hint)
    for design in construction.designs.values():
        for kind in (construction.kinds[name] for name in design.kinds if "distinction" in design.configs):
            if kind.construction != construction.name and kind.misread is None:
                message = f"kind {kind.name!r} does not say what would hold if it were misread as {construction.name}"
                yield finding("W303", message, *construction.place("kinds", kind.name), "add misread: {entails: [...], excludes: [...]}")


@check
def unmentioned_noun(construction: Construction) -> Iterator[Finding]:
    """W305: a hypothesis decided by a premise that does not mention the noun the hypothesis is about."""
    shared = {
        rule.name: set.intersection(*({part.slot for part in parse_pattern(wording)} for wording in rule.wordings))
        for rule in construction.rules.values()
    }
    nouns = {slot.name for slot in construction.slots.values() if not slot.lexical and slot.role not in NOT_NOUNS}
    first: dict[tuple[str, str], str] = {}  # template, rule -> kind
    for design in construction.designs.values():
        labels = label_matrix(construction, design)
        for kind, template, parts in _premises(construction, design):
            for rule in (rule for rule, label in labels[kind].items() if label != NEUTRAL):
                lacking = (shared[rule] & nouns) - {part.slot for part in parts}
                if lacking and first.setdefault((template, rule), kind) == kind:
                    message = f"{rule!r} is about {', '.join(sorted(lacking))}, which {kind!r} in {template!r} does not mention"
                    # the kind can be excepted there, even if the template is a shared one
                    yield finding("W305", message, construction.document, ["templates", template], "mention it, or except the kind")


@check
def uneven_kinds(construction: Construction) -> Iterator[Finding]:
    """W308: counting words, negations or shared words tells the kinds of a design apart, or its labels."""
    for design in construction.designs.values():
        if design.variant:
            continue  # what is chosen between there are two continuations of one premise
        for what, figures in _evenness(construction, design).items():
            if max(figures.values()) - min(figures.values()) > _MOST[what]:
                listed = ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
                message = f"the {'labels' if what == _BY_LABEL else 'kinds'} of design {design.name!r} differ in {what}: {listed}"
                hint = "word them alike in this, or a reader who only counts will get labels right"
                yield finding("W308", message, *construction.place("designs", design.name), hint)


def _evenness(construction: Construction, design: Design) -> dict[str, dict[str, float]]:
    """What counting sees: how many of what a kind (or label) has on average over templates, wordings and fillers."""
    fillers = _fillers(construction, design)
    wordings = {rule: [_tokens(parse_pattern(text), fillers) for text in construction.rules[rule].wordings] for rule in design.rules}
    labels = label_matrix(construction, design)
    counts: dict[str, dict[str, list[float]]] = {what: defaultdict(list) for what in _MOST}
    for kind, _, parts in _premises(construction, design):
        tokens = _tokens(parts, fillers)
        counts["words"][kind].append(sum(_words(part, construction, fillers) for part in parts))
        counts["negations"][kind].append(sum(fillers[part.slot][1] if part.slot else _negations(part.text) for part in parts))
        for rule, label in labels[kind].items():
            shared = [len(tokens & other) for other in wordings[rule]]
            counts[_BY_KIND][kind] += shared
            counts[_BY_LABEL][LABELS[label]] += shared
    return {what: {name: fmean(figures) for name, figures in own.items()} for what, own in counts.items() if own}


def _fillers(construction: Construction, design: Design) -> _Fillers:
    lexicon = construction.lexicon
    nouns = set((lexicon.table["pos"] == "noun").arg_true())
    fillers: _Fillers = defaultdict(lambda: (1, 0, 0))
    for slot in map(construction.slots.__getitem__, construction.design_slots(design)):
        if rows := {row for frame in frames_of(construction, design) for row in _candidates(frame, slot, lexicon)}:
            lemmas = [lexicon.lemmas[row] for row in rows]
            sizes = [max(len(lemma.split()), 1) for lemma in lemmas]
            fillers[slot.name] = fmean(sizes), fmean(map(_negations, lemmas)), len(rows & nouns) / len(rows)
    return fillers


def _words(part: Part, construction: Construction, fillers: _Fillers) -> float:
    slot = construction.slots.get(part.slot)
    words, _, nouns = fillers[part.slot] if part.slot else (len(_WORD.findall(part.text)), 0, 0)
    if slot is None:
        return words
    if WORD_FORMS[part.form].closed:
        return 1
    words += len(_WORD.findall(slot.wrap.replace("{}", ""))) + (nouns if part.form in _DEFINITE else 0)
    return words * (1 - slot.optional)


def _negations(text: str) -> int:
    return sum(word in _NEGATIVE or word.endswith("n't") for word in _WORD.findall(text.lower()))


def _tokens(parts: Sequence[Part], fillers: _Fillers) -> set[str]:
    """The words of a pattern; each filler counts as one, and brings *the* where it is a noun that takes it."""
    tokens = {"the"} if any(part.slot and part.form in _DEFINITE and fillers[part.slot][2] for part in parts) else set()
    return tokens.union(*([f"{{{part.slot}}}"] if part.slot else _WORD.findall(part.text.lower()) for part in parts))


def _candidates(frame: Frame, slot: Slot, lexicon: Lexicon) -> list[int]:
    """The words of a frame for a slot; none where something is wrong with it, which E201 says."""
    try:
        return [] if slot.lexical else [row for row in frame_candidates(frame, slot, lexicon) if row != ABSENT]
    except CxgenError:
        return []


def _premises(construction: Construction, design: Design) -> Iterator[tuple[str, str, tuple[Part, ...]]]:
    """Kind, template and parts of every premise."""
    for kind in design.kinds:
        for template in construction.templates_for(kind):
            yield kind, template.name, construction.premise_parts(kind, template.name)


def _matrix(construction: Construction, design: Design) -> dict[str, dict[str, int]]:
    try:
        return label_matrix(construction, design)
    except Inconsistency:
        return {}  # E202 says so


def _truth(kind: Kind, construction: Construction) -> dict[Atom, bool]:
    try:
        return truth(kind, construction)
    except Inconsistency:
        return {}
