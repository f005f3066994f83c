"""The local form: a real server on loopback, several annotators, kills, strangers."""

import http.client
import json
import os
import re
import resource
import signal
import subprocess
import threading
from contextlib import contextmanager

import polars as pl
import pytest

from cxgen.build.tables import dataset
from cxgen.errors import DataError
from cxgen.project import Project
from cxgen.report.reading import items_read
from cxgen.review.answers import read_answers
from cxgen.review.form import Server
from cxgen.review.sample import KEYS, Design, sample, write_key
from tests.conftest import COMMAND

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def drawn(mini_dataset):
    items = items_read(dataset(Project(mini_dataset), "nli"))
    return sample(items, Design(sets=3, sentences=2, lists=2, checks=1))


@pytest.fixture
def folder(drawn, tmp_path):
    write_key(drawn, tmp_path)
    return tmp_path


@contextmanager
def serving(folder, *names):
    with Server(folder, "127.0.0.1", 0, names) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def ask(port, method, path, body=None, headers=None, host=None):
    """Status, headers, body."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    text = body if isinstance(body, str) else None if body is None else json.dumps(body)
    sent = {**(JSON if body is not None else {}), **({"Host": host} if host else {}), **(headers or {})}
    try:
        link.request(method, path, text, sent)
        reply = link.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read().decode()
    finally:
        link.close()


def start(port, reader):
    return json.loads(ask(port, "POST", "/start", {"reader": reader})[2])


def answer(port, reader, code, given, note=""):
    return ask(port, "POST", "/answer", {"reader": reader, "id": code, "answer": given, "note": note})


def lines(folder, reader):
    return [json.loads(line) for line in (folder / f"answers/{reader}.jsonl").read_text().splitlines()]


def test_answers_are_on_the_disk_before_they_are_acknowledged_and_survive_the_server(folder, drawn, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with serving(folder) as port:
        shown = start(port, "anna")
        codes = [row["id"] for task in shown["tasks"] for row in task["rows"]]
        assert codes == drawn.filter(pl.col("list") == 1)["code"].to_list()
        assert shown["answers"] == {}
        before = len(synced)
        assert answer(port, "anna", codes[0], "E", " odd\u00ad \n one\u200d ")[0] == 200  # what nobody sees is no reason to lose an answer
        assert len(synced) == before + 1
        assert answer(port, "anna", codes[1], "N")[0] == 200
        assert answer(port, "anna", codes[0], "C", "odd")[0] == 200  # changed
    path = folder / "answers/anna.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"reader": "anna", "id": "0123')  # of a killed server, which acknowledged no such answer
    with serving(folder) as port:  # another day
        again = start(port, "anna")
        assert answer(port, "anna", codes[1], "N")[0] == 200
    assert path.read_bytes().startswith(whole + b'{"reader": "anna", "id": "0123\n{"reader": "anna", "id": "')
    assert again["answers"] == {codes[0]: {"answer": "C", "note": "odd"}, codes[1]: {"answer": "N", "note": ""}}
    assert again["list"] == 1
    assert json.loads(whole.splitlines()[1])["note"] == "odd one"
    got = read_answers([path], drawn)
    assert dict(got.select("code", "answer").iter_rows()) == {codes[0]: "C", codes[1]: "N"}


def test_a_full_disk_keeps_nothing_of_an_answer_and_loses_none_that_comes_later(folder, drawn):
    code, path = drawn.filter(list=1, task="labels")["code"][0], folder / "answers/anna.jsonl"
    with Server(folder, "127.0.0.1", 0) as server:
        server.start("anna")
        before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 40, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                server.answer("anna", code, "E", "while the disk is full")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        server.answer("anna", code, "N", "")
    assert [row.get("answer") for row in lines(folder, "anna")] == [None, "N"]
    path.write_bytes(path.read_bytes()[:-20] + b"\xff" + path.read_bytes())  # as earlier versions glued lines: what is whole is read
    with serving(folder) as port:
        assert start(port, "anna")["answers"][code]["answer"] == "N"
    assert read_answers([path], drawn)["answer"].to_list() == ["N"]
    assert {file.stat().st_mode & 0o777 for file in (path, folder / "key.parquet")} == {0o600}


def test_lines_that_are_of_no_review_lock_nobody_out(folder, drawn):
    code = drawn.filter(list=1, task="labels")["code"][0]
    rows = [
        {"list": 99},
        {"list": "1"},
        {"id": code},
        {"id": ["x"], "answer": "E", "note": ""},
        {"id": "of another", "answer": "E", "note": ""},
    ]
    (folder / "answers").mkdir()
    (folder / "answers/anna.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(folder) as port:
        assert (start(port, "anna")["list"], start(port, "anna")["answers"]) == (1, {})
        assert answer(port, "anna", code, "E")[0] == 200


def test_who_has_filled_in_a_list_by_hand_gets_that_list(folder, drawn):
    own = drawn.filter(list=2, task="labels")["code"]
    (folder / "answers").mkdir()
    (folder / "answers/anna.jsonl").write_text("".join(json.dumps({"id": code, "answer": "E", "note": ""}) + "\n" for code in own[:2]))
    with serving(folder) as port:
        assert (start(port, "anna")["list"], [*start(port, "anna")["answers"]]) == (2, own[:2].to_list())
        assert answer(port, "anna", own[0], "N")[0] == 200
    assert read_answers([folder / "answers/anna.jsonl"], drawn)["answer"].to_list() == ["E", "N"]


def test_annotators_are_spread_over_the_lists_and_at_once(folder):
    with serving(folder) as port:
        assert [start(port, name)["list"] for name in ("a", "b", "c", "d", "a")] == [1, 2, 1, 2, 1]
        status, _, refused = ask(port, "POST", "/start", {"reader": "A"})  # whose file is that of a where capitals are not told apart
        assert (status, json.loads(refused)["error"]) == (400, "a answers here: write the name so, or take another")

        def work(name):
            for row in start(port, name)["tasks"][0]["rows"][:5]:
                assert answer(port, name, row["id"], "E")[0] == 200

        threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "a")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(lines(folder, "a")), len(lines(folder, "b"))) == (1 + 10, 1 + 5)


@pytest.mark.parametrize(
    ("path", "body", "headers", "host", "status"),
    [
        ("/start", {"reader": "anna"}, {}, "evil.example:80", 403),  # another name for this address
        ("/start", {"reader": "anna"}, {"Origin": "http://evil.example"}, None, 403),
        ("/start", {"reader": "anna"}, {"Content-Type": "text/plain"}, None, 415),  # what a page may send without being asked
        ("/start", {"reader": "../x"}, {}, None, 400),
        ("/start", {}, {}, None, 400),
        ("/start", "{", {}, None, 400),
        ("/start", "x" * 20_000, {}, None, 413),
        ("/start", {"reader": "anna"}, {"Content-Length": "9" * 4500}, None, 413),
        ("/start", {"reader": "anna"}, {"Content-Length": "100"}, None, 408),  # and no more comes
        ("/answer", {"reader": "anna", "id": "CODE", "answer": "5", "note": ""}, {}, None, 400),  # a rating of a pair
        ("/answer", {"reader": "anna", "id": "OTHER", "answer": "E", "note": ""}, {}, None, 400),  # of another list
        ("/answer", {"reader": "anna", "id": "CODE", "answer": "E", "note": "x" * 501}, {}, None, 400),
    ],
)
def test_what_is_no_answer_or_comes_from_strangers_is_refused_and_kept_nowhere(
    folder, drawn, monkeypatch, path, body, headers, host, status
):
    monkeypatch.setattr("cxgen.review.form._Handler.timeout", 1)
    pairs = drawn.filter(pl.col("task") == "labels")
    codes = {name: pairs.filter(pl.col("list") == number)["code"][0] for name, number in (("CODE", 1), ("OTHER", 2))}
    with serving(folder) as port:
        if isinstance(body, dict) and "id" in body:
            start(port, "anna")
            body = {**body, "id": codes[body["id"]]}
        got, _, text = ask(port, "POST", path, body, headers, host)
    assert got == status
    assert json.loads(text)["error"]
    assert not [line for file in (folder / "answers").iterdir() for line in lines(folder, file.stem) if "id" in line]


def test_a_review_is_served_by_one_process_under_the_names_that_are_allowed(folder):
    with serving(folder, "desk.example") as port:
        assert ask(port, "GET", "/", host=f"desk.example:{port}")[0] == 200
        assert ask(port, "GET", "/", host="desk.example")[0] == 403
        assert ask(port, "GET", "/x")[0] == 404
        with pytest.raises(DataError, match="another run serves this review"):
            Server(folder, "127.0.0.1", 0)
    with pytest.raises(DataError, match="cannot listen on nowhere"):
        Server(folder, "nowhere.invalid", 0)


def test_the_page_stands_alone_and_nothing_sent_tells_a_label(folder, drawn):
    with serving(folder) as port:
        status, headers, page = ask(port, "GET", "/")
        rows = ask(port, "POST", "/start", {"reader": "anna"})[2]
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; connect-src 'self'")
    assert not re.search(r"""https?://|@import|url\(|innerHTML|(?:src|href|action)=""", page)
    secret = {*drawn["item"].drop_nulls(), *drawn["contrast_set"].drop_nulls()}
    assert not any(name in page + rows for name in secret)
    assert "right" not in rows.replace("right?", "")
    tasks = json.loads(re.search(r"const TASKS = (.*);", page)[1])
    assert {name: [choice["key"] for choice in task["choices"]] for name, task in tasks.items()} == KEYS
    assert all("checks" not in task for task in tasks.values())


@pytest.mark.slow
def test_the_command_serves_until_ctrl_c(folder):
    process = subprocess.Popen([*COMMAND, "review", "serve", str(folder), "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stderr.readline())
        assert start(int(url[1]), "anna")["list"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    finally:
        process.kill()
    assert lines(folder, "anna")[0]["list"] == 1
