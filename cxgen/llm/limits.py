"""What keeps a run within bounds: rates, concurrency, money, and a server that is down."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cxgen.llm.messages import Call, Reply

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_MINUTE = 60.0


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; None: no bound.

    Attributes:
        concurrency: calls under way at most.
        requests_per_minute, tokens_per_minute: rates; tokens are the prompt's estimate and the reply's limit.
        tries: how often a call is sent before it counts as failed.
        timeout: seconds for one try.
        deadline: seconds for a call with all its tries.
        max_requests, max_tokens, max_cost: of this run, retries counted.
        price_in, price_out: per million tokens, in the currency of ``max_cost``.
        max_failures: share of finished calls that may fail before the run stops.
        trip: failures in a row that open the circuit breaker; ``cool``: seconds that it stays open.
    """

    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    tries: int = 6
    timeout: float = 120.0
    deadline: float = 900.0
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    max_failures: float = 0.2
    trip: int = 12
    cool: float = 15.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class OverBudgetError(Exception):
    """The next request would break ``max_requests``, ``max_tokens`` or ``max_cost``."""


@dataclass
class Budget:
    """Counts what a run spends; every try is counted, answered or not.

    Tokens of an unanswered try cannot be known; they count as nothing. While a call is under way its estimate is set aside.
    """

    limits: Limits
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    reserved_in: int = 0
    reserved_out: int = 0

    @property
    def cost(self) -> float:
        """What was spent so far."""
        return self.limits.cost(self.tokens_in, self.tokens_out)

    def reserve(self, call: Call) -> None:
        """Set the estimate of one try aside.

        Raises:
            OverBudgetError: it would break a bound.
        """
        limits = self.limits
        tokens_in, tokens_out = self.tokens_in + self.reserved_in + call.tokens, self.tokens_out + self.reserved_out + call.max_tokens
        if limits.max_requests is not None and self.requests >= limits.max_requests:
            raise OverBudgetError(f"--max-requests {limits.max_requests}")
        if limits.max_tokens is not None and tokens_in + tokens_out > limits.max_tokens:
            raise OverBudgetError(f"--max-tokens {limits.max_tokens}")
        if limits.max_cost is not None and limits.cost(tokens_in, tokens_out) > limits.max_cost:
            raise OverBudgetError(f"--max-cost {limits.max_cost:g}")
        self.requests += 1
        self.reserved_in += call.tokens
        self.reserved_out += call.max_tokens

    def settle(self, call: Call, reply: Reply | None) -> None:
        """Replace the estimate by what was billed."""
        self.reserved_in -= call.tokens
        self.reserved_out -= call.max_tokens
        if reply is not None:
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out


class Gate:
    """Concurrency that halves when the server says that there are too many calls, and grows again by one per round of successes.

    Also holds everything back until a time that the server asked for.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.allowed = float(most)
        self.active = 0
        self._until = 0.0
        self._cut = 0.0
        self._wake = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._wake:
            while True:
                pause = self._until - time.monotonic()
                if pause <= 0 and self.active < max(1, int(self.allowed)):
                    self.active += 1
                    return
                if pause > 0:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake.wait()
                else:
                    await self._wake.wait()

    async def __aexit__(self, *_: object) -> None:
        async with self._wake:
            self.active -= 1
            self._wake.notify_all()

    def pause(self, seconds: float) -> None:
        """Start nothing for so long."""
        self._until = max(self._until, time.monotonic() + seconds)

    def slower(self, after: float) -> None:
        """The server is overrun: halve, once a second at most, as the calls under way will say the same."""
        self.pause(after)
        now = time.monotonic()
        if now - self._cut >= 1.0:
            self._cut = now
            self.allowed = max(1.0, self.allowed / 2)

    def faster(self) -> None:
        """A success: after as many as are allowed at a time, one more is."""
        self.allowed = min(float(self.most), self.allowed + 1.0 / self.allowed)


@dataclass
class Breaker:
    """Opens after ``trip`` failures in a row, for ``cool`` seconds; one more failure then opens it again."""

    trip: int
    cool: float
    row: int = 0
    opened: int = 0

    def failed(self) -> float:
        """Count a failure; seconds for which nothing should be sent."""
        self.row += 1
        if self.row < self.trip:
            return 0.0
        self.row = self.trip - 1
        self.opened += 1
        return self.cool

    def succeeded(self) -> None:
        """Close it."""
        self.row = 0


@dataclass
class Rates:
    """Requests and tokens per minute."""

    limits: Limits
    _requests: AsyncLimiter | None = field(init=False, default=None)
    _tokens: AsyncLimiter | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if not (self.limits.requests_per_minute or self.limits.tokens_per_minute):
            return
        from aiolimiter import AsyncLimiter

        if self.limits.requests_per_minute:
            # One second's worth at a time: a minute's worth at once is what servers refuse.
            second = self.limits.requests_per_minute / _MINUTE
            self._requests = AsyncLimiter(max(1.0, second), max(1.0, 1.0 / second))
        if self.limits.tokens_per_minute:
            self._tokens = AsyncLimiter(self.limits.tokens_per_minute, _MINUTE)

    async def wait(self, call: Call) -> None:
        """Until ``call`` may be sent."""
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            await self._tokens.acquire(min(float(call.tokens + call.max_tokens), self._tokens.max_rate))
