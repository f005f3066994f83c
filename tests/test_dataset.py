"""The pipeline from end to end: the contract of the output, the audit, byte-stable rebuilds."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from cxgen import layout
from cxgen.build import run
from cxgen.build.audit import audit, balance, violations
from cxgen.build.params import Params, Request
from cxgen.build.samplers import generate_items, samplers
from cxgen.constructicon import load_construction, target_names
from cxgen.errors import DataError
from cxgen.families import FAMILIES, columns_of
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.schema.columns import polars_schema
from cxgen.vocabulary import SPLITS
from tests import mini as small
from tests.conftest import build_dataset, edit, sampled, stored

NLI = FAMILIES["nli"]


class Built:
    """A dataset on disk and in memory, and what was asked for."""

    def __init__(self, folder):
        project = Project(folder)
        self.folder, self.params, lexicon = folder, Params.read(project.params), Lexicon.of(project)
        self.constructions = [load_construction(project, name, lexicon) for name in run.construction_names(project, self.params)]
        self.data = pl.concat([load(folder, "nli"), load(folder, "distinction")], how="diagonal")
        self.report = json.loads((folder / layout.metric("splits")).read_text("utf-8"))
        # (config, construction, target) of the premise kinds that have the meaning of another construction
        self.borrowed = {
            (config, construction.kinds[kind].construction, construction.name)
            for construction in self.constructions
            for design in construction.designs.values()
            for config in {"nli", "distinction"} & set(design.configs)
            for kind in design.kinds
            if construction.kinds[kind].construction != construction.name
        }


def load(folder, config):
    return stored(config, project=folder).with_columns(config=pl.lit(config))


def shipped(folder):
    """A sample of the constructions that are shipped, at a third of their size: more rows of the same designs prove nothing more."""
    names = sampled(target_names(Project(small.ROOT)), 3)
    small.write_params(folder, constructions=names, n_per_construction=1200, n_per_lookalike=360, sizes={"minimal_pairs": 180})
    build_dataset(folder)


@pytest.fixture(scope="module", params=["mini", pytest.param("shipped", marks=pytest.mark.slow)])
def built(request, mini_dataset, shared):
    """The same must hold of the small dataset and of the shipped one."""
    return Built(mini_dataset if request.param == "mini" else shared("shipped-dataset", shipped))


@pytest.fixture(scope="module")
def mini_built(mini_dataset):
    return Built(mini_dataset)


def test_the_contract_of_the_output(built):
    for config in ("nli", "distinction"):
        rows = load(built.folder, config).drop("config")
        assert rows.schema == pl.Schema(polars_schema(columns_of(config)))
        assert not [column.name for column in columns_of(config) if not column.null and rows[column.name].null_count()]
    told = {construction.name for construction in built.constructions if construction.argument_structure}
    roles = built.data.group_by(TARGET.alias("target")).agg(pl.col("verb_role").drop_nulls().unique())
    assert {name for name, own in roles.iter_rows() if own} == told
    shares = {name: set(one["constructional"].values()) for name, one in built.report["constructions"].items()}
    assert {name for name, own in shares.items() if own == {None}} == shares.keys() - told


def test_sizes_are_exact(built):
    report, request = built.report, built.params.request
    lookalikes = {name for config, name, _ in built.borrowed if config == "distinction"}
    assert set(report["constructions"]) == {construction.name for construction in built.constructions}
    assert set(report["lookalikes"]) == lookalikes
    for config, sizes, least in (
        ("nli", {name: found["items"]["nli"] for name, found in report["constructions"].items()}, request.rows("nli")),
        ("distinction", report["lookalikes"], request.rows("distinction")),
    ):
        for name, triples in sizes.items():
            assert triples["all"] >= least
            assert [triples[s] for s in SPLITS] == [round(triples["all"] * share) for share in (0.7, 0.15, 0.15)]
            assert built.data.filter((pl.col("construction") == name) & (pl.col("config") == config)).height == triples["all"]


def test_labels_are_thirds_sets_are_whole_and_no_verb_is_in_two_splits(built):
    data = built.data.with_columns(target=pl.coalesce("contrast_of", "construction"))
    for keys in (["construction", "split"], ["hypothesis", "split"], ["config", "hypothesis", "split"], ["premise_id"]):
        counts = data.group_by(keys).agg(*((pl.col("label") == x).sum().alias(str(x)) for x in range(3)))
        assert counts.filter((pl.col("0") != pl.col("1")) | (pl.col("0") != pl.col("2"))).height == 0
    assert set(data.group_by("premise_id").len()["len"]) == {3}
    assert data.select("premise", "hypothesis").is_unique().all()
    assert set(data.group_by("contrast_set").len()["len"]) <= {9, 12, 18, 24}
    for keys in (["contrast_set"], ["target", "verb"], ["construction", "verb"]):
        assert data.group_by(keys).agg(pl.col("split").n_unique())["split"].max() == 1
    assert set(data.drop_nulls("contrast_of").select("config", "construction", "contrast_of").rows()) == built.borrowed


def test_a_look_alike_s_item_has_the_label_of_its_misreading_where_that_is_another(mini_built):
    rows = mini_built.data.filter(pl.col("config") == "distinction")
    taken = {"wait/in-company": {"with": 0, "without": 2}, "wait/alone": {"with": 2, "without": 0}}
    for row in rows.iter_rows(named=True):
        wanted = taken.get(row["kind"], {}).get(row["rule"])
        assert row["misread"] == (wanted is not None)
        assert row["target_label"] == wanted
        assert wanted is None or row["label"] == 1
    assert rows["target_label"].drop_nulls().n_unique() == 2


def test_the_balance_metrics_count_what_is_there(built):
    data = built.data
    found = balance(data)["nli"]
    assert set(found) == {"nli", "distinction", "all"}
    for config, constructions in found.items():
        rows = data if config == "all" else data.filter(pl.col("config") == config)
        for name, entry in constructions.items():
            mine = rows.filter(pl.coalesce("contrast_of", "construction") == name)
            assert entry["sentences"] == mine.select("hypothesis", "split").n_unique()
            assert entry["unequal"] == 0
            assert sum(sum(each) for by_split in entry["rules"].values() for each in by_split.values()) == mine.height
            assert all(len(set(each)) == 1 for by_split in entry["rules"].values() for each in by_split.values())
    spoilt = balance(data.slice(1))["nli"]
    assert sum(entry["unequal"] for entry in spoilt["all"].values()) == 1
    assert json.loads((built.folder / layout.metric("balance")).read_text("utf-8"))["nli"] == found


def test_a_rebuild_gives_the_same_bytes(mini_dataset, tmp_path):
    again = tmp_path / "again [a]*?"  # no pattern of files
    shutil.copytree(mini_dataset, again, ignore=shutil.ignore_patterns("outputs"))
    build_dataset(again, workers=2)
    files = {path.relative_to(mini_dataset): path.read_bytes() for path in mini_dataset.glob("outputs/**/*.*")}
    assert [name for name, data in files.items() if (again / name).read_bytes() != data] == []
    assert stored("nli", project=again).height


def test_a_build_that_cannot_write_a_file_leaves_the_dataset_as_it_was(mini_dataset, tmp_path):
    shutil.copytree(mini_dataset, tmp_path, dirs_exist_ok=True)
    edit(tmp_path / "params.yaml", "seed: ", "seed: 7")
    last = tmp_path / layout.metric("wug")
    last.unlink()
    last.mkdir()
    before = {path: path.read_bytes() if path.is_file() else None for path in tmp_path.glob("outputs/**/*")}
    with pytest.raises(IsADirectoryError, match=str(last)):
        build_dataset(tmp_path)
    assert {path: path.read_bytes() if path.is_file() else None for path in tmp_path.glob("outputs/**/*")} == before


def test_the_audit_finds_a_leak(built):
    data = built.data
    name = built.constructions[0].name
    verb = data.filter((pl.col("construction") == name) & (pl.col("split") == "train"))["verb"][0]
    leaked = data.with_columns(
        verb=pl.when((pl.col("construction") == name) & (pl.col("split") == "test")).then(pl.lit(verb)).otherwise("verb")
    )
    with pytest.raises(DataError, match=f"{name}: verbs in two splits: {verb}"):
        audit(leaked)


def test_the_audit_finds_imbalance_and_repetition(built):
    data = built.data
    assert set(violations(data, NLI).values()) == {0}
    found = violations(pl.concat([data, data.head(1)]), NLI)
    assert {rule: number for rule, number in found.items() if number} == {
        "construction x split with unequal labels": 1,
        "hypothesis x split with unequal labels": 1,
        "premises without one hypothesis per label": 1,
        "repeated (premise, hypothesis)": 1,
        "repeated ids": 1,
    }
    assert data["split"][0] != "test"
    moved = data.with_columns(split=pl.when(pl.col("premise_id") == data["premise_id"][0]).then(pl.lit("test")).otherwise("split"))
    assert violations(moved, NLI)["contrast sets in two splits"] == 1


def test_dropped_sets_are_kept_with_their_reasons_and_another_takes_the_place_of_each(reach):
    request = Request({"nli": 240, "distinction": 0}, oversample=1.2)
    items = generate_items(reach, request)
    gone = items["contrast_set"][0]
    accepted, rejected = run.accept(items, {gone: "because"})
    assert set(rejected["id"]) == set(items.filter(contrast_set=gone)["id"])
    assert set(rejected["reason"]) == {"review: because"}
    assert accepted.height == items.filter(pl.col("contrast_set") != gone).height
    made = samplers(reach, request)
    chosen = run.choose(accepted, made, request)
    assert gone not in chosen["contrast_set"]
    assert chosen["contrast_set"].n_unique() == sum(request.sets(reach, each.design, each.config)[each.split] for each in made)
    unrefused = run.choose(items, made, request)
    drawn = items.select("contrast_set").unique(maintain_order=True).with_row_index("drawn")
    last = unrefused.join(drawn, on="contrast_set").group_by("design", "split").agg(last=pl.col("drawn").max())
    later = chosen.join(drawn, on="contrast_set").join(last, on=["design", "split"]).filter(pl.col("drawn") > pl.col("last"))
    assert {*later["contrast_set"]} == {*chosen["contrast_set"]} - {*unrefused["contrast_set"]}
    assert later["contrast_set"].n_unique() == 1  # the first ones are kept, and one more
    with pytest.raises(DataError, match=r"contrast sets are wanted, \d+ are left"):
        run.choose(accepted.filter(pl.col("set_number") < 2), made, request)


def test_another_construction_leaves_the_others_as_they_were(mini_dataset, tmp_path):
    folder = Path(shutil.copytree(mini_dataset, tmp_path / "two", ignore=shutil.ignore_patterns("outputs")))
    for old, name in (("reach", "other"), ("wait", "other-wait")):
        text = (folder / f"templates/{old}.yaml").read_text("utf-8").replace("name: reach\n", "name: other\n")
        text = text.replace("name: wait\n", "name: other-wait\n").replace("[wait]", "[other-wait]").replace("wait/", "other-wait/")
        (folder / f"templates/{name}.yaml").write_text(text.replace("lookalike_of: reach", "lookalike_of: other"), "utf-8")
    shutil.copy(folder / "lexicons/scenes/reach.tsv", folder / "lexicons/scenes/other.tsv")
    edit(folder / "params.yaml", "- reach", "- other\n- reach")
    build_dataset(folder)
    for config in ("nli", "distinction"):
        both, alone = load(folder, config), load(mini_dataset, config)
        assert both.filter(pl.coalesce("contrast_of", "construction") == "reach").equals(alone)
        assert both.height == 2 * alone.height
