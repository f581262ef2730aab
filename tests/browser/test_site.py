"""The documentation in a real browser: no errors or requests, light and dark, wide and narrow."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

PAGES = sorted(
    path.relative_to(docs).with_suffix(".html").as_posix()
    for docs in [Path(__file__).parent.parent.parent / "docs"]
    for path in docs.rglob("*.md")
)
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
HIDDEN_PICTURES = "[...document.images].filter((one) => !one.naturalWidth).map((one) => one.src)"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def reader(chromium):
    """One reader for all pages, who keeps the site's styles and scripts."""
    context = chromium.new_context(
        reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    )
    yield context
    context.close()


@pytest.fixture
def visit(reader):
    """Open an address; no page may complain, fail, or ask another host."""
    wrong, pages = [], []

    def open_address(start, path):
        page = reader.new_page()
        pages.append(page)
        page.set_default_timeout(20_000)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light")
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((start, "data:", "blob:", "about:"))
                or wrong.append(f"asks for {request.url}")
            ),
        )
        page.on(
            "response",
            lambda response: (
                response.status < 400 or wrong.append(f"{response.status} {response.url}")
            ),
        )
        page.goto(start + path)
        return page

    yield open_address
    for page in pages:
        page.evaluate("try { localStorage.clear() } catch {}")
        page.close()
    assert wrong == []


@pytest.mark.parametrize("path", PAGES)
def test_page_is_quiet_and_fits_in_both_themes_and_widths(path, address, visit):
    page = visit(address, path)
    body = page.locator("body")
    assert body.get_attribute("data-md-color-scheme") == "default"
    assert page.evaluate(OVERFLOW) <= 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(OVERFLOW) <= 0
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.dataset.mdColorScheme === 'slate'")
    page.evaluate("for (const one of document.images) one.loading = 'eager'")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(HIDDEN_PICTURES) == []


@pytest.mark.parametrize("from_folder", [False, True])
def test_search_finds_a_parameter_with_and_without_a_server(from_folder, site, address, visit):
    start = site.as_uri() + "/" if from_folder else address
    page = visit(start, "index.html")
    box = page.get_by_role("textbox", name="Search")
    box.click()
    box.fill("initial_threshol")
    box.press("d")  # the page searches whenever a key is released
    found = (
        ".md-search-result__link[href*='reference/classifier.html'][href*='h=initial_threshold']"
    )
    page.locator(found).first.wait_for(timeout=60_000)


def test_first_picture_is_whole_and_legible_on_a_phone(address, visit):
    page = visit(address, "index.html")
    picture = page.locator("img[src$='overview.svg']")
    assert picture.evaluate("(image) => image.currentSrc").endswith("/overview.svg")
    page.set_viewport_size({"width": 400, "height": 844})
    page.wait_for_function(
        "document.querySelector(\"img[src$='overview.svg']\")"
        ".currentSrc.endsWith('/overview-narrow.svg')"
    )
    box = picture.bounding_box()
    scale = box["width"] / picture.evaluate("(image) => image.naturalWidth")
    assert 0 <= box["x"] < box["x"] + box["width"] <= 400
    assert 11 * scale >= 10  # pixels of the smallest text in it
    assert page.evaluate(OVERFLOW) <= 0


def test_text_in_wide_pictures_stays_legible_on_a_narrow_screen(address, visit):
    page = visit(address, "method.html")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator("img[src$='views.svg']").bounding_box()["width"] > 500
    assert page.evaluate(OVERFLOW) <= 0


def test_links_and_the_words_of_the_head_stand_out(address, visit):
    page = visit(address, "index.html")
    for name, below in {"--md-primary-fg-color": "#fff", "--md-typeset-a-color": "#fff"}.items():
        color = page.evaluate(f"getComputedStyle(document.body).getPropertyValue('{name}')")
        assert contrast(color.strip(), below) >= 4.5, name


def contrast(one, other):
    """The contrast of two colors by WCAG 2, from 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color):
    digits = color.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    shares = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_theme_can_be_chosen_and_pictures_follow(address, visit):
    page = visit(address, "method.html")
    page.get_by_title("Switch to light colors").click()
    page.get_by_title("Switch to dark colors").click()
    page.wait_for_function("document.body.dataset.mdColorScheme === 'slate'")
    picture = page.locator("img[src$='fused.svg']")
    picture.scroll_into_view_if_needed()
    shade = "(element) => getComputedStyle(element).colorScheme"
    assert picture.evaluate(shade) == "dark"


def test_sessions_are_copied_without_prompts_and_output(address, visit):
    page = visit(address, "index.html")
    page.locator(".highlight", has_text="load_dataset").get_by_role("button").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("from manyview import")
    assert ">>>" not in copied
    assert "94% accuracy" not in copied
    compile(copied, "index.md", "exec")
