"""Any OpenAI-compatible server, call by call or in OpenAI's batches, through the openai client with its retries, waits and time limits."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Collection
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import httpx2
import openai
from aiolimiter import AsyncLimiter
from openai.types import Batch

from cxgen.asking.calls import ENDPOINT, FORMATS, BackendError, Budget, Call, Failure, Results, most_tokens
from cxgen.asking.kept import Cache
from cxgen.asking.prompts import KEY, Reply, once, reply_in
from cxgen.errors import CxgenError

_MOST, _MOST_RESULTS = 8 * 2**20, 2**30  # bytes of an answer, of a file of results
_HERE = ("localhost", "127.0.0.1", "::1")
_OPTIONAL = ("logprobs", "temperature", "max_tokens")
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length")
_UNBILLED = (500, 503, 529)  # of the server errors; a gateway's say nothing of what the model behind it did
_NONE = "no whole answer"
_REASONS = {404: "the server knows no such model or path (404)", 429: "too many requests (429)"}
_REASONS |= {status: f"the server refuses the credentials ({status})" for status in (401, 403)}
_PASSED_ON = ("retry-after", "retry-after-ms", "date", "x-should-retry")
_ENDED = ("completed", "failed", "expired", "cancelled")
_CALLS = 50_000  # in a batch, OpenAI's limit
_AGAIN = "run the same command again: what was submitted is collected then"


class _OverBudgetError(openai.OpenAIError):
    """A bound that the next try would break; not retried, as it is an error of the client's own kind."""


class _Bounded(openai.DefaultAsyncHttpxClient):
    """Sends every try of the client within rates, budget and time, and reads no more of an answer than can be meant."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(follow_redirects=False)  # neither the key nor the items follow to another server
        self._budget, self._seconds = budget, budget.limits.timeout
        rpm, tpm = budget.limits.requests_per_minute, budget.limits.tokens_per_minute
        self._requests = AsyncLimiter(1, 60 / rpm) if rpm else None
        self._tokens = AsyncLimiter(tpm / 60, 1) if tpm else None  # a second's worth at a time: servers refuse a minute's at once

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See httpx. A chat completion that is none is an error of the server's, so that it is asked for again."""
        chat = request.url.path.endswith("/chat/completions")
        expected = most_tokens(request.content) if chat else (0, 0)
        await self._wait(sum(expected))
        if chat and (bound := self._budget.spend(*expected)):
            raise _OverBudgetError(bound)
        billed, reply = expected, None
        try:
            async with asyncio.timeout(self._seconds):
                response = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
                body = await _read(response, _MOST if chat else _MOST_RESULTS)
        except (TimeoutError, httpx2.TimeoutException):
            self._budget.errors["timed out"] += 1
            raise httpx2.ReadTimeout("timed out", request=request) from None
        except Exception as error:  # headers and encodings, too, can be such that a library stumbles
            billed = (0, 0) if isinstance(error, httpx2.ConnectError) else expected
            self._budget.errors[_NONE] += 1
            raise httpx2.ReadError(_NONE, request=request) from None
        else:
            status, headers = response.status_code, {name: response.headers[name] for name in _PASSED_ON if name in response.headers}
            if chat and 200 <= status < 300:
                reply = _completion(body, expected, response.headers.get("x-request-id", ""))
                status, billed = (200, (reply.known["tokens_in"], reply.known["tokens_out"])) if reply else (502, expected)
            elif (status < 500 and status != 408) or status in _UNBILLED:
                billed = (0, 0)
        finally:
            self._budget.settle(expected, billed)
        if status == 429 and any(code.encode() in body for code in _QUOTA):
            headers["x-should-retry"] = "false"
        if chat and status != 200:
            self._budget.errors[_reason(status)] += 1
        headers["content-type"] = "application/json"
        return httpx2.Response(status, headers=headers, content=body, request=request, extensions={"reply": reply})

    async def _wait(self, tokens: float) -> None:
        if self._requests:
            await self._requests.acquire()
        while self._tokens and tokens > 0:
            piece = min(tokens, self._tokens.max_rate)
            await self._tokens.acquire(piece)
            tokens -= piece


async def _read(response: httpx2.Response, most: int) -> bytes:
    try:
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > most or response.headers.get("content-encoding", "identity").strip().lower() != "identity":
                raise httpx2.ReadError("too large, or packed: a few bytes can become gigabytes", request=response.request)
        return bytes(body)
    finally:
        await response.aclose()


def _completion(body: bytes, tokens: tuple[int, int], request_id: str) -> Reply | None:
    with suppress(ValueError, RecursionError):
        return reply_in(json.loads(body, object_pairs_hook=once), tokens, request_id)
    return None


def connected(base_url: str | None, budget: Budget) -> openai.AsyncOpenAI:
    """A client of the server at ``base_url`` (None: OpenAI's own), which keeps to the budget."""
    url = httpx2.URL()
    with suppress(httpx2.InvalidURL):
        url = httpx2.URL("https://api.openai.com/v1" if base_url is None else base_url)
    if url.scheme not in {"http", "https"} or not url.host or (url.port is not None and not 0 < url.port < 2**16):
        raise CxgenError("--base-url is no address of a server", hint="such as http://localhost:8000/v1")
    key = os.environ.get(KEY, "").strip()
    if not key and url.host not in _HERE:
        raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")
    if not (key.isascii() and key.isprintable()):
        raise CxgenError(f"{KEY} is no key: it holds a line break or a character that is not ASCII", hint="copy it again")
    plain = {"accept-encoding": "identity"}
    options: dict[str, Any] = {"max_retries": budget.limits.tries - 1, "timeout": budget.limits.timeout, "default_headers": plain}
    return openai.AsyncOpenAI(api_key=key or "none", base_url=base_url, http_client=_Bounded(budget), **options)


class Single:
    """Answers calls one by one, many at a time. What a server or model refuses to be asked for is not asked for again."""

    def __init__(self, client: openai.AsyncOpenAI, budget: Budget, *, logprobs: bool) -> None:
        self._client, self._deadline, self._most = client, budget.limits.deadline, budget.limits.concurrency
        self._refused = frozenset(() if logprobs else ("logprobs",))

    async def results(self, calls: list[Call]) -> Results:
        """See `Backend`."""
        left, pending = iter(calls), set[asyncio.Task[tuple[Call, Reply | Failure]]]()
        try:
            while pending := pending | {asyncio.create_task(self._answer(call)) for call in islice(left, self._most - len(pending))}:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in pending:
                task.cancel()

    async def _answer(self, call: Call) -> tuple[Call, Reply | Failure]:
        try:
            async with asyncio.timeout(self._deadline):
                while True:
                    refused = self._refused
                    try:
                        raw = await self._client.chat.completions.with_raw_response.create(**call.body(refused))
                    except openai.APIStatusError as error:
                        if not self._simpler(error, refused):
                            return call, _failure(error)
                        continue
                    reply: Reply = raw.http_response.extensions["reply"]
                    return call, replace(reply, known={**reply.known, "temperature": None}) if "temperature" in refused else reply
        except TimeoutError:
            return call, Failure("the deadline passed")
        except openai.OpenAIError as error:
            return call, _failure(error)

    def _simpler(self, error: openai.APIStatusError, refused: Collection[str]) -> bool:
        """Whether the server refused how it was asked, and can be asked more simply; calls under way may know already."""
        complaint = error.response.text.lower() if error.status_code in {400, 404, 422, 501} else ""
        new = [name for name in _OPTIONAL if name in complaint and name not in refused]
        if not new and any(name in complaint for name in ("response_format", *FORMATS)):
            new = [name for name in FORMATS if name not in refused]
        self._refused |= set(new[:1])
        return bool(new)


class Batched:
    """Answers calls through OpenAI's batches: by the thousand at half the price, matched to their results by custom id.

    The cache notes a batch under the file that it is made of, before it is made; so an interrupted run collects it instead of paying again.
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str, cache: Cache, budget: Budget, poll: float) -> None:
        self._client, self._model, self._cache, self._budget, self._poll = client, model, cache, budget, poll

    async def results(self, calls: list[Call]) -> Results:
        """See `Backend`; it takes as long as the batches."""
        left, fresh = {call.key: call for call in calls}, dict[str, Call]()
        try:
            async for call, reply in self._collected(left):  # of an earlier run, whose budget paid for them
                yield call, reply
            for key, call in left.items():
                if bound := self._budget.spend(*call.most):
                    yield call, Failure(bound, bound=bound)
                else:
                    fresh[key] = call
            for start in range(0, len(fresh), _CALLS):
                await self._submit(list(fresh.values())[start : start + _CALLS])
            async for call, reply in self._collected(fresh):
                self._budget.settle(call.most, (reply.known["tokens_in"], reply.known["tokens_out"]))
                yield call, reply
            for call in fresh.values():
                self._budget.settle(call.most, (0, 0))
                yield call, Failure("failed in the batch")
        except openai.OpenAIError as error:
            raise BackendError(f"a batch: {_failure(error).reason}", hint=_AGAIN) from None

    async def _submit(self, calls: list[Call]) -> None:
        """Hand calls in. The batch is made once: a request that failed may have made it, so that it is looked for."""
        lines = [{"custom_id": call.key, "method": "POST", "url": ENDPOINT, "body": call.body()} for call in calls]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
        file = (await self._client.files.create(file=("calls.jsonl", text), purpose="batch")).id
        note = {"batch": file, "model": self._model, "keys": [call.key for call in calls], "name": ""}
        self._cache.append(note)
        batches = self._client.with_options(max_retries=0).batches
        try:
            made = await batches.create(input_file_id=file, endpoint=ENDPOINT, completion_window="24h")
            self._cache.append({**note, "name": made.id})
        except openai.OpenAIError as error:
            if not await self._batch_of(file):
                self._cache.append({"closed": file})
                raise BackendError(f"no batch could be made: {_failure(error).reason}", hint=_AGAIN) from None

    async def _collected(self, calls: dict[str, Call]) -> AsyncGenerator[tuple[Call, Reply], None]:
        """The replies to calls in the batches that are open, when these are done; their calls are taken out of ``calls``."""
        for file, note in list(self._cache.batches.items()):
            if note["model"] == self._model and not calls.keys().isdisjoint(note["keys"]):
                for key, result in (await self._results_of(file)).items():
                    if key in calls and (reply := _reply(result, calls[key])):
                        yield calls.pop(key), reply
                self._cache.append({"closed": file})

    async def _batch_of(self, file: str) -> Batch | None:
        """The batch that was made of a file; None if the server knows none."""
        if name := self._cache.batches[file]["name"]:
            with suppress(openai.NotFoundError):
                return await self._client.batches.retrieve(name)
            return None
        async for batch in self._client.batches.list(limit=100):
            if batch.input_file_id == file:
                return batch
        return None

    async def _results_of(self, file: str) -> dict[str, Any]:
        """Custom id -> what a batch says of it, when it is done; None if that contradicts itself."""
        batch = await self._batch_of(file)
        while batch and batch.status not in _ENDED:
            await asyncio.sleep(self._poll)
            batch = await self._client.batches.retrieve(batch.id)
        results: dict[str, Any] = {}
        for name in (batch.output_file_id, batch.error_file_id) if batch else ():
            lines = (await self._client.files.content(name)).content.split(b"\n") if name else []
            readable = 0
            for line in lines:
                with suppress(ValueError, RecursionError, TypeError, KeyError):
                    result = json.loads(line, object_pairs_hook=once)
                    key = result["custom_id"]
                    results[key] = result if results.get(key, result) == result else None
                    readable += 1
            if any(lines) and not readable:
                raise BackendError("the results of the batch cannot be read", hint=_AGAIN)
        return results


def _reply(result: Any, call: Call) -> Reply | None:
    with suppress(LookupError, TypeError, ValueError):
        response = result["response"]
        return reply_in(response["body"], call.most, response.get("request_id") or "") if response["status_code"] == 200 else None
    return None


def _failure(error: openai.OpenAIError) -> Failure:
    if isinstance(error, _OverBudgetError):
        return Failure(str(error), bound=str(error))
    if not isinstance(error, openai.APIStatusError):
        return Failure("timed out" if isinstance(error, openai.APITimeoutError) else _NONE)
    status, code = error.status_code, str(error.code or "")
    if code in _QUOTA:
        return Failure(f"the quota is used up ({code})", fatal=True)
    if code in _TOO_LONG or status == 413:
        return Failure("the request is too long", too_long=True)
    return Failure(_reason(status), fatal=status in {401, 403, 404})


def _reason(status: int) -> str:
    server = status >= 500 or status == 408
    return f"server error ({status})" if server else _REASONS.get(status, f"the server refuses the request ({status})")
