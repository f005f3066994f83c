"""Proposed words that people accept into a frame file."""

import json

import polars as pl
import pytest

from cxgen.build.clauses import interpretations
from cxgen.cli.asking import ask
from cxgen.constructicon import load_construction
from cxgen.curate.scenes import accept_words, lemma_of, slot_questions
from cxgen.errors import CxgenError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from tests.llm_server import serving

FILE = "lexicons/scenes/conative.tsv"
WORDS = "did=hit | left=missed | had-did=hit | had-left=missed | yes=did hit | no=never hit"
OWN = f"""# a scene of one's own
id\tdesigns\tagent\tverb:verb\tx\topening:phrase\twords
my-cat\thit-or-missed\tkitten | cat\tswipe | claw\tlamp | vase\tthat evening\t{WORDS}
"""


def conative(root):
    project = Project(root)
    return project, load_construction(project, "conative", Lexicon.of(project))


def scene_of(construction, name):
    return next(scene for scene in construction.frames if scene.name == name)


def fillers(construction, frame, slot):
    return [construction.lexicon.row(name)["lemma"] for name in scene_of(construction, frame).slots[slot]]


@pytest.mark.slow
def test_words_come_to_the_end_of_their_list_and_nothing_else_changes(tmp_path):
    (tmp_path / "lexicons/scenes").mkdir(parents=True)
    (tmp_path / FILE).write_text(OWN, "utf-8")
    found = accept_words(*conative(tmp_path), "my-cat", "x", ["Candles", "vases", "gourds"])
    assert found == (tmp_path / FILE, ["candle", "gourd"])  # the vase is there
    accept_words(*conative(tmp_path), "my-cat", "verb", ["pawed"])
    expected = OWN.replace("lamp | vase", "lamp | vase | candle | gourd").replace("swipe | claw", "swipe | claw | paw")
    assert (tmp_path / FILE).read_text("utf-8") == expected
    assert fillers(conative(tmp_path)[1], "my-cat", "x") == ["lamp", "vase", "candle", "gourd"]


@pytest.mark.slow
def test_a_frame_of_the_lexicon_gets_one_beside_it(tmp_path):
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("# a last line without its break", "utf-8")
    for word in ("hatboxes", "gourd"):
        path, _ = accept_words(*conative(tmp_path), "co-w-dress", "thing", [word])
    assert path.read_text("utf-8").count("co-w-dress-more") == 1
    _, construction = conative(tmp_path)
    assert fillers(construction, "co-w-dress-more", "thing") == ["hatbox", "gourd"]
    old, new = (scene_of(construction, name) for name in ("co-w-dress", "co-w-dress-more"))
    assert (new.designs, new.words, new.slots) == (old.designs, old.words, {**old.slots, "thing": new.slots["thing"]})
    assert len(slot_questions(construction, "thing", 5, 3, 1, "co-w-dress-more")) == 5
    assert len(slot_questions(construction, "prey", 5, 3, 1, "mp-clubs")) == 5  # which is in no set of nli


@pytest.mark.parametrize(
    ("slot", "words", "reason"),
    [("x", ["tourist", "painters"], "has these words already"), ("opening", ["at dusk"], "fills 'opening' with no words of its own")],
)
def test_what_cannot_be_entered_is_told(tmp_path, slot, words, reason):
    with pytest.raises(CxgenError, match=reason):
        accept_words(*conative(tmp_path), "co-goose", slot, words)
    assert not (tmp_path / FILE).exists()


def test_the_example_of_the_help_asks_about_a_frame_that_is_in_a_config(constructions):
    example = next(command.epilog for command in ask.registered_commands if command.epilog.startswith("cxgen ask fill")).split()
    name, slot, frame = example[3], *(example[example.index(option) + 1] for option in ("--slot", "--frame"))
    assert slot_questions(constructions[name], slot, 2, 3, 1, frame)
    with pytest.raises(CxgenError, match="its designs are in no config: one-of-two"):
        slot_questions(constructions["resultative"], "x", 2, 3, 1, "re-curtains")


def test_words_that_no_list_has_stay_as_they_are(lexicon):
    words = ["gourds", "hatboxes", "bauhaus", "xyzzyq", "yoga mats"]
    assert [lemma_of(word, "noun", lexicon) for word in words] == ["gourd", "hatbox", "bauhaus", "xyzzyq", "yoga mat"]


@pytest.mark.server
def test_only_proposed_words_are_accepted(tmp_path, cxgen):
    (tmp_path / "params.yaml").write_text("seed: 1\n", "utf-8")
    with serving() as url:
        command = ["ask", "fill", "conative", "--slot", "thing", "--model", "m", "--base-url", url, "--n", "2", "--format", "json"]
        lost = cxgen(*command, "--accept", "all", cwd=tmp_path)
        wrong = cxgen(*command, "--frame", "co-w-dresses", cwd=tmp_path)
        other = cxgen(*command, "--frame", "co-w-dress", "--accept", "gourd", cwd=tmp_path)
        rows = json.loads(cxgen(*command, "--frame", "co-w-dress", cwd=tmp_path).stdout)
        found = cxgen(*command, "--frame", "co-w-dress", "--accept", rows[0]["filler"], cwd=tmp_path)
    assert (lost.returncode, wrong.returncode, other.returncode, found.returncode) == (2, 2, 2, 0), found.stderr
    assert [row["in_lexicon"] for row in rows] == [False, False]
    assert all(row["sentence"].count("_____") == 1 and " at " in row["sentence"] for row in rows)
    assert "no frame is named" in lost.stderr
    assert "did you mean co-w-dress" in wrong.stderr
    assert "unknown proposal 'gourd'" in other.stderr
    assert f"{FILE}: {rows[0]['filler']}" in found.stderr


@pytest.mark.server
def test_a_model_fills_the_template_of_pairs_for_judges(tmp_path, cxgen):
    (tmp_path / "params.yaml").write_text("seed: 1\n", "utf-8")
    said = {"1": "slash | hedge", "2": "slash | hedge", "3": "slash", "4": "chopped | Logs", "5": "hack | {PREY}"}
    (tmp_path / "truth.json").write_text(json.dumps({f"{seed}|fillings": text for seed, text in said.items()}), "utf-8")
    with serving(truth=str(tmp_path / "truth.json")) as url:
        command = ["ask", "pairs", "conative", "--model", "m", "--base-url", url, "--seeds", "5", "--format", "json", "--scene"]
        told, path = cxgen(*command, "mp-clubs", cwd=tmp_path), tmp_path / "lexicons/scenes/conative.proposed.tsv"
        written = path.read_text("utf-8")
        again = cxgen(*command, "mp-clubs", cwd=tmp_path)
        wrong = cxgen(*command, "mp-club", cwd=tmp_path)
    counts = {row["scenes"]: row["number"] for row in json.loads(told.stdout)}
    assert counts == {"added": 2, "has the words": 1, "not a word for each place": 2}
    assert (again.returncode, path.read_text("utf-8")) == (0, written)
    assert (wrong.returncode, "did you mean mp-clubs" in wrong.stderr) == (2, True)
    project = Project(tmp_path)
    loaded = load_construction(project, "conative", Lexicon.of(project), heard=False)
    assert fillers(loaded, "mp-clubs-more-3-female", "deed") + fillers(loaded, "mp-clubs-more-3-female", "prey") == ["chop", "log"]
    asked = interpretations(loaded).filter(pl.col("item").str.contains("/mp-clubs-more-3"))
    assert set(asked["sentence"].str.extract("(chopped at the log)")) == {"chopped at the log"}
    assert not [frame for frame in conative(tmp_path)[1].frames if frame.name.startswith("mp-clubs-more")]  # nobody has judged them
