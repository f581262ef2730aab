"""A person labels digits in a real browser, while the server is killed and started again."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from waiting import until

from manyview.data.catalog.load import load_dataset

pytest.importorskip("uvicorn", reason="needs the extra app")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
TRUTH = load_dataset("digits").labels
SOURCE = Path(__file__).parent.parent.parent / "src"


class Server:
    """`manyview label digits` in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "manyview", "label", "digits", "--no-browser", "--out", "run"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = re.search(r"http\S+", self.process.stdout.readline())[0]

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()  # its worker may hold the other end a moment longer

    def labels(self):
        """Return the given labels, from the journal alone."""
        found = {}
        text = (self.folder / "run" / "journal.jsonl").read_text()
        whole = text[: text.rfind("\n") + 1]  # the last line may be half written
        acts = [json.loads(line) for line in whole.splitlines()]
        undone = {act["of"] for act in acts if act["kind"] == "undo"}
        for act in acts:
            if act["kind"] in ("label", "file") and act["number"] not in undone:
                found.update(act["labels"])
        return {sample: label for sample, label in found.items() if label is not None}


@pytest.fixture
def start(tmp_path):
    servers = []

    def start_server():
        servers.append(Server(tmp_path))
        return servers[-1]

    yield start_server
    for server in servers:
        if server.process.poll() is None:
            server.kill()


@pytest.fixture
def visit(chromium):
    """Open the page of a server; it must log nothing and request nothing from elsewhere."""
    logged, requested, contexts, addresses = [], [], [], []

    def open_address(address, *, width=1280, height=860, **options):
        addresses.append(address.split("?")[0])
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # busy machines
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(address)
        page.locator("html[data-ready=yes]").wait_for()
        until(
            lambda: page.evaluate(
                "manyview.map.n === 1797 && manyview.state.status !== 'starting'"
                " && document.documentElement.dataset.row !== ''"
            )
        )
        return page

    yield open_address
    for context in contexts:
        context.close()
    # Chromium itself logs requests that a killed server or the rule against overwriting refused.
    assert [text for text in logged if "ERR_" not in text and "409" not in text] == []
    assert [url for url in requested if not url.startswith((*addresses, "data:"))] == []


def row_of(page):
    return int(page.evaluate("document.documentElement.dataset.row"))


def state_of(page):
    return page.evaluate("manyview.get('api/state')")


def press(page, key):
    """Press a key, and wait until another sample is shown."""
    row = row_of(page)
    page.keyboard.press(key)
    until(lambda: row_of(page) != row)


def confirm_second_looks(page):
    """Confirm labels that the queue asks again; they are right, and no new ones."""
    while page.locator(".reason.again").count():
        press(page, str(TRUTH[row_of(page)]))


def label_some(page, n):
    for _ in range(n):
        confirm_second_looks(page)
        press(page, str(TRUTH[row_of(page)]))


def learned(page):
    state = state_of(page)
    return state["status"] == "idle" and state["learned_number"] == state["number"]


def test_thirty_digits_by_keys_with_two_killed_servers(start, visit):
    server = start()
    page = visit(server.address)
    label_some(page, 10)
    until(lambda: learned(page))
    early = state_of(page)["measured"]["accuracy"]
    places = page.evaluate("Array.from(manyview.map.target)")
    label_some(page, 2)
    server.kill()
    before = row_of(page)
    page.keyboard.press(str(TRUTH[before]))
    page.get_by_text("Not saved: the server does not answer").wait_for()
    assert (row_of(page), len(server.labels())) == (before, 12)
    page.close()

    server = start()
    page = visit(server.address)
    assert state_of(page)["n_labeled"] == 12
    label_some(page, 8)
    server.kill()
    page.close()

    server = start()
    page = visit(server.address)
    assert state_of(page)["n_labeled"] == 20
    label_some(page, 10)
    assert len(server.labels()) == 30
    assert all(str(TRUTH[int(sample)]) == label for sample, label in server.labels().items())
    until(lambda: learned(page))
    assert state_of(page)["measured"]["accuracy"] > max(early, 0.9)
    until(lambda: page.evaluate("manyview.map.target[0]") != places[0])
    moved = np.array(page.evaluate("Array.from(manyview.map.target)")) - places
    assert np.abs(moved).mean() > 0.05  # the map has moved
    page.locator("#finish").click()
    page.locator("#really").click()
    page.get_by_role("heading", name="Done").wait_for()
    server.process.communicate(timeout=300)
    assert server.process.returncode == 0
    names = {file.name for file in (server.folder / "run").iterdir()}
    assert {"labels.csv", "report.html", "run.json", "predictions.csv", "model.json"} <= names
    assert len((server.folder / "run" / "labels.csv").read_text().splitlines()) == 31


def go(page, row):
    page.evaluate("row => manyview.acts.go(row)", row)
    until(lambda: row_of(page) == row)


def undo(page, shown):
    """Undo by its key, and wait until the sample of the act is shown again."""
    page.keyboard.press("u")
    until(lambda: row_of(page) == shown)


def test_undo_skip_a_new_class_lasso_batch_and_second_look(start, visit):
    server = start()
    page = visit(server.address)
    label_some(page, 1)
    row = row_of(page)
    label_some(page, 1)
    undo(page, row)
    assert len(server.labels()) == 1
    until(lambda: page.locator("#counts b").inner_text() == "1")
    press(page, "s")
    assert state_of(page)["n_skipped"] == 1
    undo(page, row)

    page.keyboard.press("n")
    page.locator("#class-name").fill("<b>smudge</b>")
    page.keyboard.press("Enter")
    until(lambda: row_of(page) != row)
    assert server.labels()[str(row)] == "<b>smudge</b>"
    page.locator(".classes .word", has_text="<b>smudge</b>").wait_for()
    undo(page, row)
    assert str(row) not in server.labels()
    page.keyboard.press("u")
    until(lambda: page.evaluate("manyview.state.classes.length") == 10)  # decides what keys mean

    label_some(page, 30)
    until(lambda: learned(page))
    confirm_second_looks(page)
    page.locator("#accept").wait_for()
    press(page, "Enter")

    # Batch: all but one that is clicked away.
    n_before = len(server.labels())
    page.keyboard.press("b")
    page.locator(".grid .thumb").first.wait_for()
    n_shown = page.locator(".grid .thumb").count()
    page.locator(".grid .thumb").first.click()
    page.locator("#confirm").click()
    until(lambda: len(server.labels()) == n_before + n_shown - 1)
    page.keyboard.press("u")
    until(lambda: len(server.labels()) == n_before)

    # Lasso: around the whole map, with a confirmation.
    until(lambda: learned(page))
    page.keyboard.press("l")
    box = page.locator("#map").bounding_box()
    left, top = box["x"] + 5, box["y"] + 60
    right, low = box["x"] + box["width"] - 5, box["y"] + box["height"] - 30
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, low), (left, low), (left, top + 2)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.locator("dialog .classes button[data-class='3']").click()
    page.locator("#sure").click()
    until(lambda: len(server.labels()) == 1797)
    page.keyboard.press("u")
    until(lambda: len(server.labels()) == n_before)

    # Second look: one wrong label among many.
    for number in range(10):
        rows = np.flatnonzero(np.equal(TRUTH, number))[:20].tolist()
        body = {"rows": rows, "label": str(number), "source": "lasso"}
        page.evaluate("body => manyview.post('api/label', body)", body)
    wrong = int(np.flatnonzero(np.equal(TRUTH, 0))[3])
    go(page, wrong)
    press(page, "7")
    until(lambda: learned(page) and state_of(page)["n_doubts"] > 0)
    page.keyboard.press("d")
    page.locator(f".look[data-row='{wrong}'] .change").click()
    until(lambda: server.labels()[str(wrong)] == "0")
    page.keyboard.press("Escape")


def test_the_queue_asks_again_about_a_label_that_others_contradict(start, visit):
    server = start()
    page = visit(server.address)
    wrong = int(np.flatnonzero(np.equal(TRUTH, 0))[3])
    for number in range(10):
        rows = set(np.flatnonzero(np.equal(TRUTH, number))[:8].tolist()) - {wrong}
        body = {"rows": sorted(rows), "label": str(number), "source": "lasso"}
        page.evaluate("body => manyview.post('api/label', body)", body)
    go(page, wrong)
    press(page, "7")
    until(lambda: learned(page))
    for _ in range(10):
        if page.locator(".reason.again").count():
            break
        press(page, str(TRUTH[row_of(page)]))
        until(lambda: learned(page))
    assert row_of(page) == wrong
    assert page.locator("#keep").is_visible()
    press(page, "0")
    assert server.labels()[str(wrong)] == "0"
    until(lambda: learned(page))
    assert not page.locator(".reason.again").count()


def test_dark_narrow_and_zoomed(start, visit):
    server = start()
    page = visit(server.address, width=400, height=800, color_scheme="dark", has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", background)[:3])) < 60
    page.locator("#theme").click()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert min(map(int, re.findall(r"\d+", background)[:3])) > 200
    page.locator(".classes button").nth(3).tap()
    until(lambda: list(server.labels().values()) == ["3"])
    scale = page.evaluate("manyview.map.scale")
    page.locator("#map").scroll_into_view_if_needed()
    page.locator("#map").hover()
    page.mouse.wheel(0, -400)
    until(lambda: page.evaluate("manyview.map.scale") > scale)


def test_two_windows_do_not_overwrite_each_other(start, visit):
    server = start()
    one, other = visit(server.address), visit(server.address)
    assert row_of(one) != row_of(other)
    row = row_of(one)
    go(other, row)
    press(one, "1")
    other.keyboard.press("2")
    other.get_by_text(f"Sample {row} was labeled 1 meanwhile").wait_for()
    assert server.labels() == {str(row): "1"}

    # A person edits labels.csv meanwhile: both windows show it, and nothing is lost.
    file = server.folder / "run" / "labels.csv"
    until(file.exists)
    text = file.read_text()
    assert text.splitlines()[1].split(",")[:2] == [str(row), "1"]
    edited = next(sample for sample in range(1797) if sample not in (row, row_of(one)))
    file.write_text(f"{text}{edited},7,mine\n")
    for page in (one, other):
        until(lambda page=page: page.locator("#counts b").inner_text() == "2")
    assert server.labels() == {str(row): "1", str(edited): "7"}
