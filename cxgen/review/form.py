"""The local form: one page, two calls, answered to its own page only. An answer is a line on the disk before the page hears of it."""

import json
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

from cxgen.errors import DataError
from cxgen.files import append_lines, json_lines, locked, visible
from cxgen.review.sample import ANSWERS, GENERAL, KEYS, TASKS, read_key
from cxgen.review.sheets import ANSWER, NOTE, rows_shown

_MOST_NOTE = 500  # characters
_MOST_BODY = 16_384
_SECONDS = 12  # that a row takes; a guess until readers say otherwise
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Server(ThreadingHTTPServer):
    """The form of the review in ``folder`` over HTTP, which browsers may address by ``host``, loopback and ``names``; ``port`` 0: any that
    is free. DataError where there is no key, a file of answers is none, or another process serves this review."""

    daemon_threads = True

    def __init__(self, folder: Path, host: str, port: int, names: Sequence[str] = ()) -> None:
        self._held, self._lock, self._folder = ExitStack(), threading.Lock(), folder / ANSWERS
        self._key = read_key(folder)
        self._held.enter_context(locked(self._folder, "serves this review"))
        self._rows = {code: (number, task) for code, number, task in self._key.select("code", "list", "task").iter_rows()}
        self._folder.mkdir(exist_ok=True)
        kept = sorted(self._folder.glob("*.jsonl"))
        hint = "move it away; the form begins a new one"
        self._lines = {path.stem: [row for _, row in json_lines(path, hint, torn=True) if self._is_ours(row)] for path in kept}
        tasks = {name: {**task, "advice": task["advice"] + GENERAL} for name, task in TASKS.items()}
        script = json.dumps(tasks, ensure_ascii=False).replace("<", "\\u003c")
        rows = max(Counter(self._key["list"]).values())
        said = {"tasks": script, "rows": f"{rows:,} rows", "time": _duration(rows * _SECONDS)}
        page = (files("cxgen.review") / "page.html").read_text("utf-8")
        self.page = re.sub(r"{{(\w+)}}", lambda name: said[name[1]], page).encode()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise DataError(f"cannot listen on {host}:{port}: {error.strerror}", hint="give another --port, or --host") from error
        self.url = f"http://{host}:{self.server_port}/"
        self.allowed = {f"{name}:{self.server_port}".lower() for name in ("127.0.0.1", "localhost", "[::1]", host, *names)}

    def _is_ours(self, row: dict[str, Any]) -> bool:
        """Whether a line is a list of this review that somebody has begun, or an answer to a row of it."""
        if "list" in row:
            return row["list"] in self._key["list"].to_list()
        return all(isinstance(row.get(name), str) for name in ("id", ANSWER, NOTE)) and row["id"] in self._rows

    def start(self, reader: str) -> dict[str, Any]:
        """What a reader sees: ``list`` (a new one gets that which the fewest have); ``tasks``: ``name`` and ``rows`` (``id`` and texts);
        ``answers``: row id -> ``answer, note``."""
        with self._lock:
            number, lines = self._list(reader), list(self._lines[reader])
        own = self._key.filter(list=number).group_by("task", maintain_order=True)
        tasks = [{"name": task, "rows": rows_shown(rows, str(task))} for (task,), rows in own]
        answers = {row["id"]: {ANSWER: row[ANSWER], NOTE: row[NOTE]} for row in lines if "id" in row}
        return {"list": number, "tasks": tasks, "answers": answers}

    def answer(self, reader: str, code: str, given: str, note: str) -> dict[str, Any]:
        """Keep an answer; an empty one takes an earlier one back."""
        with self._lock:
            number, task = self._rows.get(code, (0, ""))
            if self._list(reader) != number:
                raise DataError("no row of this list")
            if given and given not in KEYS[task]:
                raise DataError("no answer to this question")
            if len(note) > _MOST_NOTE:
                raise DataError(f"a note of more than {_MOST_NOTE} characters")
            self._add(reader, **{"id": code, ANSWER: given, NOTE: note})
        return {"saved": True}

    def _list(self, reader: str) -> int:
        """The number of the reader's list; who has none begins one."""
        if not _NAME.fullmatch(reader):
            raise DataError("not a name: letters, digits, - and _, at most 40")
        numbers: dict[str, int] = {name: row.get("list") or self._rows[row["id"]][0] for name, rows in self._lines.items() for row in rows}
        if reader not in numbers:
            if others := [name for name in self._lines if name != reader and name.lower() == reader.lower()]:  # one file to some systems
                raise DataError(f"{others[0]} answers here: write the name so, or take another")
            taken = Counter(numbers.values())
            numbers[reader] = min(self._key["list"].unique().sort(), key=lambda number: (taken[number], number))
            self._add(reader, list=numbers[reader])
        return numbers[reader]

    def _add(self, reader: str, **row: Any) -> None:
        line = {"reader": reader, **row, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        append_lines(self._folder / f"{reader}.jsonl", line)
        self._lines.setdefault(reader, []).append(line)

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
    timeout = 30  # seconds for a request to come

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
        elif not re.fullmatch("[0-9]{1,9}", size) or int(size) > _MOST_BODY:
            self._refuse(413, f"expected at most {_MOST_BODY} bytes")
        else:
            try:
                texts = {name: visible(value + "") for name, value in json.loads(self.rfile.read(int(size))).items()}
                if self.path == "/start":
                    self._send(200, self.server.start(texts["reader"]))
                else:
                    self._send(200, self.server.answer(texts["reader"], texts["id"], texts[ANSWER], texts[NOTE]))
            except DataError as error:
                self._refuse(400, error.message)
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
                self._refuse(400, "not such a request")
            except TimeoutError:
                self._refuse(408, "the request did not come whole")
            except OSError as error:
                self._refuse(507, f"not saved: {error.strerror}")

    def _ours(self) -> bool:
        """Whether the request is addressed to this server and comes from its page, or from no page; others are refused."""
        host, origin = (self.headers.get(name, "").lower() for name in ("Host", "Origin"))
        good = host in self.server.allowed and origin in {"", f"http://{host}"}
        if not good:
            self._refuse(403, "not addressed to this server; --name NAME lets it be called NAME")
        return good

    def _refuse(self, status: int, why: str) -> None:
        self._send(status, {"error": why})

    def _send(self, status: int, reply: bytes | dict[str, Any], kind: str = "application/json") -> None:
        body = reply if isinstance(reply, bytes) else json.dumps(reply, ensure_ascii=False).encode()
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: names would stand in it."""


def _duration(seconds: int) -> str:
    """In words: minutes below an hour and a half, then half hours."""
    return f"{max(round(seconds / 60), 1)} minutes" if seconds < 5400 else f"{round(seconds / 1800) / 2:g} hours"
