"""Files that are small and become large, patterns that never end, characters that nobody sees, disks that are full."""

from __future__ import annotations

import struct
import subprocess
import sys
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.errors import UNSEEN, CxgenError, DataError, SchemaError, plain
from cxgen.files import write_atomically
from cxgen.schema import Column, Contract, read_yaml
from cxgen.schema.document import complaint, parse_json
from cxgen.schema.parquet import oversize
from cxgen.tables import read_table
from cxgen.trees.steps import MOST_LETTERS, MOST_STEPS, cost
from tests.conftest import ROOT

TEXTS = Contract((Column("text", pl.String, ""), Column("number", pl.Int64, "")))
ROWS = pl.DataFrame({"text": ["a", "b"] * 50, "number": range(100)})


def refused(table, tmp_path, contract=TEXTS, **options):
    table.write_parquet(tmp_path / "t.parquet", **options)
    start = time.process_time()
    with pytest.raises(DataError) as caught:
        read_table(tmp_path / "t.parquet", contract, "make it")
    assert time.process_time() - start < 2
    return caught.value.message


@pytest.mark.slow
def test_a_table_is_refused_for_what_it_would_become(tmp_path):
    alike = pl.DataFrame({"text": ["a"], "number": [1]})[[0] * 2_100_000]
    assert "values in" in refused(alike, tmp_path)
    assert (tmp_path / "t.parquet").stat().st_size < 100_000  # and yet millions of values
    long = pl.DataFrame({"text": [f"{n}" + "a" * (9 << 20) for n in range(8)], "number": range(8)})
    assert "unpack to more than" in refused(long, tmp_path)
    listed = pl.DataFrame({"text": ["a"], "number": [1]}).with_columns(number=pl.Series([[0] * 4_100_000]))
    assert "values in" in refused(listed, tmp_path)
    texts = pl.DataFrame({"text": ["a " * 4_500], "number": [1]})[[0] * 100_000]
    assert "bytes of text up to here" in refused(texts, tmp_path)
    many = pl.DataFrame({f"c{n}": [1] for n in range(8_000)})
    assert "footer has" in refused(many, tmp_path)


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "snappy"}, {"compression": "uncompressed"}, {"row_group_size": 7}, {"data_page_size": 100}, {"use_pyarrow": True}],
)
def test_tables_of_every_make_are_read(tmp_path, options):
    path = tmp_path / "t.parquet"
    ROWS.write_parquet(path, **options)
    assert oversize(path) == ""
    assert read_table(path, TEXTS, "").equals(ROWS)
    ROWS.clear().write_parquet(path, **options)
    assert oversize(path) == ""


def test_tables_of_duckdb_are_read(tmp_path):
    import duckdb

    path, rows = tmp_path / "t.parquet", ROWS  # noqa: F841 - duckdb finds the table by its name
    duckdb.sql(f"copy rows to '{path}' (format parquet)")
    assert oversize(path) == ""


def changed(path, old, new):
    """Replace the only place of some bytes in the footer."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<I", raw[-8:-4])
    head, foot = raw[: -8 - size], raw[-8 - size : -8]
    assert foot.count(old) == 1
    path.write_bytes(head + foot.replace(old, new) + raw[-8:])


def varint(number):
    number <<= 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


@pytest.mark.parametrize("claim", [4_999, 5_001])
def test_a_footer_that_counts_wrongly_is_refused(tmp_path, claim):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": range(5_000)}).write_parquet(path, statistics=False)
    raw = path.read_bytes()
    assert oversize(path) == ""
    (size,) = struct.unpack("<I", raw[-8:-4])
    foot = raw[-8 - size : -8]
    at = foot.index(varint(5_000))  # the rows of the file come first
    path.write_bytes(raw[: -8 - size] + foot[:at] + varint(claim) + foot[at + 2 :] + raw[-8:])
    with pytest.raises(DataError, match="has not the"):
        read_table(path, Contract((Column("n", pl.Int64, ""),)), "")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_damage_of_a_table_gives_anything_but_a_reason(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    ROWS.write_parquet(path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    try:
        oversize(path)
    except ValueError as error:
        assert str(error)


# regular expressions


@pytest.mark.parametrize("regex", ["ing$", "(un)?happy", "^un.*ed$", ".*(ing|ed).*", "[aeiou]+", "(?i:foo)+", "a{2,3}b", "(abc)*", ""])
def test_what_linguists_write_is_cheap(regex):
    assert cost(regex) <= MOST_STEPS


@pytest.mark.parametrize(
    "regex", ["(a+)+$", "(a|a)*$", "(a|aa)+", "(.*a){20}", "a?" * 25 + "a" * 25, "(?=(a+)+$)a", r"(.*)\1(.*)\2", ".*.*.*.*x", "a" * 500]
)  # fmt: skip
def test_what_would_not_end_is_dear(regex):
    assert cost(regex) > MOST_STEPS


atoms = st.sampled_from(["a", "[ab]", ".", "b", "(?:ab)", "a|b"])
ends = st.sampled_from(["", "*", "+", "?", "{2,5}", "*?"])
regexes = st.recursive(
    st.tuples(atoms, ends).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    lambda inner: st.lists(inner, min_size=1, max_size=4).flatmap(lambda parts: ends.map(lambda end: f"(?:{''.join(parts)}){end}")),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(regexes)
def test_what_is_cheap_is_matched_soon(regex):
    import re

    if cost(regex) <= MOST_STEPS:
        start = time.process_time()
        re.search(regex + "c", "ab" * (MOST_LETTERS // 2))
        assert time.process_time() - start < 0.5


# characters


@pytest.mark.parametrize(
    "mark", ["\u200b", "\u200d", "\u200f", "\u202e", "\u2066", "\u00ad", "\u061c", "\u2028", "\ufffe", "\U000e0041", "\x85"]
)
def test_what_nobody_sees_is_named_and_never_printed(tmp_path, mark):
    path = tmp_path / "x.yaml"
    for text in (f"a: b\nc: d{mark}e\n", f'a: b\nc: "d\\U{ord(mark):08x}e"\n'):
        path.write_text(text, "utf-8")
        with pytest.raises(SchemaError, match=rf"character \(U\+{ord(mark):04X}\)") as caught:
            read_yaml(path)
        assert caught.value.line == 2
    assert mark not in str(CxgenError(f"x{mark}", file=tmp_path / f"y{mark}"))
    assert "invisible" in Contract((Column("t", pl.String, ""),)).fault(pl.DataFrame({"t": [f"a{mark}"]}))


def test_what_can_be_seen_is_read(tmp_path):
    seen = "café – “naïve” … 東京 \N{SMILING FACE WITH SUNGLASSES} \u00a0"
    (tmp_path / "x.yaml").write_text(f"\ufeffa: {seen.strip()}\n", "utf-8")
    assert read_yaml(tmp_path / "x.yaml").data["a"] == seen.strip()
    assert plain(seen) == seen
    assert not set(seen) & set(UNSEEN)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"a": 1e999}', '{"a": NaN}', "[" * 50_000])
def test_json_that_says_two_things_or_none_is_refused(tmp_path, text):
    with pytest.raises(DataError):
        parse_json(text, tmp_path / "x.json")


def test_a_pattern_of_a_schema_holds_to_the_end_of_a_text():
    data = {"chunks": ["x"]}
    assert complaint(data, "chunks") is None
    wug = {"names": ["ann"], "rude": ["rude"], "rude_parts": ["rude"], "refused": ["x\n"]}
    assert complaint(wug, "wug")
    assert complaint({**wug, "refused": ["x"]}, "wug") is None


def test_a_line_for_the_user_has_an_end():
    assert len(str(CxgenError("x" * 10**6, hint="y" * 10**6))) < 30_000


# a disk without room

FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
import polars as pl
from pathlib import Path
from cxgen.tables import write_json, write_table
table, path = pl.DataFrame({"x": [str(n) * 99 for n in range(9_000)]}), Path(sys.argv[2])
for write in (lambda: write_table(table, path), lambda: write_json(table["x"].to_list(), path)):
    try:
        write()
    except Exception as error:
        print(type(error).__name__, str(error).replace("\\n", " "))
"""


@pytest.mark.parametrize("size", [10, 5_000])
def test_what_cannot_be_written_is_named_and_left_as_it_was(tmp_path, size):
    path = tmp_path / "t.parquet"
    path.write_text("as it was")
    child = subprocess.run([sys.executable, "-c", FULL, str(size), str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    table, text = child.stdout.splitlines()
    assert table.startswith("DataError ")
    assert "cannot be written" in table
    assert text.startswith("OSError ")
    assert f"'{path}'" in text
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_where_a_file_should_be_is_named(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match="x'"):
        write_atomically(tmp_path / "x", lambda path: path.write_text("x"))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_device_is_written_to_and_no_file_takes_its_place(tmp_path, monkeypatch):
    path = tmp_path / "device"
    path.write_text("")
    same = path.stat().st_ino
    monkeypatch.setattr(type(path), "is_char_device", lambda each: each == path)
    write_atomically(path, lambda to: to.write_text("x"))
    assert (path.read_text(), path.stat().st_ino) == ("x", same)


def test_many_words_in_a_row_are_covered_at_once_by_the_longest_chunks(tmp_path):
    from cxgen.trees import Chunks

    text = "chunks:\n- so/ADV/RB/advmod>NEXT\n- so/ADV/RB/advmod>2 so/ADV/RB/advmod>NEXT\n"
    (tmp_path / "chunks.yaml").write_text(text)
    chunks = Chunks.load(tmp_path / "chunks.yaml")
    start = time.process_time()
    assert chunks.split(["so"] * 3_000 + ["far"]) is None
    found = chunks.split(["so"] * 3_001)
    assert [len(chunk.words) for chunk in found] == [2] * 1_500 + [1]
    assert time.process_time() - start < 1
    (tmp_path / "chunks.yaml").write_text("chunks:\n- so/ADV/RB/advmod>2 so/ADV/RB/advmod>1\n")
    with pytest.raises(SchemaError, match="in a circle"):
        Chunks.load(tmp_path / "chunks.yaml")
