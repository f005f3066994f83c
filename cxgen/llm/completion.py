"""From the bytes that a server sent to a `Reply`: bounded, cleaned, without the key. Whatever they are, the worst is a `ValueError`."""

from __future__ import annotations

import json
import math
from typing import Any

from cxgen.llm.keys import redacted
from cxgen.llm.messages import MOST_TOKENS, Call, CallError, Reply

_BODY, _BODY_TOKEN = 2**20, 1_024  # bytes of a body: a token of the reply comes with its log probability
_TEXT, _TEXT_TOKEN = 100_000, 16  # characters of a text, thoughts included
_NAME, _SENTENCE = 200, 1_000


def reply_of(call: Call, body: bytes, request_id: str = "", without: tuple[str, ...] = ()) -> Reply:
    """A chat completion as a reply. A text that is longer than it may be is cut, and says so (``finish``).

    Args:
        call: the request.
        body: what the server sent.
        request_id: the header's; else the completion's own id.
        without: parameters of ``call`` that were not sent.

    Raises:
        ValueError: it is no chat completion with one choice, or too large.
    """
    if len(body) > body_limit(call):
        raise ValueError("too large")
    return reply_in(call, decoded(body), request_id, without)


def reply_in(call: Call, data: Any, request_id: str = "", without: tuple[str, ...] = ()) -> Reply:
    """As `reply_of`, of JSON that was decoded already."""
    try:
        (choice,) = data["choices"]
        message = choice["message"]
        content = _content(message.get("content"))
        text, most = _clean(content), _TEXT + _TEXT_TOKEN * call.max_tokens
        tokens_in, tokens_out = _usage(data, (call.tokens, len(content) // 4))
        return Reply(
            text=text[:most],
            finish="length" if len(text) > most else _clean(choice.get("finish_reason"), _NAME),
            refusal=_clean(message.get("refusal"), _SENTENCE),
            model=_clean(data.get("model"), _NAME),
            fingerprint=_clean(data.get("system_fingerprint"), _NAME),
            request_id=_clean(request_id or data.get("id"), _NAME),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            logprobs=_logprobs(choice),
            without=without,
        )
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no chat completion") from error


def result_of(call: Call, result: Any) -> Reply:
    """The reply in a line of a batch's results.

    Raises:
        CallError: there is none in it.
    """
    response = result.get("response") if isinstance(result, dict) else None
    said = response if isinstance(response, dict) else {}
    status = said.get("status_code")
    if status == 200:
        try:
            return reply_in(call, said.get("body"), str(said.get("request_id") or ""))
        except ValueError:
            raise CallError("the server's answer is no chat completion", retry=True, tokens=call.most) from None
    if not isinstance(status, int) or status in {0, 408, 409, 425, 429} or status >= 500:
        raise CallError(f"failed in the batch ({status if isinstance(status, int) else 'no response'})", retry=True)
    raise CallError(f"the server refuses the request ({status})")


def decoded(body: bytes) -> Any:
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


def body_limit(call: Call) -> int:
    """Bytes of a reply to ``call`` at most."""
    return _BODY + _BODY_TOKEN * call.max_tokens


def billed(call: Call, body: bytes) -> tuple[int, int]:
    """Tokens of prompt and reply in a body that is of no use otherwise; the most that ``call`` may cost, where it does not say."""
    try:
        data = decoded(body) if len(body) <= body_limit(call) else None
    except ValueError:
        data = None
    return _usage(data, call.most)


def _usage(data: Any, estimate: tuple[int, int]) -> tuple[int, int]:
    usage = data.get("usage") if isinstance(data, dict) else None
    said = usage if isinstance(usage, dict) else {}
    return _count(said.get("prompt_tokens"), estimate[0]), _count(said.get("completion_tokens"), estimate[1])


def _count(said: Any, estimate: int) -> int:
    good = isinstance(said, int | float) and not isinstance(said, bool) and 0 < said <= MOST_TOKENS
    return int(said) if good else estimate


def _content(content: Any) -> str:
    """The text of a message; of several parts, those that are text (others are thoughts)."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _clean(said: Any, most: int | None = None) -> str:
    """``said`` as a text that can be stored (a surrogate without its other half cannot), without the key, ``most`` characters of it."""
    if said is None:
        return ""
    if not isinstance(said, str | int | float):
        raise TypeError
    return redacted(_storable(str(said)))[:most]


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _logprobs(choice: Any) -> tuple[tuple[str, float], ...]:
    """(token, log probability); nothing where anything in it is odd, or the tokens together quote the key."""
    try:
        tokens = [(_storable(token["token"]), float(token["logprob"])) for token in choice["logprobs"]["content"]]
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return ()
    text = "".join(token for token, _ in tokens)
    return tuple(tokens) if redacted(text) == text and all(math.isfinite(logprob) for _, logprob in tokens) else ()
