"""What is asked of a model: a call, within which bounds; and calls that go to a file and are answered from one.

Requests in a file are lines of OpenAI's batch format. A reply is a line of a batch's results, ``{"custom_id": ..., "response": ...}``, or,
written by hand, ``{"custom_id": ..., "content": ...}`` with the answer as text or as JSON.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from cxgen.asking.prompts import Items, Prompt, Reply, entries_in, reply_in
from cxgen.errors import CxgenError, DataError
from cxgen.files import json_lines, write_text

ENDPOINT: Final = "/v1/chat/completions"
FORMATS = ("json_schema", "json_object")  # of the reply, in the order in which they are asked for; else in words only
_HINT = "a JSON object a line: custom_id, and response (as OpenAI's batches have it) or content"


class BackendError(CxgenError):
    """A run that cannot go on: credentials, quota, an unknown model, too many failures."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; None: no bound."""

    concurrency: int = 8  # requests under way
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None  # the prompt's estimate and the reply's limit
    tries: int = 6  # of a request, before it counts as failed
    timeout: float = 120.0  # seconds for a try
    deadline: float = 900.0  # seconds for a request with all its tries
    max_requests: int | None = None  # these three: of the whole run, retries counted
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float = 0.0  # per million tokens, in the currency of max_cost
    price_out: float = 0.0
    max_failures: float = 0.2  # share of the requests (of 20 at least) that may fail before the run stops

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Budget:
    """What is spent under the limits. A try's estimate is set aside before it is sent, and replaced by what was billed."""

    limits: Limits
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    errors: Counter[str] = field(default_factory=Counter)  # why tries failed

    def spend(self, tokens_in: int, tokens_out: int) -> str:
        """Set a try's estimate aside; or, changing nothing, name the bound that it would break."""
        tokens_in, tokens_out = self.tokens_in + tokens_in, self.tokens_out + tokens_out
        spent = {"requests": self.requests + 1, "tokens": tokens_in + tokens_out, "cost": self.limits.cost(tokens_in, tokens_out)}
        for name, amount in spent.items():
            most = getattr(self.limits, f"max_{name}")
            if most is not None and amount > most:
                return f"--max-{name} {most}"
        self.requests, self.tokens_in, self.tokens_out = self.requests + 1, tokens_in, tokens_out
        return ""

    @property
    def cost(self) -> float:
        """What is spent so far."""
        return self.limits.cost(self.tokens_in, self.tokens_out)

    def settle(self, estimate: tuple[int, int], billed: tuple[int, int]) -> None:
        """Replace what was set aside by what was billed."""
        self.tokens_in += billed[0] - estimate[0]
        self.tokens_out += billed[1] - estimate[1]

    def since(self, before: "Budget") -> "Budget":
        """What was spent after ``before``."""
        return Budget(
            self.limits, *(getattr(self, name) - getattr(before, name) for name in ("requests", "tokens_in", "tokens_out", "errors"))
        )


@dataclass(frozen=True)
class Call:
    """A request to a model about items; ``attempt``: how often they were answered unusably before."""

    prompt: Prompt
    model: str
    items: Items
    attempt: int = 0

    def parts(self, ids: Collection[str], size: int, attempt: int = 0) -> list["Call"]:
        """The same about some of the items, in groups."""
        names = list(ids)
        groups = (names[start : start + size] for start in range(0, len(names), size))
        return [replace(self, items={name: self.items[name] for name in group}, attempt=attempt) for group in groups]

    def address(self, name: str) -> str:
        """Content address of what is shown of an item, for this prompt and model; whatever its id and its company."""
        return _sha256([self.model, self.prompt.hash, {field: self.items[name][field] for field in self.prompt.fields}])

    @cached_property
    def messages(self) -> tuple[str, str]:
        """The static part, first so that servers can cache it; and the items."""
        return self.prompt.system, self.prompt.user(self.items)

    @property
    def max_tokens(self) -> int:
        """The reply's limit; another attempt may be answered at greater length."""
        return (self.prompt.max_tokens * len(self.items) + 16) << self.attempt

    @cached_property
    def key(self) -> str:
        """Content address of all that is asked, however its format is asked for."""
        schema = self.prompt.schema(self.items)
        return _sha256([self.model, *self.messages, schema, self.prompt.temperature, self.max_tokens, self.attempt])

    def body(self, refused: Collection[str] = ()) -> dict[str, Any]:
        """The request as sent, without what this server refused: parameters, formats."""
        sent: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in zip(("system", "user"), self.messages, strict=True)],
            "temperature": self.prompt.temperature,
            "logprobs": True,
            "max_completion_tokens" if "max_tokens" in refused else "max_tokens": self.max_tokens,
        }
        if form := next((name for name in FORMATS if name not in refused), ""):
            schema = {"name": "answers", "strict": True, "schema": self.prompt.schema(self.items)}
            sent["response_format"] = {"type": form} | ({form: schema} if form == FORMATS[0] else {})
        return {name: value for name, value in sent.items() if name not in refused}

    @cached_property
    def most(self) -> tuple[int, int]:
        """Tokens of prompt (an estimate) and reply that it may cost."""
        return most_tokens(json.dumps(self.body(), ensure_ascii=False).encode())


def most_tokens(sent: bytes) -> tuple[int, int]:
    """Tokens of prompt (four bytes each) and reply that the body of a request may cost."""
    body = json.loads(sent)
    return len(sent) // 4 + 16, body.get("max_tokens") or body.get("max_completion_tokens") or 0


def _sha256(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class Failure:
    """Why a call got no reply, in our words: what a server says may quote the key."""

    reason: str
    fatal: bool = False  # every other call would fail as well
    too_long: bool = False  # a part of the request may pass
    bound: str = ""  # of the budget, which kept it from being sent


Results = AsyncGenerator[tuple[Call, Reply | Failure], None]
Backend = Callable[[list[Call]], Results]  # every call with what came of it, in whatever order


def write_requests(calls: Iterable[Call], path: Path) -> int:
    """Write calls to a file, one a line; how many."""
    lines = [
        {"custom_id": _custom_id(*call.messages), "method": "POST", "url": ENDPOINT, "body": call.body({"logprobs"})} for call in calls
    ]
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return len(lines)


def read_requests(path: Path) -> list[tuple[str, str]]:
    """System and user message of every request in a file."""
    requests = []
    for number, line in json_lines(path):
        try:
            messages = {message["role"]: message["content"] for message in line["body"]["messages"]}
            requests.append((str(messages["system"]), str(messages["user"])))
        except (KeyError, TypeError) as error:
            raise DataError("not a request with a system and a user message", file=path, line=number) from error
    return requests


def items_in(user: str) -> list[dict[str, Any]]:
    """The items that a user message shows; see `Prompt.user`."""
    items = []
    for line in user.splitlines():
        with suppress(ValueError, RecursionError):
            items += [json.loads(line)] if line.startswith("{") else []
    return items


def from_file(replies: Path, requests: Path | None = None) -> Backend:
    """Answers calls from a file of replies: to these very calls, or to ``requests``, item by item, in whatever company."""
    bodies = _read_replies(replies)
    entries: dict[tuple[str, str], list[tuple[dict[str, Any], str]]] = defaultdict(list)  # what was shown -> what was said of it, by whom
    for system, user in read_requests(requests) if requests else ():
        if reply := bodies.get(_custom_id(system, user)):
            shown = {str(item.get("id")): _shown(item) for item in items_in(user)}
            for entry in entries_in(reply.text) or ():
                entries[system, shown.get(str(entry.get("id")), "")].append((entry, reply.known["model"]))

    async def results(calls: list[Call]) -> Results:
        for call in calls:
            system, user = call.messages
            known = [(item["id"], *pair) for item in items_in(user) for pair in entries.get((system, _shown(item)), ())]
            text = json.dumps({"answers": [{**entry, "id": name} for name, entry, _ in known]})
            together = Reply(text, "stop", {"model": known[0][2]}) if known else Failure("no reply in the file")
            yield call, bodies.get(_custom_id(system, user)) or together

    return results


def _custom_id(system: str, user: str) -> str:
    return _sha256([system, user])[:32]


def _shown(item: dict[str, Any]) -> str:
    return json.dumps({name: text for name, text in item.items() if name != "id"}, sort_keys=True)


def _read_replies(path: Path) -> dict[str, Reply | None]:
    """Custom id -> reply; None if it is no chat completion."""
    replies: dict[str, Reply | None] = {}
    for number, line in json_lines(path, _HINT):
        name, content, response = line.get("custom_id"), line.get("content"), line.get("response") or {}
        if not isinstance(name, str) or ("content" in line) == ("response" in line):
            raise DataError("not a reply", file=path, line=number, hint=_HINT)
        if name in replies:
            raise DataError(f"a second reply to the request {name}", file=path, line=number, hint="keep one of them")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        by_hand = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": line.get("model")}
        replies[name] = None
        with suppress(ValueError, AttributeError):
            replies[name] = reply_in(by_hand if "content" in line else response.get("body"), (0, 0))
    return replies
