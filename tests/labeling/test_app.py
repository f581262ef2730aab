"""The routes of the page, over a real connection."""

import json
import re
from itertools import islice
from urllib.request import urlopen

import pytest

from manyview.labeling.app import PAGE, SCRIPTS


@pytest.fixture
def labeling(shared_labeling):
    return shared_labeling


PATHS = ["/", "/page/app.js", "/page/style.css", "/api/state", "/api/next", "/api/map", "/api/ids"]


@pytest.mark.parametrize("path", [*PATHS, "/api/events", "/api/image", "/nothing"])
def test_nothing_answers_without_the_token(client, path):
    assert client.ask(path, token="")[0] == 403
    assert client.ask(path, {}, token="wrong")[0] == 403


def test_other_hosts_and_origins_are_refused(client):
    assert client.ask("/api/state", headers={"Host": "evil.example"})[0] == 403
    status, content, _ = client.ask("/api/undo", {}, headers={"Origin": "http://evil.example"})
    assert (status, content) == (403, b"Another page must not use this one.\n")


@pytest.mark.parametrize("path", ["/page/../app.py", "/page/..%2fapp.py", "/page/index.html.j2"])
def test_only_files_of_the_page_are_served(client, path):
    assert client.ask(path)[0] == 404


def test_scripts_of_the_page_never_read_texts_as_markup():
    for name in SCRIPTS:
        text = (PAGE / name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_every_answer_has_the_policy(client):
    for path in PATHS:
        status, _, headers = client.ask(path)
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in client.ask("/nothing")[2]["Content-Security-Policy"]


def test_a_label_is_saved_when_it_is_answered(client, labeling):
    status, sample = client.json("/api/next")
    assert status == 200
    body = {"rows": [sample["row"]], "label": "1", "source": "key", "seen": [None]}
    assert client.json("/api/label", body) == (200, None)
    last = labeling.service.session.journal.file.read_text().splitlines()[-1]
    assert json.loads(last)["labels"] == {sample["id"]: "1"}
    status, answer = client.json("/api/label", {**body, "label": "2"})
    assert status == 409
    assert f"Sample {sample['id']} was labeled 1 meanwhile" in answer["error"]
    assert client.json("/api/state")[1]["n_labeled"] == 1
    assert client.json("/api/undo", {})[1]["rows"] == [sample["row"]]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/api/label", {"rows": [0], "source": "key", "label": 3}, "label must be"),
        ("/api/label", {"rows": 0, "source": "key"}, "rows must be given as list"),
        ("/api/label", {"rows": [0], "source": "key", "label": "0", "seen": []}, "seen must hold"),
        ("/api/label", {"rows": [True], "source": "key", "label": "0"}, "rows must be numbers"),
        ("/api/label", {"rows": [99], "source": "key", "label": "0"}, "rows must be numbers"),
        ("/api/label", {"rows": [0], "source": "key", "label": "cow"}, "no class 'cow'"),
        ("/api/class", {"name": ""}, "needs a name"),
        ("/api/skip", {"row": "3"}, "row must be given as int"),
        ("/api/undo", {}, "nothing to undo"),
        ("/api/focus", {"class": "0"}, "it has no label"),
    ],
)
def test_wrong_acts_are_refused_with_a_sentence(client, labeling, path, body, message):
    status, answer = client.json(path, body)
    assert status == 400
    assert message in answer["error"]
    assert labeling.service.session.labels == {}


def test_acts_must_be_json(client):
    headers = {"Content-Type": "text/plain"}  # what a form of another page could send
    assert client.ask("/api/undo", {}, headers=headers)[0] == 400
    assert client.ask("/api/undo")[0] == 405


def test_names_are_escaped_and_stay_texts(client, labeling):
    name = "<script>alert(1)</script>"
    assert client.json("/api/class", {"name": name})[0] == 200
    assert client.json("/api/state")[1]["classes"][-1]["name"] == name
    assert name not in client.ask("/")[1].decode()


def test_pictures_need_a_sample_that_has_one(client):
    assert client.json("/api/image", row=0)[0] == 404
    assert client.json("/api/image", row=99)[0] == 400
    assert client.json("/api/sample", row="../x")[0] == 400


def test_changes_are_sent_as_events(client, labeling):
    with urlopen(f"{client.base}/api/events?token={client.token}", timeout=120) as stream:
        events = (json.loads(line[6:])["kind"] for line in stream if line.startswith(b"data:"))
        assert next(events) == "hello"
        labeling.service.label([3], "0", window="w", source="key")
        # A fit that was running before may end in between.
        assert "labels" in islice(events, 10)
