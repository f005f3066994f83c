"""A hostile OpenAI-compatible server: `llm_server` with every kind of fault that we know of, by name, in `KINDS`.

    python tests/hostile_server.py '{"mix": {"text-surrogate": 0.1}, "seed": 1, "log": "requests.log"}'

Whatever a kind says beside, it never says anything else about an item than the server without faults, unless it contradicts itself or marks
it as a draft: so every verdict can be checked. Requests are logged as ``<kind, or "good"> <digest of the messages>``.
"""

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

CHOICES = ["E", "N", "C"]
HALF = "\ud83d"  # of a surrogate pair

# Kind -> status, code, headers.
STATUSES = {
    "429": (429, "rate_limit_exceeded"),
    "429-after": (429, "", "retry-after: 0.2"),
    "429-date": (429, "", "retry-after: in a second"),
    "429-past": (429, "", "retry-after: Thu, 01 Jan 2015 00:00:00 GMT"),
    "429-words": (429, "", "retry-after: soon, 10, 0x10"),
    "408": (408, ""),
    "500": (500, ""),
    "503": (503, ""),
    "529": (529, "overloaded_error"),
}
SLOW = {"429-slow": (429, "", "retry-after: 30")}  # obeyed, so no part of a mix
# Not retried: the items are undecided until the next run.
REFUSALS = {
    "400": (400, "bad"),
    "422": (422, ""),
    "300": (300, ""),
    "429-day": (429, "", "retry-after: 86400"),
    "429-exponent": (429, "", "retry-after: 1e300"),
    "307-nowhere": (307, ""),
    "307-loop": (307, "", "location: /v1/chat/completions"),
    "307-file": (307, "", "location: file:///etc/passwd"),
    "308-odd": (308, "", "location: http://[::1:x"),
    "elsewhere": (307, ""),
}
ALL_STATUSES = STATUSES | REFUSALS | SLOW


def wrong(answers, key, choices):
    """Other answers than the server's."""
    choices = choices if answers[0][key] in choices else ["prototypical", "extended", "unacceptable"]
    return [{**one, key: choices[(choices.index(one[key]) + 1) % len(choices)]} for one in answers]


def said(answers):
    return json.dumps({"answers": answers})


# What stands in the message, of right answers, wrong ones and their key: (its text, why it stopped).
TEXTS = {
    "text-surrogate": lambda a, w, key: (said(a)[:-1] + f', "mood": "{HALF}"}}', "stop"),
    "text-digits": lambda a, w, key: (said([{**a[0], "sure": 0}, *a[1:]]).replace("0}", "9" * 5_000 + "}", 1), "stop"),
    "text-deep": lambda a, w, key: ('{"answers": [{"id": ' * 10_000, "stop"),
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
    "bad-choice": lambda a, w, key: (said([{**a[0], key: "maybe"}, *a[1:]]), "stop"),
    "bad-types": lambda a, w, key: (said([{**a[0], key: {"x": [1e308]}}, *a[1:], 7, None]), "stop"),
    "cut": lambda a, w, key: (said(a)[: len(said(a)) * 2 // 3], "length"),
    "draft": lambda a, w, key: (f"<think>First {said(w)} ... no.</think>\n{said(a)}", "stop"),
    "draft-only": lambda a, w, key: (f"<think>Perhaps {said(w)}, or", "length"),
    "draft-channel": lambda a, w, key: (f"<|channel|>analysis<|message|>{said(w)}<|end|><|channel|>final<|message|>{said(a)}", "stop"),
    "draft-plain": lambda a, w, key: (f"{said(w)}\nNo, on second thoughts:\n{said(a)}", "stop"),
    "draft-then-cut": lambda a, w, key: (f"{said(w)}\nNo:\n" + said(a)[: len(said(a)) // 2], "stop"),
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


MESSAGE = ("choices", 0, "message")
# What is odd in an answer that is otherwise good: its place, what stands there.
PLACES = {
    "model-surrogate": (("model",), HALF),
    "model-list": (("model",), ["m"]),
    "model-long": (("model",), "m" * 10**6),
    "fingerprint-surrogate": (("system_fingerprint",), HALF + "\0"),
    "usage-negative": (("usage",), {"prompt_tokens": -(10**9), "completion_tokens": -1}),
    "usage-words": (("usage",), {"prompt_tokens": "many", "completion_tokens": [1]}),
    "usage-huge": (("usage",), {"prompt_tokens": 10**30, "completion_tokens": 10**18}),
    "usage-float": (("usage",), {"prompt_tokens": 12.7, "completion_tokens": 1e-300}),
    "no-choices": (("choices",), []),
    "null-message": (MESSAGE, None),
    "null-content": ((*MESSAGE, "content"), None),
    "refusal": ((*MESSAGE, "refusal"), "I cannot help with that."),
    "finish-long": (("choices", 0, "finish_reason"), "s" * 10**6),
}


def whole(body, text=None, finish="stop"):
    return completion(said(answers_to(body["messages"])) if text is None else text, body["model"], finish=finish)


def wrongly(body):
    answers = answers_to(body["messages"])
    return said(wrong(answers, next(name for name in answers[0] if name != "id"), CHOICES))


def called(body):
    """The answers in a call of a tool, not in the message."""
    call = {"id": "c1", "type": "function", "function": {"name": "answers", "arguments": said(answers_to(body["messages"]))}}
    return patched(whole(body), MESSAGE, {"role": "assistant", "content": None, "tool_calls": [call]})


def parts(body):
    thinking, text = {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": said(answers_to(body["messages"]))}
    return patched(whole(body), (*MESSAGE, "content"), [thinking, text])


# Whole bodies, as bytes or as JSON.
BODIES = {
    "html": lambda body: b"<html>gateway</html>",
    "empty-body": lambda body: b"",
    "error-200": lambda body: {"error": {"message": body["key"], "code": 500}},
    "cut-body": lambda body: json.dumps(whole(body)).encode()[:-80],
    "deep-body": lambda body: b'{"a": ' * 200_000,
    "deep-usage": lambda body: json.dumps(whole(body))[:-1].encode() + b', "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "digits-usage": lambda body: json.dumps(whole(body)).replace("100", "9" * 5_000).encode(),
    "not-utf8": lambda body: json.dumps(whole(body)).encode().replace(b"chatcmpl", b"\xff\xfe"),
    "large": lambda body: {**whole(body), "padding": "x" * 20_000_000},
    "choices-twice": lambda body: f"{json.dumps(whole(body, 'nothing'))[:-1]}, {json.dumps(whole(body))[1:]}".encode(),
    "events": lambda body: b"".join(b"data: " + json.dumps(whole(body)).encode() + b"\n\n" for _ in range(3)) + b"data: [DONE]\n\n",
    "two-bodies": lambda body: json.dumps(whole(body)).encode() * 2,
    "byte-order-mark": lambda body: b"\xef\xbb\xbf" + json.dumps(whole(body)).encode(),
    "tool-calls": called,
    "thoughts-beside": lambda body: patched(whole(body), (*MESSAGE, "reasoning_content"), wrongly(body)),
    "error-beside": lambda body: {**whole(body), "error": {"message": body["key"]}},
    "million-keys": lambda body: {**whole(body), "x": {str(n): n for n in range(150_000)}},
    "two-choices": lambda body: {**whole(body), "choices": whole(body)["choices"] + whole(body, wrongly(body))["choices"]},
    "parts": parts,
    "key-in-text": lambda body: whole(body, f"Authorization: {body['key']}\n" + said(answers_to(body["messages"]))),
    "key-in-names": lambda body: {
        **whole(body),
        **{"model": body["key"], "id": f"Bearer {body['key'].upper()}", "system_fingerprint": body["key"]},
    },
}
BODIES |= {name: lambda body, at=at: patched(whole(body), *at) for name, at in PLACES.items()}

# Connections: what is written of a good answer's bytes, and whether the connection ends then.
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


def length(count, good, more=b""):
    return OK + f"content-length: {count}\r\n".encode() + more + b"\r\n" + good


CLOSED = {
    "no-http": lambda good, key: b"\x16\x03\x01 what?\r\n\r\n",
    "close-midway": lambda good, key: length(len(good), good[: len(good) // 2]),
    "headers-cut": lambda good, key: OK + b"content-len",
    "no-length": lambda good, key: OK + b"connection: close\r\n\r\n" + good,
    "length-huge": lambda good, key: length(10**30, good),
    "chunks-cut": lambda good, key: CHUNKED + b"%x\r\n" % (len(good) + 9) + good[: len(good) // 2],
    "closes-after": lambda good, key: length(len(good), good),
    "tls-alert": lambda good, key: b"\x15\x03\x01\x00\x02\x02\x28",
}
OPEN = {
    "packed": lambda good, key: length(len(gzip.compress(good)), gzip.compress(good), b"content-encoding: gzip\r\n"),
    "packed-bomb": lambda good, key: length(9_700, gzip.compress(b" " * 10**7), b"content-encoding: gzip\r\n"),
    "odd-charset": lambda good, key: length(len(good), good).replace(b"/json", b"/json; charset=hex"),
    "key-in-headers": lambda good, key: length(len(good), good, f"x-request-id: {key}\r\n".encode()),
    "continue-first": lambda good, key: b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" + length(len(good), good),
    "length-short": lambda good, key: length(len(good) - 40, good),
    "length-long": lambda good, key: length(len(good) + 40, good),
    "length-twice": lambda good, key: length(len(good), good, b"content-length: 5\r\n"),
    "length-negative": lambda good, key: length(-1, good),
    "chunks": lambda good, key: CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(good), good),
    "chunks-broken": lambda good, key: CHUNKED + b"zz\r\n" + good,
    "answered-twice": lambda good, key: length(len(good), good) * 2,  # the next request on this connection must not get the second
    "http-9": lambda good, key: length(len(good), good).replace(b"HTTP/1.1", b"HTTP/9.9"),
    "html-502": lambda good, key: b"HTTP/1.1 502 " + key.encode() + b"\r\ncontent-length: 60006\r\n\r\n<html>" + b"x" * 60_000,
    "no-content": lambda good, key: b"HTTP/1.1 204 No Content\r\n\r\n",
    "part-of-it": lambda good, key: length(40, good[:40]).replace(b"200 OK", b"206 Partial"),
}
# Bytes that do not end before the connection does: the first, the others, seconds between them.
ENDLESS = {
    "drip": (OK + b"content-length: 1000000\r\n\r\n", b" ", 0.2),
    "drip-headers": (b"HTTP/1.1 200 OK\r\n", b"x", 0.1),
    "headers-without-end": (OK, b"x-more: " + b"y" * 1_000 + b"\r\n", 0.0),
    "continues-without-end": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01),
    "chunks-without-end": (CHUNKED, b"1000\r\n" + b" " * 0x1000 + b"\r\n", 0.0),
    "hang": (b"", b"", 3600.0),
}
KINDS = (*STATUSES, *REFUSALS, *TEXTS, *BODIES, *CLOSED, *OPEN, *ENDLESS, "reset", "reset-midway")


class Hostile(Server):
    """Draws a kind of fault for each request.

    ``mix``: kind -> share of the requests; ``first``: the first requests are all of the first kind of the mix; ``outage``: (requests after
    which it starts, seconds), status 503 meanwhile; ``elsewhere``: where the kind of this name sends on to.
    """

    def __init__(self, mix=None, first=0, outage=None, elsewhere="http://localhost:9/v1/x", **options):
        super().__init__(faults=mix, **options)
        self.first, self.outage, self.elsewhere, self.down = first, outage, elsewhere, None

    def draw(self):
        if self.outage and self.requests > self.outage[0]:
            self.down = self.down or time.monotonic() + self.outage[1]
            if time.monotonic() < self.down:
                return "503"
        if self.first:
            return next(iter(self.faults)) if self.requests <= self.first else ""
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
        if kind in ALL_STATUSES:
            status, code, *headers = ALL_STATUSES[kind]
            headers += [f"location: {self.elsewhere}"] * (kind == "elsewhere") + [f"x-request-id: {body['key']}"]
            date = formatdate(time.time() + 1, usegmt=True)
            self.fail(writer, status, code, f"no, {body['key']}", [header.replace("in a second", date) for header in headers])
        elif kind in TEXTS:
            answers = answers_to(body["messages"])
            key = next(name for name in answers[0] if name != "id")
            self.reply(writer, 200, whole(body, *TEXTS[kind](answers, wrong(answers, key, CHOICES), key)))
        elif kind in BODIES:
            self.reply(writer, 200, BODIES[kind](body))
        else:
            await self.wire(kind, json.dumps(whole(body)).encode(), body["key"], writer)

    async def wire(self, kind, good, key, writer):
        if kind in ENDLESS:
            start, piece, pause = ENDLESS[kind]
            writer.write(start)
            for _ in range(200_000):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        elif kind.startswith("reset"):
            writer.write(length(len(good), good[: len(good) // 2]) if kind == "reset-midway" else b"")
            await writer.drain()
            writer.transport.abort()
        else:
            writer.write((CLOSED | OPEN)[kind](good, key))
            await writer.drain()
            if kind in CLOSED:
                writer.transport.close()


def serving(**options):
    """The server in a process of its own; gives its base URL."""
    return serving_script(__file__, **options)


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1]), Hostile))
