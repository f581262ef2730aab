"""Take screenshots of a real run's report for the tutorial: docs/figures/report-*.png.

    python docs/making/report_shots.py [FOLDER]

Needs Chromium and Playwright, as the browser tests do.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from manyview.cli.app import main as manyview

FOLDER = Path(__file__).parent.parent / "figures"
NAMES = ("chromium", "chromium-browser", "google-chrome")
SHOTS = {"top": None, "map": "#map", "views": "#views"}  # the part of the page each one shows
WIDTH, HEIGHT = 1000, 700


def fit_digits(folder: Path) -> Path:
    """Run the tutorial's command and return the path of its report."""
    try:
        manyview(["fit", "digits", "--label-ratio", "0.02", "--out", str(folder), "--quiet"])
    except SystemExit as end:
        if end.code:
            raise
    return folder / "report.html"


def main(folder: Path) -> None:
    """Fit, open the report in light colors, and save a screenshot of each part."""
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("MANYVIEW_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as run, sync_playwright() as playwright:
        report = fit_digits(Path(run) / "demo")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.goto(report.as_uri())
        for name, part in SHOTS.items():
            started = folder / f".report-{name}.png"
            shown = page if part is None else page.locator(part)
            shown.screenshot(path=started)
            started.replace(folder / f"report-{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
