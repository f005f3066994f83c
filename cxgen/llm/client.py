"""Any OpenAI-compatible server, through the openai client. The client's own retries are off: the runner counts every try."""

from __future__ import annotations

import json
import os
from typing import Any

import openai

from cxgen.errors import CxgenError
from cxgen.llm.messages import Call, CallError, Reply

KEY = "OPENAI_API_KEY"
FORMATS = ("json_schema", "json_object", "text")
_OPTIONAL = ("logprobs", "temperature", "max_tokens")
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length")
# The same request would be answered in the same way.
_FINAL = (501, 505, 506, 508)
_AGAIN = (408, 409, 425)
_UNSENT = ("localhost", "127.0.0.1", "[::1]")


def api_key(base_url: str | None) -> str:
    """The key from the environment; a server on this machine needs none.

    Raises:
        CxgenError: there is none.
    """
    key = os.environ.get(KEY, "").strip()
    if key:
        return key
    if base_url and any(f"//{name}" in base_url for name in _UNSENT):
        return "none"
    raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")


class OpenAIBackend:
    """Chat completions of an OpenAI-compatible server.

    The reply's form is asked for by ``json_schema``; a server that does not know it is asked by ``json_object``, then in words only. What
    else a server or model refuses is left out (log probabilities, a temperature) or called by its other name (the limit of tokens).

    Args:
        base_url: None for OpenAI's own.
        timeout: seconds for one try.
        logprobs: whether to ask for log probabilities.

    Raises:
        CxgenError: no API key.
    """

    def __init__(self, base_url: str | None, timeout: float, *, logprobs: bool = True) -> None:
        self._client = openai.AsyncOpenAI(api_key=api_key(base_url), base_url=base_url, max_retries=0, timeout=timeout)
        self.format = 0
        self.without = frozenset(() if logprobs else ("logprobs",))

    async def send(self, call: Call) -> Reply:
        """See `Backend.send`."""
        form, without = self.format, self.without
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body(call, FORMATS[form], without))
            return reply_of(call, raw.http_response.json(), raw.headers.get("x-request-id") or "")
        except openai.APIStatusError as error:
            if self._simpler(error, form, without):
                raise CallError("the server cannot be asked in this way", simpler=True) from None
            raise error_of(error) from None
        except openai.OpenAIError as error:
            raise error_of(error) from None
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise CallError("the server's answer is no chat completion", retry=True) from None

    def _simpler(self, error: openai.APIStatusError, form: int, without: frozenset[str]) -> bool:
        """Whether the server refused how it was asked, and can be asked more simply; calls under way may have found out already."""
        if error.status_code not in {400, 404, 422, 501}:
            return False
        said = json.dumps(error.body).lower() if error.body else str(error.message).lower()
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


def body(call: Call, form: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The request as sent: the reply's ``form`` is one of ``FORMATS``, ``without`` names what this server does not take."""
    sent: dict[str, Any] = {
        "model": call.model,
        "messages": [{"role": "system", "content": call.system}, {"role": "user", "content": call.user}],
        "temperature": call.temperature,
        "logprobs": True,
    }
    sent["max_completion_tokens" if "max_tokens" in without else "max_tokens"] = call.max_tokens
    if form == "json_schema":
        sent["response_format"] = {"type": form, "json_schema": {"name": "answers", "strict": True, "schema": call.schema}}
    elif form == "json_object":
        sent["response_format"] = {"type": form}
    return {name: value for name, value in sent.items() if name not in without}


def reply_of(call: Call, data: Any, request_id: str) -> Reply:
    """A chat completion's JSON as a reply.

    Raises:
        ValueError, KeyError, IndexError, TypeError, AttributeError: it is none.
    """
    choice = data["choices"][0]
    message = choice["message"]
    text = message.get("content") or ""
    usage = data.get("usage") or {}
    tokens = (choice.get("logprobs") or {}).get("content") or []
    return Reply(
        text=text if isinstance(text, str) else json.dumps(text),
        finish=str(choice.get("finish_reason") or ""),
        refusal=str(message.get("refusal") or ""),
        model=str(data.get("model") or ""),
        fingerprint=str(data.get("system_fingerprint") or ""),
        request_id=request_id or str(data.get("id") or ""),
        tokens_in=int(usage.get("prompt_tokens") or call.tokens),
        tokens_out=int(usage.get("completion_tokens") or len(text) // 4),
        logprobs=tuple((str(token["token"]), float(token["logprob"])) for token in tokens),
    )


def error_of(error: openai.OpenAIError) -> CallError:
    """What went wrong, as the runner understands it."""
    if isinstance(error, openai.APIStatusError):
        return _status(error)
    if isinstance(error, openai.APITimeoutError):
        return CallError("timed out", retry=True)
    if isinstance(error, openai.APIConnectionError):
        return CallError("no connection", retry=True)
    return CallError(f"the client failed: {type(error).__name__}")


def _status(error: openai.APIStatusError) -> CallError:
    """What a status means for this call and for the others. The server's own words stay out: they may quote the key."""
    status, code = error.status_code, str(error.code or "")
    after = retry_after(error.response.headers.get("retry-after"))
    if status in {401, 403}:
        found = CallError(f"the server refuses the credentials ({status})", fatal=True)
    elif code in _QUOTA:
        found = CallError(f"the quota is used up ({code})", fatal=True)
    elif status == 404:
        found = CallError("the server knows no such model or path (404)", fatal=True)
    elif code in _TOO_LONG or status == 413:
        found = CallError("the request is too long", too_long=True)
    elif status == 429:
        found = CallError("too many requests (429)", retry=True, limited=True, after=after)
    elif status in _AGAIN or (status >= 500 and status not in _FINAL):
        found = CallError(f"server error ({status})", retry=True, after=after)
    else:
        found = CallError(f"the server refuses the request ({status})")
    return found


def retry_after(said: str | None) -> float:
    """Seconds of a Retry-After header: a number, or a date; 0 for none."""
    if not said:
        return 0.0
    try:
        return max(0.0, float(said))
    except ValueError:
        from datetime import UTC, datetime
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
        except (TypeError, ValueError):
            return 0.0
