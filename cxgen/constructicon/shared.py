"""From what a template file says to what it means: shared entries taken in, entries that stand for several written out.

What several files have in common stands in ``templates/_shared.yaml``; docs/templates.md says how an entry stands for several. Names (of
an entry, its group, what a design lists) have the short names of an order's slots, patterns and facts the slots.

>>> list(expand("<1>-over-<2>", {"pair": ["x", "y"], "claim": "more(<1>, <2>)"}, {}))
[('x-over-y', {'claim': 'more(x, y)'}), ('y-over-x', {'claim': 'more(y, x)'})]
>>> list(expand("<3>-last", {"rotate": {"a": "x", "b": "y", "c": "z"}, "entails": ["sooner(<1>, <3>)"]}, {}))[0]
('c-last', {'entails': ['sooner(x, z)']})
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any

from cxgen.constructicon.model import Place, listed
from cxgen.constructicon.pattern import joined
from cxgen.errors import SchemaError, unknown
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.schema.document import complaint

SECTIONS = ("predicates", "slots", "kinds", "templates", "hypotheses", "designs")
_SHARED = "shared"
_STEPS = ("rotate", "pair", "vary")
_CLAUSES = ("clause", "also")  # that a block of templates has
_FILLED = ("class", "frame")  # a slot is filled in one of these ways
_NAMING = frozenset(("gloss", "opposite", "group", "only", "except", "kinds", "hypotheses", "frames"))  # keys whose values are no patterns
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_FIELD = re.compile(r"<([a-z0-9][a-z0-9-]*)>")
_STRAY = re.compile(r"<[^<>'\"]*>")  # a field that is left when an entry is written out
_BRACED = re.compile(r"\{[^{}]*\}")
_WORDED = ("wordings", "yes", "no")  # of a hypothesis
_DEPTH = 5
Orders = Mapping[str, Sequence[str] | Mapping[str, str]]
Places = dict[tuple[str, str], Place]  # (section, name) -> where the entry stands: in its file, or in the shared one
_Fields = dict[str, Any]  # what <name> stands for
_Entry = tuple[str, Any, list[str]]  # its name, what is written, and the keys that lead to it


def expand(name: str, raw: Any, orders: Orders) -> Iterator[tuple[str, Any]]:
    """The entries that an entry stands for, in order: the steps multiply, the first one varies slowest. A ValueError says what is wrong."""
    if not isinstance(raw, Mapping) or raw.keys().isdisjoint((*_STEPS, "with")):
        yield name, raw
        return
    given = raw.get("with", {})
    choices: list[tuple[_Fields, _Fields]] = [(given, given)]  # in patterns, in names
    for key in (key for key in raw if key in _STEPS):
        for step in raw[key] if key == "vary" and isinstance(raw[key], list) else [raw[key]]:
            kind, what = next(iter(step.items())) if key == "vary" and step.keys() & {"rotate", "pair"} else (key, step)
            choices = [(slots | s, names | n) for slots, names in choices for s, n in _step(kind, what, names, orders)]
    body = {key: value for key, value in raw.items() if key not in (*_STEPS, "with")}
    for slots, names in choices:
        yield str(_filled(name, names)), {key: _filled(value, names if key in _NAMING else slots) for key, value in body.items()}


def _step(kind: str, what: Any, names: _Fields, orders: Orders) -> list[tuple[_Fields, _Fields]]:
    if kind == "vary":
        if len({len(column) for column in what.values()}) != 1:
            raise ValueError(f"vary: {', '.join(what)} have different numbers of values")
        rows = [dict(zip(what, row, strict=True)) for row in zip(*what.values(), strict=True)]
        return [(row, row) for row in rows]
    order = _filled(what, names)  # which can be a field of a step before
    if isinstance(order, str):
        if order not in orders:
            raise ValueError(f"there is no order {order!r}: {', '.join(orders) or 'none'} under orders:")
        order = orders[order]
    pairs = list(order.items()) if isinstance(order, Mapping) else [(slot, slot) for slot in order]
    turns = permutations(pairs, 2) if kind == "pair" else [pairs[-n:] + pairs[:-n] if n else pairs for n in range(len(pairs))]
    numbered = [{str(number): pair for number, pair in enumerate(turn, 1)} for turn in turns]
    return [({n: slot for n, (_, slot) in turn.items()}, {n: short for n, (short, _) in turn.items()}) for turn in numbered]


def _filled(value: Any, fields: _Fields) -> Any:
    """``value`` with its fields filled in; a field by itself is what it stands for, whatever that is."""
    if isinstance(value, Mapping):
        return {_filled(key, fields): _filled(one, fields) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, fields) for one in value]
    for _ in range(_DEPTH):
        if not isinstance(value, str) or "<" not in value:
            break
        match = _FIELD.fullmatch(value)
        if match and not isinstance(fields.get(match[1], ""), str):
            return _filled(fields[match[1]], fields)
        value = _FIELD.sub(lambda match: str(fields.get(match[1], match[0])), value)
    return value


@dataclass(frozen=True)
class Shared:
    """What the template files of a project share; its own wins over what is shipped, which is trusted if not ``strict``."""

    project: Project
    strict: bool
    entries: dict[str, dict[str, tuple[Document, Any]]] = field(default_factory=lambda: {section: {} for section in SECTIONS})
    joins: dict[str, str] = field(default_factory=dict)  # a word between clauses -> what it makes of the one behind it, see `joined`

    @classmethod
    def of(cls, project: Project, *, strict: bool = True) -> "Shared":
        """Read it."""
        shared = cls(project, strict)
        for path in project.shared_files():
            document = read_yaml(path, None if shared.trusts(path) else _SHARED)
            shared.joins.update(document.data.get("joins", {}))
            for section in SECTIONS:
                shared.entries[section].update({name: (document, raw) for name, raw in document.data.get(section, {}).items()})
        return shared

    def trusts(self, path: Path) -> bool:
        """Whether a file need not be checked against its schema."""
        return not self.strict and self.project.ships(path)

    def take_in(self, document: Document) -> tuple[Document, Places]:
        """``document`` with shared entries in it, and every entry that stands for several written out; and where entries stand."""
        data, places = dict(document.data), Places()
        self._require_valid(document, data, places)
        for section in SECTIONS:
            if section in data:
                data[section] = dict(self._merged(document, section, places))
        self._require_valid(document, data, places)
        for section in SECTIONS:
            if section in data:
                data[section] = dict(_expanded(data, section, places))
        self._require_valid(document, data, places)
        data["groups"] = {name: list(members) for name, members in data.get("groups", {}).items()}
        for name, raw in data["kinds"].items():
            for group in listed(raw.get("group", ())):
                data["groups"].setdefault(group, []).append(name)
        clauses, templates = data.get("clauses", {}), data.get("templates", {})
        data["templates"] = {name: self._joined(name, raw, clauses, places["templates", name]) for name, raw in templates.items()}
        return replace(document, data=data), places

    def _require_valid(self, document: Document, data: Mapping[str, Any], places: Places) -> None:
        """``data`` is what the schema says: as it is written, with shared entries in it, and written out."""
        if wrong := None if self.trusts(document.path) else complaint(data, "construction"):
            keys, message, hint = wrong
            file, start = places.get((str(keys[0]), str(keys[1])), (document, keys[:2])) if len(keys) > 1 else (document, keys)
            raise fault(message, (file, [*start, *keys[2:]]), hint)

    def _merged(self, document: Document, section: str, places: Places) -> Iterator[tuple[str, Any]]:
        """The entries of a section, those of shared files among them as those have them; a file's own keys win."""
        sentences = document.data.get("sentences", {}) if section == "templates" else {}
        known = self.entries[section] | {name: (document, pattern) for name, pattern in sentences.items()}
        taken: set[str] = set()
        for written, raw, keys in _spread(_flat(section, document.data[section]), known, document):
            place: Place = (document, [section, *keys])
            name = f"{keys[0].partition(',')[0]}-{written}" if written in taken else written  # two blocks may have the same joins
            if name in taken:
                raise fault(f"a second template {name!r}", place, "give it a name of its own: say: {NAME: which}")
            taken.add(name)
            entry = raw
            wanted = raw.get(_SHARED) if isinstance(raw, dict) else raw == _SHARED
            if wanted:
                wanted = written if wanted is True else str(wanted)
                if wanted not in known:
                    raise unknown(f"shared entry of {section}", wanted, known, file=document.path, line=document.line(place[1]))
                origin, entry = known[wanted]
                if isinstance(raw, dict):
                    entry = {"pattern": entry} if section == "templates" and isinstance(entry, str) else entry
                    filled = _FILLED if section == "slots" and not raw.keys().isdisjoint(_FILLED) else (_SHARED,)
                    entry = {key: value for key, value in (*entry.items(), *raw.items()) if key in raw or key not in filled}
                    del entry[_SHARED]
                else:
                    place = (origin, [section, wanted])
            places[section, str(name)] = place
            yield name, entry

    def _joined(self, name: str, raw: Any, clauses: Mapping[str, str], place: Place) -> dict[str, Any]:
        """A template with its clauses written out."""
        entry: dict[str, Any] = {"pattern": raw} if isinstance(raw, str) else dict(raw)
        if "pattern" not in entry:
            raise fault(f"a template without a pattern: {', '.join(entry)}", place)
        try:
            entry["pattern"] = joined(entry["pattern"], {"clause": "{@clause}", **clauses, **entry.pop("clauses", {})}, self.joins)
        except ValueError as error:
            hint = f"take {name} out of `say`, or mend its clauses; and, also-and, while, as keep the subjects of both: docs/templates.md"
            raise fault(f"template {name!r}: {error}", place, hint) from error
        return entry


def _flat(section: str, entries: Mapping[str, Any]) -> Iterator[_Entry]:
    """Entries with the keys that lead to them; a block of templates as its templates."""
    for name, raw in entries.items():
        if name == _SHARED and isinstance(raw, list):
            yield from ((one, _SHARED, [name]) for one in raw)
        elif section == "templates" and isinstance(raw, dict) and "pattern" not in raw and _SHARED not in raw:
            yield from _block(name, raw)
        elif section == "templates" and isinstance(raw, list):
            for block in raw:
                yield from _block(name, block)
        else:
            yield name, raw, [name]


def _block(kinds: str, block: Mapping[str, Any]) -> Iterator[_Entry]:
    """The templates of a block: those that it says by names, and its own: what is no whole sentence in place of * of its ``within``."""
    common = {"only": [kind.strip() for kind in kinds.split(",")], "clauses": {key: block[key] for key in _CLAUSES if key in block}}
    within = block.get("within", "*")
    for key, value in block.items():
        if key == "say":
            for one in listed(value):
                named = one.items() if isinstance(one, dict) else [(one, one)]
                yield from ((name, {_SHARED: pattern, **common}, [kinds, key]) for name, pattern in named)
        elif key not in (*_CLAUSES, "within"):
            own = (
                value
                if isinstance(value, dict)
                else {_SHARED: value}
                if _NAME.fullmatch(value)
                else {"pattern": value if value.endswith(".") else within.replace("*", value)}
            )
            yield key, {**common, **own}, [kinds, key]


def _spread(entries: Iterable[_Entry], known: Mapping[str, Any], document: Document) -> Iterator[_Entry]:
    """``entries``, the templates one by one where `say` names a list of them."""
    for written, raw, keys in entries:
        wanted = raw.get(_SHARED) if isinstance(raw, dict) else None
        names = known.get(str(wanted), (None, None))[1]
        if not isinstance(names, list):
            yield written, raw, keys
            continue
        if written != wanted or any(isinstance(known.get(one, (None, None))[1], list) for one in names):
            hint = "name it alone under say; a list names templates, no other list, and each keeps its name"
            raise fault(f"{wanted!r} stands for several templates", (document, ["templates", *keys]), hint)
        yield from ((one, {**raw, _SHARED: one}, keys) for one in names)


def _expanded(data: Mapping[str, Any], section: str, places: Places) -> Iterator[tuple[str, Any]]:
    made: set[str] = set()
    for written, raw in data[section].items():
        place = places[section, written]
        try:
            texts = [text for key in _WORDED if section == "hypotheses" for text in raw.get(key, ())]
            bare = [f"<{name}>" for text in texts for name in _FIELD.findall(_BRACED.sub("", text))]
            for name, entry in expand(written, {**raw, "bare": bare} if bare else raw, data.get("orders", {})):
                for said, slot in zip(bare, bare and entry.pop("bare"), strict=True):
                    if str(slot) in data.get("slots", {}):
                        raise fault(f"{said} says {slot!r}, the name of a slot, not what fills it", place, f"write {{{said}}}")
                if name in made:
                    raise fault(f"{section}: {written!r} makes a second {name!r}", place)
                stray = _STRAY.search(str(name if section == "templates" else [name, entry]))
                if stray:
                    raise fault(f"{written}: there is no {stray[0]}: say what it is under rotate, pair, vary or with", place)
                if not _NAME.fullmatch(name):
                    raise fault(f"{name!r} is no name: lower-case letters, digits and hyphens", place)
                made.add(name)
                places[section, name] = place
                yield name, entry
        except ValueError as error:
            raise fault(str(error), place) from error


def fault(message: str, place: Place, hint: str = "see docs/templates.md, entries that stand for several") -> SchemaError:
    """What is wrong with the node at ``place``."""
    return place[0].wrong(place[1], message, hint)


def look_alikes(document: Document) -> list[Document]:
    """The look-alikes that ``document`` brings itself, as documents of their own."""
    common = {key: document.data[key] for key in ("orders",) if key in document.data}
    documents = []
    for name, raw in document.data["lookalikes"].items():
        if not isinstance(raw, dict):
            raise fault(f"lookalikes.{name}: not a mapping", (document, ["lookalikes", name]), "see docs/templates.md, look-alikes")
        data = {"name": name, "lookalike_of": document.data["name"], **common, **raw}
        documents.append(replace(document, data=data, at=(*document.at, "lookalikes", name)))
    return documents
