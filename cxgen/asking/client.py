"""Any OpenAI-compatible server, through the openai client, whose retries, waits and time limits are used.

Every try passes through `Bounded.send`, which keeps rates and budget, and reads no more of an answer than was asked for.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from aiolimiter import AsyncLimiter

from cxgen.asking.calls import FORMATS, KEY, Call, CallError, Reply, estimate, read_json, reply_in, usage
from cxgen.asking.limits import Budget
from cxgen.errors import CxgenError

MOST = 8 * 2**20  # bytes of an answer
_HERE = ("localhost", "127.0.0.1", "::1")
_OPTIONAL = ("logprobs", "temperature", "max_tokens")
_QUOTA = (b"insufficient_quota", b"billing_hard_limit_reached", b"billing_not_active")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length")
_UNBILLED = (500, 503, 529)  # of the server errors; a gateway's say nothing of what the model behind it did
_NONE = "no whole answer"
_PASSED_ON = ("x-request-id", "retry-after", "retry-after-ms", "date", "x-should-retry")


class OverBudgetError(openai.OpenAIError):
    """A bound that the next try would break; not retried, as it is an error of the client's own kind."""


class Bounded(openai.DefaultAsyncHttpxClient):
    """Sends every try of the openai client within the limits.

    Args:
        budget: what is spent, and the limits.
        most: bytes of an answer.
    """

    def __init__(self, budget: Budget, most: int = MOST) -> None:
        super().__init__(follow_redirects=False)  # neither the key nor the items follow to another server
        self._budget, self._limits, self._most = budget, budget.limits, most
        rpm, tpm = self._limits.requests_per_minute, self._limits.tokens_per_minute
        self._requests = AsyncLimiter(1, 60 / rpm) if rpm else None
        self._tokens = AsyncLimiter(tpm / 60, 1) if tpm else None  # a second's worth at a time: servers refuse a minute's at once

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See httpx; a chat completion that is none is an error of the server's, so that it is asked for again.

        Raises:
            OverBudgetError: the budget does not allow it.
            httpx2.RequestError: no whole answer in time.
        """
        chat = request.url.path.endswith("/chat/completions")
        expected = _expected(request) if chat else (0, 0)
        await self._wait(sum(expected))
        if chat and (bound := self._budget.spend(*expected)):
            raise OverBudgetError(bound)
        billed = expected
        try:
            async with asyncio.timeout(self._limits.timeout):
                response = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
                body = await self._read(response)
            status, billed = response.status_code, _billed(response.status_code, body, expected)
        except (TimeoutError, httpx2.TimeoutException):
            self._budget.errors["timed out"] += 1
            raise httpx2.ReadTimeout("timed out", request=request) from None
        except Exception as error:  # headers and encodings, too, can be such that a library stumbles
            billed = (0, 0) if isinstance(error, httpx2.ConnectError) else expected
            self._budget.errors[_NONE] += 1
            raise httpx2.ReadError(_NONE, request=request) from None
        finally:
            if chat:
                self._budget.settle(expected, billed)
        if chat and 200 <= status < 300 and not _is_completion(body):
            status = 502
        headers = {name: response.headers[name] for name in _PASSED_ON if name in response.headers}
        if status == 429 and any(code in body for code in _QUOTA):
            headers["x-should-retry"] = "false"
        if chat and status != 200:
            self._budget.errors[_reason(status)] += 1
        return httpx2.Response(status, headers=headers | {"content-type": "application/json"}, content=body, request=request)

    async def _wait(self, tokens: float) -> None:
        if self._requests:
            await self._requests.acquire()
        while self._tokens and tokens > 0:
            piece = min(tokens, self._tokens.max_rate)
            await self._tokens.acquire(piece)
            tokens -= piece

    async def _read(self, response: httpx2.Response) -> bytes:
        try:
            if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
                raise httpx2.ReadError("packed: a few bytes can become gigabytes", request=response.request)
            body = bytearray()
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > self._most:
                    raise httpx2.ReadError("too large", request=response.request)
            return bytes(body)
        finally:
            await response.aclose()


def _expected(request: httpx2.Request) -> tuple[int, int]:
    """Tokens of prompt and reply that a request may cost."""
    sent = json.loads(request.content)
    return estimate(request.content), int(sent.get("max_tokens") or sent.get("max_completion_tokens") or 0)


def _billed(status: int, body: bytes, expected: tuple[int, int]) -> tuple[int, int]:
    if 200 <= status < 300:
        try:
            return usage(read_json(body), expected)
        except ValueError:
            return expected
    return (0, 0) if (status < 500 and status != 408) or status in _UNBILLED else expected


def _is_completion(body: bytes) -> bool:
    try:
        reply_in(Call((), "", "", "", {}, 0.0, 0), read_json(body))
    except ValueError:
        return False
    return True


def connected(base_url: str | None, budget: Budget, most: int = MOST) -> openai.AsyncOpenAI:
    """A client of the server at ``base_url`` (None: OpenAI's own).

    Raises:
        CxgenError: no API key, one that cannot stand in a header, or no such URL.
    """
    try:
        parts = urlsplit("https://api.openai.com/v1" if base_url is None else base_url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and bool(httpx2.URL(parts.geturl()).host)
    except (ValueError, httpx2.InvalidURL):
        good = False
    if not good:
        raise CxgenError("--base-url is no address of a server", hint="such as http://localhost:8000/v1")
    key = os.environ.get(KEY, "").strip()
    if not key and parts.hostname not in _HERE:
        raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")
    if not (key.isascii() and key.isprintable()):
        raise CxgenError(f"{KEY} is no key: it holds a line break or a character that is not ASCII", hint="copy it again")
    limits = budget.limits
    return openai.AsyncOpenAI(
        api_key=key or "none",
        base_url=base_url,
        max_retries=limits.tries - 1,
        timeout=limits.timeout,
        default_headers={"accept-encoding": "identity"},
        http_client=Bounded(budget, most),
    )


class OpenAIBackend:
    """Chat completions, so many at a time.

    The reply's form is asked for by ``json_schema``; a server that does not know it is asked by ``json_object``, then in words only. What
    else a server or model refuses is left out (log probabilities, a temperature) or called by its other name (the limit of tokens).

    Args:
        base_url: None for OpenAI's own.
        budget: what is spent, and the limits.
        logprobs: whether to ask for log probabilities.

    Raises:
        CxgenError: see `connected`.
    """

    def __init__(self, base_url: str | None, budget: Budget, *, logprobs: bool = True) -> None:
        self._client, self._limits = connected(base_url, budget), budget.limits
        self._format, self._without = 0, frozenset(() if logprobs else ("logprobs",))

    async def replies(self, calls: Iterable[Call]) -> AsyncIterator[tuple[Call, Reply | CallError]]:
        """See `Backend.replies`."""
        left, pending = iter(calls), set[asyncio.Task[tuple[Call, Reply | CallError]]]()
        try:
            while True:
                pending |= {asyncio.create_task(self._answer(call)) for call in islice(left, self._limits.concurrency - len(pending))}
                if not pending:
                    return
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in pending:
                task.cancel()

    async def _answer(self, call: Call) -> tuple[Call, Reply | CallError]:
        try:
            async with asyncio.timeout(self._limits.deadline):
                while True:
                    form, without = self._format, self._without
                    try:
                        return call, await self._send(call, FORMATS[form], without)
                    except openai.APIStatusError as error:
                        if not self._simpler(error, form, without):
                            return call, error_of(error)
        except TimeoutError:
            return call, CallError("the deadline passed")
        except openai.OpenAIError as error:
            return call, error_of(error)

    async def _send(self, call: Call, form: str, without: frozenset[str]) -> Reply:
        raw = await self._client.chat.completions.with_raw_response.create(**call.body(form, without))
        response = raw.http_response
        return reply_in(
            call, read_json(response.content), response.headers.get("x-request-id", ""), temperature="temperature" not in without
        )

    def _simpler(self, error: openai.APIStatusError, form: int, without: frozenset[str]) -> bool:
        """Whether the server refused how it was asked, and can be asked more simply; calls under way may know already."""
        if error.status_code not in {400, 404, 422, 501}:
            return False
        complaint = error.response.text.lower()
        for name in _OPTIONAL:
            if name in complaint and name not in without:
                self._without |= {name}
                return True
        if any(name in complaint for name in ("response_format", *FORMATS[:2])) and form + 1 < len(FORMATS):
            self._format = max(self._format, form + 1)
            return True
        return False

    async def close(self) -> None:
        """See `Backend.close`."""
        await self._client.close()


def error_of(error: openai.OpenAIError) -> CallError:
    """What went wrong, in our words: the server's may quote the key."""
    if isinstance(error, OverBudgetError):
        return CallError(str(error), bound=str(error))
    if not isinstance(error, openai.APIStatusError):
        return CallError("timed out" if isinstance(error, openai.APITimeoutError) else _NONE)
    status, code = error.status_code, str(error.code or "")
    if code.encode() in _QUOTA:
        return CallError(f"the quota is used up ({code})", fatal=True)
    too_long = code in _TOO_LONG or status == 413
    return CallError("the request is too long" if too_long else _reason(status), fatal=status in {401, 403, 404}, too_long=too_long)


def _reason(status: int) -> str:
    if status >= 500 or status == 408:
        return f"server error ({status})"
    other = f"the server refuses the request ({status})"
    known = {404: "the server knows no such model or path (404)", 429: "too many requests (429)"}
    return f"the server refuses the credentials ({status})" if status in {401, 403} else known.get(status, other)
