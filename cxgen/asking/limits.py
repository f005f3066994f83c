"""What keeps asking within bounds: the limits, and the budget that counts every request that is sent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; None: no bound.

    Attributes:
        concurrency: requests under way at most.
        requests_per_minute, tokens_per_minute: rates; tokens are the prompt's estimate and the reply's limit.
        tries: how often a request is sent before it counts as failed.
        timeout: seconds for one try.
        deadline: seconds for a request with all its tries.
        max_requests, max_tokens, max_cost: of this run, retries counted.
        price_in, price_out: per million tokens, in the currency of ``max_cost``.
        max_failures: share of the requests (of 20 at least) that may fail before the run stops.
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

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Budget:
    """Counts what is spent under the limits; every try is counted, answered or not.

    What a try costs is set aside as its estimate before it is sent, and replaced by what was billed when that is known.

    Attributes:
        limits: the bounds.
        requests, tokens_in, tokens_out: spent or set aside so far.
        errors: reason -> number of tries that failed.
    """

    limits: Limits
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def cost(self) -> float:
        """What is spent so far."""
        return self.limits.cost(self.tokens_in, self.tokens_out)

    def spend(self, tokens_in: int, tokens_out: int) -> str:
        """Set one try's estimate aside; or, changing nothing, the bound that it would break."""
        limits, together = self.limits, (self.tokens_in + tokens_in, self.tokens_out + tokens_out)
        if limits.max_requests is not None and self.requests >= limits.max_requests:
            return f"--max-requests {limits.max_requests}"
        if limits.max_tokens is not None and sum(together) > limits.max_tokens:
            return f"--max-tokens {limits.max_tokens}"
        if limits.max_cost is not None and limits.cost(*together) > limits.max_cost:
            return f"--max-cost {limits.max_cost:g}"
        self.requests += 1
        self.tokens_in, self.tokens_out = together
        return ""

    def settle(self, estimate: tuple[int, int], billed: tuple[int, int]) -> None:
        """Replace what was set aside by what was billed."""
        self.tokens_in += billed[0] - estimate[0]
        self.tokens_out += billed[1] - estimate[1]
