"""A YAML document that knows on which line each of its keys stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from cxgen.errors import DataError, SchemaError
from cxgen.files import parse_json
from cxgen.schema.door import MB, read_text
from cxgen.schema.loader import compose, graph_fault
from cxgen.schema.sound import known_sound

MOST_ERRORS = 100  # of which the most telling is named
MOST_BYTES = 2 * MB  # the largest shipped file has a twentieth of it
_KEPT = 128  # files as they were read last: a construction's is asked for by many, and those of one project are some forty


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
    """The JSON Schema shipped as ``cxgen/schema/<name>.schema.json``, or that of a file (a name that ends so)."""
    if name.endswith(".schema.json"):
        given: dict[str, Any] = json.loads(Path(name).read_text("utf-8"))
        return given
    loaded: dict[str, Any] = json.loads((resources.files(__package__) / f"{name}.schema.json").read_text("utf-8"))
    return loaded


def read_yaml(path: Path, schema: str | None = None) -> Document:
    """Read ``path`` and check it against the named schema. Documents of one text share their data: leave them as they are.

    Raises:
        SchemaError: unreadable, not text, not YAML, a repeated key, aliases without end, or not as the schema says: file:line, key and
            what was expected.
    """
    document = _parse(path, read_text(path, MOST_BYTES, SchemaError))
    if schema is not None:
        validate(document, schema)
    return document


def _parse(path: Path, text: str) -> Document:
    """The document."""
    try:
        data, root, fault = _composed(text)
    except yaml.MarkedYAMLError as error:
        raise _plain(error, path, text) from error
    except yaml.YAMLError as error:  # of the reader: what is no text in YAML
        raise SchemaError(f"not valid YAML: {error}".splitlines()[0], file=path, hint="is it a text file?") from error
    if fault:
        raise SchemaError(fault[0], file=path, line=fault[1], hint="write the repeated part out")
    if not isinstance(data, dict):
        raise SchemaError("expected a mapping at the top level", file=path, line=1, hint="such as `name: value`, one a line")
    return Document(path, data, text, root)


@lru_cache(_KEPT)
def _composed(text: str) -> tuple[Any, yaml.Node | None, tuple[str, int] | None]:
    """What a text says, its source, and what is wrong with its aliases, which are counted before anything follows them."""
    loader, root = compose(text)
    fault = graph_fault(root)
    return None if fault or root is None else loader.construct_document(root), root, fault


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
    found = _known_complaint(_Data(repr(document.data), document.data), name)
    if found:
        keys, message, hint = found
        raise SchemaError(message, file=document.path, line=document.line(keys), hint=hint)


@dataclass(frozen=True)
class _Data:
    """Data that are the same if they are written the same."""

    written: str
    data: Any = field(compare=False)


@lru_cache(_KEPT)
def _known_complaint(given: _Data, name: str) -> tuple[list[str | int], str, str] | None:
    return None if known_sound(given.written, name) else complaint(given.data, name)


def complaint(data: Any, name: str) -> tuple[list[str | int], str, str] | None:
    """The keys to what in ``data`` breaks the named schema most, what is wrong there, and what was expected; None if nothing is."""
    from jsonschema.exceptions import best_match

    errors = list(islice(_validator(name).iter_errors(data), MOST_ERRORS))
    if not errors:
        return None
    error = best_match(errors)
    keys: list[str | int] = list(error.absolute_path)
    at = ".".join(_brief(key, 60) for key in keys) or "(top level)"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        allowed = error.schema.get("properties", {})
        extra = next((k for k in error.instance if k not in allowed), None)
        keys += [] if extra is None else [str(extra)]
        message, hint = f"{at}: unexpected key {_brief(repr(extra), 60)}", f"allowed here: {', '.join(sorted(allowed)) or 'none'}"
        if str(extra).endswith(":"):  # gate%1:06:00:: without quotes is a key and nothing
            hint = f'put it in quotes: "{extra}:"'
    else:
        message, hint = f"{at}: {_brief(error.message, 300)}", str(error.schema.get("description", ""))
        hint = f"expected: {hint}" if hint else f"expected {error.validator}: {json.dumps(error.validator_value)[:200]}"
    return keys, message, hint


@cache
def _validator(name: str) -> Any:
    """What checks against the named schema; with one registry, which remembers where the parts of the schemas are."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend as extended

    extend: Any = extended  # untyped
    return extend(Draft202012Validator, {"pattern": _unlike})(load_schema(name), registry=_registry())


@cache
def _registry() -> Any:
    from referencing import Registry, Resource

    parts = ((f"{part}.schema.json", Resource.from_contents(load_schema(part))) for part in ("classes", "frames", "construction"))
    registry: Any = Registry().with_resources(parts)
    return registry.crawl()


def _unlike(_: Any, pattern: str, text: Any, __: Any) -> Iterator[Exception]:
    """As jsonschema's own check, but the end of a text is its end: Python's ``$`` lets a line break follow."""
    from jsonschema import ValidationError

    if isinstance(text, str) and not re.search(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern, text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


def _brief(value: object, most: int) -> str:
    """On one line, and no longer than ``most`` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def read_json(path: Path, schema: str, part: str = "", hint: str = "") -> Any:
    """What a JSON file says, checked against the named schema.

    Args:
        path: the file.
        schema: the schema's name.
        part: which of the schema's properties the file is; by default the whole.
        hint: what makes it.

    Raises:
        DataError: missing, unreadable, larger than such files are, not JSON, or not as the schema says: the key and what was expected.
    """
    data = parse_json(read_text(path, MOST_BYTES, DataError, hint), path, hint)
    found = complaint({part: data} if part else data, schema)
    if found:
        raise DataError(found[1], file=path, hint=hint or found[2])
    return data
