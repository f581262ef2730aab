"""The server of the page, in a thread of its own."""

import socket
from importlib.util import find_spec
from threading import Thread
from types import TracebackType
from typing import Any, Self

from manyview.errors import InputError
from manyview.labeling.security import NO_FRAMES, new_token
from manyview.labeling.service import Service

LOCAL = "127.0.0.1"
CLOSE_SECONDS = 2  # that open connections have to end


def check_extra() -> None:
    """Refuse to start without the packages that serve the page."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"The page needs {' and '.join(missing)}, of the extra app: pip install "
            "'manyview[app]'."
        )


class PageServer:
    """Serves the page of a labeling session until it is left.

    Parameters
    ----------
    service
        The session.
    host, port
        Where to listen; port 0 takes one that is free.
    frames
        Who may show the page in a frame (see `headers_for`).
    """

    def __init__(
        self, service: Service, *, host: str = LOCAL, port: int = 0, frames: str = NO_FRAMES
    ) -> None:
        self.service, self.host, self._frames = service, host, frames
        self.token = new_token()
        self._socket = _listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        self._server: Any = None
        self._thread: Thread | None = None

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    def __enter__(self) -> Self:
        import uvicorn

        from manyview.labeling.app import make_app

        app = make_app(self.service, token=self.token, host=self.host, frames=self._frames)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._thread is not None
        self.service.notify("closed")
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65536:
        raise InputError(f"port must be from 0 to 65535; got {port}.", parameter="port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen()  # from now on, requests wait for the thread
    except OSError as error:
        opened.close()
        raise InputError(
            f"The page cannot be served on {host}:{port}: {error.strerror or error}. Choose "
            "another port, or leave it out to take one that is free.",
            parameter="port",
        ) from error
    return opened
