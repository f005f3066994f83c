"""OpenAI's batch interface: calls by the thousand at half the price, collected when they are done.

Calls are gathered for a moment, written as one file, submitted, polled, and matched to their results by custom id, from the result and the
error file alike. The database notes every batch that was submitted, so that an interrupted run collects it instead of paying again; and
before a batch is made, from which file, so that one of which the server's word was lost is found among its batches.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import openai
from openai.types import Batch

from cxgen.llm.cache import Cache
from cxgen.llm.client import error_of
from cxgen.llm.completion import decoded, result_of
from cxgen.llm.connection import connected
from cxgen.llm.messages import Call, CallError, Reply
from cxgen.llm.request import ENDPOINT, FORMATS, body

_OPEN = ("validating", "in_progress", "finalizing", "cancelling")
_ENDED = ("completed", "failed", "expired", "cancelled")
_FILE = "file:"  # noted under this name until its batch has one of its own
_MOST = 50_000  # calls in a batch, OpenAI's limit
_BYTES = 2**30  # of a file of results
_LOOKS = 30  # in a row without any news of a batch, after which it is left to the next run
_CREATIONS = 3  # tries
_READS = 3  # of a file of results without a readable line
_LINE = 2**24  # bytes of a result
Said = TypeVar("Said")


class BatchBackend:
    """Answers calls through batches.

    Args:
        base_url: None for OpenAI's own.
        model: its open batches are picked up.
        database: the cache's file, where batches are noted.
        gather: seconds without a new call after which a batch is submitted.
        poll: seconds between two looks at a batch.

    Raises:
        CxgenError: no API key, or no such URL.
    """

    def __init__(self, base_url: str | None, model: str, database: Path, *, gather: float = 1.0, poll: float = 20.0) -> None:
        self._client = connected(base_url, _BYTES)
        self._model, self._cache = model, Cache(database)
        self._gather, self._poll = gather, poll
        self._waiting: dict[str, tuple[Call, asyncio.Future[Reply]]] = {}
        self._results: dict[str, Any] = {}
        self._flush: asyncio.Task[None] | None = None
        self._resumed: asyncio.Task[None] | None = None

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`; it takes as long as the batch."""
        # All calls wait until it is known what was submitted before, and what became of it.
        self._resumed = self._resumed or asyncio.create_task(self._resume())
        await asyncio.shield(self._resumed)
        if call.key in self._results:
            return result_of(call, self._results.pop(call.key))
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[call.key] = call, future
        if self._flush:
            self._flush.cancel()
        self._flush = asyncio.create_task(self._submit_soon())
        return await future

    async def _resume(self) -> None:
        """Collect the batches of an earlier run. A file that was sent may have become one just before it died: the server's list tells."""
        for name, keys in self._cache.open_batches(self._model).items():
            if name.startswith(_FILE):
                made = await self._look_up(name.removeprefix(_FILE))
                if made is None:
                    self._cache.close_batch(name)
                    continue
                self._cache.open_batch(made, self._model, keys, instead_of=name)
        await asyncio.gather(*(self._collect(name, keys) for name, keys in self._cache.open_batches(self._model).items()))

    async def _submit_soon(self) -> None:
        if len(self._waiting) < _MOST:
            await asyncio.sleep(self._gather)
        self._flush = None
        taken, self._waiting = self._waiting, {}
        failure = CallError("the batch has no result for it", retry=True)
        try:
            await self._collect(await self._submit([call for call, _ in taken.values()]), taken)
        except CallError as error:
            failure = error
        for key, (call, future) in taken.items():
            if future.done():
                continue
            try:
                if key not in self._results:
                    raise failure
                future.set_result(result_of(call, self._results.pop(key)))
            except CallError as error:
                future.set_exception(error)

    async def _submit(self, calls: list[Call]) -> str:
        """Hand ``calls`` in; the batch's name."""
        lines = []
        for call in calls:
            sent = body(call, FORMATS[0])
            lines.append(json.dumps({"custom_id": call.key, "method": "POST", "url": ENDPOINT, "body": sent}, ensure_ascii=False))
        text, keys = "\n".join(lines).encode(), [call.key for call in calls]
        uploaded = await self._asked(lambda: self._client.files.create(file=("calls.jsonl", text), purpose="batch"))
        self._cache.open_batch(_FILE + uploaded.id, self._model, keys)
        name = await self._create(uploaded.id)
        self._cache.open_batch(name, self._model, keys, instead_of=_FILE + uploaded.id)
        return name

    async def _create(self, file: str) -> str:
        """Make a batch of ``file``, once: a request that failed may have made it, so that it is looked for before another is sent."""
        for number in range(_CREATIONS):
            try:
                batch = await self._client.batches.create(input_file_id=file, endpoint=ENDPOINT, completion_window="24h")
                if isinstance(batch.id, str) and batch.id:
                    return batch.id
                failure = CallError("the server's answer is no batch", retry=True)
            except openai.OpenAIError as error:
                failure = error_of(error)
            except Exception:  # see `OpenAIBackend.send`
                failure = CallError("the server's answer is no batch", retry=True)
            await asyncio.sleep(self._poll * number)
            made = await self._look_up(file)
            if made:
                return made
            if not failure.retry:
                self._cache.close_batch(_FILE + file)
                raise failure
        raise failure

    async def _look_up(self, file: str) -> str | None:
        """The batch that was made of ``file``, by the server's list."""

        async def found() -> str | None:
            async for batch in self._client.batches.list(limit=100):
                if batch.input_file_id == file:
                    return batch.id
            return None

        return await self._asked(found)

    async def _asked(self, question: Callable[[], Awaitable[Said]]) -> Said:
        """The answer to what may be asked again, with patience.

        Raises:
            CallError: there is none.
        """
        for _ in range(_LOOKS):
            try:
                return await question()
            except openai.OpenAIError as error:
                failure = error_of(error)
                if not failure.retry:
                    raise failure from None
            except Exception:  # see `OpenAIBackend.send`
                failure = CallError("the server's answer cannot be read", retry=True)
            await asyncio.sleep(self._poll)
        # What was submitted stays noted; trying further is the next run's business.
        raise CallError(failure.reason, fatal=True)

    async def _collect(self, name: str, keys: Collection[str]) -> None:
        """Wait for a batch and take what it gave about ``keys``, by custom id."""
        try:
            batch = await self._ended(name)
        except CallError as error:
            if error.fatal and "(404)" in error.reason:  # forgotten by the server: its calls are asked anew
                self._cache.close_batch(name)
                return
            raise
        wanted = frozenset(keys)
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                for key, result in await self._read_file(file):
                    if key in wanted:  # an answer that contradicts another one is none
                        self._results[key] = result if self._results.get(key, result) == result else None
        self._cache.close_batch(name)

    async def _ended(self, name: str) -> Batch:
        silent = 0
        while True:
            batch = await self._asked(lambda: self._client.batches.retrieve(name))
            if batch.status in _ENDED:
                return batch
            silent = 0 if batch.status in _OPEN else silent + 1
            if silent > _LOOKS:
                raise CallError("the server does not say how the batch stands", fatal=True)
            await asyncio.sleep(self._poll)

    async def _read_file(self, file: str) -> list[tuple[str, Any]]:
        """(custom id, result) of every line that is one.

        Raises:
            CallError: there are lines, and none is: a page of a gateway, or a file that was cut short.
        """
        for _ in range(_READS):
            content = (await self._asked(lambda: self._client.files.content(file))).content
            lines = [line for line in content.split(b"\n") if line.strip()]
            found = [result for line in lines if (result := _result(line))]
            if found or not lines:
                return found
            await asyncio.sleep(self._poll)
        raise CallError("the results of the batch cannot be read", fatal=True)

    async def close(self) -> None:
        """See `Backend.close`."""
        for task in (self._flush, self._resumed):
            if task:
                task.cancel()
        self._cache.close()
        await self._client.close()


def _result(line: bytes) -> tuple[str, Any] | None:
    """A line's custom id and the rest of it; None if it is no result."""
    try:
        result = decoded(line) if len(line) <= _LINE else None
    except ValueError:
        return None
    name = result.get("custom_id") if isinstance(result, dict) else None
    return (name, result) if isinstance(name, str) else None
