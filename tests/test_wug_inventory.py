"""The lexicon's pseudowords: what is committed stays as it is, whatever is added."""

import shutil

import polars as pl
import pytest

from cxgen.curate.build import build_inventory
from cxgen.pseudowords import complete, inflect, load
from cxgen.pseudowords.generate import VARIANTS
from cxgen.sampling import INVENTORY
from cxgen.vocabulary import INFLECTIONS
from tests.conftest import ROOT, edit

SNAPSHOT = ROOT / "lexicons/snapshot"
OWN = {"snaffle": "verb", "be": "verb", "TV": "noun", "ice cream maker": "noun", "naïve": "adjective", "swiftly": "adverb"}
IS_OWN = pl.col("key").str.starts_with("own:")


def own(*lemmas):
    rows = [(f"own:{lemma}", lemma, OWN[lemma]) for lemma in lemmas]
    return pl.DataFrame(rows, schema=["key", "lemma", "pos"], orient="row")


@pytest.fixture(scope="module")
def known():
    """Lexemes, the committed inventory, what real words are like, and the inventory with words of a user's own."""
    lexemes = pl.read_parquet(SNAPSHOT / "lexemes.parquet").select("key", "lemma", "pos").filter(~IS_OWN)
    committed, wugs = pl.read_parquet(SNAPSHOT / INVENTORY).filter(~IS_OWN), load(SNAPSHOT)
    return lexemes, committed, wugs, complete(pl.concat([own(*OWN), lexemes]), committed, wugs)


def all_forms(table):
    forms = table.select(pl.concat_list("lemma", *INFLECTIONS).list.unique().alias("forms")).explode("forms").drop_nulls()["forms"]
    return forms.filter(~forms.str.contains(" "))


def test_added_words_change_no_row_and_have_pseudowords_of_their_own_whatever_their_company(known):
    lexemes, committed, wugs, grown = known
    added = grown.filter(IS_OWN)
    assert grown.filter(~IS_OWN).equals(committed)
    assert all_forms(grown).is_unique().all()
    assert set(added["key"]) == {f"own:{lemma}" for lemma, pos in OWN.items() if pos != "adverb"}
    assert added.group_by("key").len()["len"].max() == VARIANTS
    assert wugs.refused.isdisjoint(all_forms(added))
    for row in added.iter_rows(named=True):
        assert {name: row[name] for name in INFLECTIONS if row[name]} == inflect(row["lemma"], OWN[row["key"].removeprefix("own:")])
    for lemma in ("snaffle", "TV"):
        single = complete(pl.concat([lexemes, own(lemma)]), committed, wugs)
        assert single.tail(single.height - committed.height).equals(added.filter(pl.col("key") == f"own:{lemma}"))


@pytest.mark.slow
def test_a_build_keeps_what_is_committed_and_leaves_a_refused_pseudoword_out(tmp_path):
    shutil.copytree(SNAPSHOT, tmp_path / "snapshot")
    shutil.copy(SNAPSHOT.parent / "wug.yaml", tmp_path)
    path, committed = tmp_path / "snapshot" / INVENTORY, pl.read_parquet(SNAPSHOT / INVENTORY)
    build_inventory(tmp_path)
    assert path.read_bytes() == (SNAPSHOT / INVENTORY).read_bytes()
    key = committed.filter(pl.col("variant") == 1)["key"][0]
    first, second = committed.filter(pl.col("key") == key)["lemma"]
    edit(tmp_path / "wug.yaml", "\nrefused: [", f"\nrefused: [{first}, ")
    build_inventory(tmp_path)
    table = pl.read_parquet(path)
    assert table.filter(pl.col("key") == key).select("variant", "lemma").rows() == [(0, second)]
    assert table.filter(pl.col("key") != key).equals(committed.filter(pl.col("key") != key))
