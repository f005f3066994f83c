"""Lists for blind annotators, their forms, what comes back, and what it says."""

import csv
import json
import math
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from cxgen import layout
from cxgen.build import run
from cxgen.build.params import Params
from cxgen.build.tables import dataset, drop, read_dropped, refused
from cxgen.errors import DataError
from cxgen.files import as_text
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.report.reading import items_read
from cxgen.review.answers import answers_of, read_answers
from cxgen.review.sample import TASKS, Design, read_key, sample, write_key
from cxgen.review.score import score, statistics, tables
from cxgen.review.sheets import Kind, export, write_lists
from cxgen.tables import write_rows
from tests.conftest import edit

QUICK = Resampling(20)
REAL = [f"The dog that I had {number} years ago was brown." for number in range(60)]


@pytest.fixture(scope="module")
def items(mini_dataset):
    return items_read(dataset(Project(mini_dataset), "nli"))


@pytest.fixture(scope="module")
def drawn(items):
    return sample(items, Design(sets=6, sentences=4), REAL)


def filled(path, key, answer=lambda row: row["right"] or "4"):
    """Answers to list 1 as a CSV file; the key's own unless ``answer`` says otherwise."""
    rows = [(row["code"], answer(row)[:1], "") for row in key.filter(list=1).iter_rows(named=True)]
    pl.DataFrame(rows, schema=["id", "answer", "note"], orient="row").write_csv(path)
    return path


# lists


@settings(max_examples=40, deadline=None)
@given(sets=st.integers(1, 12), lists=st.integers(1, 6), seed=st.integers(0, 9))
def test_lists_are_the_columns_of_a_latin_square(items, sets, lists, seed):
    ours = sample(items, Design(sets=sets, sentences=2, lists=lists, seed=seed)).filter(kind="item")
    read = ours.select("list", "contrast_set", "item").unique()
    assert not read.select("list", "contrast_set").is_duplicated().any()  # nobody sees two items of a set
    assert not read["item"].is_duplicated().any()
    for (_,), rows in ours.filter(task="labels", group="reach").group_by("list"):
        counts = [Counter(rows["right"])[letter] for letter in "ENC"]
        assert rows.height == sets
        assert max(counts) - min(counts) <= 1  # labels go round


def test_a_list_with_one_set_of_each_group_has_all_labels(items):
    three = pl.concat(
        [
            items.with_columns(pl.format("{}-{}", name, pl.lit(part)).alias(name) for name in ("group", "contrast_set", "id"))
            for part in range(3)
        ]
    )
    for _, rows in sample(three, Design(sets=1, sentences=0)).filter(task="labels", kind="item").group_by("list"):
        assert set(rows["right"]) == {"E", "N", "C"}


def test_lists_depend_on_the_seed_alone_and_hold_real_sentences_and_plain_checks(items, drawn):
    assert drawn.equals(sample(items.reverse(), Design(sets=6, sentences=4), REAL[::-1]))
    assert not drawn.equals(sample(items, Design(sets=6, sentences=4, seed=2), REAL))
    assert drawn["code"].str.contains("^[g-z][0-9a-f]{16}$").all()  # to a spreadsheet no number, as 12345678901e4567 would be
    real = drawn.filter(kind="real")["text"]
    assert real.is_unique().all()
    assert set(real) <= set(REAL)
    for _, rows in drawn.filter(task="sentences").group_by("list"):
        assert Counter(rows["kind"]) == {"item": 16, "real": 5, "check": 4}


def test_every_form_has_the_same_rows_and_tells_nothing(drawn, tmp_path):
    write_lists(drawn, tmp_path, list(Kind))
    secret = {*drawn["item"].drop_nulls(), *drawn["contrast_set"].drop_nulls()}
    for (number, name), rows in drawn.group_by("list", "task", maintain_order=True):
        stem, texts = f"list-{number}-{name}", TASKS[name]["texts"]
        with (tmp_path / f"csv/{stem}.csv").open(encoding="utf-8-sig") as file:
            plain = list(csv.DictReader(file))
        lines = [json.loads(line) for line in (tmp_path / f"jsonl/{stem}.jsonl").read_text().splitlines()]
        tasks = [task["data"] for task in json.loads((tmp_path / f"label-studio/{stem}.json").read_text())]
        cells = list(load_workbook(tmp_path / f"xlsx/{stem}.xlsx").worksheets[0].iter_rows(values_only=True))
        book = [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]
        for got in (plain, lines, tasks, book):
            assert [row["id"] for row in got] == rows["code"].to_list()
            assert [row[texts[0]] for row in got] == rows["text"].to_list()
            assert not secret & {str(value) for row in got for value in row.values()}
            assert not any(row.get("answer") for row in got)


def test_no_text_of_a_spreadsheet_is_a_formula():
    for start in ("=1+1", "+1", "-1", "@x", "\t=1", " =1", "\uff1dx"):
        assert as_text(start) == f"'{start}"
    assert (as_text("a=1"), as_text(-1)) == ("a=1", -1)


CELLS = [(variant, entity, order) for variant in "AB" for entity in ("humans", "female") for order in (False, True)]


def paired(sets=40):
    """Pairs of two constructions: sets of two items; participants of the second cannot change places."""
    rows = []
    for group, cells in (("swaps", CELLS), ("fixed", [cell for cell in CELLS if not cell[2]])):
        for number, (variant, entity, order) in enumerate(cells * sets):
            name = f"{group}-{number // 2}"
            texts = {"context": f"{name} came.", "diagnostic_good": f"Good {number}.", "diagnostic_bad": f"Bad {number}."}
            cell = {"variant": variant, "entity_type": entity, "switched": order}
            rows.append({"id": f"{group}{number:015}", "contrast_set": name, "group": group, **texts, **cell})
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def chosen(items):
    return sample(items.clear(), Design(sets=4, lists=4, checks=3), pairs=paired())


def test_pairs_are_read_evenly_from_all_cells_and_in_an_order_that_says_nothing(chosen):
    ours = chosen.filter(kind="item").join(paired().drop("contrast_set", "group"), left_on="item", right_on="id")
    assert Counter(ours["group"]) == {"swaps": 16, "fixed": 8}  # CxMP: half as many where participants cannot change places
    assert set(Counter(ours.select("group", "variant", "entity_type", "switched").iter_rows()).values()) == {2}
    assert Counter(ours["list"]) == dict.fromkeys(range(1, 5), 6)
    assert ours["contrast_set"].is_unique().all()
    assert set(ours["right"]) == {"A", "B"}
    for row in ours.iter_rows(named=True):
        assert row[{"A": "second", "B": "third"}[row["right"]]] == row["diagnostic_good"]
    for _, checks in chosen.filter(kind="check").group_by("list"):  # agreement, a shuffled sentence, one like the example
        text = " ".join(checks["second"] + checks["third"])
        assert ["talks" in text or "is older" in text, "Cloth" in text or "Dark" in text, text.count("who did the")] == [True, True, 2]


def test_majority_and_agreement_of_three_readers_are_those_of_table_3_and_who_misses_a_check_is_left_out(chosen, tmp_path):
    ours = chosen.filter(kind="item", list=1)
    wrong = {"one": ours["code"][:1], "two": ours["code"][:2], "three": ours["code"][:0], "hasty": chosen.filter(kind="check")["code"]}
    other = {"A": "B", "B": "A"}
    paths = [
        filled(tmp_path / f"{name}.csv", chosen, lambda row, own=own: other[row["right"]] if row["code"] in own else row["right"])
        for name, own in wrong.items()
    ]
    got = score(read_answers(paths, chosen), QUICK)
    assert {name: row["counts"] for name, row in got["readers"].items()} == {"one": True, "two": True, "three": True, "hasty": False}
    part = got["continuations"]
    assert (part["items"], part["readers"]["full"]["value"]) == (6, round(4 / 6, 4))
    sizes, differ = Counter(ours["group"]), Counter(ours["group"][:2])  # two of three are wrong about the first, one about the second
    rows = {row["group"]: row for row in tables(got)["continuations by group"]}
    for name, size in sizes.items():
        assert rows[name]["majority"].split()[0] == f"{1 - (name == ours['group'][0]) / size:.3f}"
        assert rows[name]["all the same"] == f"{1 - differ[name] / size:.3f}"
    assert set(refused(got["mend"], 2)) == set(ours["contrast_set"][:1])


# answers


def test_answers_come_back_from_every_form(drawn, tmp_path):
    write_lists(drawn, tmp_path, list(Kind))
    right = dict(drawn.filter(list=2, task="labels").select("code", "right").iter_rows())
    book = load_workbook(tmp_path / "xlsx/list-2-labels.xlsx")
    for row in book.worksheets[0].iter_rows(min_row=2):
        row[3].value = right[row[0].value].lower()
    book.save(tmp_path / "xlsx-list-2-labels.xlsx")
    semi = "\ufeffid;answer\r\n" + "".join(f"{code};{answer}\r\n" for code, answer in right.items())
    (tmp_path / "semi-list-2-labels.csv").write_text(semi)
    lines = [json.dumps({"id": code, "answer": answer}) for code, answer in right.items()]
    first = json.dumps({"id": next(iter(right)), "answer": "E" if next(iter(right.values())) != "E" else "N"})
    (tmp_path / "lines-labels.jsonl").write_text("\n".join([first, *lines, '{"id": "012']))  # the last word counts, half a line does not
    choice = {code: [{"from_name": "answer", "value": {"choices": [answer]}}] for code, answer in right.items()}
    cancelled = {"completed_by": 4, "result": [], "was_cancelled": True}
    exported = [{"data": {"id": code}, "annotations": [{"completed_by": 3, "result": choice[code]}, cancelled]} for code in right]
    (tmp_path / "export.json").write_text(json.dumps(exported))
    rows = drawn.filter(list=2, task="labels").select("code", "right", "text").iter_rows()
    mac = [f'{code},{label},a\u200bb,"\u00a0{text.replace(" ", "  ")}"' for code, label, text in rows]
    (tmp_path / "mac-list-2-labels.CSV").write_text("\r".join(["id,answer,note,first", *mac]), newline="")
    named = "sep=;\r\n;;;;\r\nid;answer;;\r\n" + "".join(f"{code};{answer};;\r\n;;;;\r\n ; ;;\r\n" for code, answer in right.items())
    (tmp_path / "named-list-2-labels.csv").write_text(named)
    paths = [tmp_path / f"{name}.csv" for name in ("semi-list-2-labels", "named-list-2-labels")]
    paths += [tmp_path / name for name in ("xlsx-list-2-labels.xlsx", "lines-labels.jsonl", "export.json", "mac-list-2-labels.CSV")]
    got = read_answers(paths, drawn)
    assert set(got["reader"]) == {"xlsx", "semi", "named", "lines", "annotator-3", "mac"}
    assert set(got.filter(reader="mac")["note"]) == {"ab"}
    assert got.height == 6 * len(right)
    assert (got["answer"] == got["right"]).all()


COPIES = ["{} (1)", "Copy of {}", "{} - Copy", "{} copy (2)", "{} 2", "{} (copy)", "{} - Kopie", "{}-1", "{}_v2", "Copy of Copy of {}"]


@pytest.mark.parametrize("name", ["bob-Labels", *(copy.format("bob-labels") for copy in COPIES)])
def test_a_second_copy_of_a_list_is_no_second_reader(drawn, tmp_path, name):
    paths = [filled(tmp_path / f"{stem}.csv", drawn) for stem in ("bob-labels", name)]
    assert set(read_answers(paths[1:], drawn)["reader"]) == {"bob"}
    with pytest.raises(DataError, match=r"bob answers .* twice, first in .*bob-"):
        read_answers(paths, drawn)


def test_a_file_with_the_answers_of_another_is_refused_or_told_unless_it_names_its_reader(drawn, tmp_path, capsys):
    anna, again, ben = (filled(tmp_path / f"{name}.csv", drawn) for name in ("anna", "anna 2", "ben"))
    with pytest.raises(DataError, match=r"anna 2\.csv:2: the same answers \(16 of labels\) as in .*anna\.csv: .*a copy"):
        read_answers([anna, again], drawn)
    assert set(read_answers([anna, ben], drawn)["reader"]) == {"anna", "ben"}
    assert re.fullmatch(r"warning: .*the same answers .* \(1 more like it\)\n", capsys.readouterr().err)
    pl.read_csv(again).with_columns(reader=pl.lit("anna 2")).write_csv(again)
    assert set(read_answers([anna, again], drawn)["reader"]) == {"anna", "anna 2"}
    assert not capsys.readouterr().err


def test_a_name_is_one_name_however_its_letters_are_composed(drawn, tmp_path):
    rows = {
        task: drawn.filter(list=1, task=task).select("code", answer=pl.col("right").fill_null("4").str.head(1))
        for task in ("labels", "sentences")
    }
    paths = [tmp_path / f"{name}.csv" for name in ("Jose\u0301-labels", "list-1-sentences-Jos\u00e9")]
    for path, own in zip(paths, rows.values(), strict=True):
        own.rename({"code": "id"}).write_csv(path)
    assert set(read_answers(paths, drawn)["reader"]) == {"Jos\u00e9"}


def test_who_is_alone_in_an_export_of_label_studio_is_called_as_the_file_is(drawn, tmp_path):
    def task(row, by, *answer):
        result = [{"from_name": "answer", "value": {"choices": answer}}]
        return {"data": {"id": row["code"]}, "annotations": [{"completed_by": by, "result": result}]}

    rows = drawn.filter(list=1, task="labels").to_dicts()
    alone = json.dumps([task(rows[0], 1), *(task(row, 1, row["right"]) for row in rows[1:])])  # an answer taken back is none
    mail = json.dumps([task(row, {"id": 1, "email": "a@b.org"}, "E") for row in rows])
    files = {"anna.json": alone, "ben/list-1-labels.json": alone, "project-1-at-2026-01-05-09-00-abcdef.json": alone, "mail.json": mail}
    for name, text in files.items():
        (tmp_path / "answers" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "answers" / name).write_text(text)
    got = read_answers([tmp_path / "answers" / name for name in files], drawn)
    assert Counter(got["reader"]) == dict.fromkeys(("anna", "ben", "annotator-1"), len(rows) - 1) | {"annotator-a@b.org": len(rows)}


def test_what_has_no_answers_is_named(drawn, tmp_path, capsys):
    write_key(drawn, tmp_path)
    code, path = drawn.filter(task="labels")["code"][0], tmp_path / "none-labels.csv"
    path.write_text(f"id,answer,note\n{code},,odd\n")
    with pytest.raises(DataError, match=r"none-labels\.csv: there are no answers\n  hint: fill in"):
        answers_of(tmp_path, [path])
    assert capsys.readouterr().err.endswith("none-labels.csv:2: a note without an answer: odd\n")
    book = Workbook()
    for row in (["id", "answer"], [code, '=IF(1,"E","N")']):
        book.active.append(row)
    book.save(path.with_suffix(".xlsx"))
    with pytest.raises(DataError, match=r"none-labels\.xlsx:2: a formula whose value"):
        answers_of(tmp_path, [path.with_suffix(".xlsx")])


def test_what_lies_beside_answers_is_passed_over_and_told_unless_a_system_left_it(drawn, tmp_path, capsys):
    write_key(drawn, tmp_path)
    (tmp_path / "answers").mkdir()
    filled(tmp_path / "answers/anna-labels.CSV", drawn)
    for name in ("desktop.ini", "Thumbs.db", ".DS_Store", "~$ben.xlsx", "ben-labels.ods"):
        (tmp_path / "answers" / name).write_bytes(b"\0")
    assert set(answers_of(tmp_path, [])["reader"]) == {"anna"}
    assert re.findall(r"answers/(\S+): not read", capsys.readouterr().err) == ["ben-labels.ods"]


def test_an_export_that_fails_leaves_no_folder(mini_dataset, tmp_path, monkeypatch):
    monkeypatch.setattr("cxgen.review.sheets.write_key", lambda *_: (tmp_path / "missing/key").touch())
    with pytest.raises(FileNotFoundError):
        export(dataset(Project(mini_dataset), "nli"), tmp_path / "r", Design(2, 2), [Kind.xlsx])
    assert list(tmp_path.iterdir()) == []


def test_scoring_writes_over_neither_key_nor_answers(cxgen, drawn, tmp_path):
    write_key(drawn, tmp_path)
    (tmp_path / "answers").mkdir()
    files = [tmp_path / "key.parquet", filled(tmp_path / "answers/anna.csv", drawn)]
    before = [path.read_bytes() for path in files]
    for option in ("--record", "--drop"):
        results = [cxgen("review", "score", tmp_path, option, path) for path in files]
        assert [(result.returncode, "would overwrite" in result.stderr) for result in results] == [(2, True)] * 2
    assert [path.read_bytes() for path in files] == before
    assert "--record x.xlsx" in cxgen("review", "score", tmp_path, "--record", "x.xlsx", cwd=tmp_path).stderr


def test_ids_that_were_moved_against_their_texts_are_refused_where_they_part(drawn, tmp_path):
    rows = drawn.filter(list=1, task="labels").to_dicts()
    codes = [row["code"] for row in rows]
    codes[3], codes[4] = codes[4], codes[3]
    write_rows(
        pl.DataFrame([{"id": code, "first": row["text"], "answer": "E"} for code, row in zip(codes, rows, strict=True)]), tmp_path / "a.csv"
    )
    with pytest.raises(DataError, match=rf"a\.csv:5: first of {codes[3]} is not the text"):
        read_answers([tmp_path / "a.csv"], drawn)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,answer\n{0},Q\n", "'Q' is no answer"),
        ("a.csv", "id,answer\n{0},E\n{0},E\n", "twice"),
        ("a.csv", "id,answer\nffffffffffffffff,E\n", "ffffffffffffffff is not of this review"),
        ("a.csv", "id;answer\n6,59253E+15;E\n", "6,59253E+15: a spreadsheet has taken the id for a number"),
        ("a.csv", "id,answer,first\n{0},E,Another text.\n", "first of {0} is not the text that was asked about"),
        ("a.csv", "id,answer,second\n{0},E,Another text.\n", "second of {0} is not the text that was asked about"),
        ("a.csv", "id,answer\n{0},E\n{1},E\n", "answers lists 1 and 2"),
        ("a.csv", "id,answer,reader\n{0},E,Anna\n{1},E,anna\n", "Anna is written with other capitals elsewhere"),
        ("list-1-labels.csv", "id,answer,reader\n{0},E,\n", "nobody knows whose"),
        ("a.json", '[{{"data": {{}}}}]', "not an export of Label Studio's"),
        ("a.xlsx", "no archive", "not an Excel workbook"),
        *((f"a.{kind}", None, "not a") for kind in ("xlsx", "csv", "jsonl", "json")),  # a pipe that nobody writes to
        ("a.txt", "", "unknown kind of file"),
        ("a.jsonl", '[{{"id": "{0}", "answer": "E"}}]', "not a JSON object"),
        ("a.jsonl", '{{"id": "{0}", "answer": "E"}}\n{{"id": "{0}", "ans\n{{"id": "{0}"}}', "not JSON"),  # no line that the form has begun
        ("a.jsonl", '{{"id": "{0}", "answer": "E"}}\n{{"id": "{1}", "note": "\udce9"}}\n', "not UTF-8 text"),
        ("a.jsonl", '{{\n "id": "{0}",\n "answer": "E"\n}}\n', "not JSON"),
    ],
)
def test_answers_that_are_none_are_refused_in_one_line(drawn, tmp_path, name, text, message):
    codes = [drawn.filter(list=number)["code"][0] for number in (1, 2)]
    path = tmp_path / "answers" / name
    path.parent.mkdir()
    path.write_bytes(text.format(*codes).encode("utf-8", "surrogateescape")) if text is not None else os.mkfifo(path)
    with pytest.raises(DataError) as caught:
        read_answers([path], drawn)
    assert message.format(*codes) in caught.value.message
    assert "\n" not in caught.value.message


# scores

NAN = math.nan
# Krippendorff 2011, Computing Krippendorff's alpha-reliability, section E: nominal 0.743, ordinal 0.815.
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
# Fourteen readers, ten units, five answers (Fleiss): the counts of answers, in hexadecimal digits.
FOURTEEN = ["0000e", "02642", "00356", "03920", "22811", "77000", "32630", "25322", "65210", "02237"]


def test_coefficients_are_the_published_ones():
    assert round(statistics(FOUR, "nominal")["alpha"], 3) == 0.743
    assert round(statistics(FOUR, "ordinal")["alpha"], 3) == 0.815
    assert statistics(FOUR, "nominal")["full"] == 9 / 12  # units 2, 6 and 8 differ
    units = np.array([np.repeat(np.arange(5.0), [int(count, 16) for count in row]) for row in FOURTEEN]).T
    assert round(statistics(units, "nominal")["fleiss"], 3) == 0.210
    assert statistics(FOUR[1:3], "nominal")["cohen"] == pytest.approx(32 / 59)  # 6 of 9 units alike, by chance 22 of 81
    assert statistics(np.zeros((2, 4)), "nominal") == {"full": 1, "majority": 1, "alpha": None, "cohen": None, "fleiss": None}


def test_scores_equal_a_hand_calculation(drawn, tmp_path):
    """Two readers of list 1; the second answers two pairs of ours otherwise, and fails no check."""
    ours = drawn.filter(list=1, task="labels", kind="item")
    turned = set(ours["code"][:2])
    other = {"E": "N", "N": "C", "C": "E"}

    def second(row):
        if row["task"] == "labels":
            return other[row["right"]] if row["code"] in turned else row["right"]
        return row["right"] or {"premise": "2", "hypothesis": "5", None: "4"}[row["side"]]

    got = score(read_answers([filled(tmp_path / "a.csv", drawn), filled(tmp_path / "b.csv", drawn, second)], drawn), QUICK)
    assert ours.height == 12
    assert got["readers"]["b"] == {"list": 1, "answers": 12 + 16 + 5, "checks": 8, "checks_right": 8, "minutes": None, "counts": True}
    labels = got["labels"]
    assert (labels["items"], labels["answers"]) == (12, 24)
    by_group = Counter(ours.filter(pl.col("code").is_in(turned))["group"])
    shares = [1 - by_group[name] / 12 for name in ("reach", "wait")]  # six items a group, two answers each
    assert labels["agree"]["value"] == round(sum(shares) / 2, 4)
    assert labels["readers"]["full"]["value"] == round(10 / 12, 4)
    assert sum(labels["confusion"][right][answer] for right in "ENC" for answer in "ENC" if right != answer) == 2
    assert got["sentences"]["premise"] == {"answers": 16, "mean": 3.0, "natural": 0.5, "distance": -1.0}
    assert got["sentences"]["hypothesis"] == {"answers": 16, "mean": 4.5, "natural": 1.0, "distance": 0.5}
    assert {(row["item"], row["against"]) for row in got["mend"]} == {(item, 1) for item in ours["item"][:2]}
    assert refused(got["mend"], 2) == {}  # one of two is no majority


def test_who_fails_the_checks_does_not_count_unless_asked(drawn, tmp_path):
    paths = [filled(tmp_path / "a.csv", drawn), filled(tmp_path / "b.csv", drawn, lambda row: "N" if row["task"] == "labels" else "3")]
    answers = read_answers(paths, drawn)
    got = score(answers, QUICK)
    assert (got["readers"]["b"]["counts"], got["labels"]["agree"]["value"]) == (False, 1)
    assert score(answers, Resampling(0), everybody=True)["labels"]["agree"]["value"] < 1


def test_the_form_knows_how_long_a_reader_worked(drawn, tmp_path):
    codes, times = drawn.filter(list=1, task="labels")["code"], ("09:00:00", "09:00:30", "09:02:00", "12:30:00", "12:31:00")
    rows = [{"reader": "a", "id": code, "answer": "E", "at": f"2026-01-05T{time}+00:00"} for code, time in zip(codes, times, strict=False)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    got = score(read_answers([tmp_path / "a.jsonl"], drawn), Resampling(0), everybody=True)
    assert got["readers"]["a"]["minutes"] == 3.0  # without the hours between two sittings


# the commands, and what the pipeline makes of a list of refused sets


def test_export_score_and_drop_from_the_command_line(cxgen, mini_dataset, tmp_path):
    given = ("--n", "3", "--sentences", "2", "--members", "2", "--real", tmp_path / "real.txt", "--as", "csv", "--format", "json")
    for unseen in "\x02\u200b\u202e":  # from a PDF
        (tmp_path / "real.txt").write_text(f"# mine\nThe e{unseen}ect was small.\n")
        refusal = cxgen("review", "export", tmp_path / "r", *given, cwd=mini_dataset)
        assert (refusal.returncode, f"real.txt:2: an invisible character (U+{ord(unseen):04X})" in refusal.stderr) == (2, True)
    assert not (tmp_path / "r").exists()
    (tmp_path / "real.txt").write_text("# mine\n" + "\n".join(REAL))
    made = cxgen("review", "export", tmp_path / "r", *given, cwd=mini_dataset)
    assert [row["items"] for row in json.loads(made.stdout)] == [6, 4, 8] * 3
    for command, message in (("export", "there is a review already"), ("score", "there are no answers")):
        refusal = cxgen("review", command, tmp_path / "r", cwd=mini_dataset)
        assert (refusal.returncode, message in refusal.stderr) == (2, True)
    key = read_key(tmp_path / "r")
    asked = key.filter(kind="item", task="membership")  # what is of the construction, and what of its look-alike
    assert set(asked.select("group", "right").iter_rows()) == {("reach", "Y"), ("wait", "N")}
    assert set(asked["second"].str.head(10)) == {"Reach: NP["}
    bad = key.filter(kind="item", list=1, task="labels").row(0, named=True)

    def against(row):
        return "ENC"["ENC".index(row["right"]) - 1] if row["code"] == bad["code"] else row["right"] or "4"

    for number, name in enumerate(("anna", "ben"), 1):  # of another list each
        filled(tmp_path / f"r/answers/{name}.csv", key.filter(list=number).with_columns(list=1), against)
    assert "no two readers" in cxgen("review", "score", tmp_path / "r", "--resamples", "0", cwd=mini_dataset).stderr
    for name in ("anna", "ben"):
        filled(tmp_path / f"r/answers/{name}.csv", key, against)
    listed = tmp_path / "dropped.csv"
    drop({"0" * 16: "an earlier one"}, listed)
    scored = cxgen("review", "score", tmp_path / "r", "--drop", listed, "--json", "--resamples", "20", cwd=mini_dataset)
    report = json.loads(scored.stdout)
    assert (report["labels"]["answers"], report["membership"]["answers"], report["membership"]["agree"]["value"]) == (12, 8, 1)
    assert "1 contrast sets added, 0 were there" in scored.stderr
    assert set(read_dropped(listed)) == {"0" * 16, bad["contrast_set"]}
    assert bad["item"] in read_dropped(listed)[bad["contrast_set"]]
    table = cxgen("review", "score", tmp_path / "r", "--resamples", "20", cwd=mini_dataset).stdout
    assert "Krippendorff's alpha" in table
    assert f"{bad['text']} / {bad['second']}" in table


def test_pairs_go_from_the_command_line_to_a_list_and_back(cxgen, mini, tmp_path):
    edit(mini / "templates/reach.yaml", "  outcome:", "  outcome:\n    config: [nli, minimal_pairs]")
    run.build(Project(mini), Params.read(Project(mini).params))
    made = cxgen("review", "export", "r", "--config", "minimal_pairs", "--n", "3", "--as", "csv", "--format", "json", cwd=mini)
    assert [(row["task"], row["items"], row["checks"]) for row in json.loads(made.stdout)] == [("continuations", 3, 4)] * 3
    filled(mini / "r/answers/anna.csv", read_key(mini / "r"))
    scored = cxgen("review", "score", "r", "--json", cwd=mini)
    assert json.loads(scored.stdout)["continuations"]["majority_agrees"]["value"] == 1
    refusal = cxgen("review", "score", "r", "--record", "x.csv", cwd=mini)
    assert (refusal.returncode, "nothing to record" in refusal.stderr) == (2, True)
    refusal = cxgen("review", "export", "s", "--config", "pairs", cwd=mini)
    assert (refusal.returncode, "unknown config" in refusal.stderr) == (2, True)


def test_split_leaves_out_whole_sets_that_readers_refused_and_records_why(mini_dataset, tmp_path, capsys):
    project = Project(shutil.copytree(mini_dataset, tmp_path / "p"))
    before = dataset(project, "nli")
    gone = before.filter(config="nli")["contrast_set"][0]
    path = project.root / layout.DROPPED
    path.parent.mkdir(exist_ok=True)
    drop({gone: "item x: E is computed, readers say C 2"}, path)
    path.write_text(path.read_text() + "z1,an earlier one\nz2,another\n")
    run.build(project, Params.read(project.params))
    assert "dropped.csv:3: 2 contrast sets are not drawn any more, the first of them 'z1'" in capsys.readouterr().err
    after = dataset(project, "nli")
    assert gone not in after["contrast_set"]
    assert after.height == before.height  # another set has taken its place
    rejected = pl.read_parquet(project.root / layout.table(layout.REJECTED, layout.REJECTED)).filter(contrast_set=gone)
    assert rejected.height == before.filter(contrast_set=gone).height
    assert set(rejected["reason"]) == {"review: item x: E is computed, readers say C 2"}
    for text in ("", "set\nx\n"):
        path.write_text(text)
        with pytest.raises(DataError):
            read_dropped(path)


def test_a_recorded_review_is_a_reading(cxgen, mini_dataset, tmp_path):
    root = Path(shutil.copytree(mini_dataset, tmp_path / "p"))
    cxgen("review", "export", "r", "--n", "3", "--sentences", "2", "--as", "csv", cwd=root)
    filled(root / "r/answers/anna.csv", read_key(root / "r"))
    given = ("--record", "pipelines/readings/mine.csv", "--resamples", "0")
    assert "10 rows" in cxgen("review", "score", "r", *given, cwd=root).stderr
    assert cxgen("report", "reading", cwd=root).returncode == 0
    got = json.loads((root / layout.metric("reading")).read_text())
    assert (got["answers"], got["labelled"], got["readers"]) == (6 + 4, 6, {"human": 1})
    assert got["overall"] == {"answers": 10, "labels": 1.0, "premises": 1.0, "hypotheses": 1.0}
