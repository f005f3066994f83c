"""Requests in a file, replies from a file: for models behind a chat window, colleagues, recorded runs.

Requests are lines of OpenAI's batch format. A reply is a line of a batch's results, ``{"custom_id": ..., "response": {"status_code": 200,
"body": {...}}}``, or, written by hand, ``{"custom_id": ..., "content": ...}`` with the answer as text or as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cxgen.asking.calls import ENDPOINT, FORMATS, Call, CallError, Reply, reply_in
from cxgen.asking.parse import entries_in
from cxgen.errors import DataError
from cxgen.files import json_lines, write_atomically

_HINT = "a JSON object a line: custom_id, and response (as OpenAI's batches have it) or content"


class Absent:
    """Nobody: what is not among the kept answers has none."""

    async def replies(self, calls: Iterable[Call]) -> AsyncIterator[tuple[Call, Reply | CallError]]:
        """See `Backend.replies`."""
        for call in calls:
            yield call, CallError("nothing of it was answered before")

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
        self._bodies = read_replies(replies)
        self._entries: dict[str, list[tuple[dict[str, Any], str]]] = {}  # what was shown of an item -> what was said of it, by whom
        for system, user in read_requests(requests) if requests else ():
            reply = self._reply(Call((), "", system, user, {}, 0.0, 0))
            shown = {str(item.get("id")): _digest(system, item) for item in items_in(user)}
            for entry in (entries_in(reply.text) or ()) if reply else ():
                if (digest := shown.get(str(entry.get("id")))) is not None:
                    self._entries.setdefault(digest, []).append((entry, reply.model if reply else ""))

    def _reply(self, call: Call) -> Reply | None:
        with suppress(ValueError):
            return reply_in(call, self._bodies.get(custom_id(call.system, call.user)))
        return None

    async def replies(self, calls: Iterable[Call]) -> AsyncIterator[tuple[Call, Reply | CallError]]:
        """See `Backend.replies`."""
        for call in calls:
            yield call, self._reply(call) or self._put_together(call)

    def _put_together(self, call: Call) -> Reply | CallError:
        digests = {str(item["id"]): _digest(call.system, item) for item in items_in(call.user)}
        results = [({**entry, "id": name}, model) for name, digest in digests.items() for entry, model in self._entries.get(digest, ())]
        if not results:
            return CallError("no reply in the file")
        return Reply(json.dumps({"answers": [entry for entry, _ in results]}), "stop", results[0][1])

    async def close(self) -> None:
        """See `Backend.close`."""


def items_in(user: str) -> list[dict[str, Any]]:
    """The items that a user message shows; see `Prompt.user`."""
    results = []
    for line in user.splitlines():
        with suppress(ValueError, RecursionError):
            item = json.loads(line) if line.startswith("{") else None
            results += [item] if isinstance(item, dict) else []
    return results


def _digest(system: str, item: Mapping[str, Any]) -> str:
    return custom_id(system, json.dumps({name: text for name, text in item.items() if name != "id"}, sort_keys=True))


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
            "body": call.body(FORMATS[0], frozenset({"logprobs"})),
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
    results = []
    for number, line in json_lines(path):
        try:
            messages = {message["role"]: message["content"] for message in line["body"]["messages"]}
            results.append((str(messages["system"]), str(messages["user"])))
        except (KeyError, TypeError) as error:
            raise DataError("not a request with a system and a user message", file=path, line=number) from error
    return results


def read_replies(path: Path) -> dict[str, Any]:
    """Custom id -> chat completion.

    Raises:
        DataError: there is no such file, a line is no reply, or two lines answer one request; with the line.
    """
    results: dict[str, Any] = {}
    for number, line in json_lines(path, _HINT):
        name, content, response = line.get("custom_id"), line.get("content"), line.get("response")
        if not isinstance(name, str) or ("content" in line) == ("response" in line):
            raise DataError("not a reply", file=path, line=number, hint=_HINT)
        if name in results:
            raise DataError(f"a second reply to the request {name}", file=path, line=number, hint="keep one of them")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        own = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": line.get("model")}
        results[name] = own if "content" in line else response.get("body") if isinstance(response, dict) else None
    return results
