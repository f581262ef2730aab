"""Labeling sessions of tiny data, with a model that learns in a moment."""

import json
from contextlib import contextmanager
from threading import Thread
from unittest.mock import patch
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest
from waiting import until

from manyview.data.checksums import views_checksum
from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.labeling.opening import LabelingSettings, start_labeling
from manyview.labeling.server import PageServer
from manyview.labeling.worker import Worker, answer_tasks
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

pytest.importorskip("uvicorn", reason="needs the extra app")
pytest.importorskip("starlette", reason="needs the extra app")
FAST = {"max_epochs": 5, "max_iter": 1}


@pytest.fixture(scope="session")
def tiny_dataset(shared_views):
    views = MultiView(shared_views.views)
    names = np.array([f"p{number}" for number in range(60)], dtype=object)
    return Dataset("tiny", views, shared_views.labels, names, (), views_checksum(views))


class WorkerThread(Thread):
    """Stands for the worker's process: it learns alike, and need not import anything."""

    pid = None

    def kill(self):
        self.join()  # it ends after the epoch that it is in


class ThreadedWorker(Worker):
    """A worker that is a thread."""

    @staticmethod
    def _start(*args):
        thread = WorkerThread(target=answer_tasks, args=args, daemon=True)
        thread.start()
        return thread


@contextmanager
def opener(folder, tiny_dataset):
    """Yield a function that opens the session of the tiny data; its labels are hidden."""
    opened = []

    def open_session(
        out="run", *, hides_labels=True, data=tiny_dataset, worker=ThreadedWorker, **settings
    ):
        asked = RunSettings(DataSource(()), params=FAST, out=folder / out)
        settings = LabelingSettings(asked, **settings)
        with patch("manyview.labeling.service.Worker", worker):
            found = start_labeling(settings, data, hides_labels=hides_labels)
        opened.append(found.service)
        until(lambda: found.service.status == "idle" and len(found.service.learned.queue.rows))
        return found

    try:
        yield open_session
    finally:
        for service in opened:
            service.abandon()
            service.session.journal.close()


@pytest.fixture
def open_tiny(tmp_path, tiny_dataset):
    with opener(tmp_path, tiny_dataset) as open_session:
        yield open_session


@pytest.fixture(scope="module")
def shared_labeling(tmp_path_factory, tiny_dataset):
    """A session that several tests use, and leave as it was."""
    with opener(tmp_path_factory.mktemp("labeling"), tiny_dataset) as open_session:
        yield open_session()


class Client:
    """A browser without a page."""

    def __init__(self, server):
        self.base = f"http://127.0.0.1:{server.port}"
        self.token = server.token

    def ask(self, path, body=None, *, token=None, headers=None, **query):
        query = {"window": "w", "token": self.token if token is None else token, **query}
        data = None if body is None else json.dumps({"window": "w", **body}).encode()
        sent = {"Content-Type": "application/json"} if data else {}
        request = Request(
            f"{self.base}{path}?{urlencode(query)}", data, {**sent, **(headers or {})}
        )
        try:
            with urlopen(request, timeout=120) as answer:
                return answer.status, answer.read(), answer.headers
        except HTTPError as error:
            with error:
                return error.code, error.read(), error.headers

    def json(self, path, body=None, **query):
        status, content, _ = self.ask(path, body, **query)
        return status, json.loads(content)


@pytest.fixture(scope="module")
def client(shared_labeling):
    """A client of the shared session."""
    with PageServer(shared_labeling.service) as server:
        assert urlsplit(server.address).hostname == "127.0.0.1"
        yield Client(server)
