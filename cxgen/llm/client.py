"""Any OpenAI-compatible server, through the openai client. The client's own retries are off: the runner counts every try."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

import httpx2
import openai

from cxgen.llm.completion import billed, reply_of
from cxgen.llm.connection import ElsewhereError, TooLargeError, connected
from cxgen.llm.messages import Call, CallError, Reply
from cxgen.llm.request import FORMATS, body

_OPTIONAL = ("logprobs", "temperature", "max_tokens")
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length")
# The same request would be answered in the same way.
_FINAL = (501, 505, 506, 508)
_AGAIN = (408, 409, 425)
# A gateway gave up: the model behind it may have worked all the same.
_PERHAPS_BILLED = (408, 502, 504, *range(520, 530))
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_PATIENCE = 60.0  # seconds; a server that asks for more is asked again as if it had said nothing


class OpenAIBackend:
    """Chat completions of an OpenAI-compatible server.

    The reply's form is asked for by ``json_schema``; a server that does not know it is asked by ``json_object``, then in words only. What
    else a server or model refuses is left out (log probabilities, a temperature) or called by its other name (the limit of tokens).

    Args:
        base_url: None for OpenAI's own.
        timeout: seconds for one try.
        logprobs: whether to ask for log probabilities.

    Raises:
        CxgenError: no API key, or no such URL.
    """

    def __init__(self, base_url: str | None, timeout: float, *, logprobs: bool = True) -> None:
        self._client = connected(base_url, timeout=timeout)
        self.format = 0
        self.without = frozenset(() if logprobs else ("logprobs",))

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`."""
        form, without = self.format, self.without
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body(call, FORMATS[form], without))
            said, request_id = raw.http_response.content, raw.headers.get("x-request-id") or ""
        except openai.APIStatusError as error:
            if self._simpler(error, form, without):
                raise CallError("the server cannot be asked in this way", simpler=True) from None
            raise error_of(error, call) from None
        except openai.OpenAIError as error:
            raise error_of(error, call) from None
        except Exception:  # headers and encodings, too, can be such that a library stumbles
            raise CallError("the server's answer cannot be read", retry=True, tokens=call.most) from None
        return read_reply(call, said, request_id, tuple(sorted(without & {"temperature"})))

    def _simpler(self, error: openai.APIStatusError, form: int, without: frozenset[str]) -> bool:
        """Whether the server refused how it was asked, and can be asked more simply; calls under way may have found out already."""
        if error.status_code not in {400, 404, 422, 501}:
            return False
        try:
            said = json.dumps(error.body).lower() if error.body else str(error.message).lower()
        except RecursionError:
            return False
        for name in _OPTIONAL:
            if name in said and name not in without:
                self.without |= {name}
                return True
        if any(name in said for name in ("response_format", *FORMATS[:2])) and form + 1 < len(FORMATS):
            self.format = max(self.format, form + 1)
            return True
        return False

    async def close(self) -> None:
        """See `Backend.close`."""
        await self._client.close()


def read_reply(call: Call, said: bytes, request_id: str, without: tuple[str, ...] = ()) -> Reply:
    """What the server said; see `reply_of`.

    Raises:
        CallError: it is no chat completion; with what it cost, as far as it says.
    """
    try:
        return reply_of(call, said, request_id, without)
    except ValueError:
        raise CallError("the server's answer is no chat completion", retry=True, tokens=billed(call, said)) from None


def error_of(error: openai.OpenAIError, call: Call | None = None) -> CallError:
    """What went wrong, as the runner understands it; ``call`` is what may have been billed."""
    tokens = call.most if call else (0, 0)
    if isinstance(error, openai.APIStatusError):
        return _status(error, tokens)
    if isinstance(error, openai.APIConnectionError):
        tokens = (0, 0) if isinstance(error.__cause__, _NEVER_SENT) else tokens
        reason = "timed out" if isinstance(error, openai.APITimeoutError) else "no connection"
        if isinstance(error.__cause__, TooLargeError):
            reason = "the server's answer is too large"
        elif isinstance(error.__cause__, ElsewhereError):
            reason, tokens = "the server sends on to another one", (0, 0)
        return CallError(reason, retry=True, tokens=tokens)
    return CallError(f"the client failed: {type(error).__name__}", tokens=tokens)


def _status(error: openai.APIStatusError, tokens: tuple[int, int]) -> CallError:
    """What a status means for this call and for the others. The server's own words stay out: they may quote the key."""
    status, code, headers = error.status_code, str(error.code or ""), error.response.headers
    after = retry_after(headers.get("retry-after"), headers.get("date"))
    late = " and asks to wait for over a minute" if after > _PATIENCE else ""
    after = 0.0 if late else after
    if status in {401, 403}:
        found = CallError(f"the server refuses the credentials ({status})", fatal=True)
    elif code in _QUOTA:
        found = CallError(f"the quota is used up ({code})", fatal=True)
    elif status == 404:
        found = CallError("the server knows no such model or path (404)", fatal=True)
    elif code in _TOO_LONG or status == 413:
        found = CallError("the request is too long", too_long=True)
    elif status == 429:
        found = CallError(f"too many requests (429){late}", retry=True, limited=True, after=after)
    elif status in _AGAIN or (status >= 500 and status not in _FINAL):
        tokens = tokens if status in _PERHAPS_BILLED else (0, 0)
        found = CallError(f"server error ({status}){late}", retry=True, after=after, tokens=tokens)
    else:
        found = CallError(f"the server refuses the request ({status})")
    return found


def retry_after(said: str | None, date: str | None = None) -> float:
    """Seconds of a Retry-After header: a number, or a date (by the server's own clock, its header ``date``); 0 for none, or nonsense."""
    if not said:
        return 0.0
    try:
        seconds = float(said)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = (parsedate_to_datetime(said) - (parsedate_to_datetime(date) if date else datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return 0.0 if math.isnan(seconds) else max(0.0, seconds)
