"""Requests in a file, replies from a file: for models behind a chat window, colleagues, recorded runs.

Requests are lines of OpenAI's batch format. A reply is a line of a batch's results, ``{"custom_id": ..., "response": {"status_code": 200,
"body": {...}}}``, or, written by hand, ``{"custom_id": ..., "content": ...}`` with the answer as text or as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from cxgen.errors import DataError
from cxgen.files import read_text, write_atomically
from cxgen.llm.completion import result_of
from cxgen.llm.messages import Call, CallError, Reply
from cxgen.llm.parse import entries_in
from cxgen.llm.request import ENDPOINT, FORMATS, body

MISSING: Final = "no reply in the file"
_HINT = "a JSON object a line: custom_id, and response (as OpenAI's batches have it) or content"


class Absent:
    """Nobody: what is not among the kept replies has none."""

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`."""
        raise CallError("nothing of it was answered before")

    async def close(self) -> None:
        """See `Backend.close`."""


class FileBackend:
    """Answers calls from a file of replies: item by item, in whatever company each was answered.

    Args:
        replies: the file of replies.
        requests: the file of the requests that they answer; None: the requests were the calls that are sent.

    Raises:
        DataError: a file is missing, or a line of it is no reply or request; with the line.
    """

    def __init__(self, replies: Path, requests: Path | None = None) -> None:
        self._replies = read_replies(replies)
        self._said: dict[str, list[dict[str, Any]]] = {}
        self._models: dict[str, str] = {}
        for system, user in read_requests(requests) if requests else ():
            self._note(system, user)

    def _note(self, system: str, user: str) -> None:
        """Keep what was said of each item of a request under what was shown of it."""
        result = self._replies.get(custom_id(system, user))
        if result is None:
            return
        shown = {str(item.get("id")): _digest(system, item) for item in items_in(user)}
        text, model = _text(result)
        for entry in entries_in(text):
            name = entry.get("id")
            if isinstance(name, str) and name in shown:
                self._said.setdefault(shown[name], []).append(entry)
                self._models[shown[name]] = model

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`. A call that is tried again has the same reply."""
        result = self._replies.get(custom_id(call.system, call.user))
        if result is not None:
            return result_of(call, result)
        digests = {str(item["id"]): _digest(call.system, item) for item in items_in(call.user)}
        answers = [{**entry, "id": name} for name, digest in digests.items() for entry in self._said.get(digest, ())]
        if not answers:
            raise CallError(MISSING)
        model = next((self._models[digest] for digest in digests.values() if digest in self._models), "")
        return result_of(call, _result({"content": {"answers": answers}, "model": model}))

    async def close(self) -> None:
        """See `Backend.close`."""


def items_in(user: str) -> list[dict[str, Any]]:
    """The items that a user message shows; see `Prompt.user`."""
    found = []
    for line in user.splitlines():
        with suppress(ValueError, RecursionError):
            item = json.loads(line) if line.startswith("{") else None
            if isinstance(item, dict):
                found.append(item)
    return found


def _digest(system: str, item: Mapping[str, Any]) -> str:
    shown = {name: text for name, text in item.items() if name != "id"}
    return hashlib.sha256(json.dumps([system, shown], sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _text(result: Any) -> tuple[str, str]:
    """(message, model) of a result; empty where it has none."""
    try:
        data = result["response"]["body"]
        text = data["choices"][0]["message"]["content"]
    except (KeyError, TypeError, IndexError):
        return "", ""
    model = data.get("model")
    return text if isinstance(text, str) else "", model if isinstance(model, str) else ""


def custom_id(system: str, user: str) -> str:
    """The name of a request: a digest of its messages, whoever is to answer it."""
    return hashlib.sha256(json.dumps([system, user], ensure_ascii=False).encode()).hexdigest()[:32]


def write_requests(calls: Iterable[Call], path: Path) -> int:
    """Write ``calls`` to ``path``, one a line; how many."""
    lines = [
        {
            "custom_id": custom_id(call.system, call.user),
            "method": "POST",
            "url": ENDPOINT,
            "body": body(call, FORMATS[0], frozenset({"logprobs"})),
        }
        for call in calls
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    return len(lines)


def read_requests(path: Path) -> list[tuple[str, str]]:
    """(system message, user message) of every request in ``path``.

    Raises:
        DataError: there is no such file, or a line is no request; with the line.
    """
    found = []
    for number, line in _lines(path):
        try:
            messages = {message["role"]: message["content"] for message in line["body"]["messages"]}
            system, user = messages["system"], messages["user"]
        except (KeyError, TypeError) as error:
            raise DataError("not a request with a system and a user message", file=path, line=number) from error
        if not isinstance(system, str) or not isinstance(user, str):
            raise DataError("a message that is no text", file=path, line=number)
        found.append((system, user))
    return found


def read_replies(path: Path) -> dict[str, Any]:
    """Custom id -> result, as OpenAI's batches have it.

    Raises:
        DataError: there is no such file, a line is no reply, or two lines answer one request; with the line.
    """
    found: dict[str, Any] = {}
    for number, line in _lines(path):
        name = line.get("custom_id")
        if not isinstance(name, str) or ("content" in line) == ("response" in line):
            raise DataError("not a reply", file=path, line=number, hint=_HINT)
        if name in found:
            raise DataError(f"a second reply to the request {name}", file=path, line=number, hint="keep one of them")
        found[name] = _result(line)
    return found


def _result(line: Mapping[str, Any]) -> Any:
    if "response" in line:
        return line
    content = line["content"]
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    model = line.get("model")
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": model if isinstance(model, str) else ""}
    return {"response": {"status_code": 200, "body": message}}


def _lines(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    for number, text in enumerate(read_text(path, _HINT).split("\n"), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError("not a JSON object", file=path, line=number, hint=_HINT) from error
        if not isinstance(line, dict):
            raise DataError("not a JSON object", file=path, line=number, hint=_HINT)
        yield number, line
