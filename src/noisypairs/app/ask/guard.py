"""What stands before every request: its host, its origin and its size, and headers of the answer.

The page runs nothing but its own script and asks nobody but this server: the content security
policy says so to the browser, whatever the items hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noisypairs.app.ask.people import Refused

MOST_BYTES = 4096
"""Size of what a page may send."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""What proxies add."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware: refuse requests from other sites, and give every answer its headers.

    On the loopback address only its own names are answered, so that no other name that leads here
    (DNS rebinding) makes a foreign page one of ours. What a proxy sends on came from elsewhere: it
    is answered at ``public`` only, the address that people know, where a token is needed.
    """

    def __init__(self, app: ASGIApp, loopback: bool, public: str = "") -> None:
        self.app, self.loopback, self.public = app, loopback, public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        why = self._objection(scope)
        if why is None:
            await self.app(scope, receive, send_with_headers)
        else:
            refusal = JSONResponse({"error": why}, 403)
            await refusal(scope, receive, send_with_headers)

    def _objection(self, scope: Scope) -> str | None:
        try:
            return self._why_not(scope["method"], Headers(scope=scope))
        except ValueError:  # an address such as "[", which is none
            return "a header is malformed"

    def _why_not(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        known = (*LOOPBACK, *([urlsplit(self.public).hostname] if self.public else []))
        if (self.loopback or self.public) and urlsplit(f"//{host}").hostname not in known:
            return "this server answers at its own address only"
        if self.loopback and any(name in headers for name in FORWARDED):
            return "this came through a proxy: start noisypairs ask with --behind-proxy URL"
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        own = urlsplit(self.public).netloc or host
        if origin is not None and urlsplit(origin).netloc != own:
            return "requests from other sites are refused"
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "requests from other sites are refused"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return "only JSON is read"
        return None


async def sent(request: Request) -> Mapping[str, object]:
    """Return the JSON object that a page has sent, or refuse what is too large or none."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise Refused(f"more than {MOST_BYTES} bytes", 413)
    except ClientDisconnect:
        raise Refused("the rest did not arrive") from None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused("expected a JSON object") from None
    if not isinstance(found, dict):
        raise Refused("expected a JSON object")
    return found
