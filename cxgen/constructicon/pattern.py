"""Sentence patterns: text with ``{slot}``, ``{slot:form}``, ``{slot:form=relation}``, ``{@binding}``; and sentences made of clauses.

A clause stands in a file as it does by itself: subject, verb in the past, the rest. The word before ``<clause>`` says what becomes of it
(``joins:`` of ``_shared.yaml``): a conjunct, a gerund, a clause of time; the one without such a word is the main clause.

>>> clauses = {"move": "{agent} {verb:past} {thing}", "also": "{agent} {also:past} {other}"}
>>> joined("After <move>, <also>.", clauses, {"after": "gerund"})
'After {verb:ing=advcl>also} {thing}, {agent=nsubj>also} {also:past=root} {other}.'
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_FIELD = re.compile(r"\{(@?)([a-z][a-z0-9_-]*)((?::([a-z-]+))?(?:=([a-z]+(?::[a-z]+)?(?:>(?:[A-Z]+|[a-z][a-z-]*))?))?)\}")
_DEPTH = 5
_LONGEST = 10_000  # characters, bindings replaced: a chain of them may grow without end
_NODE = re.compile(r"([a-z][a-z-]*)(?:\[([^\]]*)\])?")
_CLAUSE = re.compile(r"<([a-z][a-z0-9-]*)>")
_VERB = re.compile(r"\{(@?)([a-z][a-z0-9-]*):past\}")
_SUBJECT = re.compile(r"\{([a-z][a-z0-9-]*(?::[a-z-]+)?)\} $")
_RELATION = re.compile(r"=[^}]*")
_WORD = re.compile(r"([A-Za-z]+) $")


@dataclass(frozen=True)
class Part:
    """A piece of a pattern: literal ``text``, or the ``form`` of what fills ``slot`` and, if stated, its relation in the tree."""

    text: str = ""
    slot: str = ""
    form: str = ""
    deprel: str = ""


def parse_pattern(pattern: str, bindings: Mapping[str, str] | None = None) -> tuple[Part, ...]:
    """The parts of ``pattern``, bindings replaced; a KeyError names one that is not given, a ValueError says what is no pattern."""
    return _parsed(pattern, tuple((bindings or {}).items()))


@lru_cache(10_000)  # a construction's patterns are asked for set by set
def _parsed(pattern: str, bound: tuple[tuple[str, str], ...]) -> tuple[Part, ...]:
    bindings = dict(bound)

    def bind(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        value = bindings[match[2]]
        return f"{{{value}{match[3]}}}" if match[3] else value

    for _ in range(_DEPTH):
        pattern = _FIELD.sub(bind, pattern)
        if len(pattern) > _LONGEST:
            raise ValueError(f"a pattern of more than {_LONGEST} characters, bindings replaced")
    pattern = re.sub(" +", " ", pattern)
    parts: list[Part] = []
    end = 0
    for match in _FIELD.finditer(pattern):
        parts += [Part(pattern[end : match.start()]), Part("", match[2], match[4] or "", match[5] or "")]
        end = match.end()
    parts.append(Part(pattern[end:]))
    stray = [part.text for part in parts if "{" in part.text or "}" in part.text]
    if stray:
        raise ValueError(f"stray brace in {stray[0]!r}")
    return tuple(part for part in parts if part.text or part.slot)


def form_pattern(text: str) -> tuple[dict[str, Any], ...]:
    """The nodes of spaCy's DependencyMatcher that a line of ``form_check`` says; a ValueError says what is wrong with it.

    >>> form_pattern("verb[POS=VERB] > path[DEP=obl]")[1]
    {'LEFT_ID': 'verb', 'REL_OP': '>', 'RIGHT_ID': 'path', 'RIGHT_ATTRS': {'DEP': 'obl'}}
    """
    nodes: list[dict[str, Any]] = []
    for chain in text.split(";"):
        words = chain.split()
        for at in range(0, len(words), 2):
            node = _NODE.fullmatch(words[at])
            if node is None or (nodes and not at and node[2]) or len(words) % 2 == 0:
                hint = "is no chain such as verb[POS=VERB] > theme[DEP=obj]; behind a semicolon it begins with the name of a node"
                raise ValueError(f"{chain.strip()!r} {hint}")
            if at or not nodes:
                attributes = dict(pair.split("=", 1) for pair in (node[2] or "").split(",") if "=" in pair)
                asked = {name: {"IN": value.split("|")} if "|" in value else value for name, value in attributes.items()}
                link = {"LEFT_ID": words[at - 2].partition("[")[0], "REL_OP": words[at - 1]} if at else {}
                nodes.append({**link, "RIGHT_ID": node[1], "RIGHT_ATTRS": asked})
    return tuple(nodes)


def joined(pattern: str, clauses: Mapping[str, str], joins: Mapping[str, str]) -> str:
    """``pattern`` with its clauses written out; a single one as it stands. A ValueError says in words why they do not join."""
    places = list(_CLAUSE.finditer(pattern))
    for match in places:
        if match[1] not in clauses:
            raise ValueError(f"there is no <{match[1]}>: {', '.join(clauses) or 'none'} under clauses:")
    if len(places) < 2:
        return _CLAUSE.sub(lambda match: clauses[match[1]], pattern)
    before = {match.start(): _WORD.search(pattern[: match.start()]) for match in places}
    ways = {at: joins.get(word[1].lower(), "") if word else "" for at, word in before.items()}
    mains = [match[1] for match in places if not ways[match.start()]]
    if len(mains) != 1:
        raise ValueError(f"{len(mains)} main clauses: all but one need a word of {', '.join(joins)} before them")
    main, _, main_head, _ = _divided(mains[0], clauses)

    def written(match: re.Match[str]) -> str:
        (subject, verb, head, rest), way = _divided(match[1], clauses), ways[match.start()]
        if way in {"conjunct", "gerund"} and _RELATION.sub("", subject) == _RELATION.sub("", main):
            subject = ""
        elif way == "gerund":
            raise ValueError(f"<{match[1]}> would lose its subject, which is not that of <{mains[0]}>")
        subject = _SUBJECT.sub(rf"{{\1=nsubj>{head or 'NEXT'}}} ", subject)
        relation = {"": "root", "conjunct": f"conj>{main_head or 'R'}"}.get(way, f"advcl>{main_head or 'R'}")
        return f"{subject}{{{verb}:{'ing' if way == 'gerund' else 'past'}={relation}}}{rest}"

    return _CLAUSE.sub(written, pattern)


def _divided(name: str, clauses: Mapping[str, str]) -> tuple[str, str, str, str]:
    """A clause's subject, the field of its verb, this verb as the head of a relation (empty if it has no name), and what follows."""
    match = _VERB.search(clauses[name])
    if match is None:
        raise ValueError(f"clause {name!r} has no verb in the past: {{verb:past}}")
    if glued := re.search(r"\w+$", clauses[name][: match.start()]):
        raise ValueError(f"{glued[0]!r} stands directly before {match[0]} in clause {name!r}: write whole verbs, with it, in the scenes")
    head = ("V" if match[2] == "verb" else "") if match[1] else match[2]
    return clauses[name][: match.start()], match[1] + match[2], head, clauses[name][match.end() :]
