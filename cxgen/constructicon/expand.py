"""Entries that stand for several: written once, with the participants that change places.

An entry of a template file can say ``rotate: ORDER`` (one entry per rotation of the slots), ``pair: ORDER`` (one per ordered pair of
them) and ``vary: {name: [value, ...], ...}`` (one per column; a list of such steps multiplies); ``with: {name: value}`` fills in what a
shared entry leaves open. In the entry, ``<1>``, ``<2>``, ``<3>`` are the slots in turn, ``<name>`` a value. An order is a list of slots,
a mapping from short names to slots, or the name of one under ``orders:``. Names (of the entry, its group, what a design lists) have the
short name, patterns and facts the slot.

>>> list(expand("<1>-over-<2>", {"pair": ["x", "y"], "claim": "more(<1>, <2>)"}, {}))
[('x-over-y', {'claim': 'more(x, y)'}), ('y-over-x', {'claim': 'more(y, x)'})]
>>> list(expand("<3>-last", {"rotate": {"a": "x", "b": "y", "c": "z"}, "entails": ["sooner(<1>, <3>)"]}, {}))[0]
('c-last', {'entails': ['sooner(x, z)']})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

KEYS = ("rotate", "pair", "vary", "with")
_NAMING = frozenset(("gloss", "opposite", "group", "only", "except", "kinds", "hypotheses", "frames"))  # keys whose values are no patterns
_FIELD = re.compile(r"<([a-z0-9][a-z0-9-]*)>")
_DEPTH = 5

Orders = Mapping[str, Sequence[str] | Mapping[str, str]]
Values = dict[str, tuple[Any, Any]]  # what <name> stands for: in patterns, in names


def expand(name: str, raw: Any, orders: Orders) -> Iterator[tuple[str, Any]]:
    """The entries that an entry stands for, in order: the steps multiply, the first one varies slowest.

    Args:
        name: of the entry, with its fields.
        raw: the entry; one without `KEYS` stands for itself.
        orders: the file's named orders.

    Raises:
        ValueError: an order or a field that there is not, columns of different lengths, or two entries of one name; in words.
    """
    if not isinstance(raw, Mapping) or not any(key in raw for key in KEYS):
        yield name, raw
        return
    body = {key: value for key, value in raw.items() if key not in KEYS}
    seen = set()
    given: Values = {key: (value, value) for key, value in raw.get("with", {}).items()}
    for values in _choices(list(_steps(raw)), given, orders):
        made = str(_filled(name, values, naming=True))
        if made in seen:
            raise ValueError(f"{name!r} makes {made!r} twice: its name needs a field for all that varies")
        seen.add(made)
        yield made, {key: _filled(value, values, naming=key in _NAMING) for key, value in body.items()}


def _steps(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in (key for key in raw if key in KEYS and key != "with"):
        if key == "vary":
            steps = raw[key] if isinstance(raw[key], list) else [raw[key]]
            yield from (step if step.keys() & {"rotate", "pair"} else {"vary": step} for step in steps)
        else:
            yield {key: raw[key]}


def _choices(steps: list[Mapping[str, Any]], values: Values, orders: Orders) -> Iterator[Values]:
    """What the fields stand for, choice by choice; an order can be a field of a step before."""
    if not steps:
        yield values
        return
    for more in _step(_filled(steps[0], values, naming=True) if "vary" not in steps[0] else steps[0]["vary"], orders):
        yield from _choices(steps[1:], {**values, **more}, orders)


def _step(step: Mapping[str, Any], orders: Orders) -> list[Values]:
    if "rotate" in step or "pair" in step:
        order = _order(next(iter(step.values())), orders)
        turned = permutations(order, 2) if "pair" in step else [order[-n:] + order[:-n] if n else order for n in range(len(order))]
        return [{str(number): each for number, each in enumerate(chosen, 1)} for chosen in turned]
    if len({len(column) for column in step.values()}) != 1:
        raise ValueError(f"vary: {', '.join(step)} have different numbers of values")
    return [{key: (value, value) for key, value in zip(step, row, strict=True)} for row in zip(*step.values(), strict=True)]


def _order(given: str | Sequence[str] | Mapping[str, str], orders: Orders) -> list[tuple[str, str]]:
    """(slot, short name) in order."""
    if isinstance(given, str):
        if given not in orders:
            raise ValueError(f"there is no order {given!r}: {', '.join(orders) or 'none'} under orders:")
        given = orders[given]
    return [(slot, short) for short, slot in given.items()] if isinstance(given, Mapping) else [(slot, slot) for slot in given]


def _filled(value: Any, values: Values, naming: bool = False) -> Any:
    """``value`` with its fields filled in; a field by itself is what it stands for, whatever that is."""
    if isinstance(value, Mapping):
        return {_filled(key, values): _filled(each, values, naming) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, values, naming) for each in value]
    if not isinstance(value, str):
        return value
    for _ in range(_DEPTH):
        match = _FIELD.fullmatch(value)
        if match and match[1] in values and not isinstance(values[match[1]][naming], str):
            return _filled(values[match[1]][naming], values, naming)
        replaced = _FIELD.sub(lambda found: str(values[found[1]][naming]) if found[1] in values else found[0], value)
        if replaced == value:
            break
        value = replaced
    return value
