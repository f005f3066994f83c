"""The command line: what users see, and what bad input gives them."""

import contextlib
import csv
import errno
import io
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
import typer

from cxgen.build.params import Params
from cxgen.build.preview import FIRST, Wanted, sampled
from cxgen.cli import output
from cxgen.cli.app import app
from cxgen.errors import SchemaError
from tests import mini as made
from tests.conftest import ROOT, edit

COMMAND = [sys.executable, "-m", "cxgen"]


def fails(result, *parts):
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


def test_list_is_most_substantive_first_and_leaves_broken_files_out(cxgen, scratch):
    (scratch / "templates/broken.yaml").write_text("name: broken\n\tform: x\n")
    line = edit(scratch / "templates/resultative.yaml", "no_lookalike:", "no_lookalke:")
    result = cxgen("list", "--format", "json", cwd=scratch)
    rows = json.loads(result.stdout)
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert rows[0]["name"] == "let-alone"
    assert all(row["templates"] >= 8 for row in rows)
    names = {row["name"] for row in rows}
    assert "conative" in names and not {"broken", "resultative"} & names
    assert [text.split(": ")[:2] for text in result.stderr.splitlines()] == [
        ["left out", "templates/broken.yaml:2"],
        ["left out", f"templates/resultative.yaml:{line}"],
    ]


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


def premises(construction, n, **wanted):
    return pl.concat(list(sampled(construction, Wanted(n, **wanted)))).unique("premise_id", maintain_order=True)


def test_a_sample_grows_at_its_end_and_repeats_nothing(reach):
    few, many = premises(reach, 10, seed=4), premises(reach, 900, seed=4)
    assert many["premise_id"].head(10).to_list() == few["premise_id"].to_list()
    assert many.height == many["premise"].n_unique() == 900
    first = next(iter(sampled(reach, Wanted(10**6))))
    assert first.select("design", "set_number").n_unique() <= FIRST * first["design"].n_unique()


def test_fewer_premises_than_asked_for_are_told(cxgen, mini, monkeypatch):
    monkeypatch.setattr("cxgen.build.preview.DRY", 0)
    result = cxgen("sample", "reach", "--n", "30", cwd=mini)
    assert (result.returncode, result.stderr) == (0, "only 0 of 30 premises: the lexicon allows no others like these\n")


@pytest.mark.parametrize("form", ["table", pytest.param("csv", marks=pytest.mark.slow)])
def test_a_reader_who_stops_reading_ends_a_sample_quietly(form):
    command = [*COMMAND, "sample", "conative", "--n", "1000000", "--format", form]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        message = process.stderr.read()
        assert (process.wait(timeout=60), message) == (0, "")


def test_explain_prints_the_matrix_and_what_each_label_turns_on(cxgen, mini):
    """The kinds of the tests' construction differ in words, but for two that are made to swap roles only."""
    out = cxgen("explain", "reach", cwd=mini).stdout
    assert any(line.split()[:5] == ["missed", "E", "C", "N", "N"] for line in out.splitlines())
    assert any(line.split() == ["missed", "words", "words", "words", "words"] for line in out.splitlines())
    edit(mini / "templates/reach.yaml", 'rest: " entirely in vain"', 'rest: " up with great success"')
    cells = json.loads(cxgen("explain", "reach", "--format", "json", cwd=mini).stdout)
    assert len(cells) == 32
    assert cells[0].keys() == {"design", "kind", "construction", "rule", "claim", "label", "turns_on"}
    turned = {(cell["kind"], cell["rule"]): cell["turns_on"] for cell in cells if cell["design"] == "outcome"}
    assert turned["missed", "without"] == turned["missed", "with"] == "caught"
    assert turned["caught", "with"] == "missed"
    assert turned["missed", "repeated"] == turned["once", "single"] == "words"


def test_explain_gives_many_designs_a_line_each_and_the_matrix_of_one(cxgen, scratch):
    lines = cxgen("explain", "conative").stdout.splitlines()
    assert next(line.split() for line in lines if line.startswith("pairs-b-male"))[-3:] == ["2", "0", "2"]
    matrix = cxgen("explain", "conative", "--design", "hit-or-missed").stdout.splitlines()
    assert [line for line in matrix if line.startswith("design ")] == ["design hit-or-missed for no config"]
    assert {row["design"] for row in json.loads(cxgen("explain", "conative", "--design", "seen", "--json").stdout)} == {"seen"}
    assert "did you mean pairs-a-male" in cxgen("explain", "conative", "--design", "pairs-a-mal").stderr
    edit(scratch / "templates/conative.yaml", ", own-target-one, own-target-other]", "]")
    (broken,) = [line for line in cxgen("explain", "conative", cwd=scratch).stdout.splitlines() if line.startswith("belongings")]
    assert "has no" in broken


def test_explain_says_which_items_need_the_construction(cxgen, mini):
    out = cxgen("explain", "reach", "--cells", cwd=mini).stdout
    assert out.startswith("An item needs the construction if ")
    assert any(line.split() == ["nli", "1.0", "0.0", "0.0", "1.0"] for line in out.splitlines())
    rows = json.loads(cxgen("explain", "reach", "--cells", "--format", "json", cwd=mini).stdout)
    whole = {row["config"]: row for row in rows if row["design"] is None}
    assert (whole["nli"]["words"], whole["distinction"]["construction"]) == (1.0, round(2 / 12, 6))
    assert {row["design"] for row in rows if row["kind"] is None} == {None, "outcome", "waiting"}
    assert sum(row["share"] for row in rows if row["kind"] and row["config"] == "nli") == pytest.approx(1, abs=1e-4)
    refused = cxgen("explain", "reach", "--cells", "--wug", "verb", cwd=mini, check=False)
    assert refused.returncode != 0 and "--cells with --wug" in refused.stderr


def test_explain_says_which_labels_rest_on_a_replaced_word_and_a_template_shadows_the_shipped_one(cxgen, scratch):
    out = cxgen("explain", "resultative", "--all", "--wug", "content").stdout
    assert "pseudowords in " in out
    table, plain = (json.loads(cxgen("explain", "resultative", *more, "--format", "json").stdout) for more in (("--wug", "content"), ()))
    changed = sum(one["label"] != other["label"] for one, other in zip(table, plain, strict=True))
    assert sum(out.count(f"N({was})") for was in "EC") == changed
    edit(scratch / "templates/conative.yaml", "title: Conative", "title: My own conative")
    assert cxgen("explain", "conative", cwd=scratch).stdout.startswith("My own conative")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("sample resultativ", ["unknown construction 'resultativ'", "resultative"]),
        ("explain going-past", ["look-alike", "ask for caused-motion"]),
        ("sample attributive", ["opposite of 'resultative'", "cxgen sample resultative"]),
        ("sample resultative --kind x-on", ["unknown premise kind 'x-on'", "x-one"]),
        ("sample resultative --kind who-first", ["no sets of nli have kind 'who-first'", "cxgen explain resultative"]),
        ("sample resultative --design befor", ["unknown design 'befor'", "did you mean before"]),
        ("sample resultative --design before --kind x-one", ["no sets of nli have design 'before' and kind 'x-one'"]),
        ("sample resultative --label neutrl", ["did you mean neutral"]),
        ("sample let-alone --family minimal_pairs --label neutral", ["no label", "leave --label out"]),
        ("sample resultative --family distinction", ["a config of the family nli"]),
        ("sample comparative-correlative --family cc_syntax --wug verb", ["--wug: not for cc_syntax"]),
        ("lexicon show gatte", ["gate"]),
        ("sampel", ["No such command 'sampel'. Did you mean 'sample'?\n"]),
        ("split", ["cxgen build"]),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(cxgen, words, parts):
    fails(cxgen(*words.split()), *parts)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("schematicity: 1", "schematicity: one", ["schematicity", "integer"]),
        ("name: reach", "name: reech", ["name is 'reech'"]),
        ("name: reach", "name: Reach", ["expected: lower-case letters, digits and hyphens"]),
        ('entails: ["got(agent, target)"]', 'entails: ["got(agent"]', ["expected: a fact such as"]),
        ('  plain: "{agent}', '  plain: "{agnt}', ["E101 unknown slot 'agnt'", "agent"]),
        ("{@verb:past} for {target}{@rest}", "{@verb:pst} for {target}{@rest}", ["E102", "pst", "participle"]),
    ],
)
def test_bad_yaml_says_where_what_and_how_to_mend_it(cxgen, mini, old, new, parts):
    line = edit(mini / "templates/reach.yaml", old, new)
    fails(cxgen("sample", "reach", cwd=mini), f"templates/reach.yaml:{line}:", "hint:", *parts)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("preset: sliced", "preset: rare", ["bands.preset", "contest"]),
        ("constructions:\n- reach", "constructions: reach", ["expected: all, or a list of names"]),
    ],
)
def test_bad_parameters_are_named(mini, old, new, parts):
    line = edit(mini / "params.yaml", old, new)
    with pytest.raises(SchemaError) as caught:
        Params.read(mini / "params.yaml")
    assert caught.value.line == line
    assert [part for part in parts if part not in str(caught.value)] == []


def test_a_dataset_that_is_not_there_is_named(cxgen, mini):
    fails(cxgen("report", "baselines", cwd=mini), "outputs/dataset", "no dataset")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "outputs/x"), 2, "cxgen: outputs/x: No space left on device\n"),
        (OSError("File too large (os error 27)"), 2, "cxgen: File too large (os error 27)\n"),
        (MemoryError(), 2, "cxgen: not enough memory\n  hint: ask for less (see params.yaml), or use a machine with more\n"),
        (KeyboardInterrupt(), 130, "cxgen: interrupted; no file is half-written\n"),
        (ZeroDivisionError(), 1, ""),
    ],
)
def test_what_the_system_refuses_is_told_in_one_line_and_bugs_are_not_hidden(cxgen, monkeypatch, error, code, message):
    def fail():
        raise error

    monkeypatch.setattr("cxgen.project.Project.find", fail)
    with pytest.raises(ZeroDivisionError) if code == 1 else contextlib.nullcontext():
        result = cxgen("list")
        assert (result.returncode, result.stderr) == (code, message)


def test_ctrl_c_while_modules_are_loaded_is_told_as_later(cxgen, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("cxgen.cli.app.run", interrupted)
    assert cxgen("list") == (130, "", "cxgen: interrupted; no file is half-written\n")


STREAMS = {  # how a shell closes or fills them -> what commands end with
    "{} audit nowhere 2>&-": 2,
    "{} audit nowhere 2>/dev/full": 2,
    "{} sample 2>/dev/full": 2,
    "{0} generate reach --n 60 --out there 2>&-; {0} generate reach --n 600 --out there --workers 2 --resume 2>/dev/full": 2,
    "{0} generate reach --n 60 --out there --workers 2 2>/dev/full && {0} audit there 2>&- >&- <&-": 0,
    "{} list --format csv >&-": 0,
    "mkdir gone; cd gone; rmdir ../gone; {} list": 2,
}


@pytest.mark.parametrize("line", STREAMS)
def test_no_closed_or_full_stream_changes_what_is_done(mini, line):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CXGEN_PROJECT": str(mini)}
    done = subprocess.run(["sh", "-c", line.format(shlex.join(COMMAND))], cwd=mini, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (STREAMS[line], False), done.stderr
    assert "gone" not in line or "the working directory is not there" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGINT, 130, "cxgen: interrupted; no file is half-written\n"), (signal.SIGTERM, 143, "")]
)
def test_ctrl_c_and_a_kill_end_workers_and_leave_no_half_written_file(scratch, sent, code, said):
    edit(scratch / "params.yaml", "n_per_construction: 4600", "n_per_construction: 90000")
    command = [*COMMAND, "build", "--workers", "2"]
    with subprocess.Popen(command, cwd=scratch, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        time.sleep(1.5)
        workers = children.read_text().split()
        os.killpg(process.pid, sent)
        _, message = process.communicate(timeout=60)
    assert (process.returncode, message.endswith(said), "Warning" in message) == (code, True, False)
    deadline = time.monotonic() + 20
    while (left := [pid for pid in workers if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
    done = [path for path in (scratch / "outputs").rglob("*") if path.is_file()]  # a suite may be
    assert all(pl.read_parquet(path).height for path in done)
    assert not (scratch / "outputs/dataset").exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (
            ["sample", "conative", "--n", "4"],
            "nltk spacy openai datasets sklearn wordfreq lemminflect scipy huggingface_hub jinja2 pyarrow ray cxgen.check",
        ),
        (["--help"], "polars numpy yaml jsonschema rich ray cxgen.build cxgen.lexicon"),
    ],
)
def test_nothing_is_loaded_that_is_not_needed(words, names):
    code = f"import sys\nfrom cxgen.cli.app import run\nrun({words})\nprint([name for name in {names.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_has_examples_as_written_and_whole_summaries(cxgen):
    lines = [line.strip() for line in cxgen("sample", "-h").stdout.splitlines()]
    assert "cxgen sample caused-motion --kind swap-thing-in --label neutral --format jsonl" in lines
    for words in (("-h",), ("--help",), ("report", "-h"), ("lexicon", "-h"), ("export", "-h"), ("ask", "-h")):
        summaries = cxgen(*words).stdout.partition("Commands:")[2].splitlines()
        assert len(summaries) > 2
        assert not any(line.endswith("...") for line in summaries)


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
    output.emit([{"a": 1, "b": ["x\x1b[31m", "y\u200b"]}, {"a": 3}], output.Format.table)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["a", "b"], ["1", "x[31m,", "y"], ["3"]]


def on_terminal(code, **env):
    """What ``code`` prints to a terminal of 80 columns."""
    parent, child = pty.openpty()
    env = {"TERM": "xterm", "COLUMNS": "80", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env}
    with subprocess.Popen([sys.executable, "-c", code], stdout=child, stderr=child, cwd=ROOT, env=env):
        os.close(child)
        read = b""
        with contextlib.suppress(OSError):
            while part := os.read(parent, 65536):
                read += part
    os.close(parent)
    return read.decode().replace("\r\n", "\n")


def test_a_table_too_wide_for_the_terminal_is_shown_row_by_row():
    code = f"from cxgen.cli.output import *; emit({WIDE!r}, Format.table); emit([dict(a='some-longer-name' , b='x ' * 60)], Format.table)"
    lines = on_terminal(code, NO_COLOR="1", TERM="dumb").splitlines()
    assert [line.split() for line in lines[:2]] == [["construction", "comparative-correlative"], ["share", "of", "measure", "0", "0.1235"]]
    assert any(line.split()[:3] == ["some-longer-name", "x", "x"] for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_list_has_a_line_for_each_construction_on_a_narrow_terminal():
    rows = [{"name": f"c-{number}", "form": "NP V " * 20, "other": "x " * 60} for number in range(3)]
    code = f"from cxgen.cli.output import *; emit({rows!r}, Format.table, brief=('name', 'form'))"
    lines = on_terminal(code, NO_COLOR="1").splitlines()
    assert [line.split()[0] for line in lines] == ["c-0", "c-1", "c-2"]
    assert all(len(line) <= 80 and line.rstrip().endswith("…") for line in lines)


def test_every_table_can_be_had_as_json_by_a_short_option(cxgen):
    group = typer.main.get_command(app)
    commands = [group.get_command(None, name) for name in group.commands]
    for command in [*commands, *(part for group in commands for part in getattr(group, "commands", {}).values())]:
        options = [name for option in command.params for name in option.opts]
        assert ("--json" in options) or ("--format" not in options), command.name
    assert cxgen("lexicon", "show", "gate", "--json").stdout == cxgen("lexicon", "show", "gate", "--format", "json").stdout
    assert json.loads(cxgen("lexicon", "show", "gate", "--json").stdout)


def test_what_is_not_installed_is_told_before_the_work(cxgen, mini, monkeypatch):
    monkeypatch.setattr("cxgen.errors.find_spec", lambda name: None if name == "jinja2" else name)
    fails(cxgen("package", cwd=mini), "the card needs jinja2", "[publish]")
    monkeypatch.setattr("cxgen.cli.build.open_project", lambda: (None, SimpleNamespace(constructions=None)))
    fails(cxgen("build", cwd=mini), "need jinja2", "[pipeline]")


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
    for rows in ([row], iter([row])):
        output.emit(rows, output.Format.csv)
        assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == [{"share": "0.3", "each": "[0.3]", "text": "a, b"}]
    for form, empty in (("csv", "share,text\n"), ("json", "[]\n"), ("jsonl", "")):
        output.emit(iter([]), output.Format(form), ("share", "text"))
        assert capsys.readouterr().out == empty


def test_check_writes_its_findings_whole_or_not_at_all_under_its_old_name_too(cxgen, mini):
    findings = mini / "findings.json"
    assert cxgen("lint", "reach", "--output", findings, cwd=mini).returncode == 0
    assert json.loads(findings.read_text()) == []
    assert cxgen("check", "reach", "--format", "csv", cwd=mini).stdout == "code,file,line,message,hint\n"
    edit(mini / "templates/reach.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    assert cxgen("check", "reach", "--output", findings, cwd=mini).returncode == 2
    (first, *_) = json.loads(findings.read_text())
    assert (first["code"], first["file"]) == ("E101", "templates/reach.yaml")
    before = findings.read_bytes()
    edit(mini / "templates/reach.yaml", "title: Reach", "title: [Reach")
    assert cxgen("check", "reach", "--output", findings, cwd=mini).returncode == 2
    assert findings.read_bytes() == before


def test_check_tells_a_split_that_has_no_verb_and_a_pattern_that_no_scene_can_be_put_into(cxgen, mini, monkeypatch):
    verbs = made.words().filter(pos="verb")["lemma"]
    (mini / "lexicons/splits.tsv").write_text("construction\tverb\tsplit\n" + "".join(f"reach\t{verb}\ttrain\n" for verb in verbs))
    for names in (["reach"], [], ["reach"]):
        told = cxgen("check", *names, cwd=mini)
        assert (told.returncode, "E201 reach: nothing fills design 'outcome' in validation" in told.stdout) == (2, True), told
        monkeypatch.setattr("cxgen.project.Project.ships", staticmethod(lambda _: True))  # as in a clone, and of scenes of one's own
    edit(mini / "templates/reach.yaml", "{@verb:past} for {target}{@rest}.", "{@verb:past} for {target}{@tail}.")
    fails(cxgen("check", "scenes", "lexicons/scenes/reach.tsv", cwd=mini), "E102 @tail is needed")


def test_sizes_say_what_there_is_and_what_can_be_done_with_it(cxgen, tmp_path):
    fails(cxgen("report", "sizes", cwd=tmp_path), "dvc repro")
    (tmp_path / "params.yaml").touch()
    (tmp_path / "outputs/hub").mkdir(parents=True)
    (tmp_path / "outputs/hub/dataset_version.json").write_text('{"rows": {"minimal_pairs/train": {"rows": 12}}}')
    result = cxgen("report", "sizes", cwd=tmp_path)
    assert [line.split() for line in result.stdout.splitlines()[:2]] == [["config", "split", "rows"], ["minimal_pairs", "train", "12"]]
    assert 'load_dataset("outputs/hub", "minimal_pairs")' in result.stdout
    assert "cxgen publish OWNER/NAME --dry-run" in result.stdout
    assert not result.stderr
    os.utime(tmp_path / "params.yaml", ns=(2**62, 2**62))
    older = "warning: these counts are of an older state: params.yaml was changed after it; run `cxgen build` and `cxgen package`\n"
    assert cxgen("report", "sizes", cwd=tmp_path).stderr == older
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    assert "params.yaml was changed after it; DVC cannot tell" in cxgen("report", "sizes", cwd=tmp_path).stderr
