"""What is asked of a model: a call, within which bounds; and calls that go to a file, as OpenAI's batches have them, and back."""

import json
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from cxgen.asking.prompts import Items, Prompt, Reply, entries_in, reply_in, sha256
from cxgen.errors import DataError
from cxgen.files import json_lines

ENDPOINT: Final = "/v1/chat/completions"
_HINT = "a JSON object a line: custom_id, and response (as OpenAI's batches have it) or content"


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

    @property
    def priced(self) -> bool:
        """Whether any price is known."""
        return bool(self.price_in or self.price_out)

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Budget:
    """What is spent under the limits. A try's estimate is set aside before it is sent, and replaced by what was billed."""

    limits: Limits
    spent: Counter[str] = field(default_factory=Counter)  # requests, tokens in, tokens out
    errors: Counter[str] = field(default_factory=Counter)  # why tries failed

    def spend(self, most: tuple[int, int]) -> str:
        """Set a try's tokens aside; or, changing nothing, name the bound that it would break."""
        spent = self.spent + Counter({"requests": 1, "tokens in": most[0], "tokens out": most[1]})
        cost = self.limits.cost(spent["tokens in"], spent["tokens out"])
        for name, amount in (("requests", spent["requests"]), ("tokens", spent["tokens in"] + spent["tokens out"]), ("cost", cost)):
            bound = getattr(self.limits, f"max_{name}")
            if bound is not None and amount > bound:
                return f"--max-{name} {bound}"
        self.spent = spent
        return ""

    def settle(self, most: tuple[int, int], billed: tuple[int, int]) -> None:
        """Replace what was set aside by what was billed."""
        self.spent.update({"tokens in": billed[0] - most[0], "tokens out": billed[1] - most[1]})


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
        shown = {field: self.items[name][field] for field in self.prompt.fields}
        return sha256(json.dumps([self.model, self.prompt.hash, shown], sort_keys=True, ensure_ascii=False))

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
        schema, temperature = self.prompt.schema(self.items), self.prompt.temperature
        parts = [self.model, *self.messages, schema, temperature, self.max_tokens, self.attempt]
        return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False))

    def body(self, refused: Collection[str] = ()) -> dict[str, Any]:
        """The request as sent, without the parameters that this server refused."""
        system, user = self.messages
        schema = {"name": "answers", "strict": True, "schema": self.prompt.schema(self.items)}
        sent: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": self.prompt.temperature,
            "max_completion_tokens" if "max_tokens" in refused else "max_tokens": self.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        return {name: value for name, value in sent.items() if name not in refused}

    def line(self, name: str) -> str:
        """The request in OpenAI's batch format, called ``name``."""
        return json.dumps({"custom_id": name, "method": "POST", "url": ENDPOINT, "body": self.body()}, ensure_ascii=False) + "\n"

    @cached_property
    def most(self) -> tuple[int, int]:
        """Tokens of prompt (an estimate) and reply that it may cost."""
        return most_tokens(json.dumps(self.body(), ensure_ascii=False).encode())


def most_tokens(sent: bytes) -> tuple[int, int]:
    """Tokens of prompt (four bytes each) and reply that the body of a request may cost."""
    body = json.loads(sent)
    return len(sent) // 4 + 16, body.get("max_tokens") or body.get("max_completion_tokens") or 0


class Failure(NamedTuple):
    """Why a call got no reply, in our words: what a server says may quote the key."""

    reason: str
    fatal: bool = False  # every other call would fail as well
    bound: str = ""  # of the budget, which kept it from being sent


Results = AsyncGenerator[tuple[Call, Reply | Failure], None]
Backend = Callable[[list[Call]], Results]  # every call with what came of it, in whatever order


def read_requests(path: Path) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """System message, user message and the items shown in it, of every request in a file."""
    requests = []
    for number, line in json_lines(path, "expected the requests that --out has written"):
        try:
            messages = {message["role"]: str(message["content"]) for message in line["body"]["messages"]}
            requests.append((messages["system"], messages["user"], _items_in(messages["user"])))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError("not a request with a system and a user message", file=path, line=number) from error
    return requests


def _items_in(user: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in user.splitlines() if line.startswith("{")]


def from_file(replies: Path | None, requests: Path | None = None) -> Backend:
    """Answers calls from a file of replies: to these very calls, or to ``requests``, item by item, in whatever company."""
    bodies, entries = _read_replies(replies) if replies else {}, defaultdict[tuple[str, str], list[tuple[dict[str, Any], str]]](list)
    for system, user, items in read_requests(requests) if requests else ():
        if reply := bodies.get(custom_id(system, user)):
            shown = {item.get("id"): json.dumps(item) for item in items}
            for entry in entries_in(reply.text) or ():
                entries[system, shown.get(str(entry.get("id")), "")].append((entry, reply.known["model"]))

    async def results(calls: list[Call]) -> Results:
        for call in calls:
            system, user = call.messages
            known = [pair for item in _items_in(user) for pair in entries.get((system, json.dumps(item)), ())]
            text = json.dumps({"answers": [entry for entry, _ in known]})
            together = Reply(text, "stop", {"model": known[0][1]}) if known else Failure("no reply on file")
            yield call, bodies.get(custom_id(system, user)) or together

    return results


def custom_id(system: str, user: str) -> str:
    """What a request in a file is called."""
    return sha256(json.dumps([system, user], ensure_ascii=False))[:32]


def _read_replies(path: Path) -> dict[str, Reply | None]:
    """Custom id -> reply; None if it is no chat completion."""
    replies: dict[str, Reply | None] = {}
    for number, line in json_lines(path, _HINT, errors="replace"):  # a damaged byte is its own set's fault
        name, content = line.get("custom_id"), line.get("content")
        if not isinstance(name, str) or ("content" in line) == ("response" in line):
            raise DataError("not a reply", file=path, line=number, hint=_HINT)
        if name in replies:
            raise DataError(f"a second reply to the request {name}", file=path, line=number, hint="keep one of them")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        by_hand = {"body": {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": line.get("model")}}
        replies[name] = reply_to(line.get("response", by_hand), (0, 0))
    return replies


def reply_to(response: Any, tokens: tuple[int, int]) -> Reply | None:
    """The reply in the response to a line of OpenAI's batch format; None if it is none."""
    with suppress(LookupError, TypeError, ValueError, AttributeError):
        if response.get("status_code", 200) == 200:
            return reply_in(response["body"], tokens, response.get("request_id") or "")
    return None
