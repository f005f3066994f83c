"""Words that a project or a template file brings of its own: no WordNet, no build, and nobody else's rows move."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from cxgen.build.preview import Wanted, sample_items, sampled
from cxgen.check import findings, require_sound
from cxgen.cli.app import app
from cxgen.constructicon import load_construction
from cxgen.errors import CxgenError, SchemaError, UnknownNameError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling import Wugs
from cxgen.sampling.wugs import borrowed
from tests.conftest import ROOT, edit

# A construction that brings words and classes of its own, and its table.
HANDOVER, SCENES = ((ROOT / f"tests/data/handover.{suffix}").read_text("utf-8") for suffix in ("yaml", "tsv"))
NEW_VERBS = {"disburse", "lend", "send", "sell", "feed", "mail", "award", "lease", "quitclaim", "zorb"}


@pytest.fixture(scope="module")
def own(tmp_path_factory, lexicon):
    """A project with one construction that brings ten verbs, and its construction."""
    folder = tmp_path_factory.mktemp("own")
    fresh(folder)
    project = Project(folder)
    return project, load_construction(project, "handover", Lexicon.of(project))


def fresh(tmp_path, *changes):
    """The construction and its table in a project, with changes in either; the path that the last one changed, and their lines."""
    path, table = tmp_path / "templates/handover.yaml", tmp_path / "lexicons/scenes/handover.tsv"
    for file, text in ((path, HANDOVER), (table, SCENES)):
        file.parent.mkdir(parents=True)
        file.write_text(text, "utf-8")
    lines = []
    for old, new in changes:
        path = table if old in SCENES else path
        lines.append(edit(path, old, new))
    return path, lines


def add(tmp_path, name, text):
    path = tmp_path / "lexicons" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return Project(tmp_path)


def lemmas(lexicon, name):
    return [lexicon.lemmas[row] for row in lexicon.resolve(name).ids]


def test_ten_new_verbs_come_up_in_all_their_forms(own):
    _, construction = own
    items = sample_items(construction, 1, 200)
    verbs = {slot["lemma"] for slots in items["slots"] for slot in slots if slot["slot"] == "verb"}
    assert verbs == NEW_VERBS
    text = " ".join(items["premise"].unique())
    for form in ("disbursed", "lent", "sent", "sold", "fed", "zorbed", "quitclaimed", "to zorb", "the umbrella stand"):
        assert f" {form} " in text


@pytest.mark.slow
def test_new_words_move_no_row_of_the_lexicon_and_of_other_samples(own, lexicon):
    project, construction = own
    extended = construction.lexicon
    assert len(extended) == len(lexicon) + 10 + 4
    assert extended.table.head(len(lexicon)).equals(lexicon.table)
    for name, group in lexicon.classes.items():
        assert extended.classes[name] == group
    before, beside = load_construction(Project(ROOT), "conative", lexicon), load_construction(project, "conative", extended)
    assert sample_items(beside, 3, 20).equals(sample_items(before, 3, 20))


def test_a_new_word_has_what_the_others_have(own):
    lexicon = own[1].lexicon
    paid, mass = lexicon.row("disburse%2:40:00::"), lexicon.row("own:noun:foliage")
    assert lexicon.index["crate%1:06:00::"] in lexicon.resolve("presents").ids  # a sense that the lexicon has is the same lexeme
    assert (paid["pos"], paid["past"], paid["third"], paid["band"]) == ("verb", "disbursed", "disburses", "low")
    assert (mass["countability"], mass["plural"]) == ("mass", "foliage")  # as lexicons/overrides.yaml says
    assert lexicon.row("own:noun:umbrella stand")["plural"] == "umbrella stands"
    assert lexicon.row("own:noun:umbrella stand")["article"] == "an"
    words = lexicon.table.tail(14)
    assert words.select("zipf", "percentile", "band", "top10k", "sense", "article").null_count().sum_horizontal().item() == 0


def test_what_was_looked_up_is_remembered(own, monkeypatch):
    project, construction = own
    assert project.root.joinpath(".cxgen/words.json").is_file()
    monkeypatch.setitem(__import__("sys").modules, "lemminflect", None)
    again = load_construction(project, "handover", Lexicon.of(project)).lexicon
    assert again.table.equals(construction.lexicon.table)


FAULTS = {
    "unknown word class 'giveing'": ("@giving", "@giveing", "giving"),
    "'roll' is a word, not a word class": ("@giving", "@roll", "roll%2:38:00::"),
    "unknown word class 'peoples'": ("class: everyday-people,", "class: peoples,", "people"),
}


@pytest.mark.parametrize("message", FAULTS)
def test_an_unknown_word_is_named_with_the_line_of_its_slot_or_frame(tmp_path, lexicon, message):
    old, new, hint = FAULTS[message]
    path, (line,) = fresh(tmp_path, (old, new))
    construction = load_construction(Project(tmp_path), "handover", Lexicon.of(Project(tmp_path)))
    with pytest.raises(UnknownNameError, match=message) as caught:
        require_sound(construction)
    assert hint in caught.value.hint
    codes = [(finding.code, finding.file, finding.line) for finding in findings(construction) if finding.code.startswith("E")]
    assert codes == [("E201", caught.value.file, caught.value.line)] == [("E201", path, line)]


REFUSED = {
    "is a noun, not a verb": ("{lemma: lend}", "{lemma: lend, pos: noun}"),
    "is not a sense of 'lend'": ("{lemma: lend}", '{lemma: lend, sense: "hand%2:40:00::"}'),
    "the lexicon has a class 'people'": ("  presents:\n", "  people:\n"),
    "unknown word class 'landmarks-x'": ("    pos: noun\n", "    pos: noun\n    extends: landmarks-x\n"),
    "class 'presents' of nouns extends 'names' of names": ("    pos: noun\n", "    pos: noun\n    extends: names\n"),
    "class 'giving' extends itself by way of 'presents'": ("    pos: noun\n", "    pos: noun\n    extends: giving\n"),
    "classes.presents: lacks one of gloss, extends": ("    gloss: what is given\n", ""),
    "unexpected key 'lemme'": ("{lemma: lend}", "{lemme: lend}"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_wrong_declaration_is_refused_with_its_line(tmp_path, lexicon, message):
    changes = [REFUSED[message]]
    if "extends itself" in message:
        changes.append(("    pos: verb\n", "    pos: verb\n    extends: presents\n"))
    path, _ = fresh(tmp_path, *changes)
    with pytest.raises(CxgenError, match=message) as caught:
        load_construction(Project(tmp_path), "handover", Lexicon.of(Project(tmp_path)))
    assert caught.value.file == path
    assert caught.value.line > 50
    assert caught.value.hint


def test_new_words_have_pseudowords_of_words_that_the_construction_has_not(own):
    _, construction = own
    wugs = Wugs.load(Project(ROOT).snapshot)
    items = pl.concat(sampled(construction, Wanted(120, wugs=wugs, mode="content")))
    slots = [slot for slots in items["slots"] for slot in slots if slot["role"] in {"verb", "theme"}]
    assert {slot["lemma"] for slot in slots} <= set(wugs.table["lemma"])
    assert len({slot["lemma"] for slot in slots if slot["role"] == "verb"}) >= 10
    lexicon = construction.lexicon
    rows = [row for name in ("everyday-people", "giving", "presents") for row in lexicon.resolve(name).ids]
    lent = borrowed(construction, wugs.table)
    assert set(lent["lemma"]).isdisjoint(wugs.table.filter(pl.col("key").is_in(lexicon.table["key"][rows].to_list()))["lemma"])
    assert lent["lemma"].is_unique().all()


OWN_CLASSES = """\
classes:
  everyday-people:
    extends: everyday-people
    pos: noun
    members: [{lemma: yeti}]
"""
MORE_CLASSES = OWN_CLASSES.replace("  everyday-people:\n", "  beasts:\n").replace("{lemma: yeti}", '"gate%1:06:00::"')


def test_own_lexicons_add_to_the_shipped_ones(tmp_path, lexicon):
    fresh(tmp_path)
    add(tmp_path, "classes/mine.yaml", OWN_CLASSES)
    add(tmp_path, "classes/more.yaml", MORE_CLASSES)
    add(tmp_path, "overrides.yaml", "noun:\n  yeti: {plural: yeti}\n  flute: {plural: flutae}\n")
    project = add(tmp_path, "scenes/handover.tsv", SCENES + "mine\ttransfer\tshove\t@beasts\t@beasts\n")
    extended = Lexicon.of(project)
    shipped = lemmas(lexicon, "everyday-people")
    assert lemmas(extended, "everyday-people") == [*shipped, "yeti"]
    assert lemmas(extended, "beasts") == [*shipped, "yeti", "gate"]
    assert extended.row("own:noun:yeti")["plural"] == "yeti"
    now = extended.table.head(len(lexicon))
    assert set(now.filter(now["plural"] != lexicon.table["plural"])["lemma"]) == {"flute"}
    construction = load_construction(project, "handover", extended)
    assert [frame.name for frame in construction.frames] == ["giving", "mine"]
    assert {finding.code for finding in findings(construction) if finding.code.startswith("E")} <= {"E207"}  # people are receivers, too


def test_own_prompts_come_before_the_shipped_ones_file_by_file(tmp_path):
    project = add(tmp_path, "../pipelines/prompts/label.yaml", (ROOT / "pipelines/prompts/label.yaml").read_text("utf-8"))
    assert project.prompt_file("label") == tmp_path / "pipelines/prompts/label.yaml"
    assert project.prompt_file("fill") == ROOT / "pipelines/prompts/fill.yaml"
    with pytest.raises(UnknownNameError):
        project.prompt_file("labell")


def test_an_own_scene_has_a_name_of_its_own_and_stands_in_a_table(tmp_path, lexicon):
    name = lexicon.frames("conative")[0].name
    project = add(tmp_path, "scenes/conative.tsv", f"id\tdesigns\tagent\n{name}\tany\t@names\n")
    with pytest.raises(SchemaError, match="already") as caught:
        Lexicon.of(project).frames("conative")
    assert caught.value.line == 2
    add(tmp_path, "frames/conative.yaml", "construction: conative\nframes: []\n")
    with pytest.raises(SchemaError, match="scenes"):
        Lexicon.of(project)


@pytest.fixture
def run(monkeypatch, own):
    """Call ``cxgen lexicon`` in the project with words of its own; the JSON that it prints, or the error."""
    monkeypatch.setenv("CXGEN_PROJECT", str(own[0].root))

    def call(*args):
        result = CliRunner().invoke(app, ["lexicon", *args])
        if result.exception is not None:
            raise result.exception
        return json.loads(result.stdout)

    return call


def test_words_are_looked_up_with_their_classes_or_answered_with_near_ones(run, own, monkeypatch):
    monkeypatch.setattr("cxgen.cli.lexicon.load_all", lambda _: [own[1]])  # the shipped ones have no part in the answers
    rows = run("classes", "crate", "--format", "json")
    held = {"lexeme": "crate%1:06:00::", "class": "presents", "pos": "noun", "members": 4, "constructions": ["handover"]}
    assert any(held.items() <= row.items() for row in rows)
    assert {row["lexeme"] for row in rows} == {"crate%1:06:00::"}
    assert len(rows) > 1
    assert [(row["lexeme"], row["class"]) for row in run("classes", "doodad", "--format", "json")] == [("doodad%1:06:00::", "")]
    with pytest.raises(UnknownNameError, match="unknown word 'buket'") as caught:
        run("classes", "buket", "--format", "json")
    assert "bucket" in caught.value.hint
    (row,) = run("show", "zorb", "--format", "json")
    assert (row["key"], row["past"], row["classes"]) == ("own:verb:zorb", "zorbed", ["giving"])
