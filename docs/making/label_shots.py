"""Take screenshots of the page of `manyview label digits`: docs/figures/label-*.png.

    python docs/making/label_shots.py [FOLDER]

Needs Chromium and Playwright, as the browser tests do. A script labels 30 digits first.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from manyview.data.catalog.load import load_dataset

FOLDER = Path(__file__).parent.parent / "figures"
NAMES = ("chromium", "chromium-browser", "google-chrome")
N_LABELS = 30


def wait_for(page: Page, condition: str) -> None:
    """Wait until a condition of the page holds."""
    while not page.evaluate(condition):
        time.sleep(0.05)


def label(page: Page) -> None:
    """Label digits by keys, as a person would, and let the model learn."""
    truth = load_dataset("digits").labels
    assert truth is not None
    for _ in range(N_LABELS):
        row = page.evaluate("document.documentElement.dataset.row")
        page.keyboard.press(str(truth[int(row)]))
        wait_for(page, f"document.documentElement.dataset.row !== '{row}'")
        wait_for(page, "manyview.state.status !== 'learning'")
    wait_for(page, "manyview.state.learned_number === manyview.state.number")
    wait_for(page, "manyview.state.status === 'idle'")
    time.sleep(3)  # the map has moved


def main(folder: Path) -> None:
    """Label, and save the page in light and dark colors."""
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("MANYVIEW_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as run, sync_playwright() as playwright:
        command = [sys.executable, "-m", "manyview", "label", "digits", "--no-browser"]
        server = subprocess.Popen([*command, "--out", run], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        found = re.search(r"http\S+", server.stdout.readline())
        assert found is not None
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        page.goto(found[0])
        wait_for(page, "manyview.map?.n > 0 && Boolean(document.documentElement.dataset.row)")
        label(page)
        page.screenshot(path=folder / "label-light.png")
        page.keyboard.press("t")
        page.keyboard.press("m")
        time.sleep(1)
        page.screenshot(path=folder / "label-dark.png")
        browser.close()
        server.kill()
        server.communicate()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
