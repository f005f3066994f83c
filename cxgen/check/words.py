"""The words of a construction: those that the lexicon does not have (W310), and those that give labels away."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import chain
from typing import Any

import polars as pl

from cxgen.check.contents import is_balanced, is_negative, premises, words_of
from cxgen.check.core import check, fault
from cxgen.constructicon import Construction, Design, Place, parse_pattern
from cxgen.errors import CxgenError, some
from cxgen.lexicon.words import TAGS, most_frequent
from cxgen.sampling.pools import frames_of
from cxgen.sampling.ways import WORD_FORMS, By, number_of
from cxgen.semantics import label_matrix, solve
from cxgen.trees.phrases import lemmas_of
from cxgen.vocabulary import LABELS, OF_NOUNS

_OPEN = ("noun", "verb", "adjective", "adverb")
_FORMS = ("third", "ing", "past", "participle")  # of a new verb: they may be wrong, and are seen nowhere else
_LISTED = 20
_SELDOM = 2.0  # zipf: a word that WordNet does not have is told below it
_GUESSED = 0.5  # of the items: where the gate of `words_only` is for a config


def new_words(construction: Construction) -> list[dict[str, Any]]:
    """The rows of the open-class words that can fill its slots and are not in the lexicon as it is shipped."""
    lexicon, rows = construction.lexicon, set[int]()
    for name in set().union(*map(construction.fillers, construction.slots.values())):
        rows.update(lexicon.resolve(name).ids if lexicon.has(name) else ())
    return lexicon.table[sorted(row for row in rows if row >= lexicon.base)].filter(pl.col("pos").is_in(_OPEN)).rows(named=True)


def announced(construction: Construction) -> Iterator[str]:
    """Lines that say which words are new, of verbs with their forms; then a line for each that is in no list of words."""
    rows = new_words(construction)
    if rows:
        told = "words that cxgen's lexicon has not, with forms from lemminflect (`classes:` can state others)"
        yield f"{told}: {some(list(map(_about, rows)), _LISTED)}"
    yield from (error.message for error in strange_word(construction))


def _about(row: dict[str, Any]) -> str:
    unknown, forms = "" if "%" in row["key"] else ", not in WordNet", _forms(row)
    return f"{row['lemma']} ({row['pos']}{unknown}{': ' * bool(forms)}{forms})"


def _forms(row: dict[str, Any]) -> str:
    """The forms of a verb, which are guessed; empty of other words."""
    return ", ".join(dict.fromkeys(row[form] for form in _FORMS if row[form])) if row["pos"] == "verb" else ""


@check
def strange_word(construction: Construction) -> Iterator[CxgenError]:
    """W310: a seldom word of one's own that WordNet has not, or not as that; with marks or an article in it; a form of another one."""
    lexicon, new = construction.lexicon, new_words(construction)
    tables = lexicon.scenes(construction.name).tables if new else ()
    meant = {(lemma, pos) for one in tables for (lemma, pos, pin), _, _ in one.words() if pin == "own"}
    shipped = {*lexicon.lemmas[: lexicon.base]} if new else set()
    without = [row["lemma"] for row in new if "%" not in row["key"]]
    elsewhere = {lemma for lemma, _ in lexicon.senses(without)} if without else set()
    others = shipped | elsewhere
    rows = [row for row in new if (_unknown(row, others) and (row["lemma"], row["pos"]) not in meant) or _odd(row)]
    known = sorted({*shipped, *most_frequent()}) if rows else []
    places: dict[tuple[str, str], Place] = {(word[0], word[1]): (one, [at]) for one in tables for word, at, _ in one.words()}
    for number, row in enumerate(rows):
        found = get_close_matches(row["lemma"], known, cutoff=0.75) if number < _LISTED else []  # each takes a while
        near = " or ".join(word for word in found if word != row["lemma"])
        as_this = f" as a {row['pos']}" if row["lemma"] in elsewhere else ""
        why = _odd(row) or f"is {f'not in WordNet{as_this}' if row['zipf'] else 'in no word list'}{f' ({near}?)' if near else ''}"
        message = f"{row['lemma']} ({row['pos']}) {why}"
        guessed = f", with the forms {forms} (`classes:` can state others)" if (forms := _forms(row)) else ""
        hint = f"mend it, if it is misspelt; {row['lemma']}~own says that it is meant{guessed}"
        error = fault(places.get((row["lemma"], row["pos"]), (construction.document, [])), message, hint)
        error.line = construction.document.line_with(row["lemma"]) if error.line == 1 else error.line
        yield error


def _unknown(row: dict[str, Any], shipped: set[str]) -> bool:
    """Whether WordNet does not have the word, and people seldom, or with a full stop, which frequencies pass over; or has it only as
    another part of speech (the verb *quickly*)."""
    return "%" not in row["key"] and (row["zipf"] < _SELDOM or row["lemma"] in shipped or row["lemma"].endswith("."))


def _odd(row: dict[str, Any]) -> str:
    """What is wrong with a word that frequencies do not tell: marks in it, or that it is a form of another one."""
    if marks := re.sub(r"[\w' .-]", "", row["lemma"]):
        return f"has {marks!r} in it; words of a cell have ` | ` between them"
    if row["lemma"].partition(" ")[0] in ("a", "an", "the"):
        return "begins with an article, which templates give"
    told = row["pos"] == "verb" or (row["pos"] == "noun" and "%" not in row["key"])  # WordNet has *leggings*
    bases = lemmas_of(row["lemma"]).get(row["pos"].upper(), ()) if told else ()
    return f"is a form of *{bases[0]}*" if bases and row["lemma"] not in bases else ""


@check
def strange_form(construction: Construction) -> Iterator[CxgenError]:
    """W312: a form that a file states of a word, and that no dictionary has (lemminflect's): *keeped*."""
    stated = construction.lexicon.stated_forms
    if stated:
        from lemminflect import getAllInflections
    for lemma, pos, forms, place in stated:
        known = getAllInflections(lemma)
        for form, usual in ((form, known[tag]) for form, tag in TAGS.get(pos, {}).items() if form in forms and tag in known):
            if forms[form] not in usual:
                message = f"{form} of {lemma} ({pos}) is {forms[form]!r} here, elsewhere {' or '.join(usual)}"
                yield fault(place, message, "mend it; of what is left out the dictionary's form is taken")


@check
def strange_mark(construction: Construction) -> Iterator[CxgenError]:
    """W313: a word under `marked` or `entails_alone` that no scene has, nor the lexicon."""
    tables = construction.lexicon.scenes(construction.name).tables
    known = {*construction.lexicon.lemmas, *(word[0] for table in tables for word, _, _ in table.words())}
    for table in tables:
        for number, scene in enumerate(table.scenes):
            for column in ("marked", "entails_alone"):
                for text in scene.cells.get(column, ()):
                    if text.partition("~")[0] not in known:
                        yield fault((table, [number]), f"{text!r} is under `{column}`, and no scene has it", "mend it, or take it out")


@check
def two_numbers(construction: Construction) -> Iterator[CxgenError]:
    """W314: a noun that sentences of one design say in both numbers: {x:np} follows the scene's `det`, other forms the slot's `number`."""
    for design in construction.designs.values():
        wordings = [parse_pattern(text) for name in design.rules for text in construction.rules[name].wordings]
        said = {(part.slot, part.form) for parts in (*(parts for *_, parts in premises(construction, design)), *wordings) for part in parts}
        follow = {slot for slot, form in said if form in WORD_FORMS and WORD_FORMS[form].by in {By.NUMBER, By.PRONOUN}}
        for slot in (slot for name, slot in construction.slots.items() if name in follow and (name, "np") in said):
            for frame in frames_of(construction, design):
                np, others = (OF_NOUNS["number"][said == "plural"] for said in (frame.words.get("det"), number_of(slot, frame)))
                fillers = frame.slots.get(slot.source) or slot.classes
                if np != others and any(construction.lexicon.resolve(name).pos == "noun" for name in fillers):
                    message = f"{{{slot.name}:np}} is {np} in scene {frame.name!r}, other forms of {slot.name} {others}"
                    hint = f"np follows the scene's word `det`, others `number`: let both say {others}, or write {{{slot.name}}} for np"
                    yield fault(construction.place("slots", slot.name), message, hint)
                    break


@check
def negated_twice(construction: Construction) -> Iterator[CxgenError]:
    """W311: a wording with two negations: it says the opposite of what one reads at first."""
    for rule in construction.rules.values():
        for number, wording in enumerate(rule.wordings):
            words = words_of(parse_pattern(wording), construction)
            if sum(map(is_negative, words)) - ("neither" in words and "nor" in words) > 1:
                hint = "say it without them: `yes` is what makes the claim"
                yield fault(construction.place("wordings", rule.name, number), f"{wording!r} negates twice", hint)


def telling_words(construction: Construction) -> Iterator[str]:
    """What words give away, where the best guess from a premise's words and the hypothesis is right too often in a config: lines."""
    designs = [design for design in construction.designs.values() if not design.variant and is_balanced(design)]
    told = {design.name: _told(construction, design) for design in designs}
    for config in dict.fromkeys(config for design in designs for config in design.configs):
        own = [design for design in designs if config in design.configs and told[design.name][0]]
        share = sum(design.weight * told[design.name][0] for design in own) / (sum(design.weight for design in own) or 1)
        if share > _GUESSED:
            yield f"words tell {share:.0%} of the labels of {config} (chance 33%):"
            yield from (f"  {design.name}: {line}" for design in own for line in told[design.name][1])


def _told(construction: Construction, design: Design) -> tuple[float, list[str]]:
    """How many labels of a design words tell, 0 to 1, and which: a word that only some kinds have, hypothesis and label."""
    said: dict[str, list[set[str]]] = {}
    for kind, _, parts in premises(construction, design):
        said.setdefault(kind, []).append({word for word in words_of(parts, construction) if word[0] != "{"})
    always: dict[str, set[str]] = {kind: set.intersection(*sets) for kind, sets in said.items()}
    mixed = set().union(*(set.union(*sets) - always[kind] for kind, sets in said.items()))
    common = set.intersection(*map(set, always.values()))
    telling = {kind: frozenset(words - mixed - common) for kind, words in always.items()}
    counts = Counter(chain.from_iterable(solve(label_matrix(construction, design))))
    groups: dict[Any, Counter[int]] = defaultdict(Counter)
    found: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for cell, count in counts.items():
        groups[cell.rule, telling[cell.kind]][cell.label] += count
        for word in telling[cell.kind]:
            found[word, cell.rule][cell.label] += count
    told: dict[str, list[str]] = {}  # what words tell -> those that tell it
    for word in sorted(set().union(*telling.values())):
        tops = [(*own.most_common(1)[0], own.total(), rule) for rule in design.rules if (own := found.get((word, rule)))]
        sure = [f"{rule} is {LABELS[label]} {count / total:.0%}" for label, count, total, rule in tops if count > total * _GUESSED]
        told.setdefault(some(sure, 2), []).append(f"*{word}*")
    share = sum(group.most_common(1)[0][1] for group in groups.values()) / (counts.total() or 1)
    return share, [f"{', '.join(words)}: {what}" for what, words in told.items() if what]
