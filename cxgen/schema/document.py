"""A YAML document that knows on which line each of its keys stands, and is checked against a JSON Schema."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from cxgen.errors import UNSEEN, DataError, SchemaError, unknown
from cxgen.files import parse_json, read_text

MOST_BYTES = 2 << 20  # of a YAML file; the largest shipped one has a twentieth of it
_MOST_ERRORS = 100  # of which the most telling is named
_UNSAYABLE = re.compile(f"[{UNSEEN}\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DEEP = re.compile(r"(?:[\[{]\s*(?:\w{1,40}:\s*)?|[-?] +){100}")  # what the parser would follow down until it crashes
_REMEMBERED = 128  # files; those of one project are some forty
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Complaint = tuple[list[str | int], str, str] | None  # the keys to the fault, what is wrong there, what was expected


class _Loader(_Base):  # type: ignore[misc]
    """Safe, with texts as keys, no key twice, and YAML 1.2's plain values: ``on`` is a preposition, 12:30 and 2024-01-01 are texts."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys are texts, each once."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _fault("a key must be a word", key, "put { or [ in quotes if it is text")
            if not key.tag.endswith((":str", ":merge")):
                raise _fault(f"the key {key.value!r} is not text", key, "put it in quotes")
            if key.value in lines:
                raise _fault(f"the key {key.value!r} occurs twice", key, f"it stands on line {lines[key.value]} already: keep one")
            lines[key.value] = key.start_mark.line + 1
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


_Loader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"(?:{_pattern})\Z"), list(_first))


def _fault(problem: str, node: yaml.Node, hint: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark, note=hint)


@dataclass(frozen=True)
class Document:
    """A file, its mapping, its source, and the keys that lead to the mapping there where it is only a part of it."""

    path: Path
    data: dict[str, Any]
    text: str
    at: tuple[str | int, ...] = ()

    def line(self, keys: Sequence[str | int]) -> int:
        """1-based line of the node under ``keys``; the nearest existing ancestor when the path breaks off."""
        node, line = _parse(self.text)[1], 1
        for key in (*self.at, *keys):
            steps: list[tuple[yaml.Node, yaml.Node]] = []
            if isinstance(node, yaml.MappingNode):
                steps = [(name, value) for name, value in node.value if name.value == str(key)]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                steps = [(value, value) for value in node.value[key : key + 1]]
            if not steps:
                break
            mark, node = steps[0]
            line = mark.start_mark.line + 1
        return line

    def wrong(self, keys: Sequence[str | int], message: str, hint: str = "") -> SchemaError:
        """What is wrong with the node under ``keys``, not raised."""
        return SchemaError(message, file=self.path, line=self.line(keys), hint=hint)

    def line_with(self, text: str) -> int | None:
        """1-based number of the first line with ``text``; None if there is none."""
        return next((number for number, line in enumerate(self.text.splitlines(), 1) if text in line), None)


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema shipped as ``cxgen/schema/<name>.schema.json``, or that of a file (a name that ends so)."""
    file = f"{name.removesuffix('.schema.json')}.schema.json"
    source = Path(name) if name == file else resources.files(__package__) / file
    schema: dict[str, Any] = json.loads(source.read_text("utf-8"))
    return schema


def _texts(data: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text of a file, with the keys that lead to it."""
    if isinstance(data, str):
        yield keys, data
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in parts:
        yield from _texts(value, (*keys, key))


def read_yaml(path: Path, schema: str | None = None) -> Document:
    """Read ``path`` and check it against the named schema. Documents of one text share their data: leave them as they are."""
    text = read_text(path, error=SchemaError)
    if len(text) > MOST_BYTES:
        raise SchemaError(f"larger than {MOST_BYTES >> 20} MB", file=path, hint="is it the right file? Divide it if so")
    if unseen := re.search(f"[{UNSEEN}]", text):
        line = text.count("\n", 0, unseen.start()) + 1
        raise SchemaError(f"an invisible character (U+{ord(unseen[0]):04X})", file=path, line=line, hint="delete it")
    if deep := _DEEP.search(text):
        raise SchemaError("nested too deep", file=path, line=text.count("\n", 0, deep.start()) + 1, hint="is it the right file?")
    try:
        data = _parse(text)[0]
    except yaml.MarkedYAMLError as error:
        raise _plain(error, path, text) from error
    except yaml.reader.ReaderError as error:
        line, what = text.count("\n", 0, error.position) + 1, f"a control character (U+{ord(text[error.position]):04X})"
        raise SchemaError(what, file=path, line=line, hint="delete it; the file is plain text") from error
    except (ValueError, KeyError, TypeError, OverflowError) as error:  # of what a tag, or a number of thousands of digits, should become
        line = text.count("\n", 0, odd.start()) + 1 if (odd := re.search(r"!!|\d{4000}", text)) else 1
        raise SchemaError("not valid YAML: a value that is not what it says", file=path, line=line, hint="write it without !!") from error
    if not isinstance(data, dict):
        raise SchemaError("expected a mapping at the top level", file=path, line=1, hint="such as `name: value`, one a line")
    document = Document(path, data, text)
    if "\\" in text:  # as an escape, too
        for keys, own in _texts(data):
            if unseen := _UNSAYABLE.search(own):
                raise document.wrong(keys, f"an invisible character (U+{ord(unseen[0]):04X})", "delete it")
    if schema is not None:
        validate(document, schema)
    return document


@lru_cache(_REMEMBERED)
def _parse(text: str) -> tuple[Any, yaml.Node | None]:
    loader: Any = _Loader(text)
    root = loader.get_single_node()
    return None if root is None else loader.construct_document(root), root


def _plain(error: yaml.MarkedYAMLError, path: Path, text: str) -> SchemaError:
    """What YAML's parser says, in plain words."""
    line = error.problem_mark.line + 1 if error.problem_mark else None
    if line and re.match(r"[^\S\t]*\t", "".join(text.splitlines()[line - 1 : line])):
        return SchemaError("a tab in the indentation", file=path, line=line, hint="indent with spaces: YAML allows no tabs there")
    problem = str(error.problem) if error.note else f"not valid YAML: {error.problem}"
    field = re.search(r"[:,{\[-] (\{@?[\w-]+(?::\w+)?\}|@[\w-]+)", "".join(text.splitlines()[line - 1 : line]) if line else "")
    hint = f'put the text in quotes: "{field[1]} ..."' if field else "check indentation and quotes"
    return SchemaError(problem, file=path, line=line, hint=str(error.note or hint))


def validate(document: Document, name: str) -> None:
    """Check a document against the named schema."""
    if fault := complaint(document.data, name):
        raise document.wrong(*fault)


def complaint(data: Any, name: str) -> _Complaint:
    """What in ``data`` breaks the named schema most; None if nothing does."""
    from jsonschema.exceptions import best_match, by_relevance

    errors = islice(_validator(name).iter_errors(data), _MOST_ERRORS)
    error = best_match(errors, by_relevance(strong={"additionalProperties"}))  # a misspelt key, before what lacks for it
    if error is None:
        return None
    keys: list[str | int] = list(error.absolute_path)
    at = ".".join(map(_brief, keys)) or "(top level)"
    own: dict[str, Any] = error.instance if isinstance(error.instance, dict) else {}
    allowed = error.schema.get("properties", {})
    about = error.schema.get("description", "")
    extra = next((key for key in own if key not in allowed), "")
    if [*own.values()] == [None]:  # {agent} without quotes is a mapping
        return keys, f"{at}: {_brief(error.message, 300)}", f'put the text in quotes: "{{{next(iter(own))}}} ..."'
    if error.validator == "additionalProperties" and own:
        hint = unknown("key", extra, allowed).hint
        if extra == "frames":
            hint = "scenes stand in a table, a line each: lexicons/scenes/NAME.tsv (docs/templates.md)"
        if extra.endswith(":"):  # gate%1:06:00:: without quotes is a key and nothing
            hint = f'put it in quotes: "{extra}:"'
        return [*keys, extra], f"{at}: unexpected key {_brief(repr(extra))}", hint
    if error.validator == "required":
        lacking = [key for key in error.validator_value if key not in own]
        told = about or "; ".join(f"{key}: {allowed.get(key, {}).get('description', '...')}" for key in lacking)
        return keys, f"{at}: lacks {' and '.join(map(repr, lacking))}", f"add {told}"
    if error.validator in {"oneOf", "anyOf"} and all(part.keys() == {"required"} for part in error.validator_value):
        choice = [key for part in error.validator_value for key in part["required"]]
        return keys, f"{at}: {'has more than' if {*choice} & own.keys() else 'lacks'} one of {', '.join(choice)}", f"expected: {about}"
    hint = str(about or f"{error.validator} {_brief(json.dumps(error.validator_value), 200)}")
    return keys, f"{at}: {_brief(error.message, 300)}", f"expected: {hint}"


@cache
def _validator(name: str) -> Any:
    """A validator whose registry holds the schemas that others refer to; a pattern's ``$`` is the end of the text."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend
    from referencing import Registry, Resource

    def check_pattern(_: Any, pattern: str, text: Any, __: Any) -> Iterator[Exception]:  # jsonschema's own lets a line break follow
        if isinstance(text, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), text):
            yield ValidationError(f"{text!r} does not match {pattern!r}")

    parts = ((f"{part}.schema.json", Resource.from_contents(load_schema(part))) for part in ("classes", "construction"))
    registry: Any = Registry().with_resources(parts)
    checks: Any = extend  # untyped
    whole = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)  # a seed of 7.0 would be another one
    return checks(Draft202012Validator, {"pattern": check_pattern}, type_checker=whole)(load_schema(name), registry=registry.crawl())


def _brief(value: object, most: int = 60) -> str:
    """On one line, and no longer than ``most`` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def read_json(path: Path, schema: str, part: str = "", hint: str = "") -> Any:
    """What a JSON file says, checked against the named schema, or against its property ``part``; ``hint`` says what makes the file."""
    data = parse_json(read_text(path, hint), path, hint)
    if fault := complaint({part: data} if part else data, schema):
        raise DataError(fault[1], file=path, hint=hint or fault[2])
    return data
