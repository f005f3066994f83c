"""A YAML document that knows on which line each of its keys stands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from cxgen.errors import SchemaError
from cxgen.schema.loader import compose, graph_fault

_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Document:
    """Parsed YAML with its source.

    Attributes:
        path: the file.
        data: the parsed mapping.
        text: the source.
        root: the composed source, to find line numbers; composed when first asked for if not given.
        at: the keys that lead to ``data`` in the source, where it is only a part of it.
    """

    path: Path
    data: dict[str, Any]
    text: str
    root: yaml.Node | None = field(default=None, repr=False, compare=False)
    at: tuple[str | int, ...] = ()

    def line(self, keys: Sequence[str | int]) -> int:
        """1-based line of the node under ``keys``; the nearest existing ancestor when the path breaks off."""
        if self.root is None:
            object.__setattr__(self, "root", compose(self.text)[1])
        node, line = self.root, 1
        for key in (*self.at, *keys):
            step = _step(node, key)
            if step is None:
                break
            mark, node = step
            line = mark.start_mark.line + 1
        return line

    def line_with(self, text: str) -> int | None:
        """1-based number of the first line with ``text``; None if there is none."""
        return next((number for number, line in enumerate(self.text.splitlines(), 1) if text in line), None)


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
        SchemaError: unreadable, not text, not YAML, a repeated key, aliases without end, or not as the schema says: file:line, key and
            what was expected.
    """
    document = _parse(path, _text(path))
    if schema is not None:
        validate(document, schema)
    return document


def _text(path: Path) -> str:
    """The file's text: UTF-8, without control characters."""
    if path.exists() and not path.is_file():  # a pipe or a device may never end
        raise SchemaError("not a file", file=path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SchemaError(f"cannot read: {error.strerror}", file=path) from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        hint = "save the file as UTF-8; it looks like Latin-1 or another 8-bit encoding"
        raise SchemaError(f"not UTF-8 text: byte 0x{raw[error.start]:02x}", file=path, line=line, hint=hint) from error
    odd = _CONTROL.search(text.removeprefix("\ufeff"))
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise SchemaError(f"a control character (U+{ord(odd[0]):04X})", file=path, line=line, hint="delete it; YAML is plain text")
    return text


def _parse(path: Path, text: str) -> Document:
    """The document; its aliases are counted before anything follows them."""
    try:
        loader, root = compose(text)
        fault = graph_fault(root)
        if fault:
            raise SchemaError(fault[0], file=path, line=fault[1], hint="write the repeated part out")
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise _plain(error, path, text) from error
    if not isinstance(data, dict):
        raise SchemaError("expected a mapping at the top level", file=path, line=1, hint="such as `name: value`, one a line")
    return Document(path, data, text, root)


def _plain(error: yaml.MarkedYAMLError, path: Path, text: str) -> SchemaError:
    """What YAML's parser says, in plain words."""
    line = error.problem_mark.line + 1 if error.problem_mark else None
    lines = text.splitlines()
    if line and line <= len(lines) and "\t" in lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]:
        return SchemaError("a tab in the indentation", file=path, line=line, hint="indent with spaces: YAML allows no tabs there")
    hint = str(error.note or "check indentation and quotes")
    what = str(error.problem)
    return SchemaError(what if error.note else f"not valid YAML: {what}", file=path, line=line, hint=hint)


def validate(document: Document, name: str) -> None:
    """Check a document against the named schema.

    Raises:
        SchemaError: file:line, key and what was expected.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry, Resource

    parts = ((f"{part}.schema.json", Resource.from_contents(load_schema(part))) for part in ("classes", "frames", "construction"))
    registry: Any = Registry().with_resources(parts)
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
        if str(extra).endswith(":"):  # gate%1:06:00:: without quotes is a key and nothing
            hint = f'put it in quotes: "{extra}:"'
    else:
        message, hint = f"{at}: {error.message[:300]}", str(error.schema.get("description", ""))
        hint = f"expected: {hint}" if hint else f"expected {error.validator}: {json.dumps(error.validator_value)[:200]}"
    raise SchemaError(message, file=document.path, line=document.line(keys), hint=hint)
