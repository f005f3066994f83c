"""What goes to a model and what comes back: a call, a reply, or the reason why there is none."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

KEY: Final = "OPENAI_API_KEY"
ENDPOINT: Final = "/v1/chat/completions"
FORMATS: Final = ("json_schema", "json_object", "text")
MOST_TOKENS: Final = 2**31 - 1  # more than anything bills
_SHORT = 6  # shorter keys ("none", "EMPTY") stand for no key, and are words


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        ids: the items that it is about.
        model: the model's name.
        system: the static part, first so that servers can cache it.
        user: the items.
        schema: JSON Schema that the reply should follow.
        temperature: sampling temperature.
        max_tokens: limit of the reply.
        attempt: 0, or how often the same items were answered unusably before.
    """

    ids: tuple[str, ...]
    model: str
    system: str
    user: str
    schema: dict[str, Any] = field(hash=False)
    temperature: float
    max_tokens: int
    attempt: int = 0

    @cached_property
    def key(self) -> str:
        """Content address of what is asked. How the format is asked for is no part of it."""
        parts = [self.model, self.system, self.user, self.schema, self.temperature, self.max_tokens, self.attempt]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def body(self, form: str = FORMATS[0], without: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The request as sent: the reply's ``form`` is one of ``FORMATS``, ``without`` names what this server does not take."""
        sent: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}],
            "temperature": self.temperature,
            "logprobs": True,
            "max_completion_tokens" if "max_tokens" in without else "max_tokens": self.max_tokens,
        }
        if form == "json_schema":
            sent["response_format"] = {"type": form, "json_schema": {"name": "answers", "strict": True, "schema": self.schema}}
        elif form == "json_object":
            sent["response_format"] = {"type": form}
        return {name: value for name, value in sent.items() if name not in without}

    @cached_property
    def most(self) -> tuple[int, int]:
        """Tokens of prompt (an estimate) and reply that it may cost."""
        return estimate(json.dumps(self.body(), ensure_ascii=False).encode()), self.max_tokens


def estimate(sent: bytes) -> int:
    """Tokens of what is sent: four bytes each."""
    return len(sent) // 4 + 16


@dataclass(frozen=True)
class Reply:
    """A server's answer.

    Attributes:
        text: the message; empty if the model refused.
        finish: why the model stopped: ``stop``, ``length``, ``refused`` ...
        model: the model that answered, by its own account.
        fingerprint, request_id: the server's.
        tokens_in, tokens_out: tokens of the prompt and of the reply, as billed; estimates where the server says nothing.
        logprobs: (token, log probability) in order; empty where the server gives none.
        temperature: whether the server took one.
    """

    text: str
    finish: str
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: tuple[tuple[str, float], ...] = ()
    temperature: bool = True


class CallError(Exception):
    """A call that got no reply.

    Args:
        reason: what happened, in a few words and without anything that the server says.
        fatal: whether every other call would fail as well (credentials, quota, unknown model).
        too_long: whether the request has too many tokens, so that a part of it may pass.
        bound: the bound of the budget that kept it from being sent.
    """

    def __init__(self, reason: str, *, fatal: bool = False, too_long: bool = False, bound: str = "") -> None:
        super().__init__(reason)
        self.reason, self.fatal, self.too_long, self.bound = reason, fatal, too_long, bound


class Backend(Protocol):
    """Whatever answers calls."""

    def replies(self, calls: Iterable[Call]) -> AsyncIterator[tuple[Call, Reply | CallError]]:
        """Every call with what came of it, in whatever order."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def clean(said: Any, most: int = 200) -> str:
    """A text of a server's, as it can be stored and shown: on one line, without the key (servers quote what they were sent), bounded."""
    text = said if isinstance(said, str) else str(said) if isinstance(said, int | float) else ""
    text = " ".join(text[: 2 * most].encode("utf-8", "replace").decode().split())
    key = os.environ.get(KEY, "").strip()
    if len(key) >= _SHORT:
        text = re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE)
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:most])


def reply_in(call: Call, data: Any, request_id: str = "", *, temperature: bool = True) -> Reply:
    """A chat completion as a reply.

    Raises:
        ValueError: it is none with one choice.
    """
    try:
        (choice,) = data["choices"]
        message = choice["message"]
        content, finish = message.get("content") or "", choice.get("finish_reason")
        if isinstance(content, list):  # parts, of which others are thoughts
            content = "".join(part["text"] for part in content if part.get("type") == "text")
        content += ""  # no text is no completion
        refused = message.get("refusal") or finish == "content_filter"
        tokens_in, tokens_out = usage(data, (call.most[0], len(content) // 4))
        return Reply(
            "" if refused else content,
            "refused" if refused else clean(finish),
            clean(data.get("model")),
            clean(data.get("system_fingerprint")),
            clean(request_id or data.get("id")),
            tokens_in,
            tokens_out,
            _logprobs(choice),
            temperature,
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("no chat completion") from error


def usage(data: Any, otherwise: tuple[int, int]) -> tuple[int, int]:
    """Tokens of prompt and reply, as billed; where the server does not say, ``otherwise``."""
    found = data.get("usage") if isinstance(data, dict) else None
    said = [found.get(name) if isinstance(found, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    good = [isinstance(count, int | float) and count is not True and 0 < count <= MOST_TOKENS for count in said]
    first, second = (int(count) if fine else other for count, fine, other in zip(said, good, otherwise, strict=True))  # type: ignore[arg-type]
    return first, second


def _logprobs(choice: Any) -> tuple[tuple[str, float], ...]:
    """(token, log probability); nothing where anything in it is odd."""
    try:
        return tuple((str(token["token"]), float(token["logprob"])) for token in choice["logprobs"]["content"])
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return ()


def read_json(body: bytes) -> Any:
    """The JSON in ``body``.

    Raises:
        ValueError: it is none, nests too deep, has numbers of thousands of digits, or says a thing twice, in different ways.
    """
    try:
        return json.loads(body, object_pairs_hook=once)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, if it says everything once.

    Raises:
        ValueError: it says a thing twice, in different ways.
    """
    said = dict(pairs)
    if len(said) < len(pairs) and any(said[key] != value for key, value in pairs):
        raise ValueError("a key with two values")
    return said
