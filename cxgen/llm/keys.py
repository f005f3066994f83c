"""The key: where it comes from, and that it gets nowhere."""

from __future__ import annotations

import json
import logging
import os
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from cxgen.errors import CxgenError

KEY: Final = "OPENAI_API_KEY"
_UNSENT = ("localhost", "127.0.0.1", "[::1]")
_SHORT = 6  # shorter ones ("none", "EMPTY") stand for no key, and are words


def api_key(base_url: str | None) -> str:
    """The key from the environment; a server on this machine needs none.

    Raises:
        CxgenError: there is none, or it cannot stand in a header.
    """
    key = os.environ.get(KEY, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise CxgenError(f"{KEY} is no key: it holds a line break or a character that is not ASCII", hint="copy it again")
    if key:
        return key
    if base_url and any(f"//{name}" in base_url for name in _UNSENT):
        return "none"
    raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")


def redacted(text: str) -> str:
    """``text`` without the key, as it is or as JSON, addresses and base64 write it: a server may quote what it was sent."""
    key = os.environ.get(KEY, "").strip()
    return text if len(key) < _SHORT else _said(key).sub("[key]", text)


@cache
def _said(key: str) -> re.Pattern[str]:
    ways = {key, json.dumps(key)[1:-1], quote(key, safe=""), b64encode(key.encode()).decode().rstrip("=")}
    return re.compile("|".join(re.escape(way) for way in sorted(ways, key=len, reverse=True)), re.IGNORECASE)


def keep_out_of_logs() -> None:
    """See that nothing that is logged in this process from now on holds the key: ``OPENAI_LOG=debug`` shows requests and answers."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Redacting):
        logging.setLogRecordFactory(_Redacting(make))


class _Redacting:
    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **named: Any) -> logging.LogRecord:
        record = self._make(*args, **named)
        try:
            text = record.getMessage()
        except (TypeError, ValueError, KeyError):  # whoever logs it will hear of that
            return record
        if (clean := redacted(text)) != text:
            record.msg, record.args = clean, ()
        if record.exc_info:
            trace = logging.Formatter().formatException(record.exc_info)
            if (clean := redacted(trace)) != trace:
                record.exc_info, record.exc_text = None, clean
        return record
