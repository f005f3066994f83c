"""OpenAI's batch interface: calls by the thousand at half the price, collected when they are done.

Calls are gathered for a moment, written as one file, submitted, polled, and matched to their results by custom id, from the result and the
error file alike. The database notes every batch that was submitted, so that an interrupted run collects it instead of paying again.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import openai

from cxgen.llm.cache import Cache
from cxgen.llm.client import FORMATS, api_key, body, error_of, reply_of
from cxgen.llm.messages import Call, CallError, Reply

_ENDPOINT: Final = "/v1/chat/completions"
_OPEN = ("validating", "in_progress", "finalizing", "cancelling")
_FILE = "file:"  # noted under this name until its batch has one of its own
_MOST = 50_000  # calls in a batch, OpenAI's limit


class BatchBackend:
    """Answers calls through batches.

    Args:
        base_url: None for OpenAI's own.
        model: its open batches are picked up.
        database: the cache's file, where batches are noted.
        gather: seconds without a new call after which a batch is submitted.
        poll: seconds between two looks at a batch.
    """

    def __init__(self, base_url: str | None, model: str, database: Path, *, gather: float = 1.0, poll: float = 20.0) -> None:
        self._client = openai.AsyncOpenAI(api_key=api_key(base_url), base_url=base_url, max_retries=2)
        self._model, self._cache = model, Cache(database)
        self._gather, self._poll = gather, poll
        self._waiting: dict[str, tuple[Call, asyncio.Future[Reply]]] = {}
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self._flush: asyncio.Task[None] | None = None
        self._resumed = False

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`; it takes as long as the batch."""
        if not self._resumed:
            self._resumed = True
            for name in await self._open():
                self._under_way[name] = asyncio.create_task(self._collect(name))
        await self._await_open(call)
        if call.key in self._results:
            return self._read(call, self._results.pop(call.key))
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[call.key] = call, future
        if self._flush:
            self._flush.cancel()
        self._flush = asyncio.create_task(self._submit_soon())
        return await future

    async def _open(self) -> list[str]:
        """Batches to collect. A file that was sent may have become one just before the process died: the server's list tells."""
        names: list[str] = []
        for name, keys in self._cache.open_batches(self._model).items():
            if not name.startswith(_FILE):
                names.append(name)
                continue
            self._cache.close_batch(name)
            async for batch in self._client.batches.list(limit=100):
                if batch.input_file_id == name.removeprefix(_FILE):
                    self._cache.open_batch(batch.id, self._model, keys)
                    names.append(batch.id)
        return names

    async def _await_open(self, call: Call) -> None:
        """Wait for the open batch that holds ``call``, if one does."""
        for name, keys in self._cache.open_batches(self._model).items():
            if call.key in keys and name in self._under_way:
                await asyncio.shield(self._under_way[name])

    async def _submit_soon(self) -> None:
        if len(self._waiting) < _MOST:
            await asyncio.sleep(self._gather)
        self._flush = None
        taken, self._waiting = self._waiting, {}
        try:
            name = await self._submit([call for call, _ in taken.values()])
            await self._collect(name)
        except openai.OpenAIError as error:
            failure = error_of(error)
            for _, future in taken.values():
                if not future.done():
                    future.set_exception(failure)
            return
        for key, (call, future) in taken.items():
            if future.done():
                continue
            try:
                future.set_result(self._read(call, self._results.pop(key)))
            except KeyError:
                future.set_exception(CallError("the batch has no result for it", retry=True))
            except CallError as failure:
                future.set_exception(failure)

    async def _submit(self, calls: list[Call]) -> str:
        lines = []
        for call in calls:
            sent = body(call, FORMATS[0])
            lines.append(json.dumps({"custom_id": call.key, "method": "POST", "url": _ENDPOINT, "body": sent}, ensure_ascii=False))
        uploaded = await self._client.files.create(file=("calls.jsonl", "\n".join(lines).encode()), purpose="batch")
        keys = [call.key for call in calls]
        self._cache.open_batch(_FILE + uploaded.id, self._model, keys)
        batch = await self._client.batches.create(input_file_id=uploaded.id, endpoint=_ENDPOINT, completion_window="24h")
        self._cache.open_batch(batch.id, self._model, keys)
        self._cache.close_batch(_FILE + uploaded.id)
        return batch.id

    async def _collect(self, name: str) -> None:
        """Wait for a batch and take what it gave, by custom id."""
        batch = await self._client.batches.retrieve(name)
        while batch.status in _OPEN:
            await asyncio.sleep(self._poll)
            batch = await self._client.batches.retrieve(name)
        for file in (batch.output_file_id, batch.error_file_id):
            if not file:
                continue
            content = await self._client.files.content(file)
            for line in content.text.splitlines():
                if line.strip():
                    result = json.loads(line)
                    self._results[result["custom_id"]] = result
        self._cache.close_batch(name)

    def _read(self, call: Call, result: dict[str, Any]) -> Reply:
        response = result.get("response") or {}
        status = response.get("status_code")
        if status == 200:
            try:
                return reply_of(call, response["body"], str(response.get("request_id") or ""))
            except (ValueError, KeyError, IndexError, TypeError, AttributeError):
                raise CallError("the server's answer is no chat completion", retry=True) from None
        if status in {429, 500, 502, 503, 504} or not status:
            raise CallError(f"failed in the batch ({status or (result.get('error') or {}).get('code', 'no response')})", retry=True)
        raise CallError(f"the server refuses the request ({status})")

    async def close(self) -> None:
        """See `Backend.close`."""
        for task in (self._flush, *self._under_way.values()):
            if task:
                task.cancel()
        self._cache.close()
        await self._client.close()
