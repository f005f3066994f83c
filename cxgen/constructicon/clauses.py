"""Sentences put together from clauses: ``"After <move>, <also>."``.

A template file writes a clause once, as it stands by itself: subject, verb in the past, the rest. In a template the word before
``<clause>`` says what becomes of it (``joins:`` of ``_shared.yaml``): after *and* a conjunct, without its subject if that is the main
clause's; after *before*, *after* a gerund; after *while*, *as* a clause of time. The one with none of these words before it is the main
clause. A subject that is a slot becomes its verb's nsubj.

>>> clauses = {"move": "{agent} {verb:past} {thing}", "also": "{agent} {also:past} {other}"}
>>> joined("{opening}<move> and <also>.", clauses, {"and": "conjunct"})
'{opening}{agent=nsubj>verb} {verb:past=root} {thing} and {also:past=conj>verb} {other}.'
>>> joined("After <move>, <also>.", clauses, {"after": "gerund"})
'After {verb:ing=advcl>also} {thing}, {agent=nsubj>also} {also:past=root} {other}.'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CONJUNCT, GERUND, CLAUSE = JOINS = ("conjunct", "gerund", "clause")
_FIELD = re.compile(r"<([a-z][a-z0-9-]*)>")
_VERB = re.compile(r"\{(@?)([a-z][a-z0-9-]*):past\}")
_SUBJECT = re.compile(r"\{([a-z][a-z0-9-]*(?::[a-z-]+)?)\} $")
_RELATION = re.compile(r"=[^}]*")
_WORD = re.compile(r"([A-Za-z]+) $")


@dataclass(frozen=True)
class _Clause:
    """A clause: the fields of its subject and verb, and what follows."""

    subject: str
    verb: str
    rest: str

    @classmethod
    def of(cls, name: str, text: str) -> _Clause:
        match = _VERB.search(text)
        if match is None:
            raise ValueError(f"clause {name!r} has no verb in the past: {{verb:past}}")
        return cls(text[: match.start()], match[1] + match[2], text[match.end() :])

    @property
    def head(self) -> str:
        """Its verb, as the head of a relation."""
        return "V" if self.verb.startswith("@") else self.verb

    def said(self, form: str, relation: str, subject: bool) -> str:
        who = _SUBJECT.sub(rf"{{\1=nsubj>{self.head}}} ", self.subject) if subject else ""
        return f"{who}{{{self.verb}:{form}={relation}}}{self.rest}"

    def has_subject_of(self, other: _Clause) -> bool:
        return _RELATION.sub("", self.subject) == _RELATION.sub("", other.subject)


def joined(pattern: str, clauses: Mapping[str, str], joins: Mapping[str, str]) -> str:
    """``pattern`` with its clauses written out; a single one as it stands.

    Raises:
        ValueError: a clause that there is not or that has no verb, not exactly one main clause, or a gerund with another subject; in words.
    """
    found = list(_FIELD.finditer(pattern))
    if not found:
        return pattern
    unknown = [match[1] for match in found if match[1] not in clauses]
    if unknown:
        raise ValueError(f"there is no <{unknown[0]}>: {', '.join(clauses) or 'none'} under clauses:")
    if len(found) == 1:
        return _FIELD.sub(lambda match: clauses[match[1]], pattern)
    parts = {match.start(): _Clause.of(match[1], clauses[match[1]]) for match in found}
    ways = {match.start(): _way(pattern[: match.start()], joins) for match in found}
    mains = [parts[at] for at, way in ways.items() if not way]
    if len(mains) != 1:
        raise ValueError(f"{len(mains)} main clauses: all but one need a word of {', '.join(joins)} before them")
    main = mains[0]

    def said(match: re.Match[str]) -> str:
        part, way = parts[match.start()], ways[match.start()]
        if not way:
            return part.said("past", "root", subject=True)
        if way == GERUND:
            if not part.has_subject_of(main):
                raise ValueError(f"<{match[1]}> would lose its subject, which is not the main one: join them by and, but or while")
            return part.said("ing", f"advcl>{main.head}", subject=False)
        if way == CLAUSE:
            return part.said("past", f"advcl>{main.head}", subject=True)
        return part.said("past", f"conj>{main.head}", subject=not part.has_subject_of(main))

    return _FIELD.sub(said, pattern)


def _way(before: str, joins: Mapping[str, str]) -> str:
    word = _WORD.search(before)
    return joins.get(word[1].lower(), "") if word else ""
