"""What goes to a model and what comes back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Protocol

MOST_TOKENS: Final = 2**31 - 1  # more than anything bills


@dataclass(frozen=True)
class Call:
    """One request, as far as its answer depends on it.

    Attributes:
        model: the model's name.
        system: the static part, first so that servers can cache it.
        user: the items.
        schema: JSON Schema that the reply should follow.
        temperature: sampling temperature.
        max_tokens: limit of the reply.
        attempt: 0, or how often the same request was answered unusably before.
    """

    model: str
    system: str
    user: str
    schema: dict[str, Any] = field(hash=False)
    temperature: float
    max_tokens: int
    attempt: int = 0

    @cached_property
    def key(self) -> str:
        """Content address: the rendered request, the model and the attempt. How the format is asked for is no part of it."""
        parts = [self.model, self.system, self.user, self.schema, self.temperature, self.max_tokens, self.attempt]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    @property
    def most(self) -> tuple[int, int]:
        """Tokens of prompt and reply that it may cost."""
        return self.tokens, self.max_tokens

    @cached_property
    def tokens(self) -> int:
        """An estimate of the prompt's tokens: four bytes each."""
        return (len(self.system.encode()) + len(self.user.encode()) + len(json.dumps(self.schema))) // 4 + 16


@dataclass(frozen=True)
class Reply:
    """A server's answer.

    Attributes:
        text: the message; empty if the model refused.
        finish: why the model stopped: ``stop``, ``length``, ``content_filter`` ...
        refusal: the refusal's text, if it was one.
        model: the model that answered, by its own account.
        fingerprint: the server's system fingerprint.
        request_id: the server's id of the request.
        tokens_in, tokens_out: tokens of the prompt and of the reply, as billed; estimates where the server says nothing.
        logprobs: (token, log probability) in order; empty where the server gives none.
        without: parameters of the call that this server does not take, so that they were not sent.
    """

    text: str
    finish: str
    refusal: str = ""
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: tuple[tuple[str, float], ...] = ()
    without: tuple[str, ...] = ()

    @classmethod
    def stored(cls, data: Any) -> Reply:
        """A reply from its fields (`dataclasses.asdict`), after a trip through JSON.

        Raises:
            ValueError: they are not what is stored.
        """
        try:
            reply = cls(**{**data, "logprobs": tuple((token, logprob) for token, logprob in data["logprobs"])})
            found = replace(reply, without=tuple(reply.without))
        except (TypeError, KeyError) as error:
            raise ValueError("not the fields of a reply") from error
        texts = (found.text, found.finish, found.refusal, found.model, found.fingerprint, found.request_id, *found.without)
        good = all(isinstance(text, str) for text in texts)
        good &= all(isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in (found.tokens_in, found.tokens_out))
        good &= all(isinstance(token, str) and isinstance(logprob, int | float) for token, logprob in found.logprobs)
        if not good:
            raise ValueError("not the types of a reply's fields")
        return found


class Backend(Protocol):
    """Whatever answers calls."""

    async def send(self, call: Call) -> Reply:
        """Answer ``call`` once, without retries.

        Raises:
            CallError: it failed; the error says whether another try may help.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class CallError(Exception):
    """A call that got no reply.

    Args:
        reason: what happened, in a few words and without anything secret.
        retry: whether the same call may succeed later.
        fatal: whether every other call would fail as well (credentials, quota, unknown model).
        after: seconds that the server asks to wait.
        limited: whether the server said that there are too many calls.
        too_long: whether the request has too many tokens, so that a part of it may pass.
        simpler: whether the server refused how it was asked, and the backend will ask more simply from now on.
        tokens: of prompt and reply, that this try may have cost all the same.
    """

    def __init__(
        self,
        reason: str,
        *,
        retry: bool = False,
        fatal: bool = False,
        after: float = 0.0,
        limited: bool = False,
        too_long: bool = False,
        simpler: bool = False,
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry
        self.fatal = fatal
        self.after = after
        self.limited = limited
        self.too_long = too_long
        self.simpler = simpler
        self.tokens = tokens
