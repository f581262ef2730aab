"""Take screenshots of what notebooks show, for light and dark pages: docs/figures/notebook-*.png.

    python docs/making/notebook_shots.py [FOLDER]

Needs Chromium and Playwright, as the browser tests do.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from manyview import ManyviewClassifier, hide_labels, load_dataset

FOLDER = Path(__file__).parent.parent / "figures"
NAMES = ("chromium", "chromium-browser", "google-chrome")
COLORS = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#e6e6e6")}  # of JupyterLab
WIDTH = 900


def outputs() -> dict[str, str]:
    """Return the HTML that a notebook shows, by name."""
    data = load_dataset("digits")
    labels = hide_labels(data.labels, keep=0.05, random_state=0)
    model = ManyviewClassifier(random_state=0).fit(data.views, labels)
    return {
        "views": data.views._repr_html_(),
        "model": model._repr_html_(),
        "explanation": model.explain(7)._repr_html_(),
        "report": model.report(y=data.labels, name="digits")._repr_html_(),
    }


def cell(output: str, theme: str) -> str:
    """Return a page with one output, in the colors of JupyterLab."""
    paper, ink = COLORS[theme]
    font = "-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
    style = f"body{{background:{paper};color:{ink};margin:0;font:13px {font}}}#cell{{padding:12px}}"
    is_light = str(theme == "light").lower()
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style>'
        f'<body data-jp-theme-light="{is_light}"><div id="cell">{output}</div></body>'
    )


def main(folder: Path) -> None:
    """Save a screenshot of each output in each theme."""
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("MANYVIEW_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, output in outputs().items():
            for theme in COLORS:
                file = Path(scratch) / f"{name}-{theme}.html"
                file.write_text(cell(output, theme), encoding="utf-8")
                page = browser.new_page(
                    viewport={"width": WIDTH, "height": 900}, color_scheme=theme
                )
                page.goto(file.as_uri())
                started = folder / f".notebook-{name}-{theme}.png"
                page.locator("#cell").screenshot(path=started)
                started.replace(folder / f"notebook-{name}-{theme}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
