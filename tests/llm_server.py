"""An OpenAI-compatible server for tests: loopback only, its own process, stops when its parent does.

    python tests/llm_server.py '{"latency": 0.05, "faults": {"500": 0.05}, "seed": 1, "log": "requests.log"}'

prints its port. Answers depend on the items only, never on when or how they are asked, so that runs can be compared.
Every request is logged: ``<what was done> <digest of its messages>``, answers after they were written.
"""

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

_SHAPE = re.compile(r'"answers": \[\{"id": "...", ("thoughts": "...", )?"(\w+)": (.*?)\}\]')

_TOLD = ("sentence", "premise", "hypothesis", "interpretation", "seed")  # by what an item is known in ``truth``


def answer_to(item, key, choices, truth=None):
    """What this server's model thinks of ``item``: anything, but always the same; with ``truth`` what that says, else the first."""
    if key == "set":  # a writer: the sets are given, by the request's id
        return truth.get(item["id"], {"kinds": {}})
    if truth is not None:
        return truth.get("|".join(item[name] for name in _TOLD if name in item) + f"|{key}") or choices[0]
    text = json.dumps({name: value for name, value in item.items() if name != "id"}, sort_keys=True)
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    return choices[number % len(choices)] if choices else f"said {number % 1000}"


def answers_to(messages, truth=None):
    """The answers to a request's messages."""
    thinks, key, said = _SHAPE.search(messages[0]["content"]).groups()
    choices = re.findall(r'"(\w+)"', said) if said != '"..."' else []
    items = [json.loads(line) for line in messages[1]["content"].splitlines() if line.startswith("{")]
    thoughts = {"thoughts": 'First: {"answers": [], "label": "E"}.'} if thinks else {}
    values = [{"id": item["id"], **thoughts, key: answer_to(item, key, choices, truth)} for item in items]
    return [{**value, key: [value[key]]} for value in values] if said == "[...]" else values


def completion(text, model, *, finish="stop", refusal=None):
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    return {
        **{"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": f"{model}-2026", "system_fingerprint": "fp_test"},
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": len(text) // 4 + 1, "total_tokens": len(text) // 4 + 101},
    }


class Server:
    def __init__(self, latency=0.0, faults=None, seed=0, log=None, *, forbid=(), status=None, cut=0, truth=None, batch=""):
        self.latency, self.faults, self.random = latency, faults or {}, random.Random(seed)
        self.forbid, self.status, self.cut, self.batch = forbid, status, cut, batch
        self.log = Path(log).open("a", encoding="utf-8") if log else None  # noqa: SIM115 (open as long as the server)
        self.truth = json.loads(Path(truth).read_text("utf-8")) if truth else None
        self.requests, self.files, self.batches = 0, {}, {}

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
                    self.requests += 1
                    await self.answer({**json.loads(raw), "key": headers.get("authorization", "").removeprefix("Bearer ")}, writer)
                else:
                    from llm_batches import batch_route

                    self.reply(writer, *batch_route(self, method, path, headers, raw))
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
            f"x-request-id: req_{self.requests}",
        ]
        writer.write("\r\n".join([*head, *headers, "", ""]).encode() + body)

    def fail(self, writer, status, code="", message="no", headers=()):
        self.reply(writer, status, {"error": {"message": message, "type": "x", "code": code or None, "param": None}}, headers)

    async def answer(self, body, writer):
        if self.status:
            self.note(str(self.status[0]), body)
            self.fail(writer, *self.status)
            return
        asked = {*body, body.get("response_format", {}).get("type")} - {"response_format"}
        for name in (name for name in self.forbid if name in asked):
            self.note("400", body)
            parameter = "response_format" if name.startswith("json") else name
            self.fail(writer, 400, "unsupported_parameter", f"Unsupported parameter: '{parameter}' is not supported with this model.")
            return
        fault = self.draw()
        await asyncio.sleep(self.latency)
        if fault:
            self.note(fault, body)
            self.fail(writer, int(fault))
            return
        entries = answers_to(body["messages"], self.truth)
        text, cut = json.dumps({"answers": entries}), self.cut and len(entries) > self.cut
        if "REFUSE" in body["messages"][1]["content"]:
            said = completion("", body["model"], refusal="I cannot help with that.")
        else:
            said = completion(text[: len(text) // 2 if cut else None], body["model"], finish="length" if cut else "stop")
        self.note("answered", body)  # first: who reads the reply may be killed before this can be said
        self.reply(writer, 200, said)
        await writer.drain()


@contextmanager
def serving(script=__file__, **options):
    """The server in a process of its own; gives its base URL."""
    command = [sys.executable, script, json.dumps(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


async def run(options, kind=Server):
    parent, server = os.getppid(), kind(**options)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=2**24)
    print(listening.sockets[0].getsockname()[1], flush=True)
    while os.getppid() == parent:
        await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1])))
