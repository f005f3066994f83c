"""Pseudowords: what they must never be, how near they stay to their sources, that the search is exact and the output always the same."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from cxgen.curate.wug import _chain_table, build_wug
from cxgen.errors import CxgenError, DataError
from cxgen.pseudowords import article, inflect, load, pseudowords
from cxgen.pseudowords.chain import Chain
from cxgen.pseudowords.distance import Distances
from cxgen.pseudowords.generate import SCHEMA
from cxgen.pseudowords.refuse import Refusal
from cxgen.pseudowords.search import RUNGS, Step, sequences
from cxgen.pseudowords.segments import segments, syllabify
from cxgen.pseudowords.spelling import skeleton
from tests.conftest import ROOT
from tests.test_lexicon import wordnet

TABLES = ("wug_lexicon", "wug_chain", "wug_forms", "wug_sounds")


@pytest.fixture(scope="module")
def wugs():
    return load(ROOT / "lexicons/snapshot")


@pytest.fixture(scope="module")
def sample(wugs, lexicon):
    """Outputs for nouns, verbs and adjectives from every band."""
    table = lexicon.table.filter(pl.col("pos").is_in(["noun", "verb", "adjective"]) & pl.col("lemma").str.contains("^[a-z]{3,}$"))
    rows = table.group_by("pos", "band", maintain_order=True).agg(pl.col("lemma").unique(maintain_order=True))
    pairs = [(word, pos) for pos, _, words in rows.iter_rows() for word in words[:: len(words) // 8]]
    made = pseudowords(wugs, [word for word, _ in pairs], 5, pos=[pos for _, pos in pairs])
    return made.with_columns(pos=np.repeat([pos for _, pos in pairs], 5))


def test_no_output_is_a_word_in_any_of_its_forms(wugs, sample):
    from wordfreq import zipf_frequency

    for word, pos in sample.select("pseudoword", "pos").iter_rows():
        forms = {word, *inflect(word, pos).values()}
        assert wugs.refused.isdisjoint(forms), word
        assert all(zipf_frequency(form, "en") < 2 for form in forms if " " not in form), word
        assert not wugs.rude.search(word), word
    zipf = sample.select(pl.col("pseudoword").map_elements(lambda form: zipf_frequency(form, "en"), return_dtype=pl.Float64))
    assert (zipf.to_series() == sample["zipf"]).all()


def test_outputs_keep_length_and_syllables_and_change_a_third(wugs, sample):
    assert sample.columns[:-1] == list(SCHEMA)
    assert (sample["word"].str.len_chars() == sample["pseudoword"].str.len_chars()).all()
    assert (sample["changed"] >= sample["syllables"]).all()
    for row in sample.iter_rows(named=True):
        source, parts = wugs.segments(row["word"]), tuple(re.split(r"[:.]", row["segments"]))
        assert "".join(parts) == row["pseudoword"]
        assert len(parts) == len(source) == 3 * row["syllables"]
        assert row["changed"] == sum(a != b for a, b in zip(source, parts, strict=True))
        if row["widened"] < 3:
            assert list(map(len, parts)) == list(map(len, source))


def test_outputs_are_near_their_sources(sample):
    """Nearly as over many words, where the means are 36 and 0.24 (``bench/wug.py``)."""
    assert sample["max_deviation"].abs().mean() < 41
    assert sample["old20_difference"].abs().mean() < 0.33
    assert (sample["widened"] == 0).mean() > 0.7


def test_statistics_are_what_they_say(wugs, sample):
    words = wugs.table["form"].to_list()
    for row in sample.gather_every(97).iter_rows(named=True):
        for form, old20 in ((row["word"], row["old20_word"]), (row["pseudoword"], row["old20"])):
            nearest = sorted(Levenshtein.distance(form, word) for word in words if word != form)
            assert old20 == pytest.approx(sum(nearest[:20]) / 20)
        assert row["neighbours"] == nearest.count(1)
        assert row["old20_difference"] == pytest.approx(row["old20"] - row["old20_word"])
        words_ = wugs.segments(row["word"]), re.split(r"[:.]", row["segments"])
        counts = [wugs.chain.frequencies(tuple(parts)) for parts in words_]
        deviations = [b - a for a, b in zip(*counts, strict=True)]
        assert row["sum_deviation"] == sum(map(abs, deviations))
        assert abs(row["max_deviation"]) == max(map(abs, deviations))
        assert row["max_deviation"] == deviations[row["max_deviation_at"]]


def test_old20_of_forms_far_from_everything(wugs):
    for form in ("a", "internationalizations", "zzyzxqqq", 30 * "methyl"):
        distances = sorted(Levenshtein.distance(form, word) for word in wugs.table["form"] if word != form)
        assert wugs.distances.measure([form]) == [(pytest.approx(sum(distances[:20]) / 20), distances.count(1))]


def test_many_forms_at_once_have_the_distances_of_each(wugs):
    forms = [f"{word[:-1]}{letter}" for word in wugs.table["form"].to_list()[::600] for letter in "aeiz"]
    together = Distances(wugs.table["form"]).measure(forms)
    single = Distances(wugs.table["form"])
    for place in range(0, len(forms), 60):
        assert single.measure([forms[place]]) == [together[place]]


def test_no_form_occurs_twice(sample):
    forms = [
        form
        for word, pos in sample.select("pseudoword", "pos").iter_rows()
        for form in {word, *inflect(word, pos).values()}
        if " " not in form
    ]
    assert len(forms) == len(set(forms))


def test_bases_do_not_look_inflected(sample, wugs):
    refusal = Refusal(wugs)
    for source, word, pos in sample.select("word", "pseudoword", "pos").iter_rows():
        assert refusal.ending(word, pos) in {"", refusal.ending(source, pos)}, word


@pytest.mark.slow
def test_the_same_in_another_process_and_in_another_order(wugs):
    words = ["carpet", "strong", "mahogany", "drink"]
    code = "import sys; from cxgen.pseudowords import *; print(*pseudowords(load(), sys.argv[1:], 5)['pseudoword'])"
    run = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    here = pseudowords(wugs, words, 5)
    assert run.stdout.split() == here["pseudoword"].to_list()
    turned = pseudowords(wugs, words[::-1], 5)
    assert turned.sort("word", "rank").equals(here.sort("word", "rank"))
    alone = pl.concat([pseudowords(wugs, [word], 5) for word in words])
    assert alone.equals(here)


def test_what_is_taken_is_not_made_again(wugs):
    first = pseudowords(wugs, ["carpet"], 5, pos="noun")
    second = pseudowords(wugs, ["carpet"], 5, pos="noun", taken=frozenset(inflect(first["pseudoword"][0], "noun").values()))
    assert first["pseudoword"][0] not in second["pseudoword"]
    twice = pseudowords(wugs, ["carpet", "carpet"], 5)
    assert twice["pseudoword"].n_unique() == 10


def test_another_seed_gives_others_as_good(wugs):
    words = ["mahogany", "elaborate", "blanket"]
    one, two = (pseudowords(wugs, words, 5, seed=seed) for seed in (1, 2))
    assert set(one["pseudoword"]) != set(two["pseudoword"])
    assert two["max_deviation"].abs().mean() < 1.5 * one["max_deviation"].abs().mean() + 5


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "I",
        "ox",
        "eye",
        "fry",
        "be",
        "rhythm",
        "strengths",
        "queue",
        "schnauzer",
        "Monday",
        "blorkify",
        "zyzzyva",
        "internationalization",
    ],
)
def test_every_word_can_be_a_source(wugs, word):
    made = pseudowords(wugs, [word], 10)
    assert made.height == 10
    assert (made["word"] == word).all()
    assert made["pseudoword"].str.contains("^[a-z]+$").all()
    longer = made["pseudoword"].str.len_chars() != len(word)
    assert (longer == (made["widened"] == 6)).all()
    assert longer.any() == (len(word) < 3)


@pytest.mark.slow
def test_very_long_sources_do_not_take_long(wugs):
    assert pseudowords(wugs, ["supercalifragilisticexpialidocious"], 3).height == 3


@pytest.mark.parametrize("word", ["ice cream", "co-op", "naïve", "", "hmm", "x1"])
def test_a_source_that_is_no_single_word_is_refused(wugs, word):
    with pytest.raises(CxgenError, match="expected a"):
        pseudowords(wugs, [word])


def test_bad_arguments_and_a_missing_snapshot_are_named(wugs, tmp_path):
    with pytest.raises(CxgenError, match="pos: expected"):
        pseudowords(wugs, ["gate"], pos="adverb")
    with pytest.raises(CxgenError, match="pos: expected"):
        pseudowords(wugs, ["gate"], pos=["noun", "noun"])
    with pytest.raises(DataError, match="no such table"):
        load(tmp_path)
    assert pseudowords(wugs, []).schema == pl.Schema(SCHEMA)


@pytest.mark.parametrize(
    "form", ["fone", "nite", "kat", "rane", "begining", "tomorow", "skool", "definately", "handfall", "unfork", "shittle"]
)
def test_what_reads_as_a_word_is_refused(wugs, form):
    assert Refusal(wugs).wordlike(form, wugs.segments(form))


@pytest.mark.parametrize("form", ["gorp", "blick", "wug", "plinder", "strell"])
def test_what_reads_as_none_is_not(wugs, form):
    assert not Refusal(wugs).wordlike(form, wugs.segments(form))


def test_skeletons_are_those_of_misspellings():
    assert skeleton("begining") == skeleton("beginning") == skeleton("biginning".replace("bi", "be"))
    assert skeleton("tomorow") == skeleton("tomorrow")
    assert skeleton("cat") == skeleton("kat") != skeleton("cad")


FORMS = [
    ("gorp", "verb", "gorps gorping gorped gorped"),
    ("wib", "verb", "wibs wibbing wibbed wibbed"),
    ("mave", "verb", "maves maving maved maved"),
    ("tolfy", "verb", "tolfies tolfying tolfied tolfied"),
    ("bray", "verb", "brays braying brayed brayed"),
    ("plish", "verb", "plishes plishing plished plished"),
    ("gree", "verb", "grees greeing greed greed"),
    ("dornet", "verb", "dornets dorneting dorneted dorneted"),
    ("wug", "noun", "wugs"),
    ("lunty", "noun", "lunties"),
    ("brox", "noun", "broxes"),
    ("fiz", "noun", "fizzes"),
    ("dast", "adjective", "daster dastest"),
    ("grun", "adjective", "grunner grunnest"),
    ("plofy", "adjective", "plofier plofiest"),
    ("blore", "adjective", "blorer blorest"),
    ("tarmious", "adjective", "more tarmious|most tarmious"),
]


@pytest.mark.parametrize(("base", "pos", "forms"), FORMS)
def test_inflection(base, pos, forms):
    assert list(inflect(base, pos).values()) == (forms.split("|") if "|" in forms else forms.split())


def test_inflection_has_the_names_of_the_lexicon(lexicon):
    for pos in ("noun", "verb", "adjective"):
        assert set(inflect("gorp", pos)) <= set(lexicon.table.columns)
    assert inflect("gorp", "adverb") == {}


@pytest.mark.parametrize(("word", "expected"), [("gorp", "a"), ("esmow", "an"), ("unifle", "a"), ("undor", "an")])
def test_articles(word, expected):
    assert article(word) == expected


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14), st.none() | st.integers(1, 6))
def test_syllables_spell_the_word(word, count):
    parts = syllabify(word, count)
    found = segments(parts)
    if parts:
        assert "".join(parts) == "".join(found) == word
        assert all(found[1::3])
        assert len(found) == 3 * len(parts)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("make", "m:a:ke"),
        ("queue", "qu:eue:"),
        ("basement", "b:a:se m:e:nt"),
        ("apples", ":a:p pl:e:s"),
        ("rhythm", "rh:y: th:m:"),
        ("beyond", "b:e: y:o:nd"),
        ("idiot", ":i: d:i: :o:t"),
        ("vague", "v:a:gue"),
    ],
)
def test_syllables_by_rule(word, expected):
    parts = segments(syllabify(word))
    assert " ".join(":".join(parts[at : at + 3]) for at in range(0, len(parts), 3)) == expected


SEGMENT = st.sampled_from(["", "b", "d", "k", "st"])
SYLLABLE = st.tuples(SEGMENT, st.sampled_from(["a", "e", "oo"]), SEGMENT)
WORDS = st.integers(1, 2).flatmap(
    lambda count: st.lists(st.lists(SYLLABLE, min_size=count, max_size=count).map(lambda parts: sum(parts, ())), min_size=2, max_size=25)
)


WIDENED = st.tuples(st.booleans(), st.sampled_from([(0, 0), (0, 2), (1, 1), (-1, 1)]))


def brute_force(links, words, loose, longer, moved):
    """Every sequence that keeps the constraints, and its largest deviation."""
    source, found = words[0], {}
    for parts in itertools.product(*({word[at] for word in words} for at in range(len(source)))):
        counts = links.frequencies(parts)
        more = [len(a) - len(b) for a, b in zip(parts, source, strict=True)]
        changed = sum(a != b for a, b in zip(parts, source, strict=True))
        shaped = sum(more) == longer and sum(map(abs, more)) == moved and max(map(abs, more)) <= min(moved, 1)
        if shaped and min(counts) >= 1 + loose and changed >= len(source) // 3:  # loose: attested twice, in words of any length
            found[parts] = max(abs(a - b) for a, b in zip(counts, links.frequencies(source), strict=True))
    return found


def search(links, source, loose, longer, moved):
    return list(sequences(links, source, Step(0, 0, loose, moved, longer), len(RUNGS) - 1, 0))


@settings(max_examples=60, deadline=None)
@given(WORDS, WIDENED)
def test_the_search_finds_every_sequence_where_they_are_few(words, widened):
    """Every sequence that a brute-force search finds, and no other, each in the rung of its largest deviation, rungs ascending."""
    links = Chain(_chain_table(words))
    loose, (longer, moved) = widened
    expected = brute_force(links, words, loose, longer, moved)
    if len(expected) > 700:
        return
    found = search(links, words[0], loose, longer, moved)
    assert [item.rung for item in found] == sorted(item.rung for item in found)
    assert {item.parts: item.rung for item in found} == {parts: np.searchsorted(RUNGS, size) for parts, size in expected.items()}
    assert len(found) == len(expected)
    for item in found:
        counts = [links.frequencies(parts) for parts in (words[0], item.parts)]
        assert item.deviations == [b - a for a, b in zip(*counts, strict=True)]
        assert item.once == (min(counts[1]) < 2)


def test_of_very_many_sequences_some_of_the_best_are_taken(monkeypatch):
    words = [sum(parts, ()) for parts in itertools.product([(a, b, "k") for a in "bdt" for b in "ae"], repeat=2)]
    links = Chain(_chain_table([*words, *words[::3], *words[::7]]))
    expected = brute_force(links, words, False, 0, 0)
    monkeypatch.setattr("cxgen.pseudowords.search.BEAM", 5)
    found = search(links, words[0], False, 0, 0)
    assert 0 < len({item.parts for item in found}) == len(found) < len(expected)
    assert all(item.rung == np.searchsorted(RUNGS, expected[item.parts]) for item in found)
    assert found == search(links, words[0], False, 0, 0)


def test_nothing_on_the_way_to_a_sample_loads_it():
    code = "import sys; import cxgen.cli; from cxgen.generate import *; from cxgen.stages import *; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not {"cxgen.pseudowords", "rapidfuzz"} & set(loaded)


def test_without_rapidfuzz_the_extra_is_named(wugs, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(DataError, match="pseudowords need rapidfuzz") as caught:
        pseudowords(wugs, ["grobblefink"], 1)
    assert "pip install -e '.[wug]'" in caught.value.hint


def test_the_snapshot_is_small():
    assert sum((ROOT / f"lexicons/snapshot/{name}.parquet").stat().st_size for name in TABLES) < 2_000_000


@pytest.mark.slow
@wordnet
def test_the_committed_tables_rebuild_identically(tmp_path):
    shutil.copytree(ROOT / "lexicons", tmp_path / "lexicons")
    for name in TABLES:
        (tmp_path / f"lexicons/snapshot/{name}.parquet").unlink()
    build_wug(tmp_path / "lexicons")
    for name in TABLES:
        rebuilt, committed = ((folder / f"lexicons/snapshot/{name}.parquet").read_bytes() for folder in (tmp_path, ROOT))
        assert rebuilt == committed, name
