"""The local form over HTTP: one page, two calls. Loopback by default; no other site's page can read or write (Host, Origin, type)."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from cxgen.errors import CxgenError, plain
from cxgen.review.form import Form
from cxgen.review.page import page

_MOST_BODY = 16_384
_SECONDS = 30  # for a request to come
_POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Server(ThreadingHTTPServer):
    """The form of the review in ``folder``.

    Args:
        folder: see `cxgen.review.key`.
        host: address to listen on.
        port: 0: any that is free.
        names: under which the machine may be addressed, besides ``host`` and loopback.

    Raises:
        DataError: there is no key.
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, folder: Path, host: str, port: int, names: Sequence[str] = ()) -> None:
        self.form, self.host = Form(folder), host
        super().__init__((host, port), _Handler)
        self.allowed = {f"{name}:{self.server_port}".lower() for name in (*_LOCAL, host, *names)}
        if self.server_port == 80:
            self.allowed |= {name.rpartition(":")[0] for name in self.allowed}

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self.host}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that hang up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _SECONDS
    server_version, sys_version = "cxgen", ""
    protocol_version = "HTTP/1.1"
    _HEADERS: ClassVar = {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
    }

    def do_GET(self) -> None:
        if not self._ours():
            return
        if self.path not in {"/", "/favicon.ico"}:
            self._refuse(HTTPStatus.NOT_FOUND, "there is only one page: /")
        elif self.path == "/":
            nonce = secrets.token_urlsafe(16)
            policy = f"{_POLICY}; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'"
            self._send(HTTPStatus.OK, page(nonce).encode(), "text/html; charset=utf-8", {"Content-Security-Policy": policy})
        else:
            self._send(HTTPStatus.NO_CONTENT, b"", "image/x-icon")

    def do_POST(self) -> None:
        if not self._ours():
            return
        try:
            call = {"/start": self._start, "/answer": self._answer}.get(self.path)
            if call is None:
                self._refuse(HTTPStatus.NOT_FOUND, "no such call")
            else:
                body = self._body()
                if body is not None:
                    self._json(HTTPStatus.OK, call(body))
        except (CxgenError, KeyError, TypeError, ValueError, RecursionError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, plain(error.message) if isinstance(error, CxgenError) else "not such a request")
        except OSError as error:
            self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"not saved: {error.strerror}")

    def _start(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.form.start(_text(body["reader"]))

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        self.server.form.answer(*(_text(body[name]) for name in ("reader", "id", "answer", "note")))
        return {"saved": True}

    def _ours(self) -> bool:
        """Whether the request is addressed to this server and comes from its page, or from no page."""
        host, origin = (self.headers.get(name, "").lower() for name in ("Host", "Origin"))
        good = host in self.server.allowed and origin in {"", f"http://{host}"}
        if not good:
            self._refuse(HTTPStatus.FORBIDDEN, "not addressed to this server; --name NAME lets it be called NAME")
        return good

    def _body(self) -> dict[str, Any] | None:
        size = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")
        elif not (size.isascii() and size.isdigit()) or int(size) > _MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_MOST_BODY} bytes")
        else:
            body = json.loads(self.rfile.read(int(size)))
            if isinstance(body, dict):
                return body
            self._refuse(HTTPStatus.BAD_REQUEST, "expected an object")
        return None

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True  # what is left of the request is not read
        self._json(status, {"error": why})

    def _json(self, status: HTTPStatus, data: dict[str, Any]) -> None:
        self._send(status, json.dumps(data, ensure_ascii=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        closing = {"Connection": "close"} if self.close_connection else {}
        for name, value in {**self._HEADERS, "Content-Type": kind, "Content-Length": str(len(body)), **closing, **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: names would stand in it."""


def _text(value: Any) -> str:
    """A text that can be kept: no half of a surrogate pair, no control character."""
    if not isinstance(value, str):
        raise TypeError
    value.encode()
    if not all(character.isprintable() or character.isspace() for character in value):
        raise ValueError
    return value
