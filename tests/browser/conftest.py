"""A real browser: Chromium without a network, driven by Playwright."""

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
    """Return the browser, or skip and name what is missing."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright (pip install playwright) to open pages"
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    path = os.environ.get("MANYVIEW_BROWSER", path)
    if path is None:
        pytest.skip("needs Chromium to open pages; `make browser` explains how to install it")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except api.Error as error:
            pytest.skip(f"{path} could not be started: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open a file as a user would; the page must log nothing and request nothing."""
    logged, requested, opened, contexts = [], [], [], []

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
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        opened.append(file.as_uri())
        page.goto(opened[-1])
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert logged == []
    assert [url for url in requested if url not in opened and not url.startswith("data:")] == []
