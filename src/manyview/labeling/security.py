"""Who may use the page: a token, the Host and Origin headers, and a strict content policy."""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
NO_FRAMES, NOTEBOOKS = "'none'", "http: https: vscode-webview:"
MAX_BODY = 50_000_000  # bytes; a lasso around a million samples
MAX_REFUSED = 1_000_000  # bytes that are read of a request that is refused


def new_token() -> str:
    """Return a random token for an address."""
    return token_urlsafe(24)


def is_local(host: str) -> bool:
    """Whether a server on this host can be reached from this machine only.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("0.0.0.0")
    (True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def headers_for(frames: str = NO_FRAMES) -> dict[str, str]:
    """Return the headers of every answer; `frames` may show the page in a frame."""
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": frames,
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
        **({"X-Frame-Options": "DENY"} if frames == NO_FRAMES else {}),
    }


class Guard:
    """Lets requests pass that come from the page itself and know the token.

    The Host header must name this server, so that no other site's name can lead here (DNS
    rebinding), and the Origin header, where there is one, must be this server's.
    """

    def __init__(self, app: App, *, token: str, host: str, frames: str = NO_FRAMES) -> None:
        self.app, self.token, self.host = app, token, host
        self._headers = [
            (name.lower().encode(), value.encode()) for name, value in headers_for(frames).items()
        ]

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        """Answer 403 with one sentence, or pass the request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        problem = self.problem(scope)
        if problem is None:
            await self.app(scope, receive, send_safely)
            return
        await _read_rest(receive)
        plain = [(b"content-type", b"text/plain; charset=utf-8")]
        await send_safely({"type": "http.response.start", "status": 403, "headers": plain})
        await send_safely({"type": "http.response.body", "body": f"{problem}\n".encode()})

    def problem(self, scope: Scope) -> str | None:
        """Return why a request is refused; None if it is not."""
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        host = headers.get("host", b"").decode("latin-1")
        if not self._is_own(host):
            return "This address is not the one of `manyview label`."
        origin = headers.get("origin", b"").decode("latin-1")
        if origin and origin != f"http://{host}":
            return "Another page must not use this one."
        if headers.get("sec-fetch-site") == b"cross-site" and scope["path"] != "/":
            return "Another page must not use this one."
        if int(headers.get("content-length", b"0") or 0) > MAX_BODY:
            return "The request is too large."
        given = headers.get("x-manyview-token", b"").decode("latin-1")
        if not given:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            given = query.get("token", [""])[0]
        if not compare_digest(given.encode(), self.token.encode()):
            return "The token is missing or wrong. Use the address that `manyview label` printed."
        return None

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in LOCAL_NAMES or name == self.host:
            return True
        if is_local(self.host):
            return False
        if name == socket.gethostname().casefold():
            return True
        try:
            ipaddress.ip_address(name)  # a number cannot be rebound
        except ValueError:
            return False
        return True


async def _read_rest(receive: Any) -> None:
    """Read the body of a request that is refused: closing it unread would reset the connection."""
    n_left = MAX_REFUSED
    while n_left > 0:
        message = await receive()
        n_left -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return
