"""The measures of what words decide, on items whose figures are known by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from cxgen import measures
from cxgen.measures import Items, begin
from cxgen.measures.fits import probabilities, regression, right
from cxgen.measures.words import cues_only, cues_transfer, misparse, open_words, pair_scores, turn_rate, word_pairs, words_only

E, N, C = range(3)
# One E, N and C per premise, every hypothesis equally often each: the scheme of four places.
PLACES = ((E, C, C, N), (C, E, N, C), (C, N, E, C), (N, C, C, E))
ROTATION = ((E, N, C), (C, E, N), (N, C, E))


def items(premises, hypotheses, labels, name="places", config="nli", number=0, split="train"):
    """The items of one set: a premise's label for every hypothesis; None leaves a cell out."""
    rows = [
        {
            "config": config,
            "construction": name,
            "contrast_of": None,
            "contrast_set": f"{name}{number}",
            "premise": premise,
            "hypothesis": hypothesis,
            "label": labels[p][h],
            "split": split,
            "verb": f"verb{number}",
            "verb_role": "lexical",
            "frame": "frame",
            "slots": [{"lemma": f"filler{number}"}],
        }
        for (p, premise), (h, hypothesis) in product(enumerate(premises), enumerate(hypotheses))
        if labels[p][h] is not None
    ]
    return pl.DataFrame(rows, schema_overrides={"contrast_of": pl.String})


def figures(rows):
    return {"words_only": round(words_only(Items(rows)).overall, 3), "turn_rate": turn_rate(Items(rows)).overall}


def test_where_only_the_order_differs_words_decide_nothing_and_every_item_turns():
    premises = ["Lena hit the wasp, swatted at the moth and missed the fly."]
    premises += ["Lena hit the fly, swatted at the wasp and missed the moth.", "Lena hit the moth, swatted at the fly and missed the wasp."]
    rows = items(premises, ["Lena touched the wasp.", "Lena touched the moth.", "Lena touched the fly."], ROTATION)
    assert figures(rows) == {"words_only": 0.333, "turn_rate": 1.0}


def test_where_every_premise_has_words_of_its_own_they_decide_all_and_nothing_turns():
    rows = items(["She tried in vain.", "She succeeded.", "She tried twice."], ["She got it.", "She lost it.", "It fell."], ROTATION)
    assert figures(rows) == {"words_only": 1.0, "turn_rate": 0.0}


def test_prepositions_and_forms_of_a_word_are_no_other_words():
    premises = ["Ruth waved the van into the garage behind the yard.", "Ruth did wave the van out of the yard behind the garage."]
    rows = items(premises, ["The van ended up in the garage.", "The van began in the garage."], ((E, C), (C, E)))
    assert figures(rows) == {"words_only": 0.5, "turn_rate": 1.0}
    assert open_words(premises[0]) == open_words(premises[1])


def test_a_word_that_occurs_twice_counts_twice_and_let_alone_is_closed():
    assert open_words("The dog saw the dog.") != open_words("The dog saw.")
    assert open_words("Omar can't trust Ann, let alone Bo.") == open_words("Omar never trusted Ann, only Bo.")


def test_half_of_the_items_turn_where_two_of_four_premises_share_their_words():
    premises = ["The van went into town past the mill.", "The van went past town into the mill.", "The truck hid.", "The bus sank."]
    rows = items(premises, ["It is in town.", "It is in the mill.", "It hid.", "It sank."], PLACES)
    # Town, mill and the third hypothesis: E against C, C against E, C against N; the fourth N against C.
    assert figures(rows) == {"words_only": 0.75, "turn_rate": 0.5}
    assert turn_rate(Items(rows)).by_config == {"nli": 0.5}


def test_the_same_words_in_another_set_do_not_turn_an_item():
    first, second = (items(["The van left."], ["It left."], [[label]], number=label) for label in (E, C))
    assert figures(pl.concat([first, second])) == {"words_only": 1.0, "turn_rate": 0.0}


def told(name, give_away, splits=("train", "test")):
    """Sets in which ``give_away`` words tell the labels, in every split; other words change from set to set."""
    premises = [f"The x {word} did it." for word in give_away]
    tables = []
    for split, number in product(splits, range(12)):
        own = [text.replace("x", f"thing{number}{split[0]}") for text in premises]
        tables.append(items(own, ["It came.", "It went.", "It stayed."], ROTATION, name, number=f"{split}{number}", split=split))
    return pl.concat(tables)


def test_pairs_of_words_learn_what_a_word_says_of_a_hypothesis_and_nothing_where_premises_are_alike():
    told_apart, alike = told("a", ("surely", "maybe", "hardly")), told("b", ("so", "so", "so"))
    assert word_pairs(Items(told_apart))().by_config == {"nli": 1.0}
    assert word_pairs(Items(alike))().overall == pytest.approx(1 / 3, abs=0.01)


def test_what_word_pairs_answer_does_not_depend_on_what_is_answered_beside_it():
    def text(kind, row):  # letters only; so many pairs of words that some share a column
        return " ".join(kind + "abcdefghij"[row % 7 + at] * (row // 7 % 90 + 1) for at in range(4))

    train = pl.DataFrame({"premise": [text("p", n) for n in range(600)], "hypothesis": [text("h", n * 5) for n in range(600)]})
    train = train.with_columns(pl.Series("class", [n % 3 for n in range(600)]))
    asked, more = train.select("premise", "hypothesis"), pl.DataFrame({"premise": ["u v b"] * 9, "hypothesis": ["w h"] * 9})
    assert (pair_scores(train, asked) == pair_scores(train, pl.concat([more, asked]))[9:]).all()


def test_a_cue_carries_over_to_another_construction_only_if_it_has_it_too():
    same = pl.concat([told("a", ("surely", "maybe", "hardly")), told("b", ("surely", "maybe", "hardly"))])
    assert cues_transfer(Items(same))().configs == {"all": {"a": 1.0, "b": 1.0}}
    other = pl.concat([told("a", ("surely", "maybe", "hardly")), told("b", ("so", "so", "so"))])
    assert cues_only(Items(other))().configs["nli"]["a"] == 1.0
    assert cues_transfer(Items(other))().configs["all"]["b"] == pytest.approx(1 / 3, abs=0.01)
    assert cues_transfer(Items(told("a", ("surely", "maybe", "hardly")))) is None


def test_fillers_are_no_cues():
    rows = told("a", ("kicked", "pushed", "rolled"))
    assert cues_only(Items(rows))().overall == 1.0
    masked = rows.with_columns(slots=pl.lit([{"lemma": "kick"}, {"lemma": "push"}, {"lemma": "roll"}]))
    assert cues_only(Items(masked))().overall < 0.4


def test_misparse_is_the_share_of_items_that_a_misreading_would_label_otherwise():
    rows = items(["Omar walked to the bridge.", "Omar pointed to the bridge."], ["He got there."], [[E], [N]], config="distinction")
    rows = rows.with_columns(misread=pl.Series([False, True]), target_label=pl.Series([None, E], dtype=pl.Int8))
    assert misparse(Items(rows)).overall == 1.0
    assert misparse(Items(pl.concat([rows, rows.with_columns(target_label=None)]))).overall == 0.5
    assert misparse(Items(rows.with_columns(misread=False))) is None


LENGTH = """
import polars as pl
from cxgen.measures import measure
from cxgen.measures.figures import Gates, shares

@measure("nli", Gates(overall=0.2), chance=0.0)
def long_premises(items):
    'items whose premise has more than four words.'
    return shares(items.rows, pl.col("premise").str.count_matches(" ") > 3)
"""


def test_a_new_measure_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "length.py").write_text(LENGTH)
    measures.measures()  # those that there are, which register once
    monkeypatch.setattr(measures, "MEASURES", {})
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    taken = begin("nli", items(["She left.", "She left the house at noon."], ["It left."], [[E], [C]]), 2)()["long_premises"]
    assert (taken["overall"], taken["passed"], taken["gates"]) == (0.5, False, {"overall": 0.2, "least": False})
    assert measures.MEASURES["long_premises"]["meaning"] == "items whose premise has more than four words"


# --- fits are the same on every machine: they converge, ties are shared, and the figures do not ask which kernel added up

KERNEL = """
import numpy as np, polars as pl
from cxgen.measures import begin
rng = np.random.default_rng(0)
words = np.array([f"w{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}" for i in range(60)])
n = 1500
chosen = rng.pareto(0.7, (n, 9)).astype(int) % 60
label = (chosen[:, 0] + chosen[:, 5] + (rng.random(n) < 0.1)) % 3
rows = pl.DataFrame({
    "config": "nli", "construction": [f"c{i % 2}" for i in range(n)], "contrast_of": pl.Series([None] * n, dtype=pl.String),
    "contrast_set": [f"s{i // 9}" for i in range(n)], "premise": [" ".join(words[r]) for r in chosen[:, :5]],
    "hypothesis": [" ".join(words[r]) for r in chosen[:, 5:]], "label": label, "split": ["train" if i % 3 else "test" for i in range(n)],
    "verb": [f"v{i % 20}" for i in range(n)], "verb_role": "lexical", "frame": "f", "slots": [[{"lemma": "filler"}]] * n,
})
print([(name, measure["overall"], measure["configs"]) for name, measure in begin("nli", rows, 2)().items()])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the wheels' OpenBLAS chooses its kernel by this variable on Linux")
def test_every_kernel_gives_the_same_figures():
    kernels = ({}, {"OPENBLAS_CORETYPE": "Prescott"})
    first, second = (
        subprocess.run([sys.executable, "-c", KERNEL], env=os.environ | kernel, capture_output=True, text=True, check=True).stdout
        for kernel in kernels
    )
    assert "cues_transfer" in first
    assert first == second


def test_a_label_that_nothing_has_is_never_said():
    features = csr_matrix(np.eye(3))
    counts = np.array([[3.0, 0, 0], [0, 0, 2], [1, 0, 0]])
    assert probabilities(regression(), features, counts, features).argmax(axis=1).tolist() == [0, 2, 0]
    assert probabilities(regression(), features[:1], np.array([[0.0, 1, 0]]), features).tolist() == [[0, 1, 0]] * 3


def test_labels_that_tie_share_the_item():
    def same(seen):
        return csr_matrix(np.ones((1, 1))), np.zeros(len(seen), dtype=np.int64)

    labels = np.array([0, 1, 2, 0, 1, 2])
    (hits,) = right((regression, same, labels, labels, [(np.arange(3), np.arange(3, 6))]))
    assert hits == pytest.approx(1 / 3)
