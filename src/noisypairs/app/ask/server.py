"""The server: a page, its script, and a few addresses that it asks for pairs and tells answers.

What a page asks for is a lookup of a millisecond in the store, which is done at once: a thread for
it would take longer to wake. Only what goes over all answers, or reads files, is given to threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from functools import cache
from pathlib import Path

from noisypairs.errors import MissingExtra

try:
    from starlette.applications import Starlette
except ImportError as error:
    raise MissingExtra("starlette", "ask", "noisypairs ask") from error

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from noisypairs.app.ask.guard import Guard, sent
from noisypairs.app.ask.media import TYPES
from noisypairs.app.ask.people import JOIN, OWNER, Person, Refused
from noisypairs.app.ask.site import Site

HERE = Path(__file__).parent
STATIC = {"page.js": "text/javascript", "owner.js": "text/javascript", "page.css": "text/css"}
YEAR = 366 * 24 * 3600
WATCH = 2.0
"""Seconds between two looks at the file of items, and at the worker."""

MEDIA = re.compile("[0-9]{1,18}")
"""How the number of an item is written in an address."""

Watch = Callable[[], None]


def application(site: Site, watch: Watch = lambda: None) -> Starlette:
    """Return the application; ``watch`` is called now and then, to look after the worker."""

    @contextlib.asynccontextmanager
    async def watched(_: Starlette) -> AsyncIterator[None]:
        async def look() -> None:
            while True:
                await asyncio.sleep(WATCH)
                await run_in_threadpool(site.project.refresh)
                await run_in_threadpool(watch)

        task = asyncio.create_task(look())
        yield
        task.cancel()

    pages = Pages(site)
    return Starlette(
        routes=[
            Route("/", pages.page),
            Route("/owner", pages.owner),
            Route("/owner/answers.csv", pages.export),
            Route("/static/{name}", pages.static),
            Route("/media/{item}", pages.media),
            Route("/api/now", pages.now),
            Route("/api/history", pages.history),
            Route("/api/join", pages.join, methods=["POST"]),
            Route("/api/leave", pages.leave, methods=["POST"]),
            Route("/api/answer", pages.answer, methods=["POST"]),
            Route("/api/undo", pages.undo, methods=["POST"]),
            Route("/api/invite", pages.invite, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, loopback=site.loopback)],
        exception_handlers={Refused: _refused, HTTPException: _refused, sqlite3.Error: _refused},
        lifespan=watched,
    )


async def _refused(request: Request, error: Exception) -> Response:
    """Say why not: to a page as JSON, to somebody who came by a link as a page."""
    why, status = _reason(error)
    headers = getattr(error, "headers", None)
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_template("refused.html").render(why=why), status, headers)
    return JSONResponse({"error": why}, status, headers)


def _reason(error: Exception) -> tuple[str, int]:
    if isinstance(error, Refused):
        return str(error), error.status
    if isinstance(error, HTTPException):
        known = {404: "there is no such page"}
        return known.get(error.status_code, error.detail), error.status_code
    return f"the store cannot be used just now ({error})", 503


class Pages:
    """One method for each address."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def page(self, request: Request) -> Response:
        """Show the page; a token in the address is kept as a cookie and taken off the address."""
        token = request.query_params.get("token")
        if token is not None:
            return self._let_in(token)
        return HTMLResponse(_template("page.html").render(question=self._question))

    @property
    def _question(self) -> str:
        return self.site.project.settings.question

    def _let_in(self, token: str) -> Response:
        site = self.site
        role = site.people.role(token)
        person = None if role else site.people.by_token(token)
        if role is None and person is None:
            page = _template("page.html").render(question="This link is not valid any more.")
            return HTMLResponse(page, 403)
        response = RedirectResponse("/", 303)
        if person is not None:
            self._keep(response, site.cookie, token)
        if role == OWNER:
            self._keep(response, f"{site.cookie}-owner", token)
        if role in (OWNER, JOIN):
            self._keep(response, f"{site.cookie}-join", token)
        return response

    @staticmethod
    def _keep(response: Response, name: str, value: str) -> None:
        response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="lax")

    async def static(self, request: Request) -> Response:
        """Serve one of the three files of the page."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise Refused("there is no such file", 404)
        return FileResponse(HERE / name, media_type=STATIC[name])

    async def media(self, request: Request) -> Response:
        """Serve the picture or sound of an item, to people of the project."""
        if not self.site.is_owner(request.cookies):
            self._person(request)
        item = request.path_params["item"]
        path = self.site.project.shown.file(int(item)) if MEDIA.fullmatch(item) else None
        if path is None or path != path.resolve() or not path.is_file():
            raise Refused("there is no such picture", 404)
        # A picture may be a drawing with a script in it: opened by itself it must run nothing.
        alone = {
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        }
        headers = alone | {"Cache-Control": "private, max-age=3600"}
        return FileResponse(path, media_type=TYPES[path.suffix.lower()], headers=headers)

    async def now(self, request: Request) -> Response:
        """Tell the pair to answer, or that a name is needed first."""
        site = self.site
        person = site.person(request.cookies)
        owner = site.is_owner(request.cookies)
        if person is None:
            return JSONResponse({"join": site.may_join(request.cookies), "owner": owner})
        return JSONResponse(site.state(person) | {"owner": owner})

    async def history(self, request: Request) -> Response:
        """Tell one's own answers."""
        person = self._person(request)
        before = request.query_params.get("before", "")
        last = int(before) if before.isdecimal() and len(before) < 19 else None
        return JSONResponse({"answers": self.site.history(person, last)})

    async def join(self, request: Request) -> Response:
        """Give somebody a place by a name."""
        site, found = self.site, await sent(request)
        if not site.may_join(request.cookies):
            raise Refused("ask the owner of this project for a link", 403)
        # Whoever sits at this machine may go on under their name; over a network it takes a link.
        person = site.people.add(found.get("name"), known_too=site.loopback)
        response = JSONResponse(site.state(person))
        self._keep(response, site.cookie, person.token)
        return response

    async def leave(self, request: Request) -> Response:
        """Forget who sits at this browser; what they answered stays."""
        await sent(request)
        response = JSONResponse({"join": self.site.may_join(request.cookies)})
        response.delete_cookie(self.site.cookie)
        return response

    async def answer(self, request: Request) -> Response:
        """Keep an answer, then tell the next pair: in one transaction, and in this order."""
        person, found = self._person(request), await sent(request)
        with self.site.project.database.writing():
            given = (found.get(name) for name in ("question", "said", "seconds", "shown"))
            number = self.site.answers.record(person, *given)
            state = self.site.state(person)
        return JSONResponse(state | {"answered": number})

    async def undo(self, request: Request) -> Response:
        """Take back one's own answer; its pair is the next."""
        person, found = self._person(request), await sent(request)
        with self.site.project.database.writing():
            self.site.answers.undo(person, found.get("answer"), self.site.questions)
            state = self.site.state(person)
        return JSONResponse(state)

    async def owner(self, request: Request) -> Response:
        """Show the owner who answers, how well, and how far the project is."""
        self._require_owner(request)
        found = await run_in_threadpool(self.site.owners_page)
        base = str(request.base_url).rstrip("/")
        return HTMLResponse(_template("owner.html").render(found, base=base))

    async def export(self, request: Request) -> Response:
        """Give the owner all answers as CSV."""
        self._require_owner(request)
        text = await run_in_threadpool(self.site.answers.csv)
        headers = {"Content-Disposition": 'attachment; filename="answers.csv"'}
        return PlainTextResponse(text, headers=headers, media_type="text/csv")

    async def invite(self, request: Request) -> Response:
        """Make a link for somebody by name, for the owner to pass on."""
        self._require_owner(request)
        found = await sent(request)
        person = self.site.people.add(found.get("name"))
        return JSONResponse({"name": person.name})

    def _person(self, request: Request) -> Person:
        person = self.site.person(request.cookies)
        if person is None:
            raise Refused("give a name first", 401)
        return person

    def _require_owner(self, request: Request) -> None:
        if not self.site.is_owner(request.cookies):
            raise Refused(
                "this page is the owner's: come by the link that the command printed", 403
            )


@cache
def _template(name: str) -> Template:
    """Return a compiled template: everything is escaped, a misspelt name is an error."""
    return Environment(
        loader=PackageLoader("noisypairs.app", "ask"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(name)
