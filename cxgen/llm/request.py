"""A call as OpenAI's chat completions take it."""

from __future__ import annotations

from typing import Any, Final

from cxgen.llm.messages import Call

ENDPOINT: Final = "/v1/chat/completions"
FORMATS: Final = ("json_schema", "json_object", "text")


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
