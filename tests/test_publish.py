"""Releases: what a user loads, what a reviewer reads, and what reaches the Hub when things go wrong."""

import doctest
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import replace

import polars as pl
import pytest
import yaml

from cxgen import layout
from cxgen.build import run as building
from cxgen.build.params import Params
from cxgen.build.preview import sample_items
from cxgen.build.tables import dataset, drop, table_file, table_hashes
from cxgen.build.tables import read_tables as finished_tables
from cxgen.constructicon import load_construction, target_names
from cxgen.errors import DataError, SchemaError
from cxgen.facade import Constructicon
from cxgen.families import CONFIGS as FAMILY_CONFIGS
from cxgen.families.turns import NEEDS, summed
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.publish import metric_reasons, package, read_metrics
from cxgen.publish.card import dataset_card
from cxgen.report import baselines, variety
from cxgen.report import reading as readings
from cxgen.suites import SUITES
from cxgen.vocabulary import LABELS, SPLITS
from tests import mini as small
from tests.conftest import COMMAND, edit
from tests.hub_server import TOKEN, serving

CONFIGS = {"nli": SPLITS, "distinction": SPLITS, "nli_wug": SPLITS, "rejected": ("rejected",)}
REPOSITORY = "me/constructions"
LINES = 300  # that a card may have
ROW = {"name": "m", "setting": "zero-shot", "trained_on": "", "seeds": 1, "part": "all", "items": 36, "sets": 3, "chance": 0.3333}
FIGURES = ("config", "accuracy", "low", "high", "consistency")
RESULTS = {
    "data_version": 7,
    "date": "2026-01-02",
    "rows": [
        ROW | dict(zip(FIGURES, ("nli", 0.412, 0.388, 0.431, 0.025), strict=True)),
        ROW | dict(zip(FIGURES, ("distinction", 0.3, 0.28, 0.32, None), strict=True)),
        ROW | dict(zip(FIGURES, ("nli", 0.618, 0.6, 0.63, 0.1), strict=True)) | {"part": "construction reach"},
        ROW | dict(zip(FIGURES, ("nli", 0.9, 0.89, 0.91, 0.5), strict=True)) | {"setting": "fine-tuned", "trained_on": "nli", "seeds": 3},
    ],
}


def git(folder, *arguments):
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env={**os.environ, **names})


def metric(name, change):
    def spoil(folder):
        path = folder / layout.metric(name)
        data = json.loads(path.read_text("utf-8"))
        change(data)
        path.write_text(json.dumps(data), "utf-8")

    return spoil


def ungate(data):
    """Take the gates off the measures of words: the mini project's premises are told apart by theirs."""
    for name in ("words_only", "turn_rate", "word_pairs", "cues_only"):
        assert not data["nli"][name]["passed"]
        data["nli"][name].update(gates={}, passed=True)


def make(folder):
    """The mini project, run to its end and committed; two sets are dropped, a reader has read forty items."""
    small.write_project(folder, publish={"shard_rows": 100}, baselines={"folds": 2})
    project = Project(folder)
    params = Params.read(project.params)
    building.build(project, params)
    gone = dataset(project, "nli")["contrast_set"].unique(maintain_order=True)[:2]
    (folder / "pipelines").mkdir(exist_ok=True)
    drop(dict.fromkeys(gone, "nobody says so"), folder / layout.DROPPED)
    building.build(project, params)
    baselines.run(project, params.folds)
    metric("baselines", ungate)(folder)
    variety.run(project, params.request.seed)
    answers = dataset(project)[:40].select("id", relation=pl.col("label").replace_strict(dict(enumerate("ENC"))), prem_nat=5, hyp_nat=4)
    (folder / layout.READINGS).mkdir(parents=True)
    answers.with_columns(reader=pl.lit("r1"), kind=pl.lit("human")).write_csv(folder / layout.READINGS / "first.csv")
    readings.run(project)
    (folder / layout.metric("lint")).write_text("[]")
    (folder / ".gitignore").write_text("outputs/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "made"]):
        git(folder, *command)
    package(project, params, folder / layout.HUB, params.publish.version)


@pytest.fixture(scope="module")
def made(shared):
    return shared("published", make)


@pytest.fixture
def project(made, tmp_path):
    """A copy to break."""
    shutil.copytree(made, tmp_path / "project", ignore=shutil.ignore_patterns("*.lock"))  # of git, which others use there
    return tmp_path / "project"


def card_of(folder):
    head, prose = (folder / "README.md").read_text("utf-8").removeprefix("---\n").split("---\n", 1)
    return yaml.safe_load(head), prose


def shards(folder, config, name):
    return sorted((folder / config).glob(f"{name}-*.parquet"))


@pytest.mark.slow
def test_datasets_loads_every_config_and_split_with_label_names(made, tmp_path):
    from datasets import ClassLabel, load_dataset

    tables = finished_tables(Project(made))
    assert set(tables) == {(config, name) for config, names in CONFIGS.items() for name in names}
    for config, names in CONFIGS.items():
        loaded = load_dataset(str(made / layout.HUB), config, cache_dir=str(tmp_path))
        assert tuple(loaded) == tuple(names)
        for name, rows in loaded.items():
            table = tables[config, name]
            assert rows.column_names == table.columns
            assert rows["id"][:] == table["id"].to_list()
            for column in {"label", "target_label"} & set(rows.column_names):
                assert isinstance(rows.features[column], ClassLabel)
                assert tuple(rows.features[column].names) == tuple(LABELS)
            if table.height:
                assert rows[0] == table.row(0, named=True)
    assert len(shards(made / layout.HUB, "nli", "train")) > 1


@pytest.mark.slow
def test_the_card_of_the_shipped_dataset_is_a_datasheet_of_its_metrics():
    """As long as the real one: all constructions, configs and measures, a few sets of each, and a model in forty settings."""
    project = Project(small.ROOT)
    constructions = {name: load_construction(project, name, Lexicon.of(project)) for name in target_names(project)}
    rows = pl.concat([sample_items(one, 1, 4, "nli") for one in constructions.values()], how="diagonal")
    pairs = sample_items(constructions["conative"], 1, 4, "minimal_pairs")
    names = [*FAMILY_CONFIGS, "nli_wug", "minimal_pairs_wug", "natural", *SUITES]
    tables = {(name, "test"): pairs if name in {"minimal_pairs", "cxmp", "minimal_pairs_wug"} else rows for name in names}
    judge, baselines = (json.loads((small.ROOT / layout.metric(name)).read_text("utf-8")) for name in ("judge", "baselines"))
    results = [row | {"name": f"model {number}"} for number in range(20) for row in RESULTS["rows"]]
    metrics = {**read_metrics(project), "results": RESULTS | {"rows": results, "content_hash": "x"}}
    record = dict.fromkeys(("version", "content_hash", "cxgen", "git_revision", "repository", "tag", "canary"), "x")
    card = dataset_card(project, Params.read(project.params), tables, metrics, record)
    assert len(card.splitlines()) <= LINES
    assert not re.search(r"\| +\||\bNone\b(?! of)", card)
    clauses, refused = (sum(own[what] for own in judge["constructions"].values()) for what in ("clauses", "refused"))
    known = [f"| {task} | {own['judges']} | {own['items']:,} |" for task, own in judge["agreement"].items()]
    known += [f"| {own['alpha']} |\n" for own in judge["agreement"].values()]
    known += [f"judged {clauses:,} clauses", f"refused {refused:,} ({100 * refused / clauses:.1f}%", "| model 19 | fine-tuned, 3 seeds |"]
    known += [f"word pairs {100 * figure:.1f}%" for figure in baselines["nli"]["word_pairs"]["by_config"].values()]
    known += [f"\n| {one.name} | {one.form.replace('|', chr(92) + '|')} |" for one in constructions.values()]
    assert [text for text in known if text not in card] == []


@pytest.mark.slow
def test_what_the_card_says_of_loading_is_what_happens(made, monkeypatch, tmp_path):
    monkeypatch.chdir(made)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path)
    _, prose = card_of(made / layout.HUB)
    test = doctest.DocTestParser().get_doctest(prose.replace("```", "\n"), {}, "card", None, None)
    assert len(test.examples) == 5
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_a_package_removes_shards_of_an_earlier_one_and_no_other_file(project, tmp_path):
    folder, params = project / layout.HUB, Params.read(project / "params.yaml")
    mine, old = (folder / "mine/a.parquet", folder / "b.parquet"), folder / "nli/test-00007-of-00009.parquet"
    mine[0].parent.mkdir()
    for path in (*mine, old):
        path.write_text("x")
    package(Project(project), params, folder, params.publish.version)
    assert ([path.read_text() for path in mine], old.exists()) == (["x", "x"], False)
    assert "mine" not in (folder / layout.CROISSANT).read_text("utf-8")


def test_the_croissant_file_has_every_file_with_its_digest_and_every_column(made):
    folder = made / layout.HUB
    told = json.loads((folder / layout.CROISSANT).read_text("utf-8"))
    files = {node["contentUrl"]: node for node in told["distribution"] if node["@type"] == "cr:FileObject"}
    assert set(files) == {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    for name, node in files.items():
        assert node["sha256"] == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    sets = {node["@id"]: node["includes"] for node in told["distribution"] if node["@type"] == "cr:FileSet"}
    records = {node["@id"]: node for node in told["recordSet"]}
    assert {entry["splits/name"] for entry in records.pop("splits")["data"]} == set(SPLITS)
    assert set(records) == set(CONFIGS)
    for config, node in records.items():
        columns = pl.read_parquet_schema(next(folder.glob(sets[f"files/{config}"])))
        assert [field["@id"] for field in node["field"]] == [f"{config}/{name}" for name in columns]
        for field in node["field"]:
            assert field["description"]
            parts = field.get("subField", [field])
            assert {part["source"]["extract"]["column"] for part in parts} == {field["@id"].partition("/")[2]}
            assert {part["dataType"] for part in parts} <= {"sc:Text", "sc:Boolean", "sc:Integer", "sc:Float"}


def test_the_card_passes_the_hub_s_validation_and_our_schema(made, tmp_path):
    from huggingface_hub import DatasetCard

    folder = made / layout.HUB
    card = DatasetCard((folder / "README.md").read_text("utf-8"))
    assert card.data.license == "cc-by-sa-4.0"
    assert card.data.task_ids == ["natural-language-inference"]
    metadata, _ = card_of(folder)
    assert [config["config_name"] for config in metadata["configs"]] == list(CONFIGS)
    assert [config["config_name"] for config in metadata["configs"] if config.get("default")] == ["nli"]
    project = Project(made)
    params = Params.read(project.params)
    with pytest.raises(SchemaError, match="license"):
        package(project, replace(params, publish=replace(params.publish, licence="No Licence")), tmp_path, "1.0.0")


def test_every_figure_of_the_card_is_that_of_the_metrics(project):
    """A metric that changes changes the card."""
    opened = Project(project)
    params = Params.read(opened.params)
    metric("baselines", lambda data: data["nli"]["hypothesis_only"].update(overall=0.31415))(project)
    out = project / "again"
    for content in ("0", package(opened, params, out, "2.3.4")["content_hash"]):  # figures of another dataset, and of this one
        (project / layout.metric("results")).write_text(json.dumps(RESULTS | {"content_hash": content}))
        record = package(opened, params, out, "2.3.4", repository="me/x", tag="v2.3.4", git_revision="abc123")
        assert ("## Results" in (out / "README.md").read_text("utf-8")) == (content != "0")
    _, prose = card_of(out)
    read = json.loads((project / layout.metric("reading")).read_text("utf-8"))
    assert (read["items"], read["overall"]["labels"], read["readers"]) == (40, 1.0, {"human": 1})
    known = ["40 answers about 40 items by 1 human reader", record["content_hash"], "2.3.4", "abc123", "WordNet", "wordfreq"]
    known += ['load_dataset("me/x", "nli", split="test", revision="v2.3.4")', params.publish.canary, "hypothesis only 31.4%"]
    known += [
        "| m | zero-shot | - | 41.2% (38.8% to 43.1%), sets 2.5%, 36 items | 30.0% (28.0% to 32.0%), 36 items |",
        "data version 7, 2026-01-02",
    ]
    known += [
        "| m | fine-tuned, 3 seeds | nli | 90.0% (89.0% to 91.0%), sets 50.0%, 36 items | - |",
        "no constructions have a verb in two splits",
    ]
    tables = finished_tables(opened)
    for config in ("nli", "distinction", "nli_wug"):
        own = [tables[config, split] for split in SPLITS]
        sets = pl.concat(own)["contrast_set"].n_unique()
        known.append(f"| `{config}` | {' | '.join(str(rows.height) for rows in own)} | {sets} |")
    roles = pl.concat([tables["nli", split] for split in SPLITS]).filter(verb_role="constructional").height
    (needs,) = summed(Constructicon(project)["reach"].cells().filter(config="nli"), "config").select(NEEDS).rows()
    known.append(f"| reach | 0 | {roles} | 0 | {' | '.join(f'{100 * share:.1f}%' for share in needs)} |")
    assert [text for text in known if text not in prose] == []
    assert "61.8%" not in prose  # a part of the results
    assert re.search(r"^\| reach \| NP\[agent\] V PP\[for target\] \| [^|]+ \| wait \| \S[^|]+\. \|$", prose, re.M)
    assert not re.search(r"\| +\||the (reach|wait)\b|\{\{|None", prose)
    assert len((out / "README.md").read_text("utf-8").splitlines()) <= LINES
    (project / layout.metric("results")).write_text("{}")
    with pytest.raises(DataError, match="data_version"):
        package(opened, params, out, "2.3.4")


def test_the_same_dataset_gives_the_same_folder_with_the_canary_in_every_table(made, tmp_path):
    import pyarrow.parquet

    folder, opened = made / layout.HUB, Project(made)
    params = Params.read(opened.params)
    package(opened, params, tmp_path, "1.0.0")
    canary = params.publish.canary.encode()
    files = sorted(path.relative_to(folder) for path in folder.rglob("*.*"))
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert all((folder / name).read_bytes() == (tmp_path / name).read_bytes() for name in files)
    assert canary
    assert all(pyarrow.parquet.read_metadata(path).metadata[b"canary"] == canary for path in folder.rglob("*.parquet"))


# --- the Hub


@pytest.fixture
def hub():
    with serving() as server:
        yield server


def environment(hub, tmp_path):
    return {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}


@pytest.fixture
def here(cxgen, hub, tmp_path, monkeypatch):
    """The command line, with the client library set up as the environment would have it: it reads that when it is imported, once."""
    from huggingface_hub import constants

    def run(*args, cwd=small.ROOT, **env):
        env = {**environment(hub, tmp_path), **env}
        monkeypatch.setattr(constants, "ENDPOINT", env["HF_ENDPOINT"])
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", env["HF_ENDPOINT"] + "/{repo_id}/resolve/{revision}/{filename}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", f"{env['HF_HOME']}/hub")
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        return cxgen(*args, cwd=cwd, **env)

    return run


@pytest.fixture
def run(here):
    def publish(folder, *options, **env):
        result = here("publish", REPOSITORY, *options, cwd=folder, **env)
        assert TOKEN not in result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        return result

    return publish


def refusal(result):
    """The one line that says why."""
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("cxgen: ")]
    assert result.returncode == 2
    return line


def releases(hub):
    return [commit for commit in hub.repos[REPOSITORY]["commits"].values() if commit["message"].startswith("Release")]


def test_a_release_is_one_commit_and_a_tag_and_names_its_revision(run, here, hub, made, tmp_path):
    result = run(made, "--format", "json", "--private")
    assert result.returncode == 0, result.stderr
    repo = hub.repos[REPOSITORY]
    assert repo["visibility"] == "private"
    (commit,) = releases(hub)
    assert json.loads(result.stdout)[0]["commit"] == repo["branches"]["main"] == repo["tags"]["v1.0.0"]
    packaged = made / layout.HUB
    assert set(commit["files"]) - {".gitattributes"} == {path.relative_to(packaged).as_posix() for path in packaged.rglob("*.*")}
    assert all(TOKEN.encode() not in path.read_bytes() for path in (*tmp_path.rglob("*"), *made.rglob("*")) if path.is_file())
    revision = subprocess.run(["git", "-C", made, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    card, record = (hub.store[commit["files"][name]].decode() for name in ("README.md", layout.VERSION_FILE))
    assert f"git revision `{revision}`" in card
    record = json.loads(record)
    assert (record["git_revision"], record["tag"], record["version"]) == (revision, "v1.0.0", "1.0.0")
    assert record["content_hash"] == json.loads((packaged / layout.VERSION_FILE).read_text())["content_hash"]
    told = here("diff", f"{REPOSITORY}@v1.0.0", str(made), "--items", "--format", "json")
    assert json.loads(told.stdout) == [], told.stderr


def writes(hub, since=0):
    return [line for line in hub.requests[since:] if not line.startswith(("GET", "HEAD"))]


@pytest.mark.slow
def test_a_dry_run_sends_nothing_and_shows_what_changes(run, hub, project, monkeypatch):
    result = run(project, "--dry-run", "--format", "json")
    assert (result.returncode, writes(hub)) == (0, []), result.stderr
    assert "it would be released; nothing was sent" in result.stderr
    assert [row["items_old"] for row in json.loads(result.stdout)] == [0] * 3
    assert re.search(r"^\d+ files, \d+\.\d MB; .* would be made$", result.stderr, re.M)
    path = table_file(Project(project), "nli", "validation")
    rows = pl.read_parquet(path)
    with monkeypatch.context() as patch:  # an earlier version, with three rows fewer
        patch.setattr("cxgen.publish.require_unchanged", lambda _, tables, __: table_hashes(tables))
        rows[3:].write_parquet(path)
        assert run(project).returncode == 0
    rows.write_parquet(path)
    before = len(hub.requests)
    again = run(project, "--dry-run", "--format", "json", "--tag", "v1.1.0")
    for told in ("3 added, 0 removed", "nothing was sent", f"main is at {hub.repos[REPOSITORY]['branches']['main']}"):
        assert told in again.stderr
    edit(project / "params.yaml", "folds: 2", "folds: 4")
    refused = run(project, "--dry-run")
    assert refusal(refused) == "cxgen: not released:"
    told = refused.stderr.splitlines()
    assert told[:3] == ["cxgen: not released:", "  not committed: params.yaml", "  me/constructions has a tag v1.0.0 already"]
    assert len(refused.stdout.splitlines()) == 1 + 3  # by config
    edit(project / "params.yaml", "folds: 4", "folds: 2")
    assert "has a tag v1.0.0 already" in refusal(run(project, "--dry-run"))
    assert writes(hub, before) == []


@pytest.mark.slow
def test_a_second_release_removes_what_it_does_not_have_and_refuses_another_parent(run, hub, project):
    assert run(project).returncode == 0
    edit(project / "params.yaml", "shard_rows: 100", "shard_rows: 2000")
    git(project, "commit", "-qam", "fewer files")
    before = len(hub.requests)
    assert "has a tag v1.0.0 already" in refusal(run(project))
    assert writes(hub, before) == []
    result = run(project, "--tag", "v1.1.0")
    assert result.returncode == 0, result.stderr
    repo = hub.repos[REPOSITORY]
    assert len(releases(hub)) == 2
    names = repo["commits"][repo["tags"]["v1.1.0"]]["files"]
    assert [name.endswith("-of-00001.parquet") for name in names if name.endswith("parquet")] == [True] * 10
    assert ".gitattributes" in names
    parent = repo["branches"]["main"]
    assert "no longer at 00000000" in refusal(run(project, "--tag", "v2.0.0", "--parent", "0" * 40))
    hub.fail(commit=[412])
    assert "somebody else has committed" in refusal(run(project, "--tag", "v2.0.0"))
    assert len(releases(hub)) == 2
    assert run(project, "--tag", "v2.0.0", "--parent", parent).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["commit", "tag"])
def test_a_run_that_is_killed_is_completed_by_the_next(run, hub, made, tmp_path, moment):
    hub.fail(**{moment: ["hang"]})
    env = {**os.environ, **environment(hub, tmp_path)}
    with subprocess.Popen([*COMMAND, "publish", REPOSITORY], cwd=made, env=env, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not any(f"/{moment}/" in line for line in hub.requests):
            time.sleep(0.05)
        process.kill()
    uploads = [line for line in hub.requests if line.startswith("PUT /_lfs/")]
    assert uploads
    assert len(releases(hub)) == (moment == "tag")
    result = run(made)
    assert result.returncode == 0, result.stderr
    assert len(releases(hub)) == 1
    assert hub.repos[REPOSITORY]["tags"]["v1.0.0"] == hub.repos[REPOSITORY]["branches"]["main"]
    assert [line for line in hub.requests if line.startswith("PUT /_lfs/")] == uploads


FAILURES = {
    401: ("does not know the token", "hf auth login"),
    403: ("may not write to me/constructions", "right to write"),
    413: ("too large", "shard_rows"),
    429: ("fewer requests", "wait"),
    500: ("the Hub failed (500)", "try again later"),
}


@pytest.mark.slow
def test_failures_of_the_hub_are_one_clear_line_and_failed_uploads_tried_again(run, hub, made):
    for status, (told, hint) in FAILURES.items():
        hub.fail(commit=[status])
        result = run(made)
        assert (told in refusal(result), hint in result.stderr.splitlines()[-1], releases(hub)) == (True, True, [])
    assert "does not know the token" in refusal(run(made, HF_TOKEN="hf_wrong"))
    assert "cannot be reached" in refusal(run(made, HF_ENDPOINT="http://127.0.0.1:9"))
    assert "cannot be reached" in run(made, "--dry-run", HF_ENDPOINT="http://127.0.0.1:9").stderr
    hub.fail(_lfs=[500], preupload=[429])
    assert (run(made).returncode, len(releases(hub))) == (0, 1)


# --- what is refused


def rows_gone(folder):
    path = table_file(Project(folder), "nli", "test")
    pl.read_parquet(path)[1:].write_parquet(path)


def built_anew(folder):
    (folder / layout.DROPPED).unlink()
    building.build(Project(folder), Params.read(folder / "params.yaml"))


REFUSED = {
    "metrics are missing": lambda folder: (folder / layout.metric("variety")).unlink(),
    "outputs/metrics/baselines.json: not JSON": lambda folder: (folder / layout.metric("baselines")).write_text("{"),
    "overlap_only is 0.5": metric("baselines", lambda data: data["nli"]["overlap_only"].update(passed=False, overall=0.5)),
    "reach has verbs in two splits: hit": metric("splits", lambda data: data["constructions"]["reach"].update(verbs_shared=["hit"])),
    "repeated ids: 2": metric("splits", lambda data: data["violations"]["nli"].update({"repeated ids": 2})),
    "reach has 3 unbalanced sentences": metric("balance", lambda data: data["nli"]["all"]["reach"].update(unequal=3)),
    "lint.json: errors E101": metric("lint", lambda data: data.extend([{"code": "E101"}, {"code": "W1"}])),
    "reach.yaml: meaning: still to be written (TODO)": lambda folder: edit(folder / "templates/reach.yaml", "meaning: ", "meaning: TODO "),
    "not committed: params.yaml": lambda folder: edit(folder / "params.yaml", "folds: 2", "folds: 4"),
    "not what the pipeline wrote: nli/test": rows_gone,
    "out of date: baselines.json, variety.json, reading.json: run `cxgen report all`": built_anew,
    "not in a git repository": lambda folder: shutil.rmtree(folder / ".git"),
}


def test_the_shipped_metrics_keep_every_gate_of_a_release():
    """Replicas, which have what was published, are not asked whether they are balanced."""
    assert list(metric_reasons(read_metrics(Project(small.ROOT)))) == []


@pytest.mark.parametrize("reason", REFUSED)
def test_what_may_not_be_released_is_refused_with_the_reason(run, hub, project, reason):
    REFUSED[reason](project)
    result = run(project)
    assert result.returncode == 2
    assert reason in result.stderr
    assert hub.repos == {}


@pytest.mark.slow
def test_somebody_else_s_repository_is_left_alone_unless_told_otherwise(run, hub, made):
    from huggingface_hub import CommitOperationAdd, HfApi

    client = HfApi(hub.url, token=TOKEN)
    client.create_repo(REPOSITORY, repo_type="dataset")
    theirs = [CommitOperationAdd("README.md", b"# theirs"), CommitOperationAdd("data/train.csv", b"a,b")]
    client.create_commit(REPOSITORY, theirs, commit_message="theirs", repo_type="dataset")
    before = len(hub.requests)
    for options in ((), ("--dry-run",)):
        assert "holds what cxgen has not put there: README.md, data/train.csv" in refusal(run(made, *options))
    assert writes(hub, before) == []
    assert run(made, "--replace").returncode == 0
    assert run(made, "--tag", "v2.0.0").returncode == 0  # it is ours now


@pytest.mark.parametrize("name", ["a b", "x.lock"])
def test_a_tag_that_git_would_refuse_is_refused_by_the_dry_run(run, made, name):
    assert "not a tag" in refusal(run(made, "--dry-run", f"--tag={name}"))
