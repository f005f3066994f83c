"""Reading YAML: every way in which a file can be broken gives its file, its line and plain words, at once."""

from __future__ import annotations

import os

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.errors import SchemaError
from cxgen.schema import read_yaml
from cxgen.schema.loader import DEPTH, REPEATED


def bomb(levels, width=9):
    first = "a0: &a0 [" + ", ".join(["x"] * width) + "]\n"
    return first + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]\n" for n in range(1, levels))


BROKEN = {
    "nul": (b"a: b\nc: \0d\n", 2, "control character (U+0000)"),
    "bell": (b"a: b\n\nc: \ad\n", 3, "control character (U+0007)"),
    "tab": (b"a:\n\tb: c\n", 2, "a tab in the indentation"),
    "tab below spaces": (b"a:\n  b: c\n\td: e\n", 3, "a tab in the indentation"),
    "key twice": (b"a: b\nc: d\na: e\n", 3, "the key 'a' occurs twice"),
    "latin-1": (b"a: b\nc: caf\xe9\n", 2, "not UTF-8 text: byte 0xe9"),
    "bomb": (bomb(9).encode(), 1, f"aliases repeat more than {REPEATED}"),
    "larger bomb": (bomb(400).encode(), 1, f"aliases repeat more than {REPEATED}"),
    "merged bomb": (b"a: &a {x: 1}\n" + bomb(9).replace("a0: &a0 [x", "a0: &a0 [*a").encode(), 1, "aliases repeat more than"),
    "circle": (b"x: y\na: &a\n  b: *a\n", 2, "an alias inside what it stands for"),
    "brackets": (b"a: b\nc: " + b"[" * 100_000, 2, f"nested in more than {DEPTH} levels"),
    "indents": (b"".join(b" " * n + b"a:\n" for n in range(500)), DEPTH + 1, f"nested in more than {DEPTH} levels"),
    "huge number": (b"a: b\nc: " + b"9" * 5000, 2, "a number or date that is none"),
    "no date": (b"a: 2024-99-99\n", 1, "a number or date that is none"),
    "a list as key": (b"a: b\n? [c]\n: d\n", 2, "a key must be a word"),
    "a number as key": (b"a: b\n1: c\n", 2, "the key '1' is not text"),
    "nothing": (b"", 1, "expected a mapping"),
    "code": (b"a: b\nc: !!python/object:os.system x\n", 2, "the tag 'tag:yaml.org,2002:python/object:os.system'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_its_line(tmp_path, name):
    raw, line, said = BROKEN[name]
    path = tmp_path / "x.yaml"
    path.write_bytes(raw)
    with pytest.raises(SchemaError) as caught:
        read_yaml(path)
    assert said in caught.value.message
    assert (caught.value.file, caught.value.line) == (path, line)
    assert caught.value.hint


def test_a_key_twice_says_where_the_first_stands(tmp_path):
    (tmp_path / "x.yaml").write_text("a: b\nc: d\na: e\n")
    with pytest.raises(SchemaError) as caught:
        read_yaml(tmp_path / "x.yaml")
    assert "line 1" in caught.value.hint


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        with pytest.raises(SchemaError):
            read_yaml(path)


def test_aliases_within_the_bound_and_merged_keys_are_read(tmp_path):
    (tmp_path / "x.yaml").write_text("\ufeffa: &a {x: on, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n", "utf-8")
    assert read_yaml(tmp_path / "x.yaml").data == {"a": {"x": "on", "y": 2}, "b": {"x": "on", "y": 3}, "c": [{"x": "on", "y": 2}] * 2}


words = st.text("abcdefghij", min_size=1, max_size=5)
trees = st.recursive(words, lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(words, inner, min_size=1, max_size=3))


@settings(max_examples=40)
@given(st.dictionaries(words, trees, min_size=1))
def test_every_key_is_found_on_the_line_where_it_stands(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "tree.yaml"
    path.write_text(yaml.safe_dump(data, default_flow_style=False), "utf-8")
    document = read_yaml(path)
    assert document.data == data
    lines = document.text.splitlines()

    def walk(value, keys):
        for key, below in value.items() if isinstance(value, dict) else ():
            assert lines[document.line([*keys, key]) - 1].lstrip("- ").startswith((key, f"'{key}'", "?"))
            walk(below, [*keys, key])

    walk(data, [])


def test_a_line_is_found_without_reading_the_file_again(tmp_path, monkeypatch):
    (tmp_path / "x.yaml").write_text("a: b\nc:\n  d: e\n")
    document = read_yaml(tmp_path / "x.yaml")
    monkeypatch.setattr("cxgen.schema.document.compose", None)
    assert [document.line(keys) for keys in (["a"], ["c"], ["c", "d"], ["c", "none"])] == [1, 2, 3, 2]
