"""The command line: what users see, and what bad input gives them."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import edit


def fails(result, *parts):
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


def test_list_names_the_eight_constructions_most_substantive_first(cli):
    rows = json.loads(cli("list", "--format", "json").stdout)
    assert [row["rank"] for row in rows] == list(range(1, 9))
    assert rows[0]["name"] == "let-alone"
    assert all(row["templates"] >= 8 for row in rows)


def test_sample_prints_premises_with_their_labelled_hypotheses(cli):
    lines = cli("sample", "resultative", "--n", "50").stdout.splitlines()
    assert len(lines) == 200
    assert [line.split()[0] for line in lines[1:4]] == ["entailment", "neutral", "contradiction"]


def test_sample_formats_agree_and_filters_filter(cli):
    arguments = ["sample", "caused-motion", "--n", "6", "--kind", "up", "--label", "neutral", "--seed", "3"]
    rows = [json.loads(line) for line in cli(*arguments, "--format", "jsonl").stdout.splitlines()]
    assert len(rows) == 6
    assert {(row["kind"], row["label"]) for row in rows} == {("up", "neutral")}
    table = list(csv.DictReader(io.StringIO(cli(*arguments, "--format", "csv").stdout)))
    assert [row["hypothesis"] for row in table] == [row["hypothesis"] for row in rows]
    assert json.loads(cli(*arguments, "--format", "json").stdout) == rows


def test_explain_prints_the_matrix(cli):
    out = cli("explain", "conative").stdout
    assert any(line.split()[:5] == ["missed", "E", "C", "N", "N"] for line in out.splitlines())
    cells = json.loads(cli("explain", "conative", "--format", "json").stdout)
    assert len(cells) == 48


def test_lint_is_clean_on_the_shipped_constructions(cli):
    result = cli("lint", "--strict", "--format", "json")
    assert (result.returncode, json.loads(result.stdout)) == (0, [])


def test_nothing_heavy_is_loaded_for_a_sample(cli):
    code = (
        "import sys; sys.argv = ['cxgen', 'sample', 'conative', '--n', '4']\n"
        "from cxgen.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "names = 'nltk spacy openai datasets sklearn wordfreq lemminflect scipy huggingface_hub jinja2 numba pyarrow'.split()\n"
        "print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_construction_suggests_the_nearest(cli):
    fails(cli("sample", "resultativ"), "unknown construction 'resultativ'", "resultative")
    fails(cli("explain", "depictive"), "look-alike", "ask for resultative")


def test_an_unknown_kind_or_lemma_suggests_the_nearest(cli):
    fails(cli("sample", "resultative", "--kind", "achievd"), "achieved")
    fails(cli("lexicon", "show", "gat"), "gate")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("schematicity: 4", "schematicity: four", ["schematicity", "integer"]),
        ("title: Conative", "title: Conative\ncolour: red", ["unexpected key 'colour'", "allowed here"]),
        ("title: Conative", "title: [Conative", ["not valid YAML"]),
        ("name: conative", "name: conativ", ["name is 'conativ'"]),
        ('  plain: "{agent}', '  plain: "{agnt}', ["E101 unknown slot 'agnt'", "agent"]),
        ("{@verb:past} at {target}{@rest}.", "{@verb:pst} at {target}{@rest}.", ["E102", "pst", "participle"]),
    ],
)
def test_bad_yaml_says_where_what_and_how_to_mend_it(cli, scratch, old, new, parts):
    line = edit(scratch / "templates/conative.yaml", old, new)
    if "colour" in new or "[" in new:
        line += 1
    fails(cli("sample", "conative", cwd=scratch), f"templates/conative.yaml:{line}:", "hint:", *parts)


def test_an_emptied_slot_says_which_constraint_emptied_it(cli, scratch):
    edit(scratch / "templates/conative.yaml", "{role: target, frame: true", "{role: target, class: nowhere")
    path = scratch / "templates/conative.yaml"
    text = path.read_text("utf-8").replace("target: {role: target, class: nowhere", "target: {role: target, frame: objective")
    path.write_text(text, "utf-8")
    fails(cli("sample", "conative", cwd=scratch), "does not fill slot 'target'")


def test_bad_parameters_are_named(cli, scratch):
    line = edit(scratch / "params.yaml", "preset: sliced", "preset: rare")
    fails(cli("generate", cwd=scratch), f"params.yaml:{line}: bands.preset", "contest")
    edit(scratch / "params.yaml", "preset: rare", "preset: sliced")
    line = edit(scratch / "params.yaml", "marked: 0.02", "marked: 0")
    fails(cli("generate", cwd=scratch), f"params.yaml:{line}: generate.marked", "minimum of 0")
    edit(scratch / "params.yaml", "marked: 0 #", "marked: 0.02 #")
    edit(scratch / "params.yaml", "dev: 0.15", "dev: 0.2")
    fails(cli("generate", cwd=scratch), "add up to 1")
    edit(scratch / "params.yaml", "constructions: all", "constructions: [conativ]")
    fails(cli("generate", cwd=scratch), "conative")


def test_a_stage_without_its_input_says_what_to_run(cli, scratch):
    fails(cli("judge", cwd=scratch), "candidates.parquet", "cxgen generate")
    fails(cli("split", cwd=scratch), "candidates.parquet", "cxgen generate")
    fails(cli("report", "baselines", cwd=scratch), "train-00000-of-00001.parquet", "cxgen split")


def test_a_damaged_table_is_not_half_read(cli, scratch):
    (scratch / "outputs/work").mkdir(parents=True)
    (scratch / "outputs/work/candidates.parquet").write_bytes(b"PAR1 but not really")
    fails(cli("judge", cwd=scratch), "not a readable parquet file")
    assert not (scratch / "outputs/work/verdicts.parquet").exists()


def test_a_failed_stage_leaves_the_last_good_output_alone(cli, scratch):
    edit(scratch / "params.yaml", "n_per_construction: 4000", "n_per_construction: 240")
    edit(scratch / "params.yaml", "constructions: all", "constructions: [conative]")
    assert cli("generate", cwd=scratch).returncode == 0
    path = scratch / "outputs/work/candidates.parquet"
    before = path.read_bytes()
    edit(scratch / "templates/conative.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    fails(cli("generate", cwd=scratch), "E101")
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["candidates.parquet"]


def test_a_projects_own_template_shadows_the_shipped_one(cli, scratch):
    edit(scratch / "templates/conative.yaml", "title: Conative", "title: My own conative")
    assert cli("explain", "conative", cwd=scratch).stdout.startswith("My own conative")


def test_ctrl_c_leaves_no_half_written_file(scratch):
    edit(scratch / "params.yaml", "n_per_construction: 4000", "n_per_construction: 90000")
    command = [sys.executable, "-c", "from cxgen.cli import main; main()", "generate", "--workers", "2"]
    with subprocess.Popen(command, cwd=scratch, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        _, message = process.communicate(timeout=60)
    assert process.returncode == 130
    assert message == "cxgen: interrupted; finished files are complete, unfinished ones were not written\n"
    assert not (scratch / "outputs").exists()
