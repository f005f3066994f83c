"""Any OpenAI-compatible server, call by call or in OpenAI's batches, through the openai client with its retries, waits and time limits."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai
from aiolimiter import AsyncLimiter

from cxgen.asking.calls import ENDPOINT, Backend, Budget, Call, Failure, Limits, Results, most_tokens, reply_to
from cxgen.asking.consult import Cache
from cxgen.asking.prompts import KEY, Reply, clean, once, reply_in
from cxgen.errors import CxgenError

_MOST, _MOST_RESULTS = 8 * 2**20, 2**30  # bytes of an answer, of a file of results
_SETTINGS = ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")  # of connections, in the environment
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_NONE = "no whole answer"
_OTHER = 520  # in place of a success that is none, so that it is tried again
_REASONS = {
    _OTHER: "the reply is no chat completion: is --base-url right?",
    404: "the server knows no such model, or no such path: should --base-url end in /v1?",
    429: "too many requests",
}
_REASONS |= dict.fromkeys((401, 403), "the server refuses the credentials")
_CALLS = 50_000  # in a batch, OpenAI's limit
_AGAIN = "run the same command again: what was submitted is collected then"


class _NobodyThere(openai.OpenAIError):
    """Nothing listens at the address, and never did: it is not started, rather than busy."""


class _Bounded(openai.DefaultAsyncHttpxClient):
    """Sends every try of the client within rates, budget and time, and reads no more of an answer than can be meant."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(follow_redirects=False)  # neither the key nor the items follow to another server
        self._reached = False
        self._budget, rpm, tpm = budget, budget.limits.requests_per_minute, budget.limits.tokens_per_minute
        self._requests = AsyncLimiter(1, 60 / rpm) if rpm else None
        self._tokens = AsyncLimiter(tpm / 60, 1) if tpm else None  # a second's worth at a time: servers refuse a minute's at once

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See httpx. A chat completion that is none is an error of the server's, so that it is asked for again."""
        chat = request.url.path.endswith("/chat/completions")
        expected = most_tokens(request.content) if chat else (0, 0)
        for limiter, amount in ((self._requests, 1), (self._tokens, sum(expected))):
            left = float(amount)
            while limiter and left > 0:
                await limiter.acquire(min(left, limiter.max_rate))
                left -= limiter.max_rate
        if chat and (bound := self._budget.spend(expected)):
            raise openai.OpenAIError(bound)  # which is not retried
        billed, problem, reply = expected, "", None
        try:
            async with asyncio.timeout(self._budget.limits.timeout):
                response = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
                self._reached = True
                body = await _read(response, _MOST if chat else _MOST_RESULTS)
            status = response.status_code
            if chat and 200 <= status < 300:
                status = _OTHER  # unless it is a completion
                with suppress(ValueError, RecursionError):
                    data = json.loads(body, object_pairs_hook=once)
                    reply = reply_in(data, expected, response.headers.get("x-request-id", ""))
                    status, billed = 200, (reply.known["tokens_in"], reply.known["tokens_out"])
            elif (status < 500 and status != 408) or status in {500, 503, 529}:  # a gateway's say nothing of what the model behind it did
                billed = (0, 0)
            problem = _refusal(status).reason if chat and status != 200 else ""
        except (TimeoutError, httpx2.TimeoutException):
            problem = "timed out"
            raise httpx2.ReadTimeout(problem, request=request) from None
        except Exception as error:  # headers and encodings, too, can be such that a library stumbles
            gone = isinstance(error, httpx2.ConnectError)
            billed, problem = (0, 0) if gone else expected, _NONE
            if gone:
                proxy = _proxied(request.url)
                problem = f"no server at {_shown(request.url)}{' through the proxy' * proxy}"
                mend = "is the proxy right? NO_PROXY names hosts without one" if proxy else "start it, or name another with --base-url"
                mend = "SSL_CERT_FILE names who signs its certificate; a plain server has http:" if "[SSL" in str(error) else mend
                if not self._reached:
                    raise _NobodyThere(f"{problem}: {mend}") from None
            raise (httpx2.ConnectError if gone else httpx2.ReadError)(problem, request=request) from None
        finally:
            self._budget.settle(expected, billed)
            self._budget.errors.update([problem] * bool(problem))
        passed_on = ("retry-after", "retry-after-ms", "date", "x-should-retry")
        headers = {name: response.headers[name] for name in passed_on if name in response.headers} | {"content-type": "application/json"}
        if status == 429 and any(code.encode() in body for code in _QUOTA):
            headers["x-should-retry"] = "false"
        return httpx2.Response(status, headers=headers, content=body, request=request, extensions={"reply": reply})


def _shown(url: httpx2.URL) -> str:
    """The address of a server, without a password."""
    return str(url.copy_with(userinfo=b"")).removesuffix("/chat/completions")


def _proxied(url: httpx2.URL) -> bool:
    """Whether the environment names a proxy for an address."""
    named = getproxies()
    return bool(named.get(url.scheme) or named.get("all")) and not proxy_bypass(url.host)


async def _read(response: httpx2.Response, most: int) -> bytes:
    body = bytearray()
    try:
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > most or response.headers.get("content-encoding", "identity").strip().lower() != "identity":
                raise httpx2.ReadError("too large, or packed: a few bytes can become gigabytes", request=response.request)
        return bytes(body)
    finally:
        await response.aclose()


def connected(base_url: str | None, budget: Budget) -> openai.AsyncOpenAI:
    """A client of the server at ``base_url`` (None: OpenAI's own), which keeps to the budget."""
    url, key = httpx2.URL(), os.environ.get(KEY, "").strip()
    with suppress(httpx2.InvalidURL):
        url = httpx2.URL("https://api.openai.com/v1" if base_url is None else base_url)
    odd = url.query or url.fragment or (url.port is not None and not 0 < url.port < 2**16)
    if url.scheme not in {"http", "https"} or not url.host or odd:
        raise CxgenError("--base-url is no address of a server", hint="such as http://localhost:8000/v1")
    if not key and url.host not in {"localhost", "127.0.0.1", "::1"}:
        raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")
    sent = {KEY: key} | {name: os.environ.get(name, "") for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")}
    sent["OPENAI_CUSTOM_HEADERS"] = os.environ.get("OPENAI_CUSTOM_HEADERS", "").replace("\n", "")  # of several lines
    for name in (name for name, text in sent.items() if not (text.isascii() and text.isprintable())):
        raise CxgenError(f"{name} holds a line break or a character that is not ASCII", hint="copy it again")
    limits: dict[str, Any] = {"max_retries": budget.limits.tries - 1, "timeout": budget.limits.timeout}
    plain = {"accept-encoding": "identity"}
    try:
        http = _Bounded(budget)
    except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:  # no such file, no proxy, or one that is not spoken
        named = [name for name in _SETTINGS if os.environ.get(name) or os.environ.get(name.lower())]
        what = f"no connection as {', '.join(named) or 'this machine'} has it: {clean(str(error))}"
        raise CxgenError(what, hint="mend it, or unset it") from error
    return openai.AsyncOpenAI(api_key=key or "none", base_url=base_url, default_headers=plain, http_client=http, **limits)


def single(client: openai.AsyncOpenAI, limits: Limits) -> Backend:
    """Answers calls one by one, many at a time. What a server or model refuses to be asked for is not asked for again."""
    refused: set[str] = set()

    async def answer(call: Call) -> Reply:
        while True:
            without = frozenset(refused)
            try:
                raw = await client.chat.completions.with_raw_response.create(**call.body(without))
            except openai.APIStatusError as error:
                complaint = error.response.text.lower() if error.status_code in {400, 404, 422, 501} else ""
                complaint = complaint.replace("json_schema", "response_format")
                new = {name for name in ("temperature", "max_tokens", "response_format") if name in complaint} - without
                if not new:
                    raise
                refused.update(new)
            else:
                reply: Reply = raw.http_response.extensions["reply"]
                return replace(reply, known={**reply.known, "temperature": None}) if "temperature" in without else reply

    async def result(call: Call) -> tuple[Call, Reply | Failure]:
        try:
            async with asyncio.timeout(limits.deadline):
                return call, await answer(call)
        except TimeoutError:
            return call, Failure("the deadline passed")
        except openai.OpenAIError as error:
            return call, _failure(error)

    async def results(calls: list[Call]) -> Results:
        left, pending = iter(calls), set[asyncio.Task[tuple[Call, Reply | Failure]]]()
        try:
            while pending := pending | {asyncio.create_task(result(call)) for call in islice(left, limits.concurrency - len(pending))}:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in pending:
                task.cancel()

    return results


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
                if bound := self._budget.spend(call.most):
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
            raise CxgenError(f"a batch: {_failure(error).reason}", hint=_AGAIN) from None

    async def _submit(self, calls: list[Call]) -> None:
        """Hand calls in. The batch is made once: a request that failed may have made it, so that it is looked for."""
        text = "".join(call.line(call.key) for call in calls).encode()
        file = (await self._client.files.create(file=("calls.jsonl", text), purpose="batch")).id
        note = {"batch": file, "model": self._model, "keys": [call.key for call in calls], "name": ""}
        self._cache.append(note)
        batches = self._client.with_options(max_retries=0).batches
        try:
            note["name"] = (await batches.create(input_file_id=file, endpoint=ENDPOINT, completion_window="24h")).id
        except openai.OpenAIError as error:
            note["name"] = await self._name(file)
            if not note["name"]:
                self._cache.append({"closed": file})
                raise CxgenError(f"no batch could be made: {_failure(error).reason}", hint=_AGAIN) from None
        self._cache.append(note)

    async def _name(self, file: str) -> str:
        """The batch that was made of a file, by the server's list; empty if none was."""
        return "".join([batch.id async for batch in self._client.batches.list(limit=100) if batch.input_file_id == file][:1])

    async def _collected(self, calls: dict[str, Call]) -> AsyncGenerator[tuple[Call, Reply], None]:
        """The replies to calls in the batches that are open, when these are done; their calls are taken out of ``calls``."""
        for file, note in list(self._cache.batches.items()):
            if note["model"] == self._model and not calls.keys().isdisjoint(note["keys"]):
                name = note["name"] or await self._name(file)
                for key, result in (await self._results(name) if name else {}).items():
                    if key in calls and (reply := reply_to(result, calls[key].most)):
                        yield calls.pop(key), reply
                self._cache.append({"closed": file})

    async def _results(self, name: str) -> dict[str, Any]:
        """Custom id -> the response in a batch, when it is done; nothing if the server has forgotten the batch, or contradicts itself."""
        try:
            while (batch := await self._client.batches.retrieve(name)).status not in {"completed", "failed", "expired", "cancelled"}:
                await asyncio.sleep(self._poll)
        except openai.NotFoundError:
            return {}
        results: dict[str, Any] = {}
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            lines, readable = (await self._client.files.content(file)).content.split(b"\n"), 0
            for line in lines:
                whole = False
                with suppress(ValueError, RecursionError, TypeError, KeyError):
                    result = json.loads(line, object_pairs_hook=once)
                    key, response = result["custom_id"], result.get("response")
                    results[key] = response if results.get(key, response) == response else None
                    readable, whole = readable + 1, True
            if (any(lines) and not readable) or (lines[-1] and not whole):
                raise CxgenError("the results of the batch cannot be read to their end", hint=_AGAIN)
        return results


def _failure(error: openai.OpenAIError) -> Failure:
    if isinstance(error, openai.APIStatusError):
        return _refusal(error.status_code, str(error.code))
    if isinstance(error.__cause__, httpx2.ConnectError):  # at every try: an outage, which would have been waited for, is no end
        return Failure(f"{error.__cause__} any more", fatal=True)
    if isinstance(error, openai.APIError):
        return Failure("timed out" if isinstance(error, openai.APITimeoutError) else _NONE)
    gone = isinstance(error, _NobodyThere)  # or over a bound: see `_Bounded.send`
    return Failure(str(error), fatal=gone, bound="" if gone else str(error))


def _refusal(status: int, code: str = "") -> Failure:
    if code in _QUOTA:
        return Failure(f"the quota is used up ({code})", fatal=True)
    other = "server error" if status >= 500 or status == 408 else "the server refuses the request"
    number = f" ({status})" * (status != _OTHER)
    return Failure(f"{_REASONS.get(status, other)}{number}", fatal=status in {401, 403, 404})
