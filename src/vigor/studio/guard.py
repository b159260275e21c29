"""The guard of the studio: lets in whoever has the token that is in the printed address.

viser asks nobody. It serves through `websockets`, where every request, for a file or for a websocket, can be looked at
before it is answered. `serve` puts such a look in front of viser's own, on a socket that is bound beforehand.

The token keeps other users of the machine out, also on the loopback address. A web page from elsewhere could still
reach the studio through the user's browser: requests must name the studio's host, websockets come from a page of its
own, and no other page may show it in a frame.
"""

import contextlib
import errno
import hmac
import io
import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from vigor.basics.errors import UserError

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every answer: it is shown in no frame, guessed to be nothing else, and its address is told to nobody."""


@dataclass(frozen=True)
class Guard:
    """Requirements of a request."""

    token: str
    """Token that it must have, in its path or in a cookie."""
    local: bool
    """Whether it must name this machine as its host."""
    cookie: str = "vigor_studio"
    """Name of the cookie that keeps the token."""

    def refuses(self, path: str, headers: Any) -> str | None:
        """Why a request is refused; None if it is not."""
        try:
            host, origin = headers.get("Host", ""), headers.get("Origin")
            if origin is not None and urlsplit(origin).netloc != host:
                return "this page is not the studio's"
            if self.local and not is_loopback(urlsplit(f"//{host}").hostname or ""):
                return "this is not the studio's address"
            given = [self._in_path(path), self._in_cookie(headers)]
        except Exception:  # A header twice, or one that is no address.
            return "this request is malformed"
        if any(hmac.compare_digest(text.encode(errors="replace"), self.token.encode()) for text in given):
            return None
        return "open the address that the studio printed, with its token"

    def _in_path(self, path: str) -> str:
        return parse_qs(urlsplit(path).query).get("token", [""])[0]

    def _in_cookie(self, headers: Any) -> str:
        cookies: SimpleCookie = SimpleCookie()
        with contextlib.suppress(CookieError):
            cookies.load(headers.get("Cookie", ""))
        return cookies[self.cookie].value if self.cookie in cookies else ""


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; or a sentence about why there is none."""
    if not 0 <= port <= 65535:
        raise UserError(f"--port must be from 0 to 65535, not {port}")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise UserError(f"{host} port {port} cannot be listened on ({error.strerror}); choose another") from None
        raise UserError(
            f"port {port} is taken, perhaps by another studio; choose another with --port {port + 1}"
        ) from None


def guard_for(host: str, port: int) -> Guard:
    """A guard with a new token. Browsers keep cookies by host alone: each port has one of its own."""
    return Guard(secrets.token_urlsafe(24), is_loopback(host), f"vigor_studio_{port}")


@contextlib.contextmanager
def guarded(listening: socket.socket, guard: Guard) -> Iterator[None]:
    """While viser starts within, it serves on this socket and behind this guard; an error if it does not."""
    import websockets.asyncio.server as server

    used = threading.Event()
    original = server.serve

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        used.set()

        def look(connection: Any, request: Any) -> Any:
            reason = guard.refuses(request.path, request.headers)
            if reason is not None:
                response = connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            else:
                response = process_request(connection, request)
                if response is None:  # A websocket.
                    return None
                response.headers["Set-Cookie"] = f"{guard.cookie}={guard.token}; Path=/; HttpOnly; SameSite=Strict"
            for name, value in HEADERS.items():
                if name in response.headers:
                    del response.headers[name]
                response.headers[name] = value
            return response

        return original(handler, sock=listening, process_request=look, **options)

    server.serve = serve  # type: ignore[assignment,misc]
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # It prints an address without the token.
            yield
    finally:
        server.serve = original  # type: ignore[misc]
    if not used.is_set():
        raise UserError("this version of viser cannot be guarded; install the one that vigor asks for")
