"""Markup: HTML and SVG built from plain text, which is escaped unless it is `Html`."""

from html import escape

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
# What XML and browsers cannot show, however escaped.
CONTROLS = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), 127)}


class Html(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


def safe(content: object) -> Html:
    """Escape everything but `Html`; None is nothing.

    Examples
    --------
    >>> safe("<script>")
    '&lt;script&gt;'
    >>> safe(Html("<br>"))
    '<br>'
    """
    if isinstance(content, Html):
        return content
    if content is None:
        return Html()
    return Html(escape(_shown(content)))


def join(*parts: object, between: str = "") -> Html:
    """Set parts side by side."""
    return Html(between.join(safe(part) for part in parts))


def element(tag: str, *content: object, **attributes: object) -> Html:
    """Make one element; `class_` is class, `data_tip` is data-tip.

    An attribute that is None or False is left out; one that is True stands alone.

    Examples
    --------
    >>> element("td", "a < b", class_="number", data_value=3)
    '<td class="number" data-value="3">a &lt; b</td>'
    """
    written = "".join(
        f" {_attribute(name)}" if value is True else f' {_attribute(name)}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{join(*content)}</{tag}>")


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else escape(_shown(value))


def _shown(value: object) -> str:
    """Text without the characters that no browser shows."""
    return str(value).translate(CONTROLS).encode("utf-8", "replace").decode()
