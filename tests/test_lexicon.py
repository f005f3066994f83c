"""The lexicon: forms, bands, relations, and the proof that the committed snapshot rebuilds."""

import json
import shutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.curate.build import build, propose
from cxgen.errors import SchemaError, UnknownNameError
from cxgen.lexicon.own import read_sources
from cxgen.lexicon.words import HIGH, LOW, Reference, article, banded, forms, is_synthetic
from cxgen.sampling import verb_pools
from cxgen.sampling.pools import Segments
from cxgen.schema import read_yaml
from cxgen.vocabulary import BANDS, POS
from tests.conftest import ROOT, edit

REFERENCE = Reference()


def wordnet(test):
    """A test that needs WordNet 3.0 (see conftest); .ci/run installs it and requires it."""
    return pytest.mark.slow(pytest.mark.wordnet(test))


FORMS = {
    ("noun", "plural"): "gate gates, brush brushes, vodka vodkas, scarf scarves, fire_engine fire_engines",
    ("verb", "past"): "swing swung, heave heaved",
    ("verb", "ing"): "drag dragging",
    ("verb", "third"): "carry carries",
    ("adjective", "comparative"): "drowsy drowsier, alert more_alert, bored more_bored, simple simpler",
}


def test_forms_and_articles():
    for (pos, form), pairs in FORMS.items():
        for lemma, expected in ([word.replace("_", " ") for word in pair.split()] for pair in pairs.split(", ")):
            assert forms(lemma, pos, {}, REFERENCE)[form] == expected
    assert forms("draftsman", "noun", {"plural": "draftsmen"}, REFERENCE)["plural"] == "draftsmen"
    words = ["gate", "engine", "hour", "unicorn", "uncle", "ewe", "gorp", "esmow", "unifle", "undor"]
    assert [article(word) for word in words] == ["a", "an", "an", "a", "an", "a", "a", "an", "a", "an"]


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_long_adjectives_never_take_er(stem):
    assert not is_synthetic(f"{stem}aeful")
    assert not is_synthetic(f"{stem}-minded")


def test_the_snapshot_keeps_what_it_promises(lexicon):
    table = lexicon.table
    assert table["key"].is_unique().all()
    content = table.filter(~pl.col("pos").is_in(["phrase", "name"]) & ~pl.col("key").str.starts_with("own:"))
    assert content["sense"].null_count() == 0
    assert content["lexfile"].null_count() == 0
    for pos, zipf, percentile, band in table.select("pos", "zipf", "percentile", "band").iter_rows():
        assert (percentile, band) == banded(pos, zipf, lexicon.cuts)
    verbs = table.filter(pl.col("pos") == "verb")
    assert verbs.select(pl.col("past", "participle", "ing", "third").null_count()).sum_horizontal().item() == 0
    for relation in ("contrary", "complement", "near"):
        assert set(table[relation].explode().drop_nulls()) <= set(table["key"])
    assert max(row for group in lexicon.classes.values() for row in group.ids) < len(lexicon)


@given(st.sampled_from(POS), st.floats(0, 8), st.floats(0, 8))
def test_a_band_is_a_cut_of_the_percentile_and_both_rise_with_frequency(pos, one, other):
    cuts = read_yaml(ROOT / "lexicons/bands.yaml", "bands").data["percentiles"]
    (low, band), (high, above) = (banded(pos, zipf, cuts) for zipf in sorted((one, other)))
    assert 0 <= low <= high <= 100
    assert BANDS.index(band) <= BANDS.index(above)
    assert BANDS.index(band) == (low >= LOW) + (low > HIGH)


@given(
    st.lists(st.lists(st.integers(0, 29), min_size=1, max_size=9, unique=True), min_size=1, max_size=6), st.floats(0, 1, exclude_max=True)
)
def test_a_draw_is_always_from_its_own_list(lists, number):
    import numpy as np

    bands = np.array([row % 3 for row in range(30)], dtype=np.int8)
    which = np.arange(len(lists))
    drawn = Segments(lists, bands).draw(which, np.full(len(lists), number))
    assert all(row in rows for row, rows in zip(drawn, lists, strict=True))


@wordnet
def test_the_committed_snapshot_rebuilds_identically(tmp_path):
    shutil.copytree(ROOT / "lexicons", tmp_path / "lexicons")
    shutil.rmtree(tmp_path / "lexicons/snapshot")
    build(tmp_path / "lexicons")
    for name in ("lexemes.parquet", "classes.json"):
        assert (tmp_path / "lexicons/snapshot" / name).read_bytes() == (ROOT / "lexicons/snapshot" / name).read_bytes(), name


@wordnet
def test_proposals_are_new_main_senses_of_the_right_band(lexicon):
    table = propose(ROOT / "lexicons", "landmarks")
    assert table.height > 20
    taken = {lexicon.table["key"][row] for row in lexicon.classes["landmarks"].ids}
    assert taken.isdisjoint(table["sense"])
    assert set(table["band"]) <= {"low", "mid", "high"}
    with pytest.raises(UnknownNameError) as caught:
        propose(ROOT / "lexicons", "landmark")
    assert "landmarks" in caught.value.hint


@wordnet
def test_a_sense_key_that_does_not_exist_is_named_with_its_line(tmp_path):
    shutil.copytree(ROOT / "lexicons", tmp_path / "lexicons")
    path = tmp_path / "lexicons/classes/places.yaml"
    line = edit(path, "gate%1:06:00::", "gate%1:06:99::")
    with pytest.raises(SchemaError, match="gate%1:06:99::") as caught:
        build(tmp_path / "lexicons")
    assert (caught.value.file, caught.value.line) == (path, line)


@pytest.mark.slow
def test_bad_sources_are_named_with_their_line(tmp_path):
    shutil.copytree(ROOT / "lexicons", tmp_path / "lexicons")
    path = tmp_path / "lexicons/classes/names.yaml"
    line = edit(path, "  names:", "  people:")
    with pytest.raises(SchemaError, match="declared twice") as caught:
        read_sources(tmp_path / "lexicons")
    assert caught.value.line in (line, 3)


def test_every_construction_has_verbs_enough(constructions):
    """Enough to share out over three splits; of reflexive resultatives judges left the fewest."""
    for name, construction in constructions.items():
        assert len(frozenset().union(*verb_pools(construction, "sliced"))) >= 30, name


def test_what_two_processes_learn_is_kept_of_both(tmp_path):
    one, other = (Reference(tmp_path / "words.json") for _ in range(2))
    one.frequency("otter")
    other.frequency("badger")
    one.save()
    other.save()
    words = json.loads((tmp_path / "words.json").read_text("utf-8"))["words"]
    assert {"zipf otter", "zipf badger"} <= words.keys()
    (tmp_path / "words.json").write_text(json.dumps({"versions": one._versions, "words": {"zipf otter": 3}}), "utf-8")
    assert Reference(tmp_path / "words.json").frequency("otter") == one.frequency("otter")  # no use of what is none of ours
