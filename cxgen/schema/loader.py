"""How YAML is read here: safely, with text as keys, no key twice, bounded in size and depth, and no aliases that grow without bound."""

from __future__ import annotations

import math
from typing import Any

import yaml

from cxgen.schema.door import odd_character

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
REPEATED = 10_000  # nodes that aliases may repeat; the shipped files use none
DEPTH = 100  # levels; the composer in C recurses, and would take the process with it
NODES = 60_000  # values in a file; the largest shipped one has a tenth of it
_INT64 = 1 << 63
_DIGITS = 100  # of a number; to read those of 1:1:1... takes time with their square
_TAGS = (None, "!", *(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")))


class Loader(_Base):  # type: ignore[misc]
    """Safe, without repeated keys, and without YAML 1.1's other booleans: ``on`` is a preposition here."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys are texts, each once."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _fault("a key must be a word", key, "put { or [ in quotes if it is text")
            if key.value in seen:
                raise _fault(f"the key {key.value!r} occurs twice", key, f"it stands on line {seen[key.value]} already: keep one")
            seen[key.value] = key.start_mark.line + 1
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and not isinstance(self.construct_object(key), str):
                raise _fault(f"the key {key.value!r} is not text", key, "put it in quotes")
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A value. What YAML takes for a number or date and Python does not, what no table holds and what no terminal should get is named
        with its line."""
        if isinstance(node, yaml.ScalarNode) and len(node.value) > _DIGITS and not node.tag.endswith(":str"):
            raise _fault("a number or date that is none", node, "put it in quotes if it is text")
        try:
            value = super().construct_object(node, deep)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:  # as the libraries' constructors fail
            raise _fault("a number or date that is none", node, "put it in quotes if it is text") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise _fault(f"{value} is no number to reckon with", node, "give a finite one")
        if isinstance(value, int) and not -_INT64 <= value < _INT64:
            raise _fault("a number beyond 64 bits", node, "put it in quotes if it is text")
        if isinstance(value, str) and (odd := odd_character(value)):
            raise _fault(f"an invisible or control character (U+{ord(odd[0]):04X}), written as an escape", node, "delete it")
        return value


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


def _fault(problem: str, place: yaml.Node | yaml.Event, hint: str) -> yaml.constructor.ConstructorError:
    mark: Any = place.start_mark
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=mark, note=hint)


def compose(text: str) -> tuple[Any, yaml.Node | None]:
    """The loader, which can construct, and the root of the document.

    Raises:
        yaml.YAMLError: not YAML, nested too deeply, or too much of it.
    """
    depth = nodes = 0
    event: Any
    for event in yaml.parse(text, Loader=Loader):
        nodes += isinstance(event, yaml.NodeEvent)
        if getattr(event, "tag", None) not in _TAGS:
            raise _fault(f"the tag {event.tag[:80]!r} says what no file of cxgen's may be", event, "write the value plainly")
        if nodes > NODES:
            raise _fault(f"more than {NODES} values", event, "divide the file")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise _fault(f"nested in more than {DEPTH} levels", event, "brackets that are not closed?")
    loader = Loader(text)
    return loader, loader.get_single_node()


def graph_fault(root: yaml.Node | None) -> tuple[str, int] | None:
    """What is wrong with the aliases of a composed document, and its 1-based line; None if nothing is.

    A document is a graph until something walks through it: nine anchors of nine aliases each are a billion nodes then.
    """
    sizes: dict[int, int] = {}  # node -> nodes below it, repeated ones counted each time
    open_: set[int] = set()
    todo: list[tuple[yaml.Node, bool]] = [] if root is None else [(root, False)]
    while todo:
        node, done = todo.pop()
        if done:
            open_.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in _children(node))
            continue
        if id(node) in sizes:
            continue
        open_.add(id(node))
        todo.append((node, True))
        for child in _children(node):
            if id(child) in open_:
                return "an alias inside what it stands for", child.start_mark.line + 1
            if id(child) not in sizes:
                todo.append((child, False))
    if root is not None and sizes[id(root)] - len(sizes) > REPEATED:
        return f"aliases repeat more than {REPEATED} values", root.start_mark.line + 1
    return None


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
