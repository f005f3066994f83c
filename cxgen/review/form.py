"""The local form: one page, two calls. Every answer is a line on the disk before the page hears that it is saved.

It listens on loopback unless told otherwise, and answers its own page only (Host, Origin, type of the request).
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.files import json_lines, locked
from cxgen.review.sample import ANSWERS, read_key
from cxgen.review.sheets import ANSWER, NOTE, rows_shown
from cxgen.review.tasks import GENERAL, TASKS

MOST_NOTE = 500  # characters
_MOST_BODY = 16_384
_SECONDS = 30  # for a request to come
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Form:
    """What the form does, apart from HTTP: annotators get lists, rows and their earlier answers, and leave answers.

    Args:
        folder: of the review.

    Raises:
        DataError: there is no key, or a file of answers is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._key = read_key(folder)
        self._rows = {code: (number, task) for code, number, task in self._key.select("code", "list", "task").iter_rows()}
        self._folder = folder / ANSWERS
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._lines = {path.stem: _read(path) for path in sorted(self._folder.glob("*.jsonl"))}

    def start(self, reader: str) -> dict[str, Any]:
        """What a reader sees; a new one gets the list that the fewest have.

        Returns:
            ``list``; ``tasks``, each with ``name`` and its ``rows`` (``id`` and texts); ``answers``: row id -> ``answer, note``.

        Raises:
            DataError: not a name.
        """
        with self._lock:
            number = self._list(reader)
            lines = list(self._lines[reader])
        own = self._key.filter(pl.col("list") == number)
        parts = ((name, task, own.filter(pl.col("task") == name)) for name, task in TASKS.items())
        tasks = [{"name": name, "rows": rows_shown(rows, task)} for name, task, rows in parts if rows.height]
        answers = {row["id"]: {ANSWER: row[ANSWER], NOTE: row[NOTE]} for row in lines if row.get("id") in self._rows}
        return {"list": number, "tasks": tasks, "answers": answers}

    def answer(self, reader: str, code: str, given: str, note: str) -> None:
        """Keep an answer; an empty one takes an earlier one back.

        Raises:
            DataError: it is none, or the row is not of the reader's list.
        """
        with self._lock:
            number, task = self._rows.get(code, (0, ""))
            if self._list(reader) != number:
                raise DataError("no row of this list")
            if given and given not in TASKS[task].keys:
                raise DataError("no answer to this question")
            if len(note) > MOST_NOTE:
                raise DataError(f"a note of more than {MOST_NOTE} characters")
            self._add(reader, **{"id": code, ANSWER: given, NOTE: note})

    def _list(self, reader: str) -> int:
        """The number of the reader's list; who has none begins one."""
        if not _NAME.fullmatch(reader):
            raise DataError("not a name: letters, digits, - and _, at most 40")
        numbers = {name: next((row["list"] for row in rows if "list" in row), None) for name, rows in self._lines.items()}
        number = numbers.get(reader)
        if number is None:
            taken = Counter(numbers.values())
            number = min(self._key["list"].unique().sort(), key=lambda candidate: (taken[candidate], candidate))
            self._add(reader, list=number)
        return int(number)

    def _add(self, reader: str, **row: Any) -> None:
        line = {"reader": reader, **row, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        with (self._folder / f"{reader}.jsonl").open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._lines.setdefault(reader, []).append(line)


def _read(path: Path) -> list[dict[str, Any]]:
    """The lines of a reader; what a killed form left of a line was never acknowledged, and is cut off."""
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):
        sys.stderr.write(f"warning: {path}: half a line at the end is cut off\n")
        os.truncate(path, whole)
    return [row for _, row in json_lines(path, "move it away; the form begins a new one")]


def page() -> str:
    """The page: one file, nothing loaded from elsewhere."""
    tasks = {
        name: {
            "question": task.question,
            "texts": task.texts,
            "advice": [*task.advice, *GENERAL],
            "choices": [{"key": choice.key, "name": choice.name, "meaning": choice.meaning} for choice in task.choices],
        }
        for name, task in TASKS.items()
    }
    data = json.dumps(tasks, ensure_ascii=False).replace("<", "\\u003c")
    return files("cxgen.review").joinpath("page.html").read_text("utf-8").replace("{{tasks}}", data)


class Server(ThreadingHTTPServer):
    """The form of the review in ``folder`` over HTTP.

    Args:
        folder: with the key of a review.
        host: address to listen on.
        port: 0: any that is free.
        names: under which the machine may be addressed, besides ``host`` and loopback.

    Raises:
        DataError: there is no key, or another process serves this review.
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, folder: Path, host: str, port: int, names: Sequence[str] = ()) -> None:
        self._held = ExitStack()
        self._held.enter_context(locked(folder / ANSWERS, "serves this review"))
        self.form, self.host, self.page = Form(folder), host, page().encode()
        super().__init__((host, port), _Handler)
        self.allowed = {f"{name}:{self.server_port}".lower() for name in (*_LOCAL, host, *names)}

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self.host}:{self.server_port}/"

    def server_close(self) -> None:
        """Stop listening, and let others serve the review."""
        super().server_close()
        self._held.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that hang up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _SECONDS
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self._ours():
            if self.path == "/":
                self._send(200, self.server.page, "text/html; charset=utf-8")
            else:
                self._refuse(404, "there is only one page: /")

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not self._ours():
            return
        if self.path not in {"/start", "/answer"}:
            self._refuse(404, "no such call")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(415, "expected application/json")
        elif not (size.isascii() and size.isdigit()) or int(size) > _MOST_BODY:
            self._refuse(413, f"expected at most {_MOST_BODY} bytes")
        else:
            try:
                self._send(200, json.dumps(self._call(json.loads(self.rfile.read(int(size)))), ensure_ascii=False).encode())
            except DataError as error:
                self._refuse(400, error.message)
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
                self._refuse(400, "not such a request")
            except OSError as error:
                self._refuse(507, f"not saved: {error.strerror}")

    def _call(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.path == "/start":
            return self.server.form.start(_text(body["reader"]))
        self.server.form.answer(*(_text(body[name]) for name in ("reader", "id", ANSWER, NOTE)))
        return {"saved": True}

    def _ours(self) -> bool:
        """Whether the request is addressed to this server and comes from its page, or from no page."""
        host, origin = (self.headers.get(name, "").lower() for name in ("Host", "Origin"))
        good = host in self.server.allowed and origin in {"", f"http://{host}"}
        if not good:
            self._refuse(403, "not addressed to this server; --name NAME lets it be called NAME")
        return good

    def _refuse(self, status: int, why: str) -> None:
        self.close_connection = True  # what is left of the request is not read
        self._send(status, json.dumps({"error": why}, ensure_ascii=False).encode())

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        closing = {"Connection": "close"} if self.close_connection else {}
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body)), **closing}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: names would stand in it."""


def _text(value: Any) -> str:
    """A text in one line that can be kept: no half of a surrogate pair, no control character."""
    text = " ".join(value.split())
    text.encode()
    if not text.isprintable():
        raise ValueError
    return text
