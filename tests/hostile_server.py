"""A hostile OpenAI-compatible server: `llm_server` with every kind of fault that we know of, by name, in `KINDS`.

    python tests/hostile_server.py '{"mix": {"surrogate": 0.1}, "seed": 1, "log": "requests.log"}'

Whatever a kind says beside, it never says anything else about an item than the server without faults, unless it contradicts itself or marks
it as a draft: so every verdict can be checked. Requests are logged as ``<kind, or "good"> <digest of the messages>``.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import time
from email.utils import formatdate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from llm_server import Server, answers_to, completion, run
from llm_server import serving as serving_script

DEEP = 200_000
BOMB = 10**8
HALF = "\ud83d"  # of a surrogate pair

# Statuses: (status, code, headers).
STATUSES = {
    "429": (429, "rate_limit_exceeded", ()),
    "429-after": (429, "", ("retry-after: 0.2",)),
    "429-date": (429, "", ("retry-after: +1",)),
    "429-day": (429, "", ("retry-after: 86400",)),
    "408": (408, "", ()),
    "500": (500, "", ()),
    "503": (503, "", ()),
    "307-loop": (307, "", ("location: /v1/chat/completions",)),
    "307-file": (307, "", ("location: file:///etc/passwd",)),
    "308-odd": (308, "", ("location: http://[::1:x",)),
    "429-past": (429, "", ("retry-after: Thu, 01 Jan 2015 00:00:00 GMT",)),
    "429-words": (429, "", ("retry-after: soon, 10, 0x10",)),
    "429-exponent": (429, "", ("retry-after: 1e300",)),
    "529": (529, "overloaded_error", ()),
}
SLOW = {"429-slow": (429, "", ("retry-after: 30",))}  # obeyed, so no part of a mix
# Not retried: the items are undecided until the next run.
REFUSALS = {"400": (400, "bad", ()), "422": (422, "", ()), "300": (300, "", ()), "304": (304, "", ()), "307-nowhere": (307, "", ())}
_WAITS = ("429-day", "429-exponent")
REFUSALS |= {name: STATUSES.pop(name) for name in (*_WAITS, "307-loop", "307-file", "308-odd")} | {"elsewhere": (307, "", ())}
ALL_STATUSES = STATUSES | REFUSALS | SLOW


def wrong(answers, key, choices):
    """Other answers than the server's."""
    choices = choices if answers[0][key] in choices else ["prototypical", "extended", "unacceptable"]
    return [{**one, key: choices[(choices.index(one[key]) + 1) % len(choices)]} for one in answers]


def said(answers):
    return json.dumps({"answers": answers})


# What stands in the message: (its text, why it stopped).
TEXTS = {
    "text-surrogate": lambda a, w, key: (said(a)[:-1] + f', "mood": "{HALF}"}}', "stop"),
    "text-digits": lambda a, w, key: (said([{**a[0], "sure": 0}, *a[1:]]).replace("0}", "9" * 5_000 + "}", 1), "stop"),
    "text-deep": lambda a, w, key: ('{"answers": [{"id": ' * 10_000, "length"),
    "text-brackets": lambda a, w, key: ("[" * DEEP, "length"),
    "text-ids": lambda a, w, key: ('"id": "a" ' * 4_000 + said(a), "stop"),
    "text-huge": lambda a, w, key: ("la " * 200_000, "stop"),
    "text-nul": lambda a, w, key: ("\0" + said(a) + "\0\x1b[2J\u2028", "stop"),
    "text-empty": lambda a, w, key: ("", "stop"),
    "prose": lambda a, w, key: (f"As of [1], {{}} and {{x}}:\n```json\n{said(a)}\n```\nHope {{it}} helps.", "stop"),
    "lines": lambda a, w, key: ("\n".join(map(json.dumps, a)), "stop"),
    "twice": lambda a, w, key: (said(a + a) + said(a), "stop"),
    "foreign": lambda a, w, key: (said([*a, *({**one, "id": f"x{n}"} for n, one in enumerate(w))]), "stop"),
    "wrong-ids": lambda a, w, key: (said([{**one, "id": f"x{n}"} for n, one in enumerate(w)]), "stop"),
    "missing": lambda a, w, key: (said(a[:-1]), "stop"),
    "null-value": lambda a, w, key: (said([{**a[0], key: None}, *a[1:]]), "stop"),
    "bad-choice": lambda a, w, key: (said([{**a[0], key: "maybe"}, *a[1:]]), "stop"),
    "bad-types": lambda a, w, key: (said([{**a[0], key: {"x": [1e308]}}, *a[1:], 7, None]), "stop"),
    "cut": lambda a, w, key: (said(a)[: len(said(a)) * 2 // 3], "length"),
    "draft": lambda a, w, key: (f"<think>First {said(w)} ... no.</think>\n{said(a)}", "stop"),
    "draft-only": lambda a, w, key: (f"<think>Perhaps {said(w)}, or", "length"),
    "draft-channel": lambda a, w, key: (f"<|channel|>analysis<|message|>{said(w)}<|end|><|channel|>final<|message|>{said(a)}", "stop"),
    "draft-plain": lambda a, w, key: (f"{said(w)}\nNo, on second thoughts:\n{said(a)}", "stop"),
    "draft-then-cut": lambda a, w, key: (f"{said(w)}\nNo:\n" + said(a)[: len(said(a)) // 2], "length"),
    "contradiction": lambda a, w, key: (said([*a, *w]), "stop"),
    "two-keys": lambda a, w, key: (f'{{"answers": {json.dumps(w)}, "answers": {json.dumps(a)}}}', "stop"),
    "two-values": lambda a, w, key: (said(a).replace(f'"{key}": ', f'"{key}": "{w[0][key]}", "{key}": ', 1), "stop"),
    "unseen-letters": lambda a, w, key: (said([{**a[0], key: f"{a[0][key]}\u200b"}, *a[1:]]), "stop"),
    "filtered": lambda a, w, key: (said(a)[:40], "content_filter"),
}


def patched(data, path, value):
    """``data`` with ``value`` at ``path``."""
    *parents, last = path
    at = data
    for name in parents:
        at = at[name]
    at[last] = value
    return data


CHOICE = ("choices", 0)
USAGE = ("usage",)
# What is odd in an answer that is otherwise good, by its place.
PLACES = {
    "model-surrogate": (("model",), HALF),
    "fingerprint-surrogate": (("system_fingerprint",), HALF + "\0"),
    "model-list": (("model",), ["m"]),
    "model-long": (("model",), "m" * 10**6),
    "usage-negative": (USAGE, {"prompt_tokens": -(10**9), "completion_tokens": -1}),
    "usage-words": (USAGE, {"prompt_tokens": "many", "completion_tokens": [1]}),
    "usage-huge": (USAGE, {"prompt_tokens": 10**30, "completion_tokens": 10**18}),
    "logprobs-odd": ((*CHOICE, "logprobs"), {"content": [{"token": 1, "logprob": "x"}, None]}),
    "logprobs-infinite": ((*CHOICE, "logprobs"), {"content": [{"token": "{", "logprob": float("-inf")}]}),
    "no-choices": (("choices",), []),
    "null-message": ((*CHOICE, "message"), None),
    "null-content": ((*CHOICE, "message", "content"), None),
    "refusal": ((*CHOICE, "message", "refusal"), "I cannot help with that."),
    "usage-float": (USAGE, {"prompt_tokens": 12.7, "completion_tokens": 1e-300}),
    "model-other": (("model",), "somebody-else-2"),
    "finish-long": ((*CHOICE, "finish_reason"), "s" * 10**6),
}


def whole(body, text=None, finish="stop"):
    text = said(answers_to(body["messages"])) if text is None else text
    short = text if len(text) < 50_000 else ""  # the server's own time: log probabilities only of what has a reasonable length
    return patched(completion(short, body["model"], finish=finish, logprobs=bool(short)), (*CHOICE, "message", "content"), text)


def two_choices(body):
    answers = answers_to(body["messages"])
    key = next(name for name in answers[0] if name != "id")
    data = whole(body)
    data["choices"] += completion(said(wrong(answers, key, CHOICES)), body["model"])["choices"]
    return data


def called(body, name):
    """The answers in a call of a tool, not in the message."""
    arguments = {"name": "answers", "arguments": said(answers_to(body["messages"]))}
    message = {"role": "assistant", "content": None}
    message[name] = arguments if name == "function_call" else [{"id": "c1", "type": "function", "function": arguments}]
    return patched(whole(body), (*CHOICE, "message"), message)


def thought(body):
    """Another answer in a field for thoughts."""
    answers = answers_to(body["messages"])
    key = next(name for name in answers[0] if name != "id")
    return patched(whole(body), (*CHOICE, "message", "reasoning_content"), said(wrong(answers, key, CHOICES)))


def choices_twice(body):
    """Two different lists of choices under the same key."""
    first = json.dumps(whole(body, "nothing"))[1:-1]
    return f"{{{first}, {json.dumps(whole(body))[1:]}".encode()


CHOICES = ["E", "N", "C"]
# Whole bodies.
BODIES = {
    "html": lambda body: b"<html>gateway</html>",
    "empty-body": lambda body: b"",
    "error-200": lambda body: json.dumps({"error": {"message": body["key"], "code": 500}}).encode(),
    "cut-body": lambda body: json.dumps(whole(body)).encode()[:-80],
    "deep-body": lambda body: b'{"a": ' * DEEP,
    "deep-usage": lambda body: json.dumps(whole(body))[:-1].encode() + b', "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "digits-usage": lambda body: json.dumps(patched(whole(body), USAGE, {})).replace("{}", f'{{"prompt_tokens": {"9" * 5_000}}}').encode(),
    "not-utf8": lambda body: json.dumps(whole(body)).encode().replace(b"chatcmpl", b"\xff\xfe"),
    "large": lambda body: json.dumps({**whole(body), "padding": "x" * 20_000_000}).encode(),
    "choices-twice": choices_twice,
    "events": lambda body: b"".join(b"data: " + json.dumps(whole(body)).encode() + b"\n\n" for _ in range(3)) + b"data: [DONE]\n\n",
    "two-bodies": lambda body: json.dumps(whole(body)).encode() * 2,
    "byte-order-mark": lambda body: b"\xef\xbb\xbf" + json.dumps(whole(body)).encode(),
    "tool-calls": lambda body: json.dumps(called(body, "tool_calls")).encode(),
    "thoughts-beside": lambda body: json.dumps(thought(body)).encode(),
    "error-beside": lambda body: json.dumps({**whole(body), "error": {"message": body["key"]}}).encode(),
    "million-keys": lambda body: json.dumps({**whole(body), "x": {str(n): n for n in range(150_000)}}).encode(),
    "two-choices": lambda body: json.dumps(two_choices(body)).encode(),
    "parts": lambda body: json.dumps(
        patched(
            whole(body),
            (*CHOICE, "message", "content"),
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": said(answers_to(body["messages"]))}],
        )
    ).encode(),
    "key-in-text": lambda body: json.dumps(whole(body, f"Authorization: {body['key']}\n" + said(answers_to(body["messages"])))).encode(),
    "key-in-tokens": lambda body: json.dumps(
        patched(whole(body), (*CHOICE, "logprobs"), {"content": [{"token": letter, "logprob": -1.0} for letter in body["key"]]})
    ).encode(),
    "key-in-names": lambda body: json.dumps(
        {**whole(body), "model": body["key"], "id": f"Bearer {body['key'].upper()}", "system_fingerprint": body["key"]}
    ).encode(),
}
BODIES |= {name: lambda body, at=at: json.dumps(patched(whole(body), *at)).encode() for name, at in PLACES.items()}
# Connections.
WIRES = (
    *("reset", "reset-midway", "close-midway", "hang", "drip", "no-http", "packed", "packed-bomb", "odd-charset", "key-in-headers"),
    *("drip-headers", "headers-without-end", "headers-cut", "continue-first", "continues-without-end", "no-length", "length-short"),
    *("length-long", "length-twice", "length-negative", "length-huge", "chunks", "chunks-without-end", "chunks-broken", "chunks-cut"),
    *("answered-twice", "http-9", "html-502", "no-content", "part-of-it", "closes-after", "tls-alert"),
)
KINDS = (*STATUSES, *REFUSALS, *TEXTS, *BODIES, *WIRES)


OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def raw(make, *, close=False):
    """Bytes as ``make`` says from the answer, and perhaps the end of the connection."""

    async def write(_, writer, good, body):
        writer.write(make(good, body))
        if close:
            await writer.drain()
            writer.transport.close()

    return write


def without_end(start, piece, pause=0.0):
    """Bytes that do not end before the connection does."""

    async def write(_, writer, good, body):
        writer.write(start)
        for _ in range(200_000):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return write


async def elsewhere(server, writer, good, body):
    writer.write(f"HTTP/1.1 307 X\r\nlocation: {server.elsewhere}\r\ncontent-length: 0\r\n\r\n".encode())


def length(said, good):
    return OK + f"content-length: {said}\r\n\r\n".encode() + good


ODD_WIRES = {
    "drip-headers": without_end(b"HTTP/1.1 200 OK\r\n", b"x", 0.1),
    "headers-without-end": without_end(OK, b"x-more: " + b"y" * 1_000 + b"\r\n"),
    "headers-cut": raw(lambda good, body: OK + b"content-len", close=True),
    "continue-first": raw(lambda good, body: b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" + length(len(good), good)),
    "continues-without-end": without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01),
    "no-length": raw(lambda good, body: OK + b"connection: close\r\n\r\n" + good, close=True),
    "length-short": raw(lambda good, body: length(len(good) - 40, good)),
    "length-long": raw(lambda good, body: length(len(good) + 40, good)),
    "length-twice": raw(lambda good, body: OK + b"content-length: 5\r\n" + length(len(good), good)[len(OK) :]),
    "length-negative": raw(lambda good, body: length(-1, good)),
    "length-huge": raw(lambda good, body: length(10**30, good), close=True),
    "chunks": raw(lambda good, body: OK + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(good), good)),
    "chunks-without-end": without_end(OK + b"transfer-encoding: chunked\r\n\r\n", b"1000\r\n" + b" " * 0x1000 + b"\r\n"),
    "chunks-broken": raw(lambda good, body: OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n" + good),
    "chunks-cut": raw(
        lambda good, body: OK + b"transfer-encoding: chunked\r\n\r\n%x\r\n" % (len(good) + 9) + good[: len(good) // 2], close=True
    ),
    # An answer more than there were requests: the next request on this connection must not get it.
    "answered-twice": raw(lambda good, body: length(len(good), good) * 2),
    "http-9": raw(lambda good, body: length(len(good), good).replace(b"HTTP/1.1", b"HTTP/9.9")),
    "html-502": raw(
        lambda good, body: b"HTTP/1.1 502 " + body["key"].encode() + b"\r\ncontent-length: 60006\r\n\r\n<html>" + b"x" * 60_000
    ),
    "no-content": raw(lambda good, body: b"HTTP/1.1 204 No Content\r\n\r\n"),
    "part-of-it": raw(lambda good, body: length(40, good[:40]).replace(b"200 OK", b"206 Partial")),
    "closes-after": raw(lambda good, body: length(len(good), good), close=True),
    "tls-alert": raw(lambda good, body: b"\x15\x03\x01\x00\x02\x02\x28", close=True),
    # Another host: neither the key nor the items may follow.
    "elsewhere": elsewhere,
}


class Hostile(Server):
    """Draws a kind of fault for each request.

    Args:
        mix: kind -> share of the requests.
        first, skip: after ``skip`` requests, the next ``first`` are all of the first kind of the mix.
        outage: (requests after which it starts, seconds): status 503 meanwhile.
        elsewhere: where the kind of this name sends on to.
    """

    def __init__(self, mix=None, first=0, skip=0, outage=None, elsewhere="http://localhost:9/v1/x", **options):
        super().__init__(faults=mix, **options)
        self.elsewhere = elsewhere
        self.first, self.skip, self.outage, self.down = first, skip, outage, None

    def draw(self):
        number = self.requests - 1 - self.skip
        if self.outage and self.requests > self.outage[0]:
            self.down = self.down or time.monotonic() + self.outage[1]
            if time.monotonic() < self.down:
                return "503"
        if self.first:
            return next(iter(self.faults)) if 0 <= number < self.first else ""
        return super().draw()

    async def answer(self, body, writer):
        kind = self.draw()
        await asyncio.sleep(self.latency)
        if not kind:
            self.reply(writer, 200, whole(body))
            await writer.drain()
            self.note("good", body)
            return
        self.note(kind, body)
        if kind in ALL_STATUSES and kind != "elsewhere":
            status, code, headers = ALL_STATUSES[kind]
            if kind == "429-date":
                headers = (f"retry-after: {formatdate(time.time() + 1, usegmt=True)}",)
            self.fail(writer, status, code, f"no, {body['key']}", [*headers, f"x-request-id: {body['key']}"])
        elif kind in TEXTS:
            answers = answers_to(body["messages"])
            key = next(name for name in answers[0] if name != "id")
            text, finish = TEXTS[kind](answers, wrong(answers, key, CHOICES), key)
            self.reply(writer, 200, whole(body, text, finish))
        elif kind in BODIES:
            self.reply(writer, 200, BODIES[kind](body))
        else:
            await self.wire(kind, body, writer)

    async def wire(self, kind, body, writer):
        good = json.dumps(whole(body)).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        if kind == "no-http":
            writer.write(b"\x16\x03\x01 what?\r\n\r\n")
            writer.transport.close()
        elif kind in {"reset", "reset-midway", "close-midway"}:
            if kind != "reset":
                writer.write(head % len(good) + b"\r\n" + good[: len(good) // 2])
                await writer.drain()
            (writer.transport.close if kind == "close-midway" else writer.transport.abort)()
        elif kind == "hang":
            await asyncio.sleep(3600)
        elif kind == "drip":
            writer.write(head % 10**6 + b"\r\n")
            for _ in range(3600):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.2)
        elif kind in {"packed", "packed-bomb"}:
            packed = gzip.compress(b" " * BOMB if kind == "packed-bomb" else good)
            writer.write(head % len(packed) + b"content-encoding: gzip\r\n\r\n" + packed)
        elif kind in ODD_WIRES:
            await ODD_WIRES[kind](self, writer, good, body)
        elif kind == "odd-charset":
            writer.write(head.replace(b"/json", b"/json; charset=hex") % len(good) + b"\r\n" + good)
        elif kind == "key-in-headers":
            writer.write(head % len(good) + f"x-request-id: {body['key']}\r\n\r\n".encode() + good)


def serving(**options):
    """The server in a process of its own; gives its base URL."""
    return serving_script(__file__, **options)


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1]), Hostile))
