"""A file that cannot be read is answered in one line with its name and line, a hint, and exit code 2; nothing else is changed."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cxgen.build.params import append_splits
from cxgen.check import check_project
from cxgen.cli.output import written
from cxgen.errors import DataError
from cxgen.files import append_lines, json_lines, parse_json, read_text, replace_together, scratch, write_atomically, write_text
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import Column, Contract
from cxgen.tables import read_rows, read_table
from tests.conftest import ROOT

TEMPLATE, PARAMS = "templates/reach.yaml", "params.yaml"
LEXEMES, NLI = "lexicons/snapshot/lexemes.parquet", "outputs/dataset/nli/test-00000-of-00001.parquet"
SAMPLE, EVALUATE, DIFF = ("sample", "reach", "--n", "2"), ("evaluate", "given.jsonl"), ("diff", "outputs/dataset", "outputs/dataset")
BUILD, SPLITS, SCENES = ("build",), "lexicons/splits.tsv", "lexicons/scenes/reach.tsv"
PATTERNS, PROPOSE = "lexicons/patterns/reach.tsv", ("propose", "reach")


def half(raw):
    return raw[: len(raw) // 2]


def after(text):
    """Put ``text`` behind what the file has."""
    return lambda raw: raw + text.encode("latin-1")


def instead(text):
    return lambda _: text.encode("latin-1")


def to_nothing(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("nowhere")


def to_itself(path):
    path.symlink_to(path.name)


def without(column):
    def change(raw):
        path = Path("changed.parquet")
        path.write_bytes(raw)
        pl.read_parquet(path).drop(column).write_parquet(path)
        return path.read_bytes()

    return change


def of_others(_):
    """Sets of a construction that is not here."""
    rows = pl.read_parquet(ROOT / "pipelines/natural.parquet").head(4).with_columns(construction=pl.lit("nonesuch"))
    rows.write_parquet("sets.parquet")
    return Path("sets.parquet").read_bytes()


MINE, READ, READINGS = "pipelines/readings/a.csv", ("report", "reading"), "id,relation,prem_nat,hyp_nat,reader,kind\n"
# file, what becomes of its bytes, or of it, the command, what the message says, and the line: 0 for none, -1 for the last
CASES = {
    "template with a tab": (TEMPLATE, after("x:\n\ty: z\n"), SAMPLE, "a tab in the indentation", -1),
    "template with a key twice": (TEMPLATE, after("title: Again\n"), SAMPLE, "the key 'title' occurs twice", -1),
    "template with a tag": (TEMPLATE, after("x: !!python/object:os.system y\n"), SAMPLE, "could not determine a constructor", -1),
    "template in Latin-1": (TEMPLATE, after("# caf\xe9\n"), SAMPLE, "not UTF-8 text: byte 0xe9", -1),
    "template with NUL": (TEMPLATE, after("# \0\n"), SAMPLE, "a control character (U+0000)", -1),
    "template with a soft hyphen": (TEMPLATE, after("# a\xc2\xadb\n"), SAMPLE, "an invisible character (U+00AD)", -1),
    "template that is a list": (TEMPLATE, instead("- a\n"), SAMPLE, "expected a mapping", 1),
    "template that is a folder": (TEMPLATE, os.mkdir, SAMPLE, "Is a directory", 0),
    "template that is huge": (TEMPLATE, after("#" * (3 << 20)), SAMPLE, "larger than 2 MB", 0),
    "params a link to itself": (PARAMS, to_itself, BUILD, "Too many levels of symbolic links", 0),
    "params with a key more": (PARAMS, after("colour: red\n"), BUILD, "unexpected key 'colour'", -1),
    "lexemes cut off": (LEXEMES, half, SAMPLE, "not a readable parquet file", 0),
    "lexemes without a column": (LEXEMES, without("band"), SAMPLE, "lacks the columns band", 0),
    "dataset without a column": (NLI, without("premise"), DIFF, "lacks the columns premise", 0),
    "predictions with a torn last line": ("given.jsonl", after('{"id": "x", "la'), EVALUATE, "not JSON", -1),
    "predictions with NaN as a label": ("given.jsonl", after("[1]\n"), EVALUATE, "not a JSON object", -1),
    "predictions a pipe": ("given.jsonl", os.mkfifo, EVALUATE, "not a file", 0),
    "template that is a pipe": (TEMPLATE, os.mkfifo, SAMPLE, "not a regular file", 0),
    "scenes that are a pipe": ("lexicons/scenes/reach.tsv", os.mkfifo, SAMPLE, "not a regular file", 0),
    "a quote that is not closed": ("x.csv", instead('id,label\na,"b\nc,d\ne,f\n'), ("evaluate", "x.csv"), "unexpected end of data", 2),
    "a relation that is none": (MINE, instead(f"{READINGS}x,E,5,5,r,human\nx,Q,5,5,r,human\n"), READ, "not an answer", -1),
    "a rating in words": (MINE, instead(f"{READINGS}\nx,E,5,5,r,human\nx,E,good,5,r,human\n"), READ, "not an answer", -1),
    "a classifier's names in a list": (
        "m/config.json",
        instead('{"architectures": ["XForSequenceClassification"], "id2label": ["entailment", "neutral", "contradiction"]}'),
        ("evaluate", "--model", "hf:m", "--config", "nli"),
        "id2label is no mapping",
        0,
    ),
    "sets of nobody's": ("pipelines/natural.parquet", of_others, ("natural",), "unknown construction 'nonesuch'", 0),
    "a name of two lines": ("a\nb.jsonl", instead(""), ("evaluate", "a\nb.jsonl"), "has no column id", 0),
    "template with an escaped NUL": (
        TEMPLATE,
        lambda raw: raw.replace(b'"{agent} did get', rb'"\0{agent} did get'),
        SAMPLE,
        "an invisible character (U+0000)",
        -2,
    ),
    "params with odd shares": (PARAMS, lambda raw: raw.replace(b"train: 0.7", b"train: 0.6"), BUILD, "do not add up to 1", -2),
    "params with an unknown size": (PARAMS, lambda raw: raw.replace(b"minimal_pairs:", b"minimalpairs:"), BUILD, "unknown config", -2),
    "params with rows said twice": (PARAMS, lambda raw: raw.replace(b"minimal_pairs:", b"nli:"), BUILD, "rows of nli are said twice", -2),
    "params nested without end": (PARAMS, after("x: " + "[" * 30_000), BUILD, "nested too deep", -1),
    "splits a broken link": (SPLITS, to_nothing, BUILD, "No such file", 0),
    "dropped sets a broken link": ("pipelines/dropped.csv", to_nothing, BUILD, "No such file", 0),
    "a dropped set twice": ("pipelines/dropped.csv", instead("contrast_set,reason\na,b\na,c\n"), BUILD, "left out already", -1),
    "judgments a broken link": ("pipelines/judgments.parquet", to_nothing, SAMPLE, "no such table", 0),
    "scenes with a blank in an id": (SCENES, after("two words\toutcome\t@people\n"), SAMPLE, "a blank or / in 'two words'", -1),
    "scenes with an endless word": (SCENES, after("x\toutcome\t" + "x" * 500 + "\n"), SAMPLE, "is no word", -1),
    "patterns of another design": (PATTERNS, instead("id\tdesigns\tverb:verb\nx\toutcom\tgrope\n"), PROPOSE, "unknown design 'outcom'", 2),
    "patterns of another slot": (PATTERNS, instead("id\tdesigns\tverb:verb\tx\nx\toutcome\tgrope\ty\n"), PROPOSE, "unknown column 'x'", 2),
    "patterns of another class": (
        PATTERNS,
        instead("id\tdesigns\tverb:verb\tagent\nx\toutcome\tgrope\t@noun.artefact\n"),
        PROPOSE,
        "unknown lexicographer file 'noun.artefact'",
        2,
    ),
    "a split that is not there": (NLI, os.remove, ("report", "baselines"), "no such table", 0),
    "a table that would be exported": (NLI, os.remove, ("export", "inspect", "x"), "no such table", 0),
    "a table that would be scored": (NLI, os.remove, ("evaluate", "--baseline", "majority"), "no such table", 0),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bad_file_is_answered_in_one_line(mini_dataset, mini_source, tmp_path, cxgen, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, change, command, message, line = CASES[name]
    whole = file == NLI or command[0] in {"diff", "evaluate", "report"}
    project = Path(shutil.copytree(mini_dataset if whole else mini_source, tmp_path / "project"))
    (project / "given.jsonl").write_text('{"id": "x", "label": "neutral"}\n')
    path = project / file
    if change in {os.mkdir, os.mkfifo, os.remove, to_itself, to_nothing}:
        path.rename(tmp_path / "before") if change is not os.remove and path.exists() else None
        change(path)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(change(path.read_bytes() if path.exists() else b""))
        line = path.read_bytes().rstrip(b"\n").count(b"\n") + 1 if line == -1 else line
    result = cxgen(*command, cwd=project)
    first, *others = result.stderr.splitlines()
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert [other[:8] for other in others] in ([], ["  hint: "])
    assert message in first
    assert file.replace("\n", "\\n") in first
    assert not line or f"{file}:{line}:" in first or (line == -2 and re.search(rf"{file}:\d+:", first))


def test_what_nothing_reads_is_told_and_what_editors_hide_is_passed_over(mini, cxgen):
    shutil.rmtree(mini / "lexicons/snapshot")
    shutil.rmtree(mini / "lexicons/scenes")
    for name in ("lexicons/bands.yaml", "lexicons/classes/x.yml", "lexicons/scenes/reach.TSV", "templates/sub/x.yaml"):
        (mini / name).parent.mkdir(parents=True, exist_ok=True)
        (mini / name).write_text("x: 1\n")
    for name in ("lexicons/classes/.#x.yaml", "lexicons/scenes/.#reach.tsv", "templates/.#reach.yaml"):
        (mini / name).symlink_to("me@host")
    verbs = ["kikc", "kik", "shoves", "lick", "curate"]  # the last two are verbs that scenes may have had
    (mini / "lexicons/splits.tsv").write_text(
        "construction\tverb\tsplit\nreech\tgrope\ttrain\n" + "".join(f"conative\t{verb}\ttrain\n" for verb in verbs)
    )
    (mini / "lexicons/overrides.yaml").write_text("verb:\n  handd: {past: handded}\n  hand: {past: handed}\n")
    found = [(finding.code, finding.message) for finding in check_project(Project(mini), Lexicon.of(Project(mini)), among=["none"])[1]]
    assert [message for _, message in found if "template or scene" in message] == ["no template or scene has the word 'handd'"]
    assert found.count(("W000", "nothing reads this file")) == 4
    assert {("W000", "unknown construction 'reech'"), *(("W000", f"no scene of conative has the verb {verb!r}") for verb in verbs[:3])} < {
        *found
    }
    assert not {("W000", f"no scene of conative has the verb {verb!r}") for verb in verbs[3:]} & {*found}
    assert not [message for _, message in found if "cannot read" in message]


def test_a_name_given_twice_counts_once_and_judges_are_asked_about_what_the_project_has(mini, cxgen):
    once, twice = (json.loads(cxgen("capacity", *names, "--json", cwd=mini).stdout) for names in (["reach"], ["reach", "reach"]))
    assert once == twice
    assert [row["construction"] for row in json.loads(cxgen("judge", "--json", cwd=mini).stdout)] == ["reach"]


def test_rows_are_added_to_a_file_that_ends_without_a_line_break_and_none_twice(tmp_path):
    path = tmp_path / "splits.tsv"
    path.write_text("construction\tverb\tsplit\nreach \tgrope\ttrain")
    append_splits(path, {}, {"reach": {"grope": "test", "lunge": "test"}})
    assert path.read_text() == "construction\tverb\tsplit\nreach \tgrope\ttrain\nreach\tlunge\ttest\n"


def test_what_is_said_of_a_file_is_not_written_into_it(capsys):
    for place in ("/dev/stdout", "/dev/fd/1", "x.conllu"):
        written(Path(place), "12 premises")
    assert capsys.readouterr() == ("12 premises\n", "12 premises\n" * 2)


REFUSED = {  # a command -> what it says at once; nothing is written
    "judge reach --rpm nan": "--rpm is no finite number",
    "judge reach --model m": "nobody is asked",
    "judge reach --out x.jsonl": "say --backend file",
    "judge reach --backend openai --model= --dry-run": "--model is empty",
    "check reach -o .": "Is a directory",
    "propose reach --n 99999999": "is not in the range",
    f"new {'x' * 300}": "not a name",
    "propose rech": "did you mean reach?",
    "evaluate --baseline majority --json --format csv": "--json and --format at once",
    "new false": "not a name",
    "new in-state": "pp-resultative.yaml:33: there is a look-alike 'in-state' already\n  hint: take another name",
    "check --codes reach": "--codes lists all codes, and checks nothing",
    "sample reach --label=": "--label is empty",
    "sample REACH": "did you mean reach?",
    "sample reach --n 99999999999999999999": "is not in the range",
    "check scenes nowhere.tsv": "is called CONSTRUCTION.tsv",
    "evaluate --baseline majority --dry-run": "are for a model",
    "evaluate --baseline majority --against nope.jsonl": "nope.jsonl: cannot read",
    "evaluate --baseline majority --drop d.txt": "unknown kind of file",
    "evaluate --model m --measure pll": "for models of this machine",
    "evaluate --model hf:": "names no model",
    "evaluate --model hf:no/x": "no folder no/x\n  hint: one of the Hub is fetched first: hf download no/x",
    "evaluate --model hf:x --think": "--think and --backend are for models behind a server",
    "evaluate --model hf:x --backend openai-batch": "--think and --backend are for models behind a server",
    "evaluate --model m --backend replay": "'replay' is not one of 'openai', 'openai-batch'",
    "evaluate --model hf:x --measure liklihood": "'liklihood' is not one of 'likelihood'",
    "evaluate --baseline majority --config nli -o p.csv": "predictions are written as JSON lines",
    "evaluate --model m --base-url http://localhost:1/v1 --wording quizz --dry-run": "did you mean quiz",
    "evaluate --model m --max-cost nan": "no finite number",
    "judge reach --backend openai --model m --max-cost 1": "needs prices",
    "evaluate --model m --rpm inf": "no finite number",
    "publish me/.. --dry-run": "not a repository",
    "export conllu --config nli_wug -o x.conllu": "nli_wug has no gold trees",
    "generate rech --out o": "unknown construction",
    "review serve r": "no such table",
    "review export params.yaml": "a part of the project",
    "export lm-eval templates/t": "a part of the project",
    "elicit caused-motion --out r.jsonl --start 99999999999999999999": "not in the range",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(mini_dataset, cxgen, command):
    before = sorted(mini_dataset.rglob("*"))
    result = cxgen(*command.split(), cwd=mini_dataset)
    assert (result.returncode, REFUSED[command] in result.stderr, "Traceback" in result.stderr) == (2, True, False), result.stderr
    assert sorted(mini_dataset.rglob("*")) == before


def test_a_word_has_one_spelling(tmp_path):
    """Else one verb could be in two splits."""
    (tmp_path / "x.tsv").write_text("cafe\u0301", "utf-8")
    assert read_text(tmp_path / "x.tsv") == "caf\xe9"


def test_a_table_is_read_with_long_cells_and_blanks_round_its_names(tmp_path):
    (tmp_path / "x.csv").write_text(f"id , label\na,{'b' * 200_000}\n")
    assert read_rows(tmp_path / "x.csv", "").columns == ["id", "label"]


def test_what_this_process_has_open_is_written_to_and_not_replaced(tmp_path):
    for path in (tmp_path / "pipe", tmp_path / "file"):
        os.mkfifo(path) if path.name == "pipe" else path.touch()
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        write_text(path if path.name == "pipe" else Path(f"/dev/fd/{handle}"), "x")
        assert os.read(handle, 9) == b"x"
        os.close(handle)
    assert (tmp_path / "pipe").is_fifo()


ROWS = pl.DataFrame({"id": ["a", "b"], "label": [0, 2], "split": ["train", "test"]}, schema_overrides={"label": pl.Int8})
TABLE = Contract(
    (Column("id", pl.String, ""), Column("label", pl.Int8, "", labels=True), Column("split", pl.String, "", values=("train", "test"))),
    key=("id",),
    least=1,
)
TABLES = {
    "no rows": (ROWS.clear(), "has no rows"),
    "a missing column": (ROWS.drop("split"), "lacks the columns split"),
    "another column": (ROWS.with_columns(more=1), "has columns that no such table has: 'more'"),
    "another type": (ROWS.with_columns(pl.col("label").cast(pl.String)), "column label is String, expected Int8"),
    "no value": (ROWS.with_columns(pl.Series("id", ["a", None])), "column id, row 2: no value"),
    "another value": (ROWS.with_columns(split=pl.lit("validation")), "column split, row 1: expected train, test"),
    "another label": (ROWS.with_columns(pl.Series("label", [0, 3], pl.Int8)), "column label, row 2: expected a number from 0 to 2"),
    "a row twice": (ROWS[[0, 1, 1]], "row 2: the same id as in another row"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_refused_for_what_it_is(tmp_path, name):
    rows, message = TABLES[name]
    rows.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError) as caught:
        read_table(tmp_path / "t.parquet", TABLE, "make it")
    assert (caught.value.message, caught.value.hint) == (message, "make it")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"a": 1e999}', '{"a": NaN}', "[" * 50_000])
def test_json_that_says_two_things_or_none_is_refused(tmp_path, text):
    with pytest.raises(DataError):
        parse_json(text, tmp_path / "x.json")


FULL = """
import resource, sys
sys.dont_write_bytecode = True  # Python itself would keep a cut-off .pyc, for every later process
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
import polars as pl
from pathlib import Path
from cxgen.tables import write_json, write_rows, write_table
table, path = pl.DataFrame({"x": [str(n) * 99 for n in range(9_000)]}), Path(sys.argv[2])
for write in (lambda: write_table(table, path), lambda: write_rows(table, path), lambda: write_json(table["x"].to_list(), path)):
    try:
        write()
    except Exception as error:
        print(type(error).__name__, str(error).replace("\\n", " "))
"""


def test_what_cannot_be_written_is_named_and_left_as_it_was(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("as it was")
    child = subprocess.run([sys.executable, "-c", FULL, "5000", str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    *tables, text = child.stdout.splitlines()
    assert [(table.startswith(f"DataError {path}"), "cannot be written" in table) for table in tables] == [(True, True)] * 2
    assert text.startswith("OSError ")
    assert f"'{path}'" in text
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_put_in_place_together_or_not_at_all(tmp_path):
    places = [tmp_path / name for name in ("a", "made/b", "c", "d")]
    for place in (places[0], places[2]):
        place.write_text("as it was")

    def replace(last):
        new = {place: tmp_path / f"new {place.name}" for place in places[:2]}
        for path in new.values():
            path.write_text("new")
        replace_together({**new, places[2]: None, places[3]: last})

    with pytest.raises(OSError, match=r"No such file or directory: '.*/d'"):
        replace(tmp_path / "nowhere")
    assert [place.read_text() if place.is_file() else None for place in places] == ["as it was", None, "as it was", None]
    (tmp_path / ".a.949df7eb").write_text("a killed run's")
    replace(None)
    assert [place.read_text() if place.is_file() else None for place in places] == ["new", "new", None, None]
    assert not list(tmp_path.rglob(".*"))


HELD = """
import sys, time
from pathlib import Path
from cxgen.files import scratch
with scratch(Path(sys.argv[1])) as folder:
    (folder / "x").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


def test_what_a_killed_run_left_goes_with_the_next_one_and_what_a_living_one_has_stays(tmp_path):
    begun = [subprocess.Popen([sys.executable, "-c", HELD, tmp_path], stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    killed, living = (Path(process.stdout.readline().strip()) for process in begun)
    (tmp_path / ".cxgen").mkdir()
    begun[0].kill()
    begun[0].wait()
    assert killed.is_dir()
    with scratch(tmp_path) as own:
        assert {*tmp_path.iterdir()} == {own, living, tmp_path / ".cxgen"}
    begun[1].kill()
    begun[1].wait()
    assert {*tmp_path.iterdir()} == {living, tmp_path / ".cxgen"}


AT_ONCE = """
import sys
from pathlib import Path
from cxgen.asking.judge import Judgment, as_table, freeze
from cxgen.build.params import append_splits
from cxgen.build.tables import drop
own, folder = sys.argv[1], Path(sys.argv[2])
print(flush=True)
sys.stdin.readline()  # all are there
for number in range(3):
    freeze(as_table([Judgment(f"i{number}", "event", "appropriate", "", own, prompt="p")]), folder / "judgments.parquet")
    drop({f"{own}{number}": "a reason"}, folder / "dropped.csv")
    append_splits(folder / "splits.tsv", {}, {"reach": {f"{own}{number}": "train"}})
"""


def test_what_several_runs_add_to_a_file_at_once_is_all_there(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": ROOT, "text": True}
    runs = [subprocess.Popen([sys.executable, "-c", AT_ONCE, own, tmp_path], **pipes) for own in "ab"]
    assert [run.stdout.readline() for run in runs] == ["\n"] * 2
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    assert [run.wait() for run in runs] == [0] * 2
    counts = [len((tmp_path / name).read_text().splitlines()) - 1 for name in ("dropped.csv", "splits.tsv")]
    assert [pl.read_parquet(tmp_path / "judgments.parquet").height, *counts] == [6, 6, 6]


APART = {  # a command, the file that it would read and write, or write twice
    "report html -o x.json --evaluation x.json": "x.json",
    "mine cc x.jsonl --field text -o link.jsonl": "link.jsonl",
    "mine cc --label x.csv -o x.csv": "x.csv",
    "evaluate x.jsonl --hard x.jsonl": "x.jsonl",
    "evaluate x.jsonl --wrong y.csv --hard ./y.csv": "y.csv",
    "evaluate x.jsonl --drop link.jsonl": "link.jsonl",
    "hypothesise x.csv -o x.csv": "x.csv",
    "check scenes x.csv -o x.csv": "x.csv",
    "review score review x.csv --record x.csv": "x.csv",
    "review score review x.csv --drop x.csv": "x.csv",
    "elicit reach --requests x.jsonl --replies x.jsonl": "x.jsonl",
    "elicit reach --out y.jsonl --judge-out y.jsonl": "y.jsonl",
    "judge --backend file --out x.jsonl --cache x.jsonl": "x.jsonl",
}


OURS = (
    *("report html -o params.yaml", "check -o templates/x.yaml", "generate reach --out outputs/dataset"),
    *("generate reach --out outputs", "generate reach --out pipelines"),
    *("evaluate --baseline majority -o .cxgen/answers.jsonl", "evaluate --baseline majority --hard pipelines/readings/a.csv"),
    *("judge reach --backend file --model m --out pipelines/audit.csv", "check -o outputs/metrics/splits.json", "check -o dvc.lock"),
    *("review score review --record pipelines/dropped.csv", "report html -o .git/HEAD"),
)


@pytest.mark.parametrize("command", OURS)
def test_no_command_writes_over_the_project(tmp_path, cxgen, command):
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    result = cxgen(*command.split(), cwd=tmp_path)
    assert (result.returncode, "is a part of the project" in result.stderr) == (2, True)
    assert (tmp_path / "params.yaml").read_text() == "seed: 1\n"


LINKED = (
    *("generate reach --n 24 --out self", "generate reach --n 24 --out nowhere", "export lm-eval self/a", "export lm-eval nowhere"),
    *("export conllu -o self/x", "check reach -o self", "report html -o self", "init self", "new foo", "package"),
)


@pytest.mark.parametrize("command", LINKED)
def test_a_link_that_leads_nowhere_is_told_and_left(mini_dataset, tmp_path, cxgen, command):
    folder = tmp_path / "project"
    shutil.copytree(mini_dataset, folder)
    for name, target in (("self", "self"), ("nowhere", "none"), ("lexicons/scenes/foo.tsv", "no/ne"), ("outputs/hub", "none")):
        (folder / name).symlink_to(target)
    before = sorted(folder.rglob("*"))
    result = cxgen(*command.split(), cwd=folder)
    assert (result.returncode, "Traceback" in result.stderr, result.stderr.startswith("cxgen: ")) == (2, False, True), result.stderr
    assert {*folder.rglob("*")} - {*before} <= {folder / "outputs/annotation"}


@pytest.mark.parametrize("command", APART)
def test_no_command_writes_what_it_reads(tmp_path, cxgen, command):
    for name in ("x.json", "x.jsonl", "x.csv"):
        (tmp_path / name).write_text("as it was")
    (tmp_path / "link.jsonl").symlink_to("x.jsonl")
    result = cxgen(*command.split(), cwd=tmp_path)
    assert (result.returncode, "would overwrite what is read" in result.stderr, APART[command] in result.stderr) == (2, True, True)
    assert {path.read_text() for path in tmp_path.glob("x.*")} == {"as it was"}


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_files_have_the_rights_that_the_user_gives_new_files_and_private_ones_none_for_others(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_text(tmp_path / "open", "x")
        write_atomically(tmp_path / "private", lambda path: path.write_text("x"), private=True)
        append_lines(tmp_path / "lines", {"x": 1})
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "open": 0o666 & ~umask,
        "private": 0o600,
        "lines": 0o600,
    }


@pytest.mark.parametrize("value", ["!!int abc", "!!float abc", "!!bool maybe", "!!timestamp 2024-13-45", "7" * 5_000, "20261121.0"])
def test_a_parameter_that_is_not_what_it_says_is_told(tmp_path, cxgen, value):
    """A seed of 7.0 is another stream than 7."""
    shipped = (ROOT / "params.yaml").read_text("utf-8")
    (tmp_path / "params.yaml").write_text(re.sub("(?m)^seed: .*$", f"seed: {value}", shipped), "utf-8")
    line = shipped[: shipped.index("\nseed:") + 1].count("\n") + 1
    result = cxgen("capacity", "resultative", cwd=tmp_path)
    assert (result.returncode, f"params.yaml:{line}: " in result.stderr) == (2, True), result


def test_a_folder_that_may_not_be_read_is_told(tmp_path, cxgen, monkeypatch):
    real = Path.iterdir
    for name, construction in (("lexicons/scenes", "resultative"), ("templates", "reach")):
        (tmp_path / name).mkdir(parents=True)
        denied = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / name))
        monkeypatch.setattr(Path, "iterdir", lambda self, denied=denied: raises(denied) if str(self) == denied.filename else real(self))
        result = cxgen("sample", construction, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (2, f"cxgen: {tmp_path}/{name}: Permission denied\n")


def raises(error):
    raise error


def test_half_a_surrogate_pair_is_read_as_a_damaged_letter(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a\\ud800": ["\\uDFFF", "\\ud83d\\ude42", "\\\\ud800"]}\n')
    assert list(json_lines(path)) == [(1, {"a\ufffd": ["\ufffd", "\U0001f642", "\\ud800"]})]
    path.write_text('{"id": "a", "label": "neutral", "more": [1, 2]}\n{"id": "b\\ud800", "more": {"x": 1}}\n')
    rows = read_rows(path, "", ("id", "label"))
    assert rows.to_dicts() == [{"id": "a", "label": "neutral", "more": None}, {"id": "b\ufffd", "label": None, "more": None}]
