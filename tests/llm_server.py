"""An OpenAI-compatible server with faults, for tests: loopback only, its own process, stops when its parent does.

    python tests/llm_server.py '{"latency": 0.05, "faults": {"500": 0.05}, "seed": 1, "log": "requests.log"}'

prints its port. Answers depend on the items only, never on when or how they are asked, so that runs can be compared.
Every request is logged: ``<what was done> <digest of its messages>``, answers after they were written.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

FAULTS = ("429", "429-after", "500", "slow", "hang", "reset", "not-json")
FAULTS += ("truncated", "malformed", "wrong-ids", "prose", "no-logprobs", "repeated")
_SHAPE = re.compile(r'"answers": \[\{"id": "...", ("thoughts": "...", )?"(\w+)": (.*?)\}\]')


def answer_to(item, key, choices, truth=None):
    """What this server's model thinks of ``item``: anything, but always the same; with ``truth`` what that says, else the first."""
    if key == "set":  # a writer: the sets are given, by the request's id
        return truth.get(item["id"], {"kinds": {}})
    if truth is not None:
        return truth.get("|".join(item[name] for name in ("sentence", "premise", "hypothesis") if name in item) + f"|{key}", choices[0])
    text = json.dumps({name: value for name, value in item.items() if name != "id"}, sort_keys=True)
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    return choices[number % len(choices)] if choices else f"said {number % 1000}"


def answers_to(messages, truth=None):
    """(answers, key) to a request's messages."""
    thinks, key, said = _SHAPE.search(messages[0]["content"]).groups()
    choices = re.findall(r'"(\w+)"', said) if said != '"..."' else []
    items = [json.loads(line) for line in messages[1]["content"].splitlines() if line.startswith("{")]
    thoughts = {"thoughts": 'First: {"answers": [], "label": "E"}.'} if thinks else {}
    values = [{"id": item["id"], **thoughts, key: answer_to(item, key, choices, truth)} for item in items]
    return [{**value, key: [value[key]]} for value in values] if said == "[...]" else values


def completion(text, model, *, finish="stop", refusal=None, logprobs=True):
    tokens = [{"token": token, "logprob": -0.25, "bytes": None, "top_logprobs": []} for token in re.findall(r"\s*\S{1,4}|\s+$", text)]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": f"{model}-2026",
        "system_fingerprint": "fp_test",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": None if refusal else text, "refusal": refusal},
                "logprobs": {"content": tokens} if logprobs else None,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": len(tokens), "total_tokens": 100 + len(tokens)},
    }


class Server:
    def __init__(
        self, latency=0.0, faults=None, seed=0, log=None, *, forbid=(), status=None, most=0, cut=0, truth=None, batch="", steady=False
    ):
        self.latency, self.faults, self.random = latency, faults or {}, random.Random(seed)
        self.forbid, self.status, self.most, self.cut, self.batch = forbid, status, most, cut, batch
        self.log = Path(log).open("a", encoding="utf-8") if log else None  # noqa: SIM115 (open as long as the server)
        self.truth = json.loads(Path(truth).read_text("utf-8")) if truth else None
        self.steady = steady  # the ids of requests say what was asked, not when
        self.under_way, self.requests, self.files, self.batches = 0, 0, {}, {}

    def note(self, what, body):
        if self.log:
            digest = hashlib.sha256(json.dumps(body.get("messages", ""), sort_keys=True).encode()).hexdigest()
            self.log.write(f"{what} {digest}\n")
            self.log.flush()

    def draw(self):
        number = self.random.random()
        for name, chance in self.faults.items():
            number -= chance
            if number < 0:
                return name
        return ""

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:]) if name}
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = lines[0].split(" ", 2)
                if path.endswith("/chat/completions"):
                    await self.chat({**json.loads(raw), "key": headers.get("authorization", "").removeprefix("Bearer ")}, writer)
                else:
                    from llm_batches import batch_route

                    status, data = batch_route(self, method, path, headers, raw)
                    if status == 0:
                        await asyncio.sleep(3600)
                    self.reply(writer, status, data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def reply(self, writer, status, data, headers=()):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        head = [
            f"HTTP/1.1 {status} X",
            "content-type: application/json",
            f"content-length: {len(body)}",
            f"x-request-id: req_{hashlib.sha256(body).hexdigest()[:8] if self.steady else self.requests}",
        ]
        writer.write("\r\n".join([*head, *headers, "", ""]).encode() + body)

    def fail(self, writer, status, code="", message="no", headers=()):
        self.reply(writer, status, {"error": {"message": message, "type": "x", "code": code or None, "param": None}}, headers)

    async def chat(self, body, writer):
        self.requests += 1
        self.under_way += 1
        try:
            await self.answer(body, writer)
        finally:
            self.under_way -= 1

    async def answer(self, body, writer):
        if self.status:
            self.note(str(self.status[0]), body)
            self.fail(writer, *self.status)
            return
        for name, word in (("json_schema", "response_format"), ("json_object", "response_format"), ("logprobs", "logprobs")):
            asked = body.get("response_format", {}).get("type") == name if name != "logprobs" else body.get("logprobs")
            if name in self.forbid and asked:
                self.note("400", body)
                self.fail(writer, 400, "unsupported_value", f"{word} of this kind is not supported")
                return
        for name in {"temperature", "max_tokens"} & set(self.forbid) & set(body):
            self.note("400", body)
            self.fail(writer, 400, "unsupported_parameter", f"Unsupported parameter: '{name}' is not supported with this model.")
            return
        if self.most and self.under_way > self.most:
            self.note("429", body)
            self.fail(writer, 429, "rate_limit_exceeded", headers=["retry-after: 0.05"])
            return
        fault = self.draw()
        await asyncio.sleep(self.latency)
        if fault in {"429", "429-after", "500"}:
            self.note(fault, body)
            self.fail(writer, int(fault[:3]), headers=["retry-after: 0.1"] if "after" in fault else [])
        elif fault == "reset":
            self.note(fault, body)
            writer.transport.abort()
        elif fault == "hang":
            self.note(fault, body)
            await asyncio.sleep(3600)
        elif fault == "not-json":
            self.note(fault, body)
            self.reply(writer, 200, b"<html>gateway</html>")
        else:
            if fault == "slow":
                await asyncio.sleep(10 * self.latency)
            data = self.said(body, fault)
            self.reply(writer, 200, data)
            await writer.drain()
            self.note(fault or "answered", body)

    def said(self, body, fault):
        entries = answers_to(body["messages"], self.truth)
        text = json.dumps({"answers": entries})
        options = {"logprobs": bool(body.get("logprobs")) and fault != "no-logprobs"}
        if "REFUSE" in body["messages"][1]["content"]:
            return completion("", body["model"], refusal="I cannot help with that.", **options)
        if fault == "truncated" or (self.cut and len(entries) > self.cut):
            return completion(text[: len(text) // 2], body["model"], finish="length", **options)
        if fault == "malformed":
            text = text.replace('"', "'", 3)
        elif fault == "wrong-ids":
            text = json.dumps({"answers": [{**entry, "id": f"x{number}"} for number, entry in enumerate(entries)]})
        elif fault == "prose":
            text = f"Sure! Here you go:\n```json\n{text}\n```\nLet me know {{if}} you need more."
        elif fault == "repeated":
            text = json.dumps({"answers": entries + entries})
        return completion(text, body["model"], **options)


@contextmanager
def serving(script=__file__, **options):
    """The server in a process of its own; gives its base URL."""
    command = [sys.executable, script, json.dumps(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


async def watch_parent():
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(0.5)


async def run(options, kind=Server):
    server = kind(**options)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", options.pop("port", 0), limit=2**24)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await watch_parent()


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1])))
