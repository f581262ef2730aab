"""A real browser: Chromium, without a network, driven by Playwright."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # for root, in containers
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    """The browser, or a skip that says what is missing."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright (pip install playwright) to open pages"
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    path = os.environ.get("MANYVIEW_BROWSER", path)
    if path is None:
        pytest.skip("needs Chromium to open pages; `make browser` says how to install it")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except api.Error as error:
            pytest.skip(f"{path} could not be started: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open a file as a user would; the page may neither complain nor ask for anything."""
    heard, asked, opened, contexts = [], [], [], []

    def open_file(file, *, width=1200, height=900, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            reduced_motion="reduce",  # no smooth scrolling to wait for
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)  # busy machines
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        opened.append(file.as_uri())
        page.goto(opened[-1])
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert heard == []
    assert [url for url in asked if url not in opened and not url.startswith("data:")] == []
