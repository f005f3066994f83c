"""OpenAI's batch interface: calls by the thousand at half the price, matched to their results by custom id.

The cache notes every batch that was submitted, so that an interrupted run collects it instead of paying again; and before a batch is made,
from which file, so that one of which the server's word was lost is found among its batches.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

import openai
from openai.types import Batch

from cxgen.asking.cache import Cache
from cxgen.asking.calls import ENDPOINT, Call, CallError, Reply, read_json, reply_in
from cxgen.asking.client import connected, error_of
from cxgen.asking.limits import Budget
from cxgen.asking.run import BackendError

_ENDED = ("completed", "failed", "expired", "cancelled")
_FILE = "file:"  # noted under this name until its batch has one of its own
_MOST, _BYTES = 50_000, 2**30  # calls in a batch, OpenAI's limit; bytes of a file of results
_AGAIN = "run the same command again: what was submitted is collected then"


class BatchBackend:
    """Answers calls through batches.

    Args:
        base_url: None for OpenAI's own.
        model: its open batches are picked up.
        cache: where batches are noted.
        budget: what is spent, and the limits.
        poll: seconds between two looks at a batch.

    Raises:
        CxgenError: no API key, or no such URL.
    """

    def __init__(self, base_url: str | None, model: str, cache: Cache, budget: Budget, *, poll: float = 20.0) -> None:
        self._client = connected(base_url, budget, _BYTES)
        self._model, self._cache, self._budget, self._poll = model, cache, budget, poll
        self._results: dict[str, Any] = {}

    async def replies(self, calls: Iterable[Call]) -> AsyncIterator[tuple[Call, Reply | CallError]]:
        """See `Backend.replies`; it takes as long as the batches.

        Raises:
            BackendError: the server does not say what became of a batch.
        """
        try:
            asked, fresh = list(calls), list[Call]()
            await self._resume({call.key for call in asked})
            for call in asked:
                bound = "" if call.key in self._results else self._budget.spend(*call.most)
                if bound:
                    yield call, CallError(bound, bound=bound)
                elif call.key in self._results:  # the earlier run's budget paid for it
                    yield call, result_of(call, self._results.pop(call.key))
                else:
                    fresh.append(call)
            for start in range(0, len(fresh), _MOST):
                part = fresh[start : start + _MOST]
                await self._collect(await self._submit(part), frozenset(call.key for call in part))
                for call in part:
                    yield call, self._result(call)
        except openai.OpenAIError as error:
            raise BackendError(f"a batch: {error_of(error).reason}", hint=_AGAIN) from None

    def _result(self, call: Call) -> Reply | CallError:
        result = result_of(call, self._results.pop(call.key, None))
        self._budget.settle(call.most, (result.tokens_in, result.tokens_out) if isinstance(result, Reply) else (0, 0))
        return result

    async def _resume(self, wanted: set[str]) -> None:
        """Collect the batches of an earlier run about these calls; of one that died when it made a batch, the server's list tells."""
        for name, (model, keys) in list(self._cache.batches.items()):
            if model != self._model or wanted.isdisjoint(keys):
                continue
            batch: str | None = name
            if name.startswith(_FILE):
                batch = await self._made_of(name.removeprefix(_FILE))
            if batch:
                await self._collect(batch, frozenset(keys))
            self._cache.close_batch(name)

    async def _submit(self, calls: list[Call]) -> str:
        """Hand ``calls`` in; the batch's name. It is made once: a request that failed may have made it, so that it is looked for."""
        keys = tuple(call.key for call in calls)
        lines = [{"custom_id": call.key, "method": "POST", "url": ENDPOINT, "body": call.body()} for call in calls]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
        file = (await self._client.files.create(file=("calls.jsonl", text), purpose="batch")).id
        self._cache.open_batch(_FILE + file, self._model, keys)
        try:
            made = (await self._client.with_options(max_retries=0).batches.create(
                input_file_id=file, endpoint=ENDPOINT, completion_window="24h"
            )).id  # fmt: skip
        except openai.OpenAIError as error:
            found = await self._made_of(file)
            if not found:
                self._cache.close_batch(_FILE + file)
                raise BackendError(f"no batch could be made: {error_of(error).reason}", hint=_AGAIN) from None
            made = found
        self._cache.open_batch(made, self._model, keys)
        self._cache.close_batch(_FILE + file)
        return made

    async def _made_of(self, file: str) -> str | None:
        """The batch that was made of ``file``, by the server's list."""
        async for batch in self._client.batches.list(limit=100):
            if batch.input_file_id == file:
                return batch.id
        return None

    async def _collect(self, name: str, keys: frozenset[str]) -> None:
        """Wait for a batch and take what it gave about ``keys``, by custom id."""
        batch = await self._ended(name)
        for file in (batch.output_file_id, batch.error_file_id) if batch else ():
            lines = (await self._client.files.content(file)).content.split(b"\n") if file else []
            found = [result for line in lines if (result := _line(line))]
            if any(line.strip() for line in lines) and not found:
                raise BackendError("the results of the batch cannot be read", hint=_AGAIN)
            for key, result in found:
                if key in keys:  # an answer that contradicts another one is none
                    self._results[key] = result if self._results.get(key, result) == result else None
        self._cache.close_batch(name)

    async def _ended(self, name: str) -> Batch | None:
        """The batch when it is done; None if the server has forgotten it, so that its calls are asked anew."""
        while True:
            try:
                batch = await self._client.batches.retrieve(name)
            except openai.NotFoundError:
                return None
            if batch.status in _ENDED:
                return batch
            await asyncio.sleep(self._poll)

    async def close(self) -> None:
        """See `Backend.close`."""
        await self._client.close()


def _line(line: bytes) -> tuple[str, Any] | None:
    """A line's custom id and all of it; None if it is no result."""
    with suppress(ValueError):
        result = read_json(line)
        if isinstance(result, dict) and isinstance(result.get("custom_id"), str):
            return result["custom_id"], result
    return None


def result_of(call: Call, result: Any) -> Reply | CallError:
    """The reply in a line of a batch's results."""
    response = result.get("response") if isinstance(result, dict) else None
    said = response if isinstance(response, dict) else {}
    if said.get("status_code") != 200:
        return CallError("failed in the batch")
    try:
        return reply_in(call, said.get("body"), str(said.get("request_id") or ""))
    except ValueError:
        return CallError("no chat completion in the batch")
