"""The command line: what users see, and what bad input gives them."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from cxgen.cli import output
from cxgen.cli.draws import FIRST, premises
from tests.conftest import ROOT, edit

COMMAND = [sys.executable, "-m", "cxgen"]


def fails(result, *parts):
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


def test_list_names_the_constructions_most_substantive_first(cxgen):
    rows = json.loads(cxgen("list", "--format", "json").stdout)
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert rows[0]["name"] == "let-alone"
    assert all(row["templates"] >= 8 for row in rows)


def test_sample_prints_premises_with_their_labelled_hypotheses(cxgen):
    lines = cxgen("sample", "resultative", "--n", "50").stdout.splitlines()
    assert len(lines) == 200
    assert [line.split()[0] for line in lines[1:4]] == ["entailment", "neutral", "contradiction"]


def test_sample_formats_agree_and_filters_filter(cxgen, mini):
    arguments = ["sample", "reach", "--n", "6", "--kind", "missed", "--label", "neutral", "--seed", "3"]
    rows = [json.loads(line) for line in cxgen(*arguments, "--format", "jsonl", cwd=mini).stdout.splitlines()]
    assert len(rows) == 6
    assert {(row["kind"], row["label"]) for row in rows} == {("missed", "neutral")}
    table = list(csv.DictReader(io.StringIO(cxgen(*arguments, "--format", "csv", cwd=mini).stdout)))
    assert [row["hypothesis"] for row in table] == [row["hypothesis"] for row in rows]
    assert json.loads(cxgen(*arguments, "--format", "json", cwd=mini).stdout) == rows


def test_explain_prints_the_matrix(cxgen, mini):
    out = cxgen("explain", "reach", cwd=mini).stdout
    assert any(line.split()[:5] == ["missed", "E", "C", "N", "N"] for line in out.splitlines())
    cells = json.loads(cxgen("explain", "reach", "--format", "json", cwd=mini).stdout)
    assert len(cells) == 32


def test_explain_says_what_each_label_turns_on(cxgen, mini):
    """The kinds of the tests' construction differ in words, but for two that are made to swap roles only."""
    out = cxgen("explain", "reach", cwd=mini).stdout
    assert any(line.split() == ["missed", "words", "words", "words", "words"] for line in out.splitlines())
    edit(mini / "templates/reach.yaml", 'rest: " entirely in vain"', 'rest: " up with great success"')
    cells = json.loads(cxgen("explain", "reach", "--format", "json", cwd=mini).stdout)
    turned = {(cell["kind"], cell["rule"]): cell["turns_on"] for cell in cells if cell["design"] == "outcome"}
    assert turned["missed", "without"] == turned["missed", "with"] == "caught"
    assert turned["caught", "with"] == "missed"
    assert turned["missed", "repeated"] == turned["once", "single"] == "words"


def test_nothing_heavy_is_loaded_for_a_sample(cxgen):
    code = (
        "import sys\nfrom cxgen.cli.app import run\nrun(['sample', 'conative', '--n', '4'])\n"
        "names = 'nltk spacy openai datasets sklearn wordfreq lemminflect scipy huggingface_hub jinja2 rapidfuzz pyarrow ray'.split()\n"
        "print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_loads_no_tables_and_no_files():
    code = (
        "import sys\nfrom cxgen.cli.app import run\nrun(['--help'])\n"
        "print([m for m in 'polars numpy yaml jsonschema rich ray cxgen.stages cxgen.lexicon'.split() if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_construction_suggests_the_nearest(cxgen):
    fails(cxgen("sample", "resultativ"), "unknown construction 'resultativ'", "resultative")
    fails(cxgen("explain", "depictive"), "look-alike", "ask for resultative")


def test_an_opposite_is_explained_and_every_name_that_is_suggested_is_accepted(cxgen):
    fails(cxgen("sample", "attributive"), "opposite of 'resultative'", "cxgen sample resultative")
    result = cxgen("explain", "zzzz")
    fails(result, "unknown construction 'zzzz'")
    names = result.stderr.partition("known: ")[2].strip().split(", ")
    assert names == sorted(row["name"] for row in json.loads(cxgen("list", "--format", "json").stdout))
    assert "Did you mean 'sample'?" in (said := cxgen("sampel").stderr)
    assert said.count("Did you mean") == 1


def test_an_unknown_kind_or_lemma_suggests_the_nearest(cxgen, mini):
    fails(cxgen("sample", "reach", "--kind", "misd", cwd=mini), "missed")
    fails(cxgen("lexicon", "show", "gat"), "gate")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("schematicity: 1", "schematicity: one", ["schematicity", "integer"]),
        ("title: Reach", "title: Reach\ncolour: red", ["unexpected key 'colour'", "allowed here"]),
        ("title: Reach", "title: [Reach", ["not valid YAML"]),
        ("name: reach", "name: reech", ["name is 'reech'"]),
        ('  plain: "{agent}', '  plain: "{agnt}', ["E101 unknown slot 'agnt'", "agent"]),
        ("{@verb:past} for {target}{@rest}", "{@verb:pst} for {target}{@rest}", ["E102", "pst", "participle"]),
    ],
)
def test_bad_yaml_says_where_what_and_how_to_mend_it(cxgen, mini, old, new, parts):
    line = edit(mini / "templates/reach.yaml", old, new)
    if "colour" in new or "[" in new:
        line += 1
    fails(cxgen("sample", "reach", cwd=mini), f"templates/reach.yaml:{line}:", "hint:", *parts)


def test_an_emptied_slot_says_which_constraint_emptied_it(cxgen, mini):
    edit(mini / "templates/reach.yaml", "target: {role: target, frame: true", "target: {role: target, frame: objective")
    fails(cxgen("sample", "reach", cwd=mini), "E106", "gives 'target' under slots, which nothing reads")


def test_bad_parameters_are_named(cxgen, scratch):
    line = edit(scratch / "params.yaml", "preset: sliced", "preset: rare")
    fails(cxgen("generate", cwd=scratch), f"params.yaml:{line}: bands.preset", "contest")
    edit(scratch / "params.yaml", "preset: rare", "preset: sliced")
    line = edit(scratch / "params.yaml", "marked: 0.02", "marked: 0")
    fails(cxgen("generate", cwd=scratch), f"params.yaml:{line}: generate.marked", "minimum of 0")
    edit(scratch / "params.yaml", "marked: 0 #", "marked: 0.02 #")
    edit(scratch / "params.yaml", "dev: 0.15", "dev: 0.2")
    fails(cxgen("generate", cwd=scratch), "add up to 1")
    edit(scratch / "params.yaml", "constructions: all", "constructions: [conativ]")
    fails(cxgen("generate", cwd=scratch), "conative")


def test_a_stage_without_its_input_says_what_to_run(cxgen, scratch):
    fails(cxgen("judge", cwd=scratch), "candidates.parquet", "cxgen generate")
    fails(cxgen("split", cwd=scratch), "candidates.parquet", "cxgen generate")
    fails(cxgen("report", "baselines", cwd=scratch), "outputs/dataset", "no dataset")


def test_a_damaged_table_is_not_half_read(cxgen, scratch):
    (scratch / "outputs/work").mkdir(parents=True)
    (scratch / "outputs/work/candidates.parquet").write_bytes(b"PAR1 but not really")
    fails(cxgen("judge", cwd=scratch), "not a readable parquet file")
    assert not (scratch / "outputs/work/verdicts.parquet").exists()


@pytest.mark.slow
def test_a_failed_stage_leaves_the_last_good_output_alone(cxgen, mini):
    assert cxgen("generate", cwd=mini).returncode == 0
    path = mini / "outputs/work/candidates.parquet"
    before = path.read_bytes()
    edit(mini / "templates/reach.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    fails(cxgen("generate", cwd=mini), "E101")
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["candidates.parquet"]


def test_a_projects_own_template_shadows_the_shipped_one(cxgen, scratch):
    edit(scratch / "templates/conative.yaml", "title: Conative", "title: My own conative")
    assert cxgen("explain", "conative", cwd=scratch).stdout.startswith("My own conative")


INTERRUPTED = "cxgen: interrupted; finished files are complete, unfinished ones were not written\n"


def alive(group):
    """The processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its = path.read_text().rpartition(")")[2].split()[:3]
            found += [path.parent.name] if int(its) == group and state != "Z" else []
    return found


@pytest.mark.slow
def test_ctrl_c_ends_workers_and_leaves_no_half_written_file_whenever_it_comes(scratch):
    edit(scratch / "params.yaml", "n_per_construction: 4000", "n_per_construction: 90000")
    command = [*COMMAND, "generate", "--workers", "2"]
    delays = (0, 0.1, 0.4, 1.5)  # after the first other process: while the pool is made, while workers start, while they work
    with contextlib.ExitStack() as stack:
        runs = [
            stack.enter_context(subprocess.Popen(command, cwd=scratch, stderr=subprocess.PIPE, text=True, start_new_session=True))
            for _ in delays
        ]
        stack.callback(lambda: [os.killpg(process.pid, signal.SIGKILL) for process in runs if alive(process.pid)])

        def interrupted(process, delay):
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not children.read_text():
                time.sleep(0.01)
            time.sleep(delay)
            os.killpg(process.pid, signal.SIGINT)
            _, message = process.communicate(timeout=60)
            return process.returncode, message

        with ThreadPoolExecutor(len(runs)) as threads:
            assert list(threads.map(interrupted, runs, delays)) == [(130, INTERRUPTED)] * len(runs)
        deadline = time.monotonic() + 20
        while (left := [pid for process in runs for pid in alive(process.pid)]) and time.monotonic() < deadline:
            time.sleep(0.05)  # multiprocessing's own resource tracker ends after its parent
    assert not left
    assert not (scratch / "outputs").exists()


def as_another_error():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise RuntimeError("Error calling __set_name__") from error


def swallowed():
    with contextlib.suppress(BaseException):
        signal.raise_signal(signal.SIGINT)


def in_a_destructor():
    class Dying:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    Dying()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pass
    pytest.fail("the interrupt was lost")


@pytest.mark.parametrize("moment", [as_another_error, swallowed, in_a_destructor])
def test_ctrl_c_is_one_whatever_becomes_of_the_exception(moment, cxgen, monkeypatch):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), sys.unraisablehook
    monkeypatch.setattr("cxgen.project.Project.find", moment)
    result = cxgen("list")
    assert (result.returncode, result.stderr) == (130, INTERRUPTED)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), sys.unraisablehook) == handlers


def test_ctrl_c_within_code_given_as_text_does_not_end_the_process_by_the_signal():
    text = "import signal; signal.raise_signal(signal.SIGINT)"
    program = f"from cxgen.cli import main; from cxgen.project import Project; Project.find = lambda: exec({text!r}); main()"
    done = subprocess.run([sys.executable, "-c", program, "list"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)


def test_one_broken_file_does_not_hide_the_other_constructions(cxgen, scratch):
    (scratch / "templates/broken.yaml").write_text("name: broken\n\tform: x\n")
    line = edit(scratch / "templates/resultative.yaml", "lookalikes:", "lookalkes:")
    result = cxgen("list", "--format", "json", cwd=scratch)
    assert result.returncode == 0
    names = {row["name"] for row in json.loads(result.stdout)}
    assert "conative" in names
    assert not {"broken", "resultative"} & names
    said = result.stderr.splitlines()
    assert [text.split(": ")[:2] for text in said] == [
        ["left out", "templates/broken.yaml:2"],
        ["left out", f"templates/resultative.yaml:{line}"],
    ]


# how it is shown


def test_help_has_examples_as_written_and_whole_summaries(cxgen):
    assert cxgen("-h").stdout == cxgen("--help").stdout
    lines = [line.strip() for line in cxgen("sample", "-h").stdout.splitlines()]
    assert "cxgen sample caused-motion --kind two-goes-there --label neutral --format jsonl" in lines
    for words in (("-h",), ("report", "-h"), ("lexicon", "-h"), ("export", "-h"), ("ask", "-h")):
        summaries = cxgen(*words).stdout.partition("Commands:")[2].splitlines()
        assert len(summaries) > 2
        assert not any(line.endswith("...") for line in summaries)
    shown = cxgen("-h").stdout
    assert "with --wug, what pseudowords leave of it." in " ".join(shown.split())
    assert "--install-completion" in shown


@pytest.mark.slow
def test_names_are_completed():
    env = {"COMP_WORDS": "cxgen sample re", "COMP_CWORD": "2", "_CXGEN_COMPLETE": "complete_bash"}
    done = subprocess.run(COMMAND, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["reflexive-resultative", "resultative"]


WIDE = [{"construction": "comparative-correlative", **{f"share of measure {n}": 0.123456789 for n in range(12)}, "none": None}]


def test_a_table_off_a_terminal_is_as_wide_as_it_is(capsys):
    output.emit(WIDE, output.Format.table)
    head, row = capsys.readouterr().out.splitlines()
    assert "share of measure 11" in head
    assert row.split() == ["comparative-correlative", *["0.1235"] * 12]


def on_terminal(code, **env):
    """What ``code`` prints to a terminal of 80 columns."""
    parent, child = pty.openpty()
    env = {"TERM": "xterm", "COLUMNS": "80", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env}
    with subprocess.Popen([sys.executable, "-c", code], stdout=child, stderr=child, cwd=ROOT, env=env):
        os.close(child)
        read = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            read += part
    os.close(parent)
    return read.decode().replace("\r\n", "\n")


def test_a_table_too_wide_for_the_terminal_is_shown_row_by_row():
    code = f"from cxgen.cli.output import *; emit({WIDE!r}, Format.table); emit([dict(a='some-longer-name' , b='x ' * 60)], Format.table)"
    lines = on_terminal(code, NO_COLOR="1", TERM="dumb").splitlines()
    assert [line.split() for line in lines[:2]] == [["construction", "comparative-correlative"], ["share", "of", "measure", "0", "0.1235"]]
    assert any(line.split()[:3] == ["some-longer-name", "x", "x"] for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(cxgen):
    code = "from cxgen.cli.app import run; run(['lexicon', 'show', 'gate'])"
    assert "\x1b[1mgate%" in on_terminal(code)
    assert "\x1b[" not in on_terminal(code, NO_COLOR="1")
    assert "\x1b[" not in cxgen("lexicon", "show", "gate", NO_COLOR="").stdout


def test_formats_round_floats_and_name_columns_even_without_rows(capsys):
    row = {"share": 0.1 + 0.2, "each": [0.1 + 0.2], "text": "a, b"}
    output.emit([row, row], output.Format.json)
    assert json.loads(capsys.readouterr().out) == [{"share": 0.3, "each": [0.3], "text": "a, b"}] * 2
    output.emit([row], output.Format.csv)
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == [{"share": "0.3", "each": "[0.3]", "text": "a, b"}]
    for form, empty in (("csv", "share,text\n"), ("json", "[]\n"), ("jsonl", "")):
        output.emit([], output.Format(form), ("share", "text"))
        assert capsys.readouterr().out == empty


# streams


def lexical(sets, *, dry=10**9):
    """Contrast sets of two designs, the second of which runs dry."""
    rows = [(design, 2 * n, f"{design}{n}{k}") for design, most in (("a", sets), ("b", min(sets, dry))) for n in range(most) for k in "xy"]
    return pl.DataFrame(rows, schema=["design", "set_number", "premise_id"], orient="row")


def test_a_sample_s_first_premises_do_not_depend_on_how_many_are_asked_for():
    asked = []

    def draw(sets):
        asked.append(sets)
        return lexical(sets, dry=20)

    def drawn(n):
        return [name for table in premises(draw, n, -(-n // 4)) for name in table["premise_id"]]

    assert drawn(10) == drawn(400)[:10] == ["a0x", "a0y", "b0x", "b0y", "a1x", "a1y", "b1x", "b1y", "a2x", "a2y"]
    assert len(drawn(400)) == len(set(drawn(400))) == 400  # though one design runs dry
    asked.clear()
    next(premises(draw, 10**6, 10**6))
    assert asked == [FIRST]


def test_all_that_there_are_come_once_where_there_are_fewer():
    found = [name for table in premises(lambda sets: lexical(min(sets, 37), dry=20), 10**6, 10**5) for name in table["premise_id"]]
    assert sorted(found) == sorted(lexical(37, dry=20)["premise_id"])


def test_fewer_premises_than_asked_for_are_told(cxgen, monkeypatch):
    monkeypatch.setattr("cxgen.cli.draws.premises", lambda draw, n, _: iter([draw(2)]))
    result = cxgen("sample", "conative", "--n", "1000", "--format", "jsonl")
    shown = len({json.loads(line)["premise"] for line in result.stdout.splitlines()})
    assert result.returncode == 0
    assert f"only {shown} of 1000 premises" in result.stderr


@pytest.mark.parametrize("form", ["table", pytest.param("csv", marks=pytest.mark.slow)])
def test_a_reader_who_stops_reading_ends_a_sample_quietly(form):
    command = [*COMMAND, "sample", "conative", "--n", "1000000", "--format", form]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(timeout=60), said) == (0, "")


# what the pipeline calls


def test_lint_writes_its_findings_whole_or_not_at_all(cxgen, mini):
    found = mini / "found.json"
    assert cxgen("lint", "reach", "--output", found, cwd=mini).returncode == 0
    assert json.loads(found.read_text()) == []
    assert cxgen("lint", "reach", "--format", "csv", cwd=mini).stdout == "code,file,line,message,hint\n"
    edit(mini / "templates/reach.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    assert cxgen("lint", "reach", "--output", found, cwd=mini).returncode == 2
    (first, *_) = json.loads(found.read_text())
    assert (first["code"], first["file"]) == ("E101", "templates/reach.yaml")
    before = found.read_bytes()
    edit(mini / "templates/reach.yaml", "title: Reach", "title: [Reach")
    assert cxgen("lint", "reach", "--output", found, cwd=mini).returncode == 2
    assert found.read_bytes() == before


def test_the_dataset_ends_with_what_there_is(cxgen, tmp_path):
    fails(cxgen("report", "sizes", cwd=tmp_path), "make dataset")
    (tmp_path / "params.yaml").touch()
    (tmp_path / "outputs/hub").mkdir(parents=True)
    (tmp_path / "outputs/hub/dataset_version.json").write_text('{"rows": {"nli/train": {"rows": 12}, "nli/dev": {"rows": 3}}}')
    result = cxgen("report", "sizes", cwd=tmp_path)
    assert [line.split() for line in result.stdout.splitlines()[:3]] == [
        ["config", "split", "rows"],
        ["nli", "train", "12"],
        ["nli", "dev", "3"],
    ]
    assert "cxgen publish OWNER/NAME --dry-run" in result.stdout


def test_what_the_system_refuses_is_told_in_one_line_and_bugs_are_not_hidden(cxgen, monkeypatch):
    def refused(number):
        def fail(*_, **__):
            raise OSError(number, os.strerror(number), "outputs/x")

        return lambda *_: fail

    monkeypatch.setattr("cxgen.cli.app._built", refused(errno.ENOSPC))
    result = cxgen("list")
    assert (result.returncode, result.stderr) == (2, "cxgen: outputs/x: No space left on device\n")
    monkeypatch.setattr("cxgen.cli.app._built", refused(errno.EBADF))
    with pytest.raises(OSError, match="Bad file"):
        cxgen("list")


def test_rows_that_lack_a_value_leave_a_gap(capsys):
    from cxgen.cli.output import Format, emit

    emit([{"a": 1, "b": 2}, {"a": 3}], Format.table)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["a", "b"], ["1", "2"], ["3"]]


@pytest.mark.parametrize(("own", "threads"), [({}, 1), ({"POLARS_MAX_THREADS": "3"}, 3)])
def test_a_preview_has_one_thread_unless_told_otherwise(own, threads):
    code = (
        "import atexit, sys; sys.argv = ['cxgen', 'explain', 'conative', '--format', 'json']\n"
        "atexit.register(lambda: print(sys.modules['polars'].thread_pool_size(), file=sys.stderr))\n"
        "from cxgen.cli import main\nmain()"
    )
    plain = {name: value for name, value in os.environ.items() if name not in {"POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"}}
    done = subprocess.run([sys.executable, "-c", code], env={**plain, **own}, capture_output=True, text=True, check=True)
    assert done.stderr.split()[-1] == str(threads)
