"""The pipeline from end to end: the contract of the output, the audit, byte-stable rebuilds."""

from __future__ import annotations

import hashlib
import json
import shutil

import polars as pl
import pytest
from cxgen.report.baselines import baselines

from cxgen import layout
from cxgen.errors import DataError
from cxgen.generate import SPLITS
from cxgen.project import Project
from cxgen.report.variety import variety
from cxgen.stages import generate, judge, split
from cxgen.stages.audit import audit, balance, violations
from cxgen.stages.params import Params
from tests.conftest import ROOT, edit

NAMES = [
    "causative-with",
    "caused-motion",
    "comparative-correlative",
    "conative",
    "intransitive-motion",
    "let-alone",
    "resultative",
    "way-manner",
]


def build(folder):
    project = Project(folder)
    params = Params.read(project.params)
    generate.run(project, params, workers=1)
    judge.run(project)
    return split.run(project, params)


def load(folder, config):
    files = [split.table_file(Project(folder), config, name) for name in SPLITS]
    return pl.concat(map(pl.read_parquet, files)).with_columns(config=pl.lit(config))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "params.yaml", folder)
    report = build(folder)
    return folder, report, pl.concat([load(folder, "nli"), load(folder, "distinction")], how="diagonal")


def test_the_contract_of_the_output(built):
    folder, _, data = built
    assert tuple(load(folder, "nli").drop("config").schema) == split.COLUMNS
    schema = load(folder, "distinction").drop("config").schema
    assert tuple(schema) == (*split.COLUMNS, "target_id", "target_label")
    for name in (
        "id",
        "contrast_set",
        "construction",
        "kind",
        "template",
        "premise",
        "hypothesis",
        "rule",
        "claim",
        "verb",
        "acceptability",
    ):
        assert schema[name] == pl.String
        assert data[name].null_count() == 0
    assert schema["label"] == pl.Int8
    assert schema["polarity"] == pl.Boolean
    fields = {field.name: field.dtype for field in schema["slots"].inner.fields}
    assert fields["zipf"] == pl.Float64
    assert {"role", "lemma", "sense", "zipf", "band"} <= set(fields)
    assert set(data["acceptability"].unique()) == {"prototypical", "extended"}


def test_sizes_are_exact(built):
    _, report, data = built
    assert sorted(report["constructions"]) == NAMES
    for name, found in report["constructions"].items():
        triples = found["triples"]
        assert triples["all"] >= 4000
        assert [triples[s] for s in SPLITS] == [round(triples["all"] * share) for share in (0.7, 0.15, 0.15)]
        assert data.filter((pl.col("construction") == name) & (pl.col("config") == "nli")).height == triples["all"]
    assert sorted(report["lookalikes"]) == ["dative-pp", "depictive", "intransitive-at", "intransitive-to", "transitive-with"]
    for name, triples in report["lookalikes"].items():
        assert triples["all"] >= 1000
        assert [triples[s] for s in SPLITS] == [round(triples["all"] * share) for share in (0.7, 0.15, 0.15)]
        assert data.filter((pl.col("construction") == name) & (pl.col("config") == "distinction")).height == triples["all"]


def test_labels_are_thirds_in_every_construction_and_split_and_for_every_hypothesis(built):
    _, _, data = built
    for keys in (["construction", "split"], ["hypothesis", "split"], ["config", "hypothesis", "split"], ["premise_id"]):
        counts = data.group_by(keys).agg(*((pl.col("label") == x).sum().alias(str(x)) for x in range(3)))
        assert counts.filter((pl.col("0") != pl.col("1")) | (pl.col("0") != pl.col("2"))).height == 0
    assert data.group_by("premise_id").len()["len"].unique().to_list() == [3]
    assert data.select("premise", "hypothesis").is_unique().all()


def test_no_verb_is_in_two_splits_of_a_construction(built):
    _, _, data = built
    target = pl.coalesce("contrast_of", "construction")
    assert data.group_by(target.alias("target"), "verb").agg(pl.col("split").n_unique())["split"].max() == 1
    assert data.group_by("construction", "verb").agg(pl.col("split").n_unique())["split"].max() == 1


def test_sets_are_whole_and_look_alikes_carry_their_own_name(built):
    _, _, data = built
    assert data.group_by("contrast_set").agg(pl.col("split").n_unique())["split"].max() == 1
    assert data.group_by("contrast_set").len()["len"].is_in([9, 12]).all()
    named = data.filter(pl.col("contrast_of").is_not_null()).select("config", "construction", "contrast_of").unique()
    assert {tuple(row) for row in named.iter_rows()} == {
        ("distinction", "dative-pp", "caused-motion"),
        ("distinction", "depictive", "resultative"),
        ("distinction", "intransitive-at", "conative"),
        ("distinction", "intransitive-to", "intransitive-motion"),
        ("distinction", "transitive-with", "causative-with"),
        ("nli", "not-just-but", "let-alone"),
    }


def test_every_look_alike_item_is_paired_with_its_target_s(built):
    _, _, data = built
    rows = data.filter(pl.col("config") == "distinction")
    own = {row["id"]: row for row in rows.filter(pl.col("contrast_of").is_null()).iter_rows(named=True)}
    assert rows.filter(pl.col("contrast_of").is_null())["target_id"].null_count() == len(own)
    differing = 0
    alone = rows.filter(pl.col("contrast_of").is_not_null() & pl.col("target_id").is_null())
    assert alone.select("construction", "claim").unique().rows() == [("depictive", "armed(agent)")]
    for row in rows.filter(pl.col("target_id").is_not_null()).iter_rows(named=True):
        target = own[row["target_id"]]
        assert (target["contrast_set"], target["hypothesis"], target["construction"]) == (
            row["contrast_set"],
            row["hypothesis"],
            row["contrast_of"],
        )
        assert target["label"] == row["target_label"]
        differing += row["label"] != row["target_label"]
    assert differing > len(own) / 3


def test_the_balance_metrics_count_what_is_there(built):
    folder, _, data = built
    found = balance(data)
    assert set(found) == {"nli", "distinction", "all"}
    for config, constructions in found.items():
        rows = data if config == "all" else data.filter(pl.col("config") == config)
        for name, entry in constructions.items():
            mine = rows.filter(pl.coalesce("contrast_of", "construction") == name)
            assert entry["sentences"] == mine.select("hypothesis", "split").n_unique()
            assert entry["unequal"] == 0
            assert sum(sum(each) for by_split in entry["rules"].values() for each in by_split.values()) == mine.height
            assert all(len(set(each)) == 1 for by_split in entry["rules"].values() for each in by_split.values())
    spoilt = balance(data.slice(1))
    assert sum(entry["unequal"] for entry in spoilt["all"].values()) == 1
    assert json.loads((folder / split.BALANCE).read_text("utf-8")) == found


def test_a_rebuild_gives_the_same_bytes(built, tmp_path):
    folder, _, _ = built
    shutil.copy(ROOT / "params.yaml", tmp_path)
    build(tmp_path)
    for path in sorted((folder / "outputs").rglob("*.*")):
        twin = tmp_path / path.relative_to(folder)
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(twin.read_bytes()).digest(), path.name


def test_no_template_has_more_than_fifteen_percent_of_a_construction(built, lexicon):
    _, _, data = built
    found = variety(data.filter(pl.col("config") == "nli"), {}, lexicon, 1)
    assert all(found[name]["largest template share"] <= 0.15 for name in NAMES)


def test_the_give_away_classifiers_fail(built):
    _, _, data = built
    found = baselines(data, folds=2)
    assert found["hypothesis_only"]["overall"] <= 0.35
    assert max(value for each in found["hypothesis_only"]["configs"].values() for value in each.values()) <= 0.37
    assert found["overlap_only"]["overall"] <= 0.42
    assert found["hypothesis_only"]["passed"]
    assert found["overlap_only"]["passed"]


def test_the_give_away_classifiers_find_a_give_away(built):
    _, _, data = built
    rows = data.filter(pl.coalesce("contrast_of", "construction") == "conative").head(1500)
    word = pl.col("label").replace_strict([0, 1, 2], ["surely", "maybe", "hardly"], return_dtype=pl.String)
    planted = rows.with_columns(hypothesis=word + " " + pl.col("hypothesis"))
    assert baselines(planted, folds=2)["hypothesis_only"]["overall"] > 0.9
    negated = rows.with_columns(hypothesis=pl.when(pl.col("label") == 2).then("No " + pl.col("hypothesis")).otherwise("hypothesis"))
    assert baselines(negated, folds=2)["overlap_only"]["overall"] > 0.5


def test_the_audit_finds_a_leak(built):
    _, _, data = built
    verb = data.filter((pl.col("construction") == "conative") & (pl.col("split") == "train"))["verb"][0]
    leaked = data.with_columns(
        verb=pl.when((pl.col("construction") == "conative") & (pl.col("split") == "test")).then(pl.lit(verb)).otherwise("verb")
    )
    with pytest.raises(DataError, match=f"conative: verbs in two splits: {verb}"):
        audit(leaked)


def test_the_audit_finds_imbalance_and_repetition(built):
    _, _, data = built
    assert set(violations(data).values()) == {0}
    found = violations(pl.concat([data, data.head(1)]))
    assert found == {
        "construction x split with unequal labels": 1,
        "hypothesis x split with unequal labels": 1,
        "premises without one hypothesis per label": 1,
        "repeated (premise, hypothesis)": 1,
        "repeated ids": 1,
    }


def test_rejects_are_kept_with_their_reasons_and_take_their_set_along(built):
    folder, _, _ = built
    items = pl.read_parquet(folder / generate.CANDIDATES).head(24)
    verdicts = pl.read_parquet(folder / layout.VERDICTS).head(24)
    bad = verdicts.with_columns(
        pair_verdict=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("inappropriate")).otherwise("pair_verdict"),
        pair_reason=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("because")).otherwise("pair_reason"),
    )
    accepted, rejected = split.accept(items.join(bad, on="id", maintain_order="left"))
    assert rejected.select("id", "pair_reason").rows() == [(items["id"][0], "because")]
    assert items["contrast_set"][0] not in set(accepted["contrast_set"])
    assert accepted.height == 24 - items.filter(pl.col("contrast_set") == items["contrast_set"][0]).height


def test_too_few_accepted_sets_is_an_error(built):
    folder, _, _ = built
    project = Project(folder)
    params = Params.read(project.params)
    items = pl.read_parquet(folder / generate.CANDIDATES)
    table = items.join(pl.read_parquet(folder / layout.VERDICTS), on="id", maintain_order="left")
    wanted = split.wanted_sets(project, params, items)
    with pytest.raises(DataError, match=r"contrast sets are wanted, \d+ were accepted"):
        split.choose(table.filter(pl.col("set_number") < 20), wanted)


def test_parameters_reach_the_dataset(tmp_path):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    edit(tmp_path / "params.yaml", "n_per_construction: 4000", "n_per_construction: 600")
    edit(tmp_path / "params.yaml", "constructions: all", "constructions: [let-alone]")
    report = build(tmp_path)
    assert list(report["constructions"]) == ["let-alone"]
    assert 600 <= report["constructions"]["let-alone"]["triples"]["all"] < 1000
