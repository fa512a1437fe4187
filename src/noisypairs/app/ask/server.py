"""The server: a page, its script, and a few addresses that it asks for pairs and tells answers.

Whatever needs the store is done by one thread, one request after the other, so that a store which
another program holds delays answers and nothing else. A request waits `PATIENCE` at most; the page
then says why, and sends it again. What goes over all answers, or reads files, has other threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from pathlib import Path
from typing import Any

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
from noisypairs.app.ask.people import JOIN, OWNER, Person, Refused
from noisypairs.app.ask.site import Site
from noisypairs.app.files.media import TYPES
from noisypairs.app.files.store import damaged

HERE = Path(__file__).parent
STATIC = {"page.js": "text/javascript", "owner.js": "text/javascript", "page.css": "text/css"}
YEAR = 366 * 24 * 3600
WATCH = 2.0
"""Seconds between two looks at the file of items, and at the worker."""

PATIENCE = 2.0
"""Seconds for which a request waits for the store."""

BLOCKED = "the owner of this project takes no more answers from you"

MEDIA = re.compile("[0-9]{1,18}")
"""How the number of an item is written in an address."""

Watch = Callable[[], None]
Handler = Callable[["Pages", Request], Coroutine[Any, Any, Response]]


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
        pages.thread.shutdown()

    async def failed(request: Request, error: Exception) -> Response:
        name = site.project.settings.store.name
        return await _refused(request, Refused(str(damaged(Path(name), error)), 503))

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
            Route("/api/people", pages.people, methods=["POST"]),
            Route("/api/link", pages.link, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, loopback=site.loopback, public=site.public)],
        exception_handlers={Refused: _refused, HTTPException: _refused, sqlite3.Error: failed},
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
    if isinstance(error, HTTPException):
        known = {404: "there is no such page"}
        return known.get(error.status_code, error.detail), error.status_code
    assert isinstance(error, Refused)
    return str(error), error.status


def stored(work: Callable[[Pages, Request, Mapping[str, object]], Response]) -> Handler:
    """Return the handler of an address whose work needs the store; it gets what the page sent."""

    @wraps(work)
    async def handler(pages: Pages, request: Request) -> Response:
        found = await sent(request) if request.method == "POST" else {}
        last = time.monotonic() + PATIENCE

        def do() -> Response:
            pages.site.project.database.be_patient(last - time.monotonic())
            return work(pages, request, found)

        return await asyncio.get_running_loop().run_in_executor(pages.thread, do)

    return handler


class Pages:
    """One method for each address; all but those `stored` know the store by what is in memory."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.thread = ThreadPoolExecutor(1, "store")
        self._static = {name: (HERE / name).read_bytes() for name in STATIC}

    async def page(self, request: Request) -> Response:
        """Show the page; a token in the address is kept as a cookie and taken off the address."""
        if "token" in request.query_params:
            return await self.let_in(request)
        return HTMLResponse(
            _template("page.html").render(question=self._question, levels=self._levels)
        )

    @property
    def _levels(self) -> list[tuple[str, str]]:
        """The levels of the answers and what is written on their buttons; none of yes and no."""
        scale = self.site.project.settings.levels
        if scale is None:
            return []
        ends = {scale.names[0]: "different", scale.names[-1]: "same"}
        if not all(name.isdecimal() for name in scale.names):
            ends = {}
        return [(name, f"{name} {ends.get(name, '')}".strip()) for name in scale.names]

    @property
    def _question(self) -> str:
        return self.site.project.settings.question

    @stored
    def let_in(self, request: Request, _: Mapping[str, object]) -> Response:
        """Keep a token that opens something."""
        site, token = self.site, request.query_params["token"]
        role = site.people.role(token)
        person = None if role else site.people.by_token(token)
        if role is None and person is None:
            page = _template("page.html").render(
                question="This link is not valid any more.", levels=[]
            )
            return HTMLResponse(page, 403)
        response = RedirectResponse("/", 303)
        if person is not None:
            self._keep(response, site.cookie, token)
        if role == OWNER:
            self._keep(response, f"{site.cookie}-owner", token)
        if role in (OWNER, JOIN):
            self._keep(response, f"{site.cookie}-join", token)
        return response

    def _keep(self, response: Response, name: str, value: str) -> None:
        secure = self.site.public.startswith("https:")
        response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="lax", secure=secure)

    async def static(self, request: Request) -> Response:
        """Serve one of the three files of the page, from memory."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise Refused("there is no such file", 404)
        return Response(self._static[name], media_type=STATIC[name])

    @stored
    def media(self, request: Request, _: Mapping[str, object]) -> Response:
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

    @stored
    def now(self, request: Request, _: Mapping[str, object]) -> Response:
        """Tell the pair to answer, or that a name is needed first, or that nothing is."""
        site = self.site
        person = site.person(request.cookies)
        owner = site.is_owner(request.cookies)
        if person is None:
            return JSONResponse({"join": site.may_join(request.cookies), "owner": owner})
        if person.blocked:
            return JSONResponse({"join": False, "owner": owner, "closed": BLOCKED})
        return JSONResponse(site.state(person) | {"owner": owner})

    @stored
    def history(self, request: Request, _: Mapping[str, object]) -> Response:
        """Tell one's own answers."""
        person = self._person(request)
        before = request.query_params.get("before", "")
        last = int(before) if before.isdecimal() and len(before) < 19 else None
        return JSONResponse({"answers": self.site.history(person, last)})

    @stored
    def join(self, request: Request, found: Mapping[str, object]) -> Response:
        """Give somebody a place by a name."""
        site = self.site
        if not site.may_join(request.cookies):
            raise Refused("ask the owner of this project for a link", 403)
        person = site.people.join(found.get("name"), known_too=site.loopback)
        _let_answer(person)
        response = JSONResponse(site.state(person) | {"owner": site.is_owner(request.cookies)})
        self._keep(response, site.cookie, person.token)
        return response

    async def leave(self, request: Request) -> Response:
        """Forget who sits at this browser; what they answered stays."""
        await sent(request)
        response = JSONResponse({"join": self.site.may_join(request.cookies)})
        response.delete_cookie(self.site.cookie)
        return response

    @stored
    def answer(self, request: Request, found: Mapping[str, object]) -> Response:
        """Keep an answer, then tell the next pair: in one transaction, and in this order."""
        person = self._person(request)
        with self.site.project.database.writing():
            given = (found.get(name) for name in ("question", "said", "seconds", "shown"))
            number = self.site.answers.record(person, *given)
            state = self.site.state(person)
        return JSONResponse(state | {"answered": number})

    @stored
    def undo(self, request: Request, found: Mapping[str, object]) -> Response:
        """Take back one's own answer; its pair is the next."""
        person = self._person(request)
        with self.site.project.database.writing():
            self.site.answers.undo(person, found.get("answer"), self.site.questions)
            state = self.site.state(person)
        return JSONResponse(state)

    async def owner(self, request: Request) -> Response:
        """Show the owner who answers, how well, and how far the project is."""
        self._require_owner(request)
        found = await run_in_threadpool(self.site.owners_page)
        base = self.site.public or str(request.base_url).rstrip("/")
        return HTMLResponse(_template("owner.html").render(found, base=base))

    async def export(self, request: Request) -> Response:
        """Give the owner all answers as CSV."""
        self._require_owner(request)
        text = await run_in_threadpool(self.site.answers.csv)
        headers = {"Content-Disposition": 'attachment; filename="answers.csv"'}
        return PlainTextResponse(text, headers=headers, media_type="text/csv")

    @stored
    def people(self, request: Request, found: Mapping[str, object]) -> Response:
        """Make a link for somebody by name, or change what somebody may: for the owner."""
        self._require_owner(request)
        people = self.site.people
        if "name" in found:
            return JSONResponse({"name": people.add(found["name"]).name})
        return JSONResponse({"name": people.change(found.get("person"), found.get("do")).name})

    @stored
    def link(self, request: Request, found: Mapping[str, object]) -> Response:
        """Change the link by which people join, or how many it lets in: for the owner."""
        self._require_owner(request)
        self.site.people.change_link(found.get("most"), found.get("renew"))
        return JSONResponse({})

    def _person(self, request: Request) -> Person:
        person = self.site.person(request.cookies)
        if person is None:
            raise Refused("give a name first", 401)
        _let_answer(person)
        return person

    def _require_owner(self, request: Request) -> None:
        if not self.site.is_owner(request.cookies):
            raise Refused(
                "this page is the owner's: come by the link that the command printed", 403
            )


def _let_answer(person: Person) -> None:
    if person.blocked:
        raise Refused(BLOCKED, 403)


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
