"""The shell of every HTML page: one file, no network, light and dark, phone and paper."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from manyview.report.html.markup import Html, element, join, safe

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cg fill='none' stroke-width='2'%3E%3Ccircle cx='6' cy='6' r='4' stroke='%230072B2'/%3E"
    "%3Ccircle cx='10' cy='10' r='4' stroke='%23D55E00'/%3E%3C/g%3E%3C/svg%3E"
)


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading for the contents and what stands under it."""

    heading: str
    body: Html
    anchor: str


@dataclass(frozen=True)
class Figure:
    """A number to remember: the number, what it counts, and a remark."""

    value: str
    name: str
    note: str = ""


def section(heading: str, *parts: object, intro: object = None) -> Section:
    """Set parts under a heading; `intro` is a sentence or two that says what to see.

    Examples
    --------
    >>> section("How sure", intro="Most are.").anchor
    'how-sure'
    """
    anchor = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") or "part"
    head = None if intro is None else element("p", intro, class_="intro")
    return Section(heading, join(head, *parts), anchor)


def key_figures(figures: Sequence[Figure]) -> Html:
    """Set the numbers that matter most side by side."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", one.name),
                element("dd", element("strong", one.value), element("span", one.note)),
            )
            for one in figures
        ),
        class_="figures",
    )


def side_by_side(*parts: Html, lean: bool = False) -> Html:
    """Set charts or tables beside each other where there is room; `lean` narrows the first."""
    kept = [part for part in parts if part]
    kind = "pair lean" if lean else "pair"
    return element("div", *kept, class_=kind) if len(kept) > 1 else join(*kept)


def notes(lines: Sequence[object], *, kind: str = "note") -> Html:
    """Set remarks in a box; `kind` is "note" or "warning"."""
    if not lines:
        return Html()
    role = "alert" if kind == "warning" else "note"
    return element("div", *(element("p", line) for line in lines), class_=kind, role=role)


def folded(summary: str, *parts: object) -> Html:
    """Hide parts behind a line that opens them."""
    return element("details", element("summary", summary), *parts)


def html_page(
    title: str,
    sections: Sequence[Section],
    *,
    kicker: str = "",
    lead: object = None,
    opening: object = None,
    footer: object = None,
) -> str:
    """Make the whole file.

    Parameters
    ----------
    title
        Of the window and of the page.
    sections
        In order; the contents list their headings.
    kicker
        A few words above the title.
    lead
        The prediction, in a sentence or two, as text or `Html`.
    opening
        What comes before the first section, such as `key_figures`.
    footer
        Below everything; by default the version that made the page.
    """
    style, script = _asset("page.css"), _asset("page.js")
    # Only our own script and style may run, and nothing may be fetched.
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    head = join(
        Html('<meta charset="utf-8">'),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"manyview {version('manyview')}"),
        element("title", f"{title} · manyview"),
        element("link", rel="icon", href=ICON),
        element("style", Html(style)),
        element("script", Html(script)),
        between="\n",
    )
    contents = element(
        "nav",
        element(
            "ul",
            *(element("li", element("a", one.heading, href=f"#{one.anchor}")) for one in sections),
        ),
        aria_label="Contents",
    )
    body = join(
        element("a", "Skip to the content", class_="skip", href="#content"),
        element(
            "header",
            element("span", "manyview", class_="brand"),
            element("button", "Dark", type="button", class_="theme", hidden=True),
            class_="top",
        ),
        element(
            "main",
            element("p", kicker, class_="kicker") if kicker else None,
            element("h1", title),
            element("p", lead, class_="lead") if lead else None,
            opening,
            contents if len(sections) > 2 else None,
            *(_set(one) for one in sections),
            id="content",
        ),
        element("footer", footer if footer is not None else made_by()),
        element("div", class_="tip", id="tip", role="status", hidden=True),
        between="\n",
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def made_by() -> Html:
    """Say which version made the page, and that it needs nothing else."""
    return safe(
        f"Made by manyview {version('manyview')}. This file is whole: it loads nothing and sends "
        "nothing."
    )


def _set(part: Section) -> Html:
    name = f"{part.anchor}-heading"
    heading = element("h2", part.heading, id=name)
    return element("section", heading, part.body, id=part.anchor, aria_labeledby=name)


@cache
def _asset(name: str) -> str:
    return (files("manyview.report.html") / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
