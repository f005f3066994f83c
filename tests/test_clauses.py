"""Clauses judged by models: asked once, killed and resumed, frozen, replayed; what is refused is not built; bounded, and discreet."""

import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest

from cxgen import layout
from cxgen.asking import Consultation, Limits, judge
from cxgen.build import run
from cxgen.build.clauses import clauses, interpretations, tally
from cxgen.build.params import Params, Request
from cxgen.build.samplers import unjudged
from cxgen.constructicon import load_construction
from cxgen.constructicon.model import verb_columns
from cxgen.curate.propose import propose
from cxgen.errors import CxgenError, DataError
from cxgen.facade import Constructicon
from cxgen.lexicon import Lexicon
from cxgen.lexicon.scenes import read_scenes
from cxgen.lexicon.verdicts import majority, read_votes, verdicts
from cxgen.project import Project
from cxgen.vocabulary import Judge
from tests.conftest import COMMAND, ROOT, edit, run_cxgen, small_project
from tests.llm_server import serving
from tests.test_asking import SECRET

pytestmark = pytest.mark.server
NAME, SHIPPED = "reach", "into-causative"


@pytest.fixture(autouse=True)
def key(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for module in ("lexicon.verdicts", "asking.audit"):
        monkeypatch.setattr(f"cxgen.{module}.shipped_folder", tmp_path_factory.getbasetemp)  # no votes, no audit but a test's own


@pytest.fixture
def here(mini):
    """A small project with one construction."""
    return Project(mini)


@pytest.fixture
def cxgen():
    """The command line in this process, in a project."""
    return lambda project, *words: run_cxgen(*words, cwd=project.root, COLUMNS="200")


@pytest.fixture(scope="module")
def table(reach):
    """The clauses of the construction."""
    return clauses(reach)


def by(url, *tasks, models=("m",), limits=None, **more):
    """Models at ``url``."""
    found = limits or Limits(concurrency=16)
    return Consultation(backend=Judge.openai, models=models, tasks=tasks, base_url=url, limits=found, **more)


def ask(project, asked):
    """Have the clauses of the construction judged."""
    return judge.run(project, *judge.questions(project, asked, [NAME]))


def words(url, *more):
    return ["judge", NAME, "--backend", "openai", "--model", "m", "--base-url", url, "--task", "event", *more]


def lines(log):
    return log.read_text().count("\n") if log.exists() else 0


def votes_of(project):
    return pl.read_parquet(project.root / layout.JUDGMENTS)


def freeze(project, table, judges="abc", **otherwise):
    """Freeze votes: all accept, but for what ``otherwise`` (task) says: item -> a value by each judge."""
    usual = {"acceptability": "extended", "event": "appropriate", "naturalness": "natural", "role": "constructional"}
    rows = []
    for task, value in usual.items():
        for item in table["item"]:
            said = otherwise.get(task, {}).get(item, [value] * len(judges))
            rows += [judge.Judgment(item, task, one, "", who, prompt="p") for who, one in zip(judges, said, strict=True)]
    (project.root / "pipelines").mkdir(exist_ok=True)
    judge.freeze(judge.as_table(rows), project.root / layout.JUDGMENTS)


def replayed(project):
    edit(project.root / "params.yaml", "backend: rules", "backend: replay")
    return Params.read(project.params)


# what is asked


def test_every_scene_with_each_of_its_verbs_is_a_clause():
    project = Constructicon().project
    construction = load_construction(project, SHIPPED, Lexicon.of(project), heard=False)
    table = clauses(construction)
    lexicon, told = construction.lexicon, set()
    for frame in construction.frames:
        if any(design.frames in frame.designs and design.configs for design in construction.designs.values()):
            columns = verb_columns(construction.designs.values(), construction.kinds, construction.slots, frame)
            keys = (key for slot in columns for key in frame.slots[slot])
            told |= {(frame.name, lexicon.lemmas[lexicon.index[key]]) for key in keys}
    assert told == {*table.select("scene", "verb").iter_rows()}
    own = table.filter(construction=SHIPPED)
    assert own["item"].is_unique().all()
    for row in own.sample(20, seed=1).iter_rows(named=True):
        assert row["sentence"] != row["other"]


def test_a_clause_is_another_with_another_word_but_not_with_another_verb_or_adjunct(tmp_path):
    project, _ = small_project(tmp_path, [SHIPPED])
    path = tmp_path / "lexicons" / "scenes" / f"{SHIPPED}.tsv"
    path.parent.mkdir(parents=True)
    head = "id\tdesigns\tagent\tverb:verb\topening:phrase\n"
    seen = []
    for row in ("@names\ttalk | trick\tat noon", "@names\ttalk | lure\tat night", "@names | doctor\ttalk\tat noon"):
        path.write_text(f"{head}mine\tswap\t{row}\n", "utf-8")
        lexicon = Lexicon.of(project)
        frame = next(frame for frame in lexicon.frames(SHIPPED) if frame.name == "mine")
        seen.append(frame.clause("verb", "talk"))
    assert seen[0] == seen[1] != seen[2]
    assert seen[0].startswith("mine/talk/")


# votes and verdicts


def test_most_votes_decide_and_what_they_refuse_or_leave_open_goes():
    rows = [
        ("x/s/go/1/x", "acceptability", "extended", "extended", "prototypical"),
        ("x/s/go/1/x", "role", "lexical", "lexical", "lexical"),
    ]
    rows += [("x/s/run/1/x", "acceptability", "extended", "unacceptable", "unacceptable"), ("x/s/run/1/x", "event", *["appropriate"] * 3)]
    rows += [("x/s/fly/1/x", "event", "appropriate", "inappropriate", ""), ("x/s/fly/1/x", "acceptability", *["extended"] * 3)]
    rows += [("x/s/hop/1/x", "acceptability", *["extended"] * 3), ("x/s/hop/1/look-alike", "acceptability", *["unacceptable"] * 3)]
    rows += [("x/s/sit/1/x", "acceptability", "extended", "prototypical", "")]
    read = {
        "ski": "natural passable passable",
        "row": "natural natural odd",
        "jog": "passable passable passable",
        "hum": "passable natural natural",
    }
    rows += [(f"x/s/{verb}/1/x", "naturalness", *said.split()) for verb, said in read.items()]
    long = [(item, task, who, "p", value, "") for item, task, *values in rows for who, value in zip("abc", values, strict=True)]
    votes = pl.DataFrame(long, schema=["item", "task", "judge", "prompt", "value", "reason"], orient="row")
    found = verdicts(votes, "x")
    assert (found["s/go/1"].acceptability, found["s/go/1"].role, found["s/go/1"].refused) == ("extended", "lexical", "")
    assert found["s/run/1"].refused == "acceptability: 2 of 3 votes are against it"
    assert found["s/fly/1"].refused == "event: 1 of 2 votes are against it"
    assert found["s/hop/1"].refused == "acceptability: 3 of 3 votes are against it"
    assert (found["s/sit/1"].acceptability, found["s/sit/1"].refused) == ("", "")
    assert [bool(found[f"s/{verb}/1"].refused) for verb in read] == [False, True, False, False]
    assert [verb for verb in read if found[f"s/{verb}/1"].stiff] == ["ski", "jog", "hum"]
    assert found["s/row/1"].refused == "naturalness: 1 of 3 votes are against it"
    assert majority(votes).height == 9 + len(read)


def test_what_is_refused_is_not_built_and_one_vote_more_brings_it_back(here, table):
    own = table.filter(construction=NAME)
    verb = own["verb"].value_counts(sort=True)["verb"][0]
    bad = {item: ["unacceptable", "unacceptable", "extended"] for item in own.filter(verb=verb)["item"]}
    lexical = {item: ["lexical", "lexical", "constructional"] for item in own.filter(pl.col("verb") != verb)["item"]}
    freeze(here, table, acceptability=bad, role=lexical)
    metrics = run.build(here, replayed(here))
    counts = metrics["judge"]["constructions"][NAME]
    assert (counts["refused"], counts["acceptability"], counts["unjudged"]) == (len(bad), len(bad), 0)
    assert metrics["judge"]["judges"] == ["a", "b", "c"]
    assert 0 < metrics["judge"]["agreement"]["acceptability"]["alpha"] < 1
    items = pl.concat(pl.read_parquet(path) for path in sorted((here.root / "outputs/dataset/nli").glob("*.parquet")))
    assert verb not in set(items["verb"])
    assert set(items["acceptability"]) == {"extended"}
    assert set(items["verb_role"]) == {"lexical"}
    rejected = pl.read_parquet(here.root / layout.table("rejected", "rejected"))
    assert set(rejected["verb"]) == {verb}
    assert rejected["reason"].unique().to_list() == ["acceptability: 2 of 3 votes are against it"]
    assert "acceptability a: unacceptable" in rejected["votes"][0]
    freeze(here, table, "abcd", acceptability={item: ["extended", "unacceptable", "extended", "extended"] for item in bad})  # 1 of 4
    lexicon = Lexicon.of(here)
    assert tally(load_construction(here, NAME, lexicon, heard=False), read_votes(here, NAME))[0]["refused"] == 0
    again = load_construction(here, NAME, lexicon)
    assert verb in {again.lexicon.lemmas[again.lexicon.index[key]] for frame in again.frames for key in frame.slots["verb"]}


def test_without_judgments_nothing_is_built_as_judged(here, table, cxgen, monkeypatch):
    params = replayed(here)
    with monkeypatch.context() as patch, pytest.raises(DataError, match=f"nothing of {NAME} has been judged") as caught:
        patch.setattr(run, "_make", lambda _: pytest.fail("it is told before anything is made"))
        run.build(here, params)
    assert "cxgen judge" in caught.value.hint
    result = cxgen(here, "build", "--workers", "1")
    assert (result.returncode, result.stderr.count("\n")) == (2, 2)
    freeze(here, table.head(40))
    with pytest.raises(CxgenError):
        run.build(here, params)  # of so few clauses no dataset of that size can be made, and the rest is not used in their place
    rows = json.loads(cxgen(here, "judge", NAME, "--format", "json").stdout)
    assert rows[0]["unjudged"] == rows[0]["clauses"] - table.head(40)["clause"].n_unique()
    freeze(here, table, event=dict.fromkeys(table["item"], ["inappropriate"] * 3))
    result = cxgen(here, "build", "--workers", "1")
    count = table["clause"].n_unique()
    assert (result.returncode, f"judges refused all that they saw, {count} (event {count})" in result.stderr) == (2, True), result.stderr


def test_what_nobody_has_judged_is_told_and_built_only_where_the_parameters_name_it(here, table, cxgen):
    replayed(here)
    told = f"{table['clause'].n_unique()} clauses of {NAME} are not judged, and not built (scenes "
    assert told in cxgen(here, "check", NAME).stderr
    loaded = load_construction(here, NAME, Lexicon.of(here))
    silent = replace(loaded, designs={name: replace(design, configs=()) for name, design in loaded.designs.items()})
    assert [*unjudged(silent, Request(judged=True))] == []  # nothing of them is built anyway
    edit(here.root / "params.yaml", "backend: replay", f"backend: replay\n  unjudged: [{NAME}]")
    assert "not judged" not in cxgen(here, "check", NAME).stderr
    assert run.build(here, Params.read(here.params))["judge"]["constructions"][NAME]["refused"] == 0
    line = edit(here.root / "params.yaml", f"[{NAME}]", f"[{NAME}s]")
    assert f"params.yaml:{line}: unknown construction '{NAME}s'" in cxgen(here, "build").stderr


# kept, frozen, asked once


@pytest.mark.slow
def test_killed_five_times_it_ends_the_same_and_pays_for_nothing_twice(here, table, tmp_path):
    shutil.copytree(here.root, tmp_path / "undisturbed")
    undisturbed, log = type(here)(tmp_path / "undisturbed"), tmp_path / "log"
    with serving(latency=0.1, log=str(log)) as url:
        ask(undisturbed, by(url, "event", per_request=1))
        ideal = lines(log)
        log.unlink()
    chance = random.Random(11)
    with serving(latency=0.1, log=str(log)) as url:
        command = [*COMMAND, *words(url, "--concurrency", "2", "--items-per-request", "1")]
        for _ in range(5):
            with subprocess.Popen(command, cwd=here.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                seen, deadline = lines(log), time.monotonic() + 30
                while lines(log) < seen + 3 and process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(chance.uniform(0.0, 0.1))
                assert process.poll() is None  # else nothing was killed
                process.send_signal(signal.SIGKILL)
        ask(here, by(url, "event", per_request=1))
    requests = Counter(log.read_text().splitlines())
    # Where two scenes say the same, the second one is not asked about if the first one's answer is kept.
    said = pl.struct("construction", "sentence", "other")
    assert table.select(said).n_unique() <= len(requests) <= ideal
    # Only what was in flight at a kill may come twice.
    assert len(requests) < requests.total() <= ideal + 5 * 2
    columns = ["item", "task", "value", "call"]
    alike = table.filter(said.is_duplicated())["item"]
    one, other = (votes_of(project).select(columns).filter(~pl.col("item").is_in(alike)) for project in (here, undisturbed))
    assert one.equals(other)


@pytest.mark.slow
def test_ctrl_c_loses_nothing_and_says_so(here, tmp_path):
    log = tmp_path / "log"
    with serving(latency=0.1, log=str(log)) as url:
        command = [*COMMAND, *words(url, "--items-per-request", "1", "--concurrency", "4")]
        with subprocess.Popen(command, cwd=here.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 30
            while lines(log) < 20 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        assert process.returncode == 130, said
        assert "interrupted" in said
        assert "Traceback" not in said
        assert not (here.root / layout.JUDGMENTS).exists()
        answered = lines(log)
        ask(here, by(url, "event", per_request=1))
    assert answered < lines(log) <= votes_of(here).height + 4


def test_what_a_model_has_judged_is_asked_again_of_nobody_without_any_cache(here, tmp_path):
    log = tmp_path / "log"
    with serving(log=str(log)) as url:
        ask(here, by(url, "event", models=("a",)))
        before, frozen = lines(log), votes_of(here)
        (here.root / layout.ANSWERS).unlink()
        ask(here, by(url, "event", models=("a",)))
        assert lines(log) == before
        assert votes_of(here).equals(frozen)
        frozen.head(frozen.height - 10).write_parquet(here.root / layout.JUDGMENTS)
        ask(here, by(url, "event", models=("a",)))
    assert lines(log) == before + 1
    assert votes_of(here).select("item", "value").equals(frozen.select("item", "value"))


# bounds, and what is told


def test_a_dry_run_sends_nothing_and_tells_the_price(here, cxgen, tmp_path, table):
    log = tmp_path / "log"
    with serving(log=str(log)) as url:
        more = ("--dry-run", "--price-in", "1", "--price-out", "2", "--format", "json")
        before = json.loads(cxgen(here, *words(url, *more)).stdout)[0]
        assert not lines(log)
        ask(here, by(url, "event"))
        after = json.loads(cxgen(here, *words(url, *more)).stdout)[0]
    assert (before["items"], before["cached items"]) == (table.height, 0)
    assert before["cost at most"] > 0
    assert (after["calls"], after["cost at most"]) == (0, 0)


def test_every_option_reaches_the_run(here, monkeypatch, cxgen):
    given = {}
    monkeypatch.setattr(judge, "questions", lambda project, asked, names, **_: given.update(asked=asked) or (Consultation(), {}, {}))
    bounds = {"rpm": 3, "tpm": 4, "tries": 5, "timeout": 6, "deadline": 7, "max-requests": 8, "max-tokens": 9, "max-cost": 10}
    others = {"price-in": 11, "price-out": 12, "max-failures": 0.5, "concurrency": 13, "items-per-request": 14, "poll": 15, "cache": "c.db"}
    options = [text for name, value in {**bounds, **others, "model": "n"}.items() for text in (f"--{name}", str(value))]
    assert cxgen(here, *words("http://x", *options, "--dry-run")).returncode == 0
    limits = Limits(13, 3.0, 4.0, 5, 6.0, 7.0, 8, 9, 10.0, 11.0, 12.0, 0.5)
    cache = here.root / "c.db"
    assert given["asked"] == Consultation(Judge.openai, ("m", "n"), ("event",), "http://x", 14, limits, cache, poll=15.0)


def test_a_bound_ends_the_run_with_what_there_is(here, cxgen):
    with serving() as url:
        result = cxgen(here, *words(url, "--max-requests", "3"))
        assert (result.returncode, "stopped by --max-requests 3" in result.stderr) == (1, True)
        assert "not asked: --max-requests 3" in result.stderr
        assert votes_of(here).height == 30


def test_neither_key_nor_path_gets_into_a_file_or_a_message(here, cxgen):
    with serving(status=[401, "invalid_api_key", f"Incorrect API key provided: {SECRET}"]) as url:
        refused = cxgen(here, *words(url))
    with serving() as url:
        result = cxgen(here, *words(url))
    assert (refused.returncode, result.returncode) == (2, 0)
    assert not any(SECRET in text for text in (refused.stderr, result.stderr, result.stdout))
    for path in here.root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in data, path
            if path.suffix in {".json", ".jsonl", ".parquet"}:
                assert str(here.root).encode() not in data, path


def test_votes_that_are_none_are_told_with_the_file(here, table, cxgen):
    freeze(here, table.head(3))
    path = here.root / layout.JUDGMENTS
    good = pl.read_parquet(path)
    for broken, part in (
        (good.with_columns(value=pl.lit("maybe")), "'maybe' is no answer to the task"),
        (good.drop("judge"), "lacks the columns judge"),
    ):
        broken.write_parquet(path)
        result = cxgen(here, *words("http://127.0.0.1:1/v1"))
        assert (result.returncode, part in result.stderr, path.name in result.stderr) == (2, True, True)


def test_a_run_ends_with_a_table_of_what_it_took(here, cxgen, table):
    with serving(faults={"500": 0.3}, seed=5) as url:
        result = cxgen(here, *words(url, "--items-per-request", "5", "--format", "json"))
    assert result.returncode == 0
    (row,) = json.loads(result.stdout)
    assert (row["construction"], row["unjudged"]) == (NAME, 0)
    assert row["refused"] == row["event"] > 0
    header, line, *_ = result.stderr.splitlines()
    assert header.split()[:6] == ["model", "task", "decided", "cached", "undecided", "requests"]
    assert line.split()[:5] == ["m", "event", str(table.height), "0", "0"]
    assert "server error (500)" in line


# through files


def test_whoever_answers_a_file_of_requests_judges(here, cxgen, tmp_path, table):
    out, told = tmp_path / "ask.jsonl", tmp_path / "told.jsonl"
    judging = ["judge", NAME, "--backend", "file", "--model", "ann", "--task", "event", "--requests", str(out)]
    first = table["item"][0]
    freeze(here, table.head(12), "a", **{task: {first: [""]} for task in ("acceptability", "event", "naturalness", "role")})
    assert f"{-(-(table.height - 11) // 10)} requests" in cxgen(here, *judging, "--unjudged").stderr
    assert first in out.read_text("utf-8"), "nobody has answered"
    assert f"{-(-table.height // 10)} requests" in cxgen(here, *judging[:5], "a", *judging[6:], "--unjudged").stderr, "what `a` has begun"
    (here.root / layout.JUDGMENTS).unlink()
    assert f"{-(-table.height // 10)} requests" in cxgen(here, *judging).stderr
    left, *others = table["item"]
    with told.open("w") as file:
        for line in map(json.loads, out.read_text("utf-8").splitlines()):
            items = [json.loads(text) for text in line["body"]["messages"][1]["content"].splitlines() if text.startswith("{")]
            entries = [{"id": item["id"], "verdict": "appropriate"} for item in items if item["id"] != left]
            file.write(json.dumps({"custom_id": line["custom_id"], "content": {"answers": entries}}) + "\n")
    result = cxgen(here, *judging, "--replies", str(told), "--items-per-request", "5")  # other groups than were written
    assert dict(votes_of(here).select("item", "value").iter_rows()) == {left: "", **dict.fromkeys(others, "appropriate")}
    assert (result.returncode, "1 undecided" in result.stderr) == (0, True)
    assert "2 models, 1 files of replies" in cxgen(here, *judging, "--model", "ben", "--replies", str(told)).stderr


def test_a_reply_on_file_that_cannot_be_used_says_why_and_is_read_again_when_mended(here, cxgen, tmp_path, table):
    out, told = tmp_path / "ask.jsonl", tmp_path / "told.jsonl"
    judging = ["judge", NAME, "--backend", "file", "--model", "ann", "--task", "event"]
    cxgen(here, *judging, "--out", str(out))
    lines = [*map(json.loads, out.read_text("utf-8").splitlines())]
    shown = [[json.loads(text) for text in line["body"]["messages"][1]["content"].splitlines() if text.startswith("{")] for line in lines]
    for verdict, undecided, options in (("great", 1, []), ("appropriate", 0, ["--requests", str(out)])):
        said = [[{"id": item["id"], "verdict": "appropriate"} for item in items] for items in shown]
        said[0][0]["verdict"] = verdict
        replies = [{"custom_id": line["custom_id"], "content": {"answers": own}} for line, own in zip(lines, said, strict=True)]
        told.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        result = cxgen(here, *judging, "--replies", str(told), *options)
        votes = dict(votes_of(here).select("item", "reason").iter_rows())
        assert [reason.partition(":")[0] for reason in votes.values() if reason] == ["not a possible verdict"] * undecided, result.stderr


# proposals


@pytest.mark.parametrize("file", sorted((ROOT / "lexicons/patterns").glob("*.tsv")), ids=lambda file: file.stem)
def test_patterns_name_designs_and_columns_that_are_there(file, tmp_path):
    project, _ = small_project(tmp_path, [file.stem])
    (tmp_path / "lexicons/patterns").mkdir(parents=True)
    shutil.copy(file, tmp_path / "lexicons/patterns")
    made = {scene.cells["id"][0] for scene in read_scenes(propose(project, file.stem, 1, 0)[0]).scenes}
    frames = load_construction(project, file.stem, Lexicon.of(project), heard=False).frames
    assert made and made <= {frame.name for frame in frames}


def test_what_the_lexicon_proposes_is_drawn_only_where_judges_accept_it(tmp_path, cxgen):
    project, _ = small_project(tmp_path, [SHIPPED])
    patterns = tmp_path / "lexicons" / "patterns" / f"{SHIPPED}.tsv"
    nothing = cxgen(project, "propose", SHIPPED)
    assert (nothing.returncode, f"patterns/{SHIPPED}.tsv" in nothing.stderr) == (2, True)
    patterns.parent.mkdir(parents=True)
    words = "id\tdesigns\tpeople:person\tverb:verb\tact:verb\twhat\nmore\tswap\t@noun.person\t@verb.communication\tbuy\tboat | car\n"
    patterns.write_text(words.replace("noun.person", "noun.persons"), "utf-8")
    unknown = cxgen(project, "propose", SHIPPED)
    assert (unknown.returncode, "did you mean noun.person" in unknown.stderr) == (2, True)
    patterns.write_text(words, "utf-8")
    assert cxgen(project, "propose", SHIPPED, "--n", "12").returncode == 0
    path = tmp_path / "lexicons" / "scenes" / f"{SHIPPED}.proposed.tsv"
    first = path.read_text("utf-8")
    assert cxgen(project, "propose", SHIPPED, "--n", "12").returncode == 0
    assert path.read_text("utf-8") == first
    assert "15 scenes" not in cxgen(project, "propose", SHIPPED, "--n", "12", "--seed", "2").stdout
    assert path.read_text("utf-8").startswith(first)

    def proposed(**heard):
        loaded = load_construction(project, SHIPPED, Lexicon.of(project), **heard)
        return loaded, [frame for frame in loaded.frames if frame.name.startswith("more-")]

    loaded, every = proposed(heard=False)
    assert len(every) == 4
    assert len({verb for frame in every for verb in frame.slots["verb"]}) > 24
    assert {len(frame.slots["people"]) for frame in every} == {4}
    assert proposed()[1] == []
    table = clauses(loaded).filter(pl.col("scene").str.starts_with("more-"))
    refused = table.filter((pl.col("scene") == "more-1-0") | (pl.col("verb") == table["verb"][-1]))
    freeze(project, table, event={item: ["inappropriate"] * 3 for item in refused["item"]})
    loaded, kept = proposed()
    assert {frame.name for frame in kept} == set(table["scene"]) - {"more-1-0"}
    drawn = {(frame.name, loaded.lexicon.lemmas[loaded.lexicon.index[key]]) for frame in kept for key in frame.slots["verb"]}
    assert drawn == set(table.join(refused, on="item", how="anti").select("scene", "verb").iter_rows())


# statements about minimal pairs


def test_of_minimal_pairs_both_continuations_are_judged_and_a_clause_goes_with_either(tmp_path, cxgen):
    project, _ = small_project(tmp_path, ["conative"])
    loaded = load_construction(project, "conative", Lexicon.of(project), heard=False)
    table = interpretations(loaded)
    assert table["item"].is_unique().all()
    good, bad = (table.filter(pl.col("item").str.ends_with(f"-{side}")) for side in ("good", "bad"))
    assert good["sentence"].equals(bad["sentence"])
    said_of = ("sentence", "interpretation")
    assert good.join(bad, on=said_of, how="semi").is_empty()
    blind, lenient = good.row(0, named=True), bad.row(-1, named=True)
    said = {row["item"]: "appropriate" for row in good.iter_rows(named=True)} | dict.fromkeys(bad["item"], "inappropriate")
    said |= {blind["item"]: "inappropriate", lenient["item"]: "appropriate"}
    truth = {f"{row['sentence']}|{row['interpretation']}|verdict": said[row["item"]] for row in table.iter_rows(named=True)}
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    with serving(truth=str(tmp_path / "truth.json")) as url:
        told = cxgen(project, "judge", "conative", *words(url)[2:-1], "interpretation", "--format", "json")
    (counts,) = json.loads(told.stdout)
    assert (counts["interpretation"], counts["refused"], counts["kept by all"]) == (2, 2, counts["kept"])
    left = interpretations(load_construction(project, "conative", Lexicon.of(project)))
    before, after, gone = (
        {item.rpartition("/")[0] for item in items} for items in (table["item"], left["item"], (blind["item"], lenient["item"]))
    )
    assert (len(gone), after) == (2, before - gone)


# is the filter right?


def test_an_audit_counts_what_judges_overlook_and_what_they_refuse_for_nothing(here, tmp_path, cxgen):
    (here.root / "pipelines").mkdir(exist_ok=True)
    missing = cxgen(here, "judge", "--audit")
    assert (missing.returncode, "audit.csv" in missing.stderr, missing.stderr.count("\n")) == (2, True, 2)
    rows = [
        ("good", "appropriate", ""),
        ("odd", "inappropriate", "types"),
        ("hidden", "inappropriate", "types"),
        ("fine", "appropriate", ""),
    ]
    head = "id,target,construction,sentence,other,verb,acceptability,event,planted\n"
    sheet = "".join(f"{name},{NAME},{NAME},{name},{name},talk,extended,{event},{planted}\n" for name, event, planted in rows)
    (here.root / layout.AUDIT).write_text(head + sheet, "utf-8")
    truth = {
        "odd|verdict": "inappropriate",
        "fine|verdict": "inappropriate",
        "good|verdict": "appropriate",
        "hidden|verdict": "appropriate",
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    with serving(truth=str(tmp_path / "truth.json")) as url:
        told = cxgen(here, "judge", "--audit", *words(url)[2:], "--format", "json")
    found = {row.pop("what"): row for row in json.loads(told.stdout)}
    assert found["event"] == found["either"] == {"bad": 2, "recall": 0.5, "good": 2, "loss": 0.5}
    assert found["planted: types"] == {"bad": 2, "recall": 0.5, "good": 0, "loss": None}
    assert set(votes_of(here)["item"]) == {f"audit/{name}/{NAME}" for name, _, _ in rows}
    (here.root / layout.AUDIT).write_text(head + sheet.replace("inappropriate", "bad"), "utf-8")
    assert "audit.csv:3: event is 'bad'" in cxgen(here, "judge", "--audit").stderr
    meant = head.replace("event", "naturalness")
    for text, more, part in (
        (head + sheet, ["--task", "naturalness"], "did not say what is right for the task 'naturalness'"),
        (head + sheet.replace("extended", "fine", 1), [], "audit.csv:2: acceptability is 'fine'"),
        (meant + sheet, [], "audit.csv:2: naturalness is 'appropriate'"),
        (head + sheet.replace("odd,", "good,", 1), [], "audit.csv:2: id is that of another row"),
        (head + sheet.replace(NAME, "nothing", 1), [], "audit.csv:2: unknown construction 'nothing'"),
    ):
        (here.root / layout.AUDIT).write_text(text, "utf-8")
        told = cxgen(here, "judge", "--audit", *words("http://127.0.0.1:1/v1")[2:8], *more)
        assert (told.returncode, part in told.stderr) == (2, True), told.stderr
    told_of = sheet.replace("inappropriate", "odd").replace("appropriate", "").replace("extended", "")
    (here.root / layout.AUDIT).write_text(meant + told_of, "utf-8")
    asked = by("http://127.0.0.1:1/v1").bounded(here)
    shown = judge.questions(here, asked, audited=True)[2]
    assert {task: len(items) for task, items in shown.items()} == {"acceptability": 0, "naturalness": 2}


def test_other_rules_and_the_most_split_clauses_are_told(here, table):
    own = table.filter(construction=NAME)["item"].to_list()
    said = {own[0]: ["appropriate", "appropriate", "inappropriate"], own[1]: ["inappropriate"] * 3, own[2]: ["appropriate"] * 3}
    freeze(here, table, event=said)
    counts = tally(load_construction(here, NAME, Lexicon.of(here), heard=False), read_votes(here, NAME))[0]
    assert [counts[rule] - counts["kept"] for rule in ("kept by all", "kept by most", "kept by two")] == [0, 1, 1]
    metric = run.build(here, replayed(here))["judge"]
    assert [(row["votes"], row["bad"]) for row in metric["split"]] == [(3, 1)]
    assert metric["split"][0]["sentence"] == table.filter(item=own[0])["sentence"][0]
