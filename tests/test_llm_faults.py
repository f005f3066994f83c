"""Nothing that a server says or fails to say ends or stalls a run, is kept as poison, leaks the key, or costs more than was allowed."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from urllib.parse import quote

import pytest

from cxgen.errors import CxgenError, DataError
from cxgen.files import locked
from cxgen.llm import BackendError, Cache, Call, CallError, Job, Limits, Reply, ask
from cxgen.llm import cache as cache_module
from cxgen.llm.client import OpenAIBackend, retry_after
from cxgen.llm.keys import redacted
from cxgen.llm.limits import Breaker, Gate, Rates
from cxgen.llm.parse import parse
from cxgen.stages.frozen import as_table, freeze, read_frozen
from tests.conftest import ROOT, sampled
from tests.hostile_server import KINDS, REFUSALS, TEXTS, answers_to, serving, wrong
from tests.llm_server import serving as plain_server
from tests.test_llm import LABEL, SECRET, batches, expected, pairs, run, said, values

HASTY = Limits(concurrency=4, timeout=3.0, cool=0.2)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


# what a reply may say


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_no_kind_of_fault_ends_or_stalls_a_run_or_poisons_the_next(tmp_path, kind):
    poisoned(tmp_path, kind)


@pytest.mark.server
@pytest.mark.parametrize("kind", ["text-surrogate", "digits-usage", "usage-huge"])
def test_no_odd_reply_ends_or_stalls_a_run_or_poisons_the_next(tmp_path, kind):
    poisoned(tmp_path, kind)


def poisoned(folder, kind):
    items, start = pairs(50), time.monotonic()
    with serving(mix={kind: 1.0}, first=3) as url:
        outcome = run(url, items, folder / "c.sqlite", HASTY)
    assert time.monotonic() - start < 20
    assert {name: value for name, value in values(outcome).items() if value}.items() <= expected(items).items()
    assert outcome.tally.undecided == (30 if kind in REFUSALS else 0)
    log = folder / "log"
    with serving(log=str(log)) as url:
        again = run(url, items, folder / "c.sqlite")
    assert values(again) == expected(items)
    assert again.tally.budget.requests == len(log.read_text().splitlines() if log.exists() else []) == outcome.tally.undecided // 10
    table = as_table(again.judgments)
    assert freeze(table, folder / "judgments.parquet") == read_frozen(folder / "judgments.parquet").height == 50
    assert SECRET not in str(table.to_dicts())
    assert not any(SECRET.encode() in path.read_bytes().lower() for path in folder.glob("c.sqlite*"))


@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_is_read_at_once_and_never_says_what_it_does_not(kind):
    items = {str(number): {"premise": f"P{number}.", "hypothesis": "H."} for number in range(10)}
    messages = [{"content": LABEL.system}, {"content": LABEL.user(list(items.items()))}]
    answers = answers_to(messages)
    text, finish = TEXTS[kind](answers, wrong(answers, "label", list(LABEL.choices)), "label")
    tokens = tuple((text[at : at + 4], -0.5) for at in range(0, min(len(text), 100_000), 4))
    start = time.monotonic()
    parsed = parse(Reply(text, finish, logprobs=tokens), LABEL, tuple(items))
    assert time.monotonic() - start < 2
    assert {name: answer.value for name, answer in parsed.answers.items()}.items() <= expected(items).items()
    assert parsed.answers.keys() | parsed.problems.keys() == items.keys()
    if kind.startswith("draft") and kind not in {"draft-only", "draft-plain", "draft-then-cut"}:
        assert len(parsed.answers) == 10


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('<think>{"answers": [{"id": "a", "label": "E"}]}</think> {"answers": [{"id": "a", "label": "C"}]}', {"a": "contradiction"}),
        ('<think>{"answers": [{"id": "a", "label": "E"}]} or', {}),
        ('{"answers": [{"id": "a", "label": "E"}]} No: {"answers": [{"id": "a", "label": "C"}]}', {}),
        ('[{"id": "a", "label": "E"}, {"id": "b", "label": "E"}] No: [{"id": "a", "label": "E"}, {"id"', {"a": "entailment"}),
        ('{"answers": [{"id": "a", "label": "E"}, {"id": "b", "label": "C"}, {"id": "c', {"a": "entailment", "b": "contradiction"}),
        ('{"id": "a", "label": "E"}\n{"id": "b", "label": "C"}', {"a": "entailment", "b": "contradiction"}),
        ('As of [1] and {}: {"answers": [{"id": "a", "label": "E"}]}', {"a": "entailment"}),
        ('{"answers": [{"id": "a", "label": "E"}]}\n{"id": "a", "premise": "an echo"}', {"a": "entailment"}),
        ('{"answers": [{"id": "a", "label": "E", "label": "C"}, {"id": "b", "label": "C"}]}', {"b": "contradiction"}),
        ('{"answers": [{"id": "a", "label": "E"}], "answers": [{"id": "a", "label": "C"}]}', {}),
        ('{"answers": [{"id": "a", "label": "E", "sure": %s}, {"id": "b", "label": "C"}]}' % ("9" * 5_000), {"b": "contradiction"}),
    ],
)  # fmt: skip
def test_of_several_answers_the_last_complete_one_counts_and_none_where_they_differ(text, answers):
    assert {name: answer.value for name, answer in said(text).answers.items()} == answers


def test_the_logprob_is_that_of_the_answer_not_of_a_draft():
    tokens = (
        ('<think>{"answers": [{"id": "a", "label": "', -9.0),
        ("E", -0.1),
        ('"}]}</think>{"answers": [{"id": "a", "label": "', -9.0),
        ("C", -0.7),
        ('"}]}', -9.0),
    )
    assert said("".join(token for token, _ in tokens), logprobs=tokens).answers["a"].logprob == -0.7


def test_free_text_cannot_act_on_a_terminal_or_quote_the_key():
    from cxgen.llm import Prompt

    prompt = Prompt.load(ROOT / "pipelines/prompts/fill.yaml", "fill")

    def answer(text):
        reply = Reply(json.dumps({"answers": [{"id": "a", prompt.key: [text]}]}), "stop")
        return {name: found.value for name, found in parse(reply, prompt, ("a",)).answers.items()}

    assert answer("  Anna\n ran. ") == {"a": '["Anna ran."]'}
    assert answer("Anna \x1b[2J ran.") == answer("Anna \u202e ran.") == {}
    assert answer(f"Anna ran {SECRET}.") == {"a": '["Anna ran [key]."]'}


LOGGED = """
import logging, os, sys
from pathlib import Path
from cxgen.llm import Limits
from tests.test_llm import pairs, run
for name in ("httpx2", "httpcore2", "openai"):
    logging.getLogger(name).setLevel(logging.DEBUG)
run(sys.argv[1], pairs(20), Path(sys.argv[2]), Limits(concurrency=2, timeout=3.0))
from cxgen.llm.keys import KEY
try:
    raise ValueError(os.environ[KEY])
except ValueError:
    logging.getLogger("openai").exception("it failed")
"""


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(("kind", "key"), [("key-in-headers", SECRET), ("key-in-names", 'sk-a"b/c+d=e')])
def test_no_log_holds_the_key_however_much_is_logged(tmp_path, kind, key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    with serving(mix={kind: 1.0}, first=1) as url:
        command = [sys.executable, "-c", LOGGED, url, str(tmp_path / "c.sqlite")]
        child = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "x-request-id" in child.stderr
    assert "it failed" in child.stderr
    assert "[key]" in child.stderr
    for way in (key, json.dumps(key)[1:-1], quote(key, safe="")):
        assert way.lower() not in (child.stdout + child.stderr).lower()


def test_the_key_is_found_however_it_is_written(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", 'sk-a"b/c+d=e')
    for way in ('sk-a"b/c+d=e', 'sk-a\\"b/c+d=e', "sk-a%22b%2Fc%2Bd%3De", "c2stYSJiL2MrZD1l", 'SK-A"B/C+D=E'):
        assert redacted(f"x {way} y") == "x [key] y"


@pytest.mark.server
def test_neither_the_key_nor_the_items_follow_to_another_server(tmp_path):
    """The other server is this process: it hears what a client that follows would send."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.2)
        at = f"http://127.0.0.1:{other.getsockname()[1]}/v1/chat/completions"
        with serving(mix={"elsewhere": 1.0}, first=2, elsewhere=at) as url:
            outcome = run(url, pairs(30), tmp_path / "c.sqlite", HASTY)
        with pytest.raises(TimeoutError):
            other.accept()
    assert values(outcome) == expected(pairs(30))
    assert outcome.tally.errors == {"the server sends on to another one": 2}


@pytest.mark.slow
@pytest.mark.server
def test_a_server_without_tls_is_left_alone_after_a_while(tmp_path):
    with serving() as url, pytest.raises(BackendError, match=r"no connection|timed out"):
        run(url.replace("http:", "https:"), pairs(30), tmp_path / "c.sqlite", Limits(concurrency=2, trip=2, cool=0.2, timeout=2.0))


# what a server may ask for


def test_retry_after_is_read_by_the_servers_own_clock_and_nonsense_is_none():
    assert retry_after("Thu, 01 Jan 2015 00:00:05 GMT", "Thu, 01 Jan 2015 00:00:00 GMT") == 5.0
    assert retry_after("nan") == retry_after("-inf") == 0.0


@pytest.mark.server
@pytest.mark.parametrize("kind", ["429-day", "429-inf", "503-century"])
def test_a_server_that_asks_for_a_day_is_asked_again_and_it_is_said(tmp_path, kind):
    start = time.monotonic()
    with serving(mix={kind: 1.0}, first=3) as url:
        outcome = run(url, pairs(60), tmp_path / "c.sqlite", HASTY)
    assert time.monotonic() - start < 15
    assert values(outcome) == expected(pairs(60))
    assert any("over a minute" in reason for reason in outcome.tally.errors)


@pytest.mark.slow
@pytest.mark.server
def test_no_wait_is_longer_than_the_deadline(tmp_path):
    start = time.monotonic()
    with serving(mix={"429-slow": 1.0}) as url:
        outcome = run(url, pairs(20), tmp_path / "c.sqlite", Limits(concurrency=2, deadline=2.0, max_failures=1.0))
    assert time.monotonic() - start < 15
    assert {judgment.reason for judgment in outcome.judgments} == {"too many requests (429), 6 tries at most"}


# outages


class _Down:
    """A backend that fails for a while, after some replies; answers nothing of use."""

    def __init__(self, after, seconds, latency=0.02):
        self.after, self.seconds, self.latency, self.since, self.count = after, seconds, latency, None, 0

    async def send(self, call):
        self.count += 1
        if self.count > self.after:
            self.since = self.since or time.monotonic()
            if time.monotonic() < self.since + self.seconds:
                await asyncio.sleep(self.latency)
                raise CallError("no connection", retry=True)
        await asyncio.sleep(self.latency)
        names = [json.loads(line)["id"] for line in call.user.splitlines() if line.startswith("{")]
        return Reply(json.dumps({"answers": [{"id": name, "label": "E"} for name in names]}), "stop")

    async def close(self):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [8, 32, 64])
def test_an_outage_shorter_than_the_pauses_is_survived_whatever_is_under_way(tmp_path, concurrency):
    async def all_of_it():
        backend = _Down(after=100, seconds=1.0)
        with Cache(tmp_path / "c.sqlite") as replies:
            outcome = await ask(Job(LABEL, "m", pairs(400), 1), backend, replies, Limits(concurrency=concurrency, cool=0.2))
        return outcome, backend.count

    outcome, sent = asyncio.run(all_of_it())
    assert outcome.tally.decided == 400
    assert sent <= 400 + concurrency + 12 + 8  # those under way, and a probe at a time


def test_the_circuit_opens_once_for_all_that_was_under_way_and_then_for_longer():
    breaker = Breaker(trip=3, cool=5.0)
    before = time.monotonic()
    assert [breaker.failed(before) for _ in range(20)] == [(True, 0.0)] * 2 + [(True, 5.0)] + [(False, 0.0)] * 17
    assert breaker.failed(before + 60) == (True, 10.0)
    breaker.succeeded()
    assert breaker.failed(before + 120) == (True, 0.0)


def test_after_an_outage_one_call_goes_first():
    async def started():
        gate, inside = Gate(8), 0
        gate.probe(0.05)

        async def call():
            nonlocal inside
            async with gate:
                inside += 1
                await asyncio.sleep(0.2)
                gate.faster()

        tasks = [asyncio.create_task(call()) for _ in range(8)]
        await asyncio.sleep(0.15)
        first = inside
        await asyncio.gather(*tasks)
        return first, inside

    assert asyncio.run(started()) == (1, 8)


# bounds


def spent(log):
    """Calls that the server worked on, by its own account."""
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.server
@pytest.mark.parametrize(
    "kind", [*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("hang", "reset-midway", "html")), "usage-negative"]
)
def test_what_may_have_been_billed_counts_against_the_budget(tmp_path, kind):
    log, call = tmp_path / "log", Job(LABEL, "m", pairs(10)).call(list(pairs(10)))
    estimate = sum(call.most) if kind != "usage-negative" else call.tokens
    most = 10 * estimate  # more than the calls of one round, few enough that the pauses between rounds stay short
    with serving(mix={kind: 1.0}, log=str(log)) as url:
        limits = Limits(concurrency=4, timeout=0.3, tries=9, max_tokens=most, trip=1_000, max_failures=1.0)
        outcome = run(url, pairs(2_000), tmp_path / "c.sqlite", limits)
    assert outcome.stopped == f"--max-tokens {most}"
    assert spent(log) * estimate <= most


@pytest.mark.server
def test_tasks_share_one_budget_whose_bound_is_told_whole(tmp_path):
    async def all_of_it(url):
        backend, limits = OpenAIBackend(url, 5.0), Limits(max_requests=15)
        with Cache(tmp_path / "c.sqlite") as replies:
            first = await ask(Job(LABEL, "m", pairs(100)), backend, replies, limits)
            second = await ask(Job(LABEL, "n", pairs(100)), backend, replies, limits, before=[first])
        await backend.close()
        return first, second

    with serving() as url:
        first, second = asyncio.run(all_of_it(url))
    assert (first.stopped, second.stopped) == ("", "--max-requests 15")
    assert (first.tally.budget.requests, second.tally.budget.requests) == (10, 5)


@pytest.mark.slow
def test_tokens_per_minute_start_with_a_seconds_worth_and_count_what_was_billed():
    call = Call("m", "s" * 4_000, "u", {}, 0.0, 1_000)

    async def timed(rates, number, billed):
        start, gate = time.monotonic(), Gate(8)
        await asyncio.gather(*(rates.wait(call, gate) for _ in range(number)))
        rates.billed(call, billed)
        await rates.wait(call, gate)
        return time.monotonic() - start

    async def both():
        limits = Limits(tokens_per_minute=60.0 * 10 * sum(call.most))  # ten a second
        return await timed(Rates(limits), 19, call.most), await timed(Rates(limits), 19, (sum(call.most) * 5, call.max_tokens))

    fair, more = asyncio.run(both())
    assert 0.9 < fair < 1.6  # twenty calls, the first ten at once
    assert more > fair + 0.3


def test_a_call_worth_more_than_a_second_waits_for_all_of_its_tokens():
    call = Call("m", "s" * 4_000, "u", {}, 0.0, 1_000)

    async def timed():
        rates, start, gate = Rates(Limits(tokens_per_minute=60.0 * sum(call.most) * 4)), time.monotonic(), Gate(8)
        await asyncio.gather(*(rates.wait(call, gate) for _ in range(8)))
        return time.monotonic() - start

    assert asyncio.run(timed()) > 0.9


@pytest.mark.server
def test_a_temperature_that_the_server_does_not_take_is_not_recorded(tmp_path):
    with plain_server(forbid=["temperature"]) as url:
        without = run(url, pairs(10), tmp_path / "a.sqlite")
        again = run(url, pairs(10), tmp_path / "a.sqlite")
    with plain_server() as url:
        taken = run(url, pairs(10), tmp_path / "b.sqlite")
    assert {judgment.temperature for judgment in (*without.judgments, *again.judgments)} == {None}
    assert {judgment.temperature for judgment in taken.judgments} == {0.0}
    assert freeze(as_table(without.judgments), tmp_path / "judgments.parquet") == 10


@pytest.mark.parametrize(
    "url", ["", "not a url", "file:///etc/passwd", "http://", "http://h:99999/v1", "http://h:x/v1", "localhost:8000/v1"]
)
def test_what_is_no_address_is_refused_before_anything_is_sent(url):
    with pytest.raises(CxgenError, match="no address of a server"):
        OpenAIBackend(url, 1.0)


@pytest.mark.parametrize("key", ["sk-\nx", "sk-é", "sk-\x00"])
def test_what_is_no_key_is_refused_before_anything_is_sent(monkeypatch, key):
    if "\0" in key:
        monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    else:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(CxgenError, match="is no key"):
        OpenAIBackend("http://localhost:1/v1", 1.0)


# the cache


def spoil(path, statement, *values):
    with sqlite3.connect(path) as database:
        database.execute(statement, values)


UNREADABLE = (
    "{",
    "null",
    "[]",
    "7" * 5_000,
    "[" * 100_000,
    '{"text": "x"}',
    '{"text": 5, "finish": "stop", "logprobs": []}',
    '{"text": "", "finish": "stop", "tokens_in": 1' + "0" * 30 + ', "logprobs": []}',
    '{"text": "", "finish": "stop", "more": 1, "logprobs": []}',
    '{"text": "", "finish": "stop", "logprobs": [[1, 2, 3]]}',
)


@pytest.mark.server
def test_a_kept_reply_that_cannot_be_read_is_set_aside_and_asked_anew_once(tmp_path):
    items, path, log = pairs(10 * len(UNREADABLE) + 20), tmp_path / "c.sqlite", tmp_path / "log"
    calls = [Job(LABEL, "m", items).call(list(items)[10 * n : 10 * n + 10]) for n in range(len(UNREADABLE))]
    with serving(log=str(log)) as url:
        run(url, items, path)
        for call, reply in zip(calls, UNREADABLE, strict=True):
            spoil(path, "UPDATE replies SET reply = ?, digest = NULL WHERE key = ?", reply, call.key)
        asked = Counter(log.read_text().splitlines())
        outcome = run(url, items, path)
        anew = Counter(log.read_text().splitlines()) - asked
        again = run(url, items, path)
    assert values(outcome) == values(again) == expected(items)
    assert (outcome.tally.budget.requests, again.tally.budget.requests) == (len(UNREADABLE), 0)
    assert set(anew.values()) == {1}
    assert len(anew) == len(UNREADABLE)


@pytest.mark.server
def test_a_kept_reply_or_note_that_was_changed_is_not_believed(tmp_path):
    items, path = pairs(30), tmp_path / "c.sqlite"
    with serving() as url:
        run(url, items, path)
        for label in "EC":
            spoil(path, "UPDATE replies SET reply = replace(reply, ?, ?)", f'label\\": \\"{label}', 'label\\": \\"N')
        spoil(path, "UPDATE items SET name = '00000001'")
        for per_request in (10, 7):
            outcome = run(url, items, path, per_request=per_request)
            assert values(outcome) == expected(items)
    with Cache(path) as cache:
        cache.reply(Job(LABEL, "m", items).call(list(items)[:10]).key)
        assert cache.told == []


@pytest.mark.server
def test_a_cache_of_the_version_before_goes_on(tmp_path):
    items, path = pairs(30), tmp_path / "c.sqlite"
    with serving() as url:
        run(url, items, path)
        for table in ("replies", "items"):
            spoil(path, f"ALTER TABLE {table} DROP COLUMN digest")
        outcome = run(url, items, path)
    assert values(outcome) == expected(items)
    assert outcome.tally.budget.requests == 0


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("bits", [1, 100, 3_000])
def test_a_damaged_file_gives_no_other_verdict_and_loses_no_more_than_what_is_damaged(tmp_path, bits):
    items, path, chance = pairs(600), tmp_path / "c.sqlite", random.Random(bits)
    with serving() as url:
        run(url, items, path)
        data = bytearray(path.read_bytes())
        for _ in range(bits):
            data[chance.randrange(4096, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        outcome, again = run(url, items, path), run(url, items, path)
    assert values(outcome) == values(again) == expected(items)
    assert outcome.tally.budget.requests <= min(2 * bits, 120)
    assert again.tally.budget.requests == 0


@pytest.mark.server
def test_a_damaged_first_page_or_a_cut_file_loses_only_what_is_gone_and_says_so(tmp_path):
    items, path = pairs(300), tmp_path / "c.sqlite"
    with serving() as url:
        run(url, items, path)
        data = path.read_bytes()
        path.write_bytes(data[:4] + bytes(96) + data[100:])
        with Cache(path) as cache:
            (said,) = cache.told
            assert len(cache) == 30
        (tmp_path / "other").mkdir()
        (tmp_path / "other/c.sqlite").write_bytes(bytes(4096) + data[4096:])
        with Cache(tmp_path / "other/c.sqlite") as cache:
            assert len(cache) == 30
        assert "30 of its replies could be read" in said
        assert (tmp_path / "c.sqlite.damaged1").read_bytes() != data
        path.write_bytes(data[: len(data) * 2 // 3])
        outcome = run(url, items, path)
    assert values(outcome) == expected(items)
    assert 0 < outcome.tally.budget.requests < 60
    assert not list(tmp_path.glob(".salvage*"))


def test_a_file_that_is_no_cache_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes " * 1_000)
    with pytest.raises(DataError, match="not a cache of replies") as caught:
        Cache(path)
    assert "move it away" in caught.value.hint
    assert path.read_text() == "my notes " * 1_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_cache_that_another_program_holds_is_said_to_be_so(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_PATIENCE", 0.2)
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache, sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DataError, match="another program is writing"):
            cache.put(Call("m", "s", "u", {}, 0.0, 1), Reply("x", "stop"))
        other.execute("ROLLBACK")


LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from cxgen.errors import CxgenError
from tests.test_llm import pairs, run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    run(sys.argv[1], pairs(600), Path(sys.argv[2]))
except CxgenError as error:
    sys.exit(f"cxgen: {error.render()}")
"""


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("size", [0, 2_000, 200_000])
def test_a_full_disk_loses_what_was_in_flight_and_is_said_to_be_full(tmp_path, size):
    path, log = tmp_path / "c.sqlite", tmp_path / "log"
    with serving(log=str(log)) as url:
        command = [sys.executable, "-c", LIMITED, url, str(path), str(size)]
        child = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert child.returncode == 1
        assert child.stderr.startswith("cxgen: ")
        assert "c.sqlite: cannot be" in child.stderr
        assert "move it away" not in child.stderr
        outcome = run(url, pairs(600), path)
    assert values(outcome) == expected(pairs(600))
    assert spent(log) <= 60 + 8


# two runs at once


def test_a_second_run_on_the_same_replies_is_refused_at_once(tmp_path):
    path, held = tmp_path / "replies.sqlite", "from cxgen.files import locked; from pathlib import Path; import sys, time\n"
    held += "with locked(Path(sys.argv[1]), 'runs'):\n    print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", held, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(DataError, match="another run is asking"), locked(path, "is asking"):
            pytest.fail("two at once")
        process.kill()
    with locked(path, "is asking"):  # the lock of a dead process holds nobody up
        pass


# batches


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    ("fault", "made"), [("broken-lines", 2), ("made-500", 2), ("made-silence", 2), ("page-once", 2), ("odd-status", 2)]
)
def test_a_faulty_batch_is_neither_waited_for_for_ever_nor_paid_twice(tmp_path, fault, made):
    items, log = pairs(200), tmp_path / "log"

    def backend():
        found = batches(url, tmp_path)
        found._client = found._client.with_options(timeout=2.0)
        return found

    with plain_server(batch=fault, log=str(log)) as url:
        limits = Limits(concurrency=1000, timeout=60.0, tries=4)
        outcome = run(url, items, tmp_path / "c.sqlite", limits, backend=backend)
    assert values(outcome) == expected(items)
    # The second one holds the calls that failed in the first, and those whose line could not be read.
    assert log.read_text().splitlines() == [f"batch batch-{number}" for number in range(made)]


@pytest.mark.server
def test_results_that_cannot_be_read_end_the_run_and_are_collected_by_the_next(tmp_path):
    items, log, limits = pairs(100), tmp_path / "log", Limits(concurrency=1000, timeout=60.0)
    with plain_server(batch="html", log=str(log)) as url, pytest.raises(BackendError, match="results of the batch cannot be read"):
        run(url, items, tmp_path / "c.sqlite", limits, backend=lambda: batches(url, tmp_path))
    assert log.read_text().splitlines() == ["batch batch-0"]
    with Cache(tmp_path / "c.sqlite") as cache:
        assert list(cache.open_batches("m")) == ["batch-0"]


@pytest.mark.slow
@pytest.mark.server
def test_a_batch_whose_making_was_not_heard_of_is_found_before_any_call_is_sent_again(tmp_path):
    """Killed after the server had made the batch, before it said so: all calls wait until the list of batches was looked through."""
    items, log = pairs(200), tmp_path / "log"
    killed = """
import os, sys
from pathlib import Path
from cxgen.llm import Limits
from cxgen.llm.batch import BatchBackend
from tests.test_llm import batches, pairs, run
async def dies(self, file):
    await self._client.batches.create(input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h")
    os._exit(9)
BatchBackend._create = dies
folder = Path(sys.argv[2])
run(sys.argv[1], pairs(200), folder / "c.sqlite", Limits(concurrency=1000), backend=lambda: batches(sys.argv[1], folder))
"""
    with plain_server(log=str(log)) as url:
        command = [sys.executable, "-c", killed, url, str(tmp_path)]
        assert subprocess.run(command, check=False, cwd=ROOT).returncode == 9
        assert log.read_text().splitlines() == ["batch batch-0"]
        outcome = run(url, items, tmp_path / "c.sqlite", Limits(concurrency=1000, timeout=60.0), backend=lambda: batches(url, tmp_path))
    assert values(outcome) == expected(items)
    assert log.read_text().splitlines() == ["batch batch-0", "batch batch-1"]  # the second one for the calls that failed in the first
