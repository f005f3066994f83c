"""Does what the file says work out (E2xx), and is it probably meant (W3xx)?"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from statistics import fmean

import polars as pl

from cxgen.check.core import check, fault
from cxgen.check.names import texts
from cxgen.constructicon import Construction, Design, Part, Place, parse_pattern
from cxgen.constructicon.load import COMMON, unknown_words
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, families_of, family_of
from cxgen.families.core import misspaced
from cxgen.lexicon import Lexicon
from cxgen.measures.giveaway import NEGATIONS
from cxgen.sampling import Sampler, design_pools, span
from cxgen.sampling.pools import ABSENT, frame_candidates, frames_of
from cxgen.sampling.ways import Forms
from cxgen.semantics import Inconsistency, label_matrix, misread_labels, misread_truth, truth
from cxgen.vocabulary import LABELS, NEUTRAL, NOT_NOUNS, Role

_Spoken = tuple[tuple[str, str, str], ...]
_SETS = 16  # whose items are looked at
_WORD = re.compile(r"[\w'’-]+")
_DEFINITE = ("", "a", "poss-of")  # forms of a noun that bring a determiner
_BY_KIND, _BY_LABEL = "words shared with a hypothesis", "words shared by premise and hypothesis"
_MOST = {"words": 0.3, "negations": 0.05, _BY_KIND: 0.25, _BY_LABEL: 0.25}  # how much kinds, or labels, may differ


@check
def unfillable_slot(construction: Construction) -> Iterator[CxgenError]:
    """E201: a class or a word does not exist, or no frame of a design fills all its slots with enough words."""
    unknown = [*unknown_words(construction)]
    yield from unknown
    for design in () if unknown else construction.designs.values():
        try:
            pools = design_pools(construction, design, {}, None)
        except CxgenError as error:
            error.hint = error.hint or "docs/templates.md says how slots are filled"
            yield error if error.line else fault(construction.place("designs", design.name), error.message, error.hint)
            continue
        for frame, what in (pair for pair in pools.lacking if not pair[0].pruned):
            message = f"scene {frame.name!r} cannot serve design {design.name!r}: {what}"
            yield fault(frame.place, message, "add words to these cells")


@check
def contradictory_facts(construction: Construction) -> Iterator[CxgenError]:
    """E202: from a kind's facts, or from those of its misreading, an atom follows together with its negation."""
    for kind in construction.kinds.values():
        for keys, follow in (([], truth), (["misread"], misread_truth)):
            try:
                follow(kind, construction)
            except Inconsistency as error:
                message = f"kind {kind.name!r}{', if it is misread,' if keys else ''} makes {error} both true and false"
                yield fault(construction.place("kinds", kind.name, *keys), message, f"change {keys[0] if keys else 'entails or excludes'}")


@check
def unbalanced_design(construction: Construction) -> Iterator[CxgenError]:
    """E204: a design from which a config's family can make no contrast sets, or a hypothesis that can only ever take one label."""
    for design in construction.designs.values():
        place = construction.place("designs", design.name)
        try:
            matrix = label_matrix(construction, design)
        except Inconsistency:
            continue  # E202 says so
        for rule in design.rules if is_balanced(design) else ():
            labels = {row[rule] for row in matrix.values() if rule in row}
            if len(labels) < 2:
                verdict = f"always {LABELS[labels.pop()]}" if labels else "never asked"
                message = f"hypothesis {rule!r} is {verdict} in design {design.name!r}"
                yield fault(place, message, "add premise kinds that decide it otherwise, or leave it out of the design")
        for config in design.configs:
            if config not in CONFIGS:
                yield fault(place, f"design {design.name!r}: unknown config {config!r}", f"configs: {', '.join(CONFIGS)}")
            elif why := family_of(config).unsound(construction, design, config):
                hint = f"`cxgen explain {construction.name}` shows the labels; docs/templates.md explains the square"
                yield fault(place, f"design {design.name!r}: {why}", hint)


def is_balanced(design: Design) -> bool:
    """Whether its labels must not follow from less than the meaning: not those of a replica, which has what was published."""
    return not design.configs or any(family.balanced for family in families_of(design))


def _spoken(parts: Iterable[Part]) -> _Spoken:
    """What is heard of a pattern, whatever its relations and capitals: `np` is the plain form."""
    return tuple((part.text.lower(), part.slot, "" if part.form == "np" else part.form) for part in parts)


@check
def same_sentence(construction: Construction) -> Iterator[CxgenError]:
    """E206: two kinds of a design, or two claims, are said alike, so that a sentence has two labels, or stands in a set twice."""
    for design in construction.designs.values():
        said: dict[_Spoken, str] = {}
        for rule in map(construction.rules.__getitem__, design.rules):
            for number, text in enumerate(rule.wordings):
                if (other := said.setdefault(_spoken(parse_pattern(text)), rule.says)) != rule.says:
                    place, message = construction.place("wordings", rule.name, number), f"{text!r} says {other} and {rule.says}"
                    yield fault(place, message, "word them apart, or take one out")
        first: dict[_Spoken, str] = {}
        for kind, template, parts in premises(construction, design):
            if (other := first.setdefault(_spoken(parts), kind)) != kind:
                gloss = f"{construction.kinds[other].gloss}; {construction.kinds[kind].gloss}"
                message, hint = f"kind {kind!r} says in {template!r} what {other!r} says", f"word them apart, or take one out: {gloss}"
                yield fault(construction.place("kinds", kind), message, hint)
                break


@check
def faulty_items(construction: Construction) -> Iterator[CxgenError]:
    """E207: in a frame, two slots of a premise can hold the same word; or its family finds fault with an item of a design's first sets."""
    forms = Forms(construction.lexicon)
    for design in construction.designs.values():
        for frame, one, other, words in _repeats(construction, design):
            message = f"scene {frame!r}: slots {one!r} and {other!r} of one sentence can both say {', '.join(sorted(words)[:3])}"
            hint = f"take it from one of them, or say distinct: [{one}] of {other}"
            yield fault(construction.place("slots", other), message, hint)
        named = design.entity_type not in {"", COMMON}  # the same sentences about people of another kind, which need not be drawn, too
        for family, config in ((family_of(config), config) for config in design.configs if config in CONFIGS and not named):
            try:
                if family.unsound(construction, design, config):
                    continue  # E204 says so
                items = family.items(Sampler.preview(construction, design, config, 1, forms).draw(span(0, _SETS)))
            except (CxgenError, Inconsistency):
                continue  # E201 and E202 say so
            odd = pl.when(misspaced("premise")).then(pl.lit("the premise has a blank or a comma too many")).otherwise(family.fault())
            for item in items.with_columns(fault=odd).filter(pl.col("fault") != "").head(1).iter_rows(named=True):
                asked = item["hypothesis"] if "hypothesis" in item else item["diagnostic_good"]
                message = f"design {design.name!r}: {item['fault']}: {item['premise']!r} with {asked!r}"
                yield fault(construction.place("designs", design.name), message, "change the wording, the template or a word")


def _repeats(construction: Construction, design: Design) -> Iterator[tuple[str, str, str, set[str]]]:
    """Frames with pairs of slots that occur together, and the words that they have for both; a result is not to repeat its verb either."""
    lexicon = construction.lexicon
    slots = [construction.slots[name] for name in construction.design_slots(design)]
    together = {frozenset(p) for _, _, parts in premises(construction, design) for p in combinations({part.slot for part in parts}, 2)}
    pairs = [(one, other) for one, other in combinations(slots, 2) if {one.name, other.name} in together]
    pairs = [(one, other) for one, other in pairs if one.name not in other.distinct and other.name not in one.distinct]
    for frame in frames_of(construction, design):
        try:
            rows = {slot.name: {*frame_candidates(frame, slot, lexicon)} - {ABSENT} for slot in slots}
        except CxgenError:
            continue  # E201 says so
        for one, other in pairs:
            roles, words = {one.role, other.role}, set[str]()
            if roles == {Role.result, Role.verb}:
                verbs, results = (rows[slot.name] for slot in ((one, other) if one.role == Role.verb else (other, one)))
                words = {lexicon.lemmas[result] for result in results for verb in verbs if _repeats_verb(lexicon, result, verb)}
            elif not roles & {Role.modifier, Role.property, Role.result} and roles - NOT_NOUNS:
                words = {lexicon.lemmas[row] for row in rows[one.name]} & {lexicon.lemmas[row] for row in rows[other.name]}
            if words:
                yield frame.name, one.name, other.name, words


def _repeats_verb(lexicon: Lexicon, result: int, verb: int) -> bool:
    """*Flatten the dough flat*: whether a result says what the verb does."""
    word, derived = lexicon.lemmas[result].lower(), lexicon.table["derived"][verb]
    return lexicon.lemmas[verb].lower().startswith(word.removesuffix("e")) or (derived is not None and word in derived.to_list())


@check
def needless_part(construction: Construction) -> Iterator[CxgenError]:
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
        for name in sorted(names.keys() - used):
            yield fault(construction.place(section, name), f"{name!r} ({section}) is never used", "remove it, or use it")
    for kind in construction.kinds.values():
        for number, atom in enumerate(kind.unasked):
            if atom not in claims:
                message = f"no hypothesis claims {atom}, which is to stay unasked"
                yield fault(construction.place("kinds", kind.name, "unasked", number), message, "remove it, or mend its arguments")
    first: dict[tuple[str, str], Place] = {}
    for text in texts(construction):
        if "bind" not in text.place[1] and first.setdefault((text.kind, text.text), text.place) != text.place:
            yield fault(text.place, f"{text.text!r} stands there twice", "remove one")


@check
def missing_lookalike(construction: Construction) -> Iterator[CxgenError]:
    """W303: no look-alike, and no reason given; or one to be distinguished, and nothing that is asked would hold if it were misread."""
    if not construction.lookalikes and "no_lookalike" not in construction.document.data:
        hint = "add lookalikes: [NAME] with a file of its own, or no_lookalike: the reason"
        yield fault((construction.document, ["name"]), "there is no look-alike of the same form", hint)
    for design in construction.designs.values():
        kinds = [construction.kinds[name] for name in design.kinds if "distinction" in design.configs]
        for kind in (kind for kind in kinds if kind.construction != construction.name and kind.misread is None):
            message = f"kind {kind.name!r} does not say what would hold if it were misread as {construction.name}"
            yield fault(construction.place("kinds", kind.name), message, "add misread: {entails: [...], excludes: [...]}")
        with suppress(Inconsistency):  # E202 says so
            for name in (kind.name for kind in kinds if kind.misread and not misread_labels(construction, design, kind.name)):
                message = f"no hypothesis of design {design.name!r} claims what kind {name!r} would say if it were misread"
                hint = "say under misread what the target says of the same slots; without it the column target_label stays empty"
                yield fault(construction.place("kinds", name, "misread"), message, hint)


@check
def unmentioned_noun(construction: Construction) -> Iterator[CxgenError]:
    """W305: a hypothesis decided by a premise that does not mention the noun the hypothesis is about."""
    nouns = {slot.name for slot in construction.slots.values() if slot.role not in NOT_NOUNS}
    for design in construction.designs.values():
        labels, silent = label_matrix(construction, design), dict[tuple[str, str], list[tuple[str, str]]]()
        for kind, template, parts in premises(construction, design):
            for rule in (construction.rules[name] for name, label in labels[kind].items() if label != NEUTRAL):
                about = nouns.intersection(*({part.slot for part in parse_pattern(wording)} for wording in rule.wordings))
                if lacking := sorted(about - {part.slot for part in parts}):
                    silent.setdefault((rule.name, ", ".join(lacking)), []).append((kind, template))
        for (name, what), places in silent.items():
            kind, template = places[0]
            more = f" (nor do {len(places) - 1} more premises)" if len(places) > 1 else ""
            message = f"{name!r} is about {what}, which {kind!r} in {template!r} does not mention{more}"
            hint = "mention it (of a slot that the kind binds as {@name:np}; {@name} is its text), or except the kind"
            # the kind can be excepted there, even if the template is a shared one
            yield fault((construction.document, ["templates", template]), message, hint)


@check
def unseen_opposite(construction: Construction) -> Iterator[CxgenError]:
    """W307: a label that rests on a property of which the premise says nothing: nobody knows which pseudowords are opposites."""
    properties = {slot.name for slot in construction.slots.values() if slot.role in {Role.property, Role.result}}
    resting: dict[str, set[str]] = defaultdict(set)
    for design in construction.designs.values():
        said: dict[str, set[str]] = {}
        for name, row in label_matrix(construction, design).items():
            wordings = (wording for rule, label in row.items() if label != NEUTRAL for wording in construction.rules[rule].wordings)
            said[name] = properties & {part.slot for wording in wordings for part in parse_pattern(wording)}
        for name, _, parts in premises(construction, design):
            resting[name] |= said[name] - {part.slot for part in parts} - {*construction.kinds[name].rests_on}
    for name, slots in ((name, sorted(slots)) for name, slots in resting.items() if slots):
        message = f"what kind {name!r} decides rests on {', '.join(slots)}, which its premises do not mention"
        hint = "add both opposites to its rests_on: with pseudowords for them nothing is known"
        yield fault(construction.place("kinds", name), message, hint)


@check
def uneven_kinds(construction: Construction) -> Iterator[CxgenError]:
    """W308: counting words, negations or shared words tells the kinds of a design apart, or its labels."""
    for design in construction.designs.values():
        if design.variant or not is_balanced(design):
            continue  # what is chosen between there are two continuations of one premise
        for what, figures in _evenness(construction, design).items():
            if max(figures.values()) - min(figures.values()) > _MOST[what]:
                listed = ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
                message = f"the {'labels' if what == _BY_LABEL else 'kinds'} of design {design.name!r} differ in {what}: {listed}"
                hint = "word them alike in this, or a reader who only counts will get labels right"
                yield fault(construction.place("designs", design.name), message, hint)


def _evenness(construction: Construction, design: Design) -> dict[str, dict[str, float]]:
    """What counting sees: how many of what a kind (or label) has on average over templates and wordings."""
    wordings = {rule: [words_of(parse_pattern(text), construction) for text in construction.rules[rule].wordings] for rule in design.rules}
    labels = label_matrix(construction, design)
    counts: dict[str, dict[str, list[int]]] = {what: defaultdict(list) for what in _MOST}
    for kind, _, parts in premises(construction, design):
        tokens = words_of(parts, construction)
        counts["words"][kind].append(len(tokens))
        counts["negations"][kind].append(sum(map(is_negative, tokens)))
        for rule, label in labels[kind].items():
            shared = [len({*tokens}.intersection(wording)) for wording in wordings[rule]]
            counts[_BY_KIND][kind] += shared
            counts[_BY_LABEL][LABELS[label]] += shared
    return {what: {name: fmean(figures) for name, figures in own.items()} for what, own in counts.items() if own}


def is_negative(word: str) -> bool:
    """Whether a word negates by itself."""
    return word in NEGATIONS or word.endswith("n't")


def words_of(parts: Sequence[Part], construction: Construction) -> list[str]:
    """The words of a pattern; each filler counts as one, and brings *the* where it is a noun that takes it."""
    tokens = []
    for part in parts:
        pos = construction.parts_of_speech.get(part.slot, ())
        noun = (part.form in _DEFINITE and "noun" in pos) or (part.form == "a" and "adjective" in pos)
        tokens += ["the"] * noun + ([f"{{{part.slot}}}"] if part.slot else _WORD.findall(part.text.lower()))
    return tokens


def premises(construction: Construction, design: Design) -> Iterator[tuple[str, str, tuple[Part, ...]]]:
    """Kind, template and parts of every premise."""
    for kind in design.kinds:
        for template in construction.templates_for(kind):
            yield kind, template.name, construction.premise_parts(kind, template.name)
