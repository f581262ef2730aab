"""Take screenshots of the reports that two pages show, for light and dark pages.

    python docs/making/report_shots.py [FOLDER]

Runs the commands of docs/howto/report.md, and writes docs/figures/report-*.png. Needs Chromium and
Playwright, as the browser tests do.
"""

import doctest
import os
import shlex
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from manyview.cli.app import main as manyview

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS.parent / "tests" / "helpers"))

from page_blocks import blocks, commands  # noqa: E402

PAGE = DOCS / "howto" / "report.md"
FOLDER = DOCS / "figures"
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Parts of each run's report; the top is what a window shows.
SHOTS = {
    "digits": ("top", "checks", "map", "views"),
    "penguins": ("top", "checks", "reliability", "views", "columns"),
}
THEMES = ("light", "dark")
WIDTH, HEIGHT, MARGIN = 1000, 1180, 24
N_CHECKED = 4  # samples that a picture of the checks shows


def fit_runs() -> None:
    """Do in the current folder what the page says."""
    names: dict[str, object] = {}
    Path("examples").symlink_to(DOCS.parent / "examples")
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.language == "python":
            for example in doctest.DocTestParser().get_examples(block.text):
                exec(compile(example.source, str(PAGE), "single"), names)
        elif block.language == "console":
            for command, _ in commands(block.text):
                run(command)


def run(command: str) -> None:
    """Run a command of manyview."""
    try:
        manyview([*shlex.split(command)[1:], "--quiet"])
    except SystemExit as end:
        if end.code:
            raise


def shoot(page: Page, part: str, path: Path) -> None:
    """Save a part of a report."""
    started = path.with_name(f".{path.name}")
    if part == "top":
        page.screenshot(path=started)
    else:
        first = page.locator(f"#{part} h2").bounding_box()
        rows = page.locator("#checks .cards tbody tr")
        last = (
            rows.nth(N_CHECKED - 1) if part == "checks" else page.locator(f"#{part}")
        ).bounding_box()
        assert first is not None
        assert last is not None
        below = 0 if part == "checks" else MARGIN  # no piece of the next row
        top, bottom = first["y"] - MARGIN, last["y"] + last["height"] + below
        around = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}
        page.screenshot(path=started, clip=around, full_page=True)
    started.replace(path)


def main(folder: Path) -> None:
    """Fit both runs, open their reports in both themes, and save a picture of each part."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("MANYVIEW_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch), sync_playwright() as playwright:
        fit_runs()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, parts in SHOTS.items():
            for theme in THEMES:
                page = browser.new_page(
                    viewport={"width": WIDTH, "height": HEIGHT},
                    color_scheme=theme,
                    reduced_motion="reduce",
                )
                page.goto(Path(f"runs/{name}/report.html").resolve().as_uri())
                for part in parts:
                    shoot(page, part, folder / f"report-{name}-{part}-{theme}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
