"""What keeps a run within bounds: rates, concurrency, money, and a server that is down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cxgen.llm.messages import Call

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_MINUTE = 60.0
_MOST_COOL = 4  # times the first pause


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; None: no bound.

    Attributes:
        concurrency: calls under way at most.
        requests_per_minute, tokens_per_minute: rates; tokens are the prompt's estimate and the reply's limit, or what was billed, if more.
        tries: how often a call is sent before it counts as failed.
        timeout: seconds for one try.
        deadline: seconds for a call with all its tries.
        max_requests, max_tokens, max_cost: of this run, retries counted.
        price_in, price_out: per million tokens, in the currency of ``max_cost``.
        max_failures: share of finished calls that may fail before the run stops.
        trip: failures in a row that open the circuit breaker; ``cool``: seconds that it stays open, longer from time to time.
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

    While a call is under way its estimate is set aside. What a try cost whose end is not known (time-outs, broken connections) counts as
    its estimate.

    Attributes:
        limits: the bounds.
        before: what the runs before it spent under the same bounds.
    """

    limits: Limits
    before: Sequence[Budget] = ()
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
        limits, all_of_them = self.limits, (self, *self.before)
        tokens_in = sum(one.tokens_in for one in all_of_them) + self.reserved_in + call.tokens
        tokens_out = sum(one.tokens_out for one in all_of_them) + self.reserved_out + call.max_tokens
        if limits.max_requests is not None and sum(one.requests for one in all_of_them) >= limits.max_requests:
            raise OverBudgetError(f"--max-requests {limits.max_requests}")
        if limits.max_tokens is not None and tokens_in + tokens_out > limits.max_tokens:
            raise OverBudgetError(f"--max-tokens {limits.max_tokens}")
        if limits.max_cost is not None and limits.cost(tokens_in, tokens_out) > limits.max_cost:
            raise OverBudgetError(f"--max-cost {limits.max_cost:g}")
        self.requests += 1
        self.reserved_in += call.tokens
        self.reserved_out += call.max_tokens

    def settle(self, call: Call, tokens: tuple[int, int]) -> None:
        """Replace the estimate by what was billed for the prompt and the reply."""
        self.reserved_in -= call.tokens
        self.reserved_out -= call.max_tokens
        self.tokens_in += tokens[0]
        self.tokens_out += tokens[1]


class Gate:
    """Concurrency that halves when the server says that there are too many calls, and grows again by one per round of successes.

    Also holds everything back until a time that the server asked for; after an outage, one call goes first.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.allowed = float(most)
        self.active = 0
        self._probing = False
        self._until = 0.0
        self._cut = 0.0
        self._wake = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._wake:
            while (pause := self.closed) > 0 or self.active >= (1 if self._probing else max(1, int(self.allowed))):
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause if pause > 0 else None):
                        await self._wake.wait()
            self.active += 1

    @property
    def closed(self) -> float:
        """Seconds for which nothing is to be sent; 0 or less: none."""
        return self._until - time.monotonic()

    async def __aexit__(self, *_: object) -> None:
        async with self._wake:
            self.active -= 1
            self._wake.notify_all()

    def pause(self, seconds: float) -> None:
        """Start nothing for so long."""
        self._until = max(self._until, time.monotonic() + seconds)

    def probe(self, after: float) -> None:
        """Start nothing for so long, and then one at a time until one succeeds."""
        self.pause(after)
        self._probing = True

    def slower(self, after: float) -> None:
        """The server is overrun: halve, once a second at most, as the calls under way will say the same."""
        self.pause(after)
        now = time.monotonic()
        if now - self._cut >= 1.0:
            self._cut = now
            self.allowed = max(1.0, self.allowed / 2)

    def faster(self) -> None:
        """A success: after as many as are allowed at a time, one more is."""
        self._probing = False
        self.allowed = min(float(self.most), self.allowed + 1.0 / self.allowed)


@dataclass
class Breaker:
    """Opens after ``trip`` failures in a row, for ``cool`` seconds; one more failure then opens it again, for twice as long.

    Calls that were sent before it opened say nothing that it does not know.
    """

    trip: int
    cool: float
    row: int = 0
    opened: int = 0
    _until: float = 0.0

    def failed(self, sent: float) -> tuple[bool, float]:
        """Count the failure of a try that was sent at this time (`time.monotonic`).

        Returns:
            Whether it says anything about the call; seconds for which nothing should be sent.
        """
        if sent < self._until:
            return False, 0.0
        self.row += 1
        if self.row < self.trip:
            return True, 0.0
        cool = self.cool * min(_MOST_COOL, 2**self.opened)
        self.row = self.trip - 1
        self.opened += 1
        self._until = time.monotonic() + cool
        return True, cool

    def succeeded(self) -> None:
        """Close it."""
        self.row = self.opened = 0


class Rates:
    """Requests and tokens per minute, for all runs that share it. One second's worth at a time: servers refuse a minute's worth at once."""

    def __init__(self, limits: Limits) -> None:
        self._requests = _limiter(limits.requests_per_minute)
        self._tokens = _limiter(limits.tokens_per_minute)
        self._turn = asyncio.Lock()
        self._owed = 0.0

    async def wait(self, call: Call, gate: Gate) -> None:
        """Until ``call`` may be sent, and ``gate`` holds nothing back: what piles up meanwhile must not be sent at once."""
        async with self._turn:
            while (pause := gate.closed) > 0:
                await asyncio.sleep(pause)
            if self._requests:
                await self._requests.acquire()
            if self._tokens:
                # In turns and piece by piece: a call may be worth more than a second's tokens.
                due, self._owed = sum(call.most) + self._owed, 0.0
                while due > 0:
                    piece = min(due, self._tokens.max_rate)
                    await self._tokens.acquire(piece)
                    due -= piece

    def billed(self, call: Call, tokens: tuple[int, int]) -> None:
        """What was billed for ``call``: whatever is above its estimate is waited for before the next one."""
        self._owed += max(0, sum(tokens) - sum(call.most))


def _limiter(per_minute: float | None) -> AsyncLimiter | None:
    if not per_minute:
        return None
    from aiolimiter import AsyncLimiter

    second = per_minute / _MINUTE
    return AsyncLimiter(max(1.0, second), max(1.0, 1.0 / second))
