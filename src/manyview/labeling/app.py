"""The routes of the page: documents as JSON, acts as POST, changes as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from manyview.errors import InputError, ManyviewError
from manyview.labeling.security import NO_FRAMES, Guard
from manyview.labeling.service import Service
from manyview.labeling.session import ChangedMeanwhileError

PAGE = Path(__file__).parent / "page"
SCRIPTS = ("parts.js", "map.js", "sample.js", "dialogs.js", "app.js")
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
HEARTBEAT_SECONDS = 10.0  # a page that is gone is found by then
WINDOW = "window"  # of the browser that asks: a name that it made up


def make_app(service: Service, *, token: str, host: str, frames: str = NO_FRAMES) -> Guard:
    """Return the application, guarded by the token and by Host and Origin."""
    routes = _Routes(service, token)
    get: dict[str, Callable[[Request], Any]] = {
        "/api/state": lambda request: service.state(),
        "/api/next": routes.next,
        "/api/sample": lambda request: service.show(_row(request), _window(request)),
        "/api/brief": lambda request: service.brief(_row(request)),
        "/api/grid": lambda request: service.grid(request.query_params.get("class", "")),
        "/api/doubts": lambda request: service.doubts(),
        "/api/ids": lambda request: service.ids,
    }
    post: dict[str, Callable[[dict[str, Any]], Any]] = {
        "/api/label": routes.label,
        "/api/skip": lambda body: service.skip(*_fields(body, row=int, window=str)),
        "/api/keep": lambda body: service.keep(*_fields(body, row=int, window=str)),
        "/api/undo": lambda body: service.undo(*_fields(body, window=str)),
        "/api/class": lambda body: service.add_class(*_fields(body, name=str, window=str)),
        "/api/resolve": routes.resolve,
        "/api/focus": routes.focus,
        "/api/finish": lambda body: service.finished.set(),
    }
    application = Starlette(
        routes=[
            Route("/", routes.index),
            *(Route(f"/page/{name}", routes.file) for name in (*SCRIPTS, "style.css")),
            *(Route(path, _answer(function)) for path, function in get.items()),
            *(Route(path, _act(function), methods=["POST"]) for path, function in post.items()),
            Route("/api/map", routes.map),
            Route("/api/image", routes.image),
            Route("/api/events", routes.events),
        ]
    )
    return Guard(application, token=token, host=host, frames=frames)


class _Routes:
    def __init__(self, service: Service, token: str) -> None:
        self.service, self.token = service, token

    def index(self, request: Request) -> Response:
        return HTMLResponse(_page().render(token=self.token, scripts=SCRIPTS,
                                           title=self.service.data.name))  # fmt: skip

    def file(self, request: Request) -> Response:
        file = PAGE / Path(request.url.path).name
        return Response(file.read_bytes(), media_type=TYPES[file.suffix])

    def next(self, request: Request) -> dict[str, Any]:
        row = self.service.next_row(_window(request))
        if row is None:
            return {"row": None, "is_waiting": self.service.is_waiting}
        return self.service.show(row, _window(request))

    def label(self, body: dict[str, Any]) -> None:
        rows, window, source = _fields(body, rows=list, window=str, source=str)
        name, seen = body.get("label"), body.get("seen")
        if not isinstance(name, (str, type(None))):
            raise InputError("label must be the name of a class, or null.")
        if seen is not None and (not isinstance(seen, list) or len(seen) != len(rows)):
            raise InputError("seen must hold one label per row.")
        self.service.label(rows, name, window=window, source=source, seen=seen)

    def resolve(self, body: dict[str, Any]) -> None:
        sample, window = _fields(body, sample=str, window=str)
        self.service.resolve(sample, body.get("label"), window)

    def focus(self, body: dict[str, Any]) -> dict[str, int]:
        (window,) = _fields(body, window=str)
        return {"n": self.service.focus(window, body.get("rows"), body.get("class"))}

    def map(self, request: Request) -> Response:
        return Response(self.service.map_content(), media_type="application/octet-stream")

    def image(self, request: Request) -> Response:
        try:
            found = self.service.images.read(self.service.check_row(_row(request)))
        except InputError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        if found is None:
            return JSONResponse({"error": "This sample has no picture."}, status_code=404)
        return Response(found[0], media_type=found[1])

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(_window(request)), media_type="text/event-stream")

    async def _stream(self, window: str) -> AsyncIterator[str]:
        """Yield one event per change until the page or the server is gone."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[str]()

        def listener(kind: str) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, kind)

        self.service.listeners.append(listener)
        try:
            kind = "hello"
            while True:
                document = {"kind": kind, "version": self.service.version}
                yield f"data: {json.dumps(document)}\n\n"
                if kind == "closed":
                    return
                try:
                    kind = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    kind = "still here"
        finally:
            self.service.listeners.remove(listener)
            self.service.shown.pop(window, None)  # others may be shown its sample again


def _answer(function: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Return a route that answers with JSON; it runs in a thread, so that others go on."""

    async def answer(request: Request) -> Response:
        return await _document(lambda: function(request))

    return answer


def _act(function: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        kind = request.headers.get("content-type", "")
        try:
            body = json.loads(await request.body()) if kind == "application/json" else None
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return JSONResponse({"error": "The request must be a JSON object."}, status_code=400)
        return await _document(lambda: function(body))

    return answer


async def _document(function: Callable[[], Any]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(function))
    except ManyviewError as error:
        status = 409 if isinstance(error, ChangedMeanwhileError) else 400
        return JSONResponse({"error": str(error)}, status_code=status)


def _fields(body: dict[str, Any], **types: type) -> list[Any]:
    """Return some fields of a request in order; refuse wrong types."""
    for name, kind in types.items():
        if not isinstance(body.get(name), kind) or isinstance(body.get(name), bool):
            raise InputError(f"{name} must be given as {kind.__name__}.")
    return [body[name] for name in types]


def _row(request: Request) -> int:
    text = request.query_params.get("row", "")
    if not text.isdecimal():
        raise InputError(f"row must be a number; got {text!r}.")
    return int(text)


def _window(request: Request) -> str:
    return request.query_params.get(WINDOW, "")


@cache
def _page() -> Any:
    text = (PAGE / "index.html.j2").read_text(encoding="utf-8")
    return Environment(autoescape=True).from_string(text)
