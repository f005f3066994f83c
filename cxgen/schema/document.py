"""A YAML document that knows on which line each of its keys stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from cxgen.errors import SchemaError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Safe, without repeated keys, and without YAML 1.1's other booleans: ``on`` is a preposition here."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Document:
    """Parsed YAML with its source.

    Attributes:
        path: the file.
        data: the parsed mapping.
        text: the source, kept to find line numbers when something is wrong.
    """

    path: Path
    data: dict[str, Any]
    text: str

    def line(self, keys: Sequence[str | int]) -> int:
        """1-based line of the node under ``keys``; the nearest existing ancestor when the path breaks off."""
        node: yaml.Node | None = yaml.compose(self.text, Loader=_Loader)
        line = 1
        for key in keys:
            step = _step(node, key)
            if step is None:
                break
            mark, node = step
            line = mark.start_mark.line + 1
        return line


def _step(node: yaml.Node | None, key: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The (key node, value node) under ``key``, or None."""
    if isinstance(node, yaml.MappingNode):
        for key_node, value in node.value:
            if key_node.value == str(key):
                return key_node, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key]
    return None


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema shipped as ``cxgen/schema/<name>.schema.json``."""
    loaded: dict[str, Any] = json.loads((resources.files(__package__) / f"{name}.schema.json").read_text("utf-8"))
    return loaded


def read_yaml(path: Path, schema: str | None = None) -> Document:
    """Read ``path`` and check it against the named schema.

    Raises:
        SchemaError: unreadable, not YAML, a repeated key, or not as the schema says: file:line, key and what was expected.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"cannot read: {error}", file=path) from error
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise SchemaError(f"not valid YAML: {error.problem}", file=path, line=line, hint="check indentation and quotes") from error
    if not isinstance(data, dict):
        raise SchemaError("expected a mapping at the top level", file=path, line=1)
    document = Document(path, data, text)
    if schema is not None:
        validate(document, schema)
    return document


def validate(document: Document, name: str) -> None:
    """Check a document against the named schema.

    Raises:
        SchemaError: file:line, key and what was expected.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry, Resource

    frames = Resource.from_contents(load_schema("frames"))
    registry: Any = Registry().with_resource("frames.schema.json", frames)
    errors = list(Draft202012Validator(load_schema(name), registry=registry).iter_errors(document.data))
    if not errors:
        return
    error = best_match(errors)
    keys: list[str | int] = list(error.absolute_path)
    at = ".".join(str(key) for key in keys) or "(top level)"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        allowed = error.schema.get("properties", {})
        extra = next((k for k in error.instance if k not in allowed), None)
        keys += [] if extra is None else [str(extra)]
        message, hint = f"{at}: unexpected key {extra!r}", f"allowed here: {', '.join(sorted(allowed)) or 'none'}"
    else:
        message, hint = f"{at}: {error.message[:300]}", str(error.schema.get("description", ""))
        hint = f"expected: {hint}" if hint else f"expected {error.validator}: {json.dumps(error.validator_value)[:200]}"
    raise SchemaError(message, file=document.path, line=document.line(keys), hint=hint)
