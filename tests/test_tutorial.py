"""The tutorial: its YAML parts, one after the other, and its table are a construction that works as it says."""

import re

import polars as pl
import pytest
import yaml

from cxgen.build.preview import sample_items
from cxgen.check import findings
from cxgen.cli.explore import explain, sample
from cxgen.cli.output import Format
from cxgen.constructicon import load_construction
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.trees import Chunks
from tests.conftest import ROOT

TEXT = (ROOT / "docs/tutorial.md").read_text("utf-8")
NAME = "giving"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def printed_first(capsys, design=""):
    """The first item of `cxgen sample`, as the page shows it, and what the page shows."""
    sample(NAME, n=1, design=design, form=Format.table)
    printed = "".join(f"    {line}\n" for line in capsys.readouterr().out.splitlines())
    head = re.escape(printed.partition("[")[2].partition(":")[0])
    return printed, re.search(rf"^ +1\. .*\[{head}: .*\n(?: .*\n)+", TEXT, flags=re.MULTILINE)[0]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with nothing but the tutorial's file and table."""
    monkeypatch.setenv("CXGEN_PROJECT", str(tmp_path))
    for path, text in ((f"templates/{NAME}.yaml", "".join(blocks("yaml"))), (f"lexicons/scenes/{NAME}.tsv", blocks("tsv")[0])):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text, "utf-8")
    return Project(tmp_path)


def test_the_file_has_nothing_to_find_fault_with_and_is_as_short_as_it_says(project, capsys):
    """Trees and `form_check` included."""
    giving = load_construction(project, NAME, Lexicon.of(project))
    assert list(findings(giving, chunks=Chunks.load(*project.chunk_files()))) == []
    assert len("".join(blocks("yaml") + blocks("tsv")).splitlines()) <= 60
    assert sample_items(giving, 1, 60)["verb"].n_unique() >= 10, "without any other file"
    printed, shown = printed_first(capsys)
    assert printed == shown


def merged(data, part):
    """What a page says to put under the keys that it names."""
    return {**data, **{key: merged(data.get(key) or {}, value) if isinstance(value, dict) else value for key, value in part.items()}}


def test_its_look_alike_gives_nothing_away(project, capsys):
    """All premises of a set have the same open-class words, and what is misread has another label."""
    path = project.root / f"templates/{NAME}.yaml"
    data = yaml.safe_load(path.read_text("utf-8"))
    del data["no_lookalike"]
    for block in blocks("yml"):
        data = merged(data, yaml.safe_load(block))
    path.write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")
    (project.root / f"lexicons/scenes/{NAME}.tsv").write_text(blocks("scenes")[0], "utf-8")
    with (project.root / f"lexicons/scenes/{NAME}.tsv").open("a", encoding="utf-8") as file:
        file.write("".join(f"\n{block}" for block in blocks("tsv")))
    giving = load_construction(project, NAME, Lexicon.of(project))
    assert list(findings(giving, chunks=Chunks.load(*project.chunk_files()))) == []
    items = sample_items(giving, 1, 60, "nli").filter(config="distinction")
    words = items.group_by("contrast_set").agg(pl.col("slots").list.eval(pl.element().struct.field("lemma")).list.sort().n_unique())
    assert items.height and words["slots"].max() == 1
    assert {row["kind"].partition("/")[0] for row in items.iter_rows(named=True)} == {"pledging"}
    printed, shown = printed_first(capsys, "given-or-promised")
    assert printed == shown


def test_a_scene_with_one_word_for_two_slots_is_told_at_its_line(project):
    table = project.root / f"lexicons/scenes/{NAME}.tsv"
    table.write_text(table.read_text("utf-8") + "shelf\ttransfer\thand\tmention\tmap\n", "utf-8")
    [found] = findings(load_construction(project, NAME, Lexicon.of(project)))
    assert (found.code, found.file, found.line) == ("E201", table, 4)
    assert "'shelf' cannot serve design 'transfer': slot 'thing' (its only word is needed" in found.message


def test_explain_prints_what_the_tutorial_shows(project, capsys):
    explain(NAME, form=Format.table)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    [shown] = blocks("text")
    start = printed.index(shown.splitlines()[0])
    assert printed[start : start + len(shown.splitlines())] == shown.splitlines()
