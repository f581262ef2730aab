"""HTML pages: one self-contained file each, for light and dark themes, phones and paper."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from markupsafe import Markup

from manyview.report.html.markup import join, render

# Characters that neither XML nor browsers can show, escaped or not.
CONTROLS = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), 127)}


@dataclass(frozen=True)
class Section:
    """A part of a page: heading, introduction, and ready-made parts below it."""

    heading: str
    parts: tuple[Markup, ...]
    intro: str | Markup
    anchor: str


@dataclass(frozen=True)
class Figure:
    """A key figure: the number, its name and a remark."""

    value: str
    name: str
    note: str = ""


def section(heading: str, *parts: Markup | None, intro: str | Markup = "") -> Section:
    """Return a section, with an anchor from its heading; parts that are None are left out.

    Examples
    --------
    >>> section("Missing results").anchor
    'missing-results'
    """
    anchor = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") or "part"
    return Section(heading, tuple(part for part in parts if part is not None), intro, anchor)


def key_figures(figures: Sequence[Figure]) -> Markup:
    """Return the most important numbers as tiles."""
    return render("tiles", figures=figures)


def side_by_side(*parts: Markup | None, lean: bool = False) -> Markup:
    """Place charts or tables next to each other where there is room; `lean` narrows the first."""
    kept = [part for part in parts if part]
    return render("pair", parts=kept, lean=lean) if len(kept) > 1 else join(*kept)


def notes(lines: Sequence[str], *, kind: str = "note") -> Markup | None:
    """Return remarks in a box; `kind` is "note" or "warning"."""
    return render("notes", lines=lines, kind=kind) if lines else None


def folded(summary: str, *parts: Markup | None) -> Markup:
    """Hide parts behind a line that opens them."""
    return render("fold", summary=summary, content=join(*parts))


def html_page(
    title: str,
    sections: Sequence[Section],
    *,
    kicker: str = "",
    lead: str | Markup = "",
    opening: Markup | None = None,
    scripts: Sequence[str] = (),
) -> str:
    """Return a whole HTML file.

    Parameters
    ----------
    title
        Title of the window and of the page.
    sections
        Sections in order; with more than two, a table of contents lists them.
    kicker
        A few words above the title.
    lead
        The result in one or two sentences.
    opening
        Content before the first section, such as `key_figures`.
    scripts
        Names of further scripts beside page.js.
    """
    style = _asset("page.css")
    own = [_asset(name) for name in ("page.js", *scripts)]
    # Only this style and these scripts may run, and nothing may be fetched.
    allowed = " ".join(f"'{_hash(script)}'" for script in own)
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
    page = render(
        "page", title=title, sections=sections, kicker=kicker, lead=lead, opening=opening,
        policy=policy, style=style, scripts=own, version=version("manyview"),
    )  # fmt: skip
    return str(page).translate(CONTROLS).encode("utf-8", "replace").decode()


@cache
def _asset(name: str) -> Markup:
    text = (files("manyview.report.html") / name).read_text(encoding="utf-8")
    return Markup(text.replace("\r\n", "\n"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
