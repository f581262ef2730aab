"""Markup: Jinja2 templates for HTML, and an escaping element for drawings in SVG.

Both escape every value that is not `Markup`. The shapes inside a chart stay in Python: they are
loops over computed coordinates, which a template would only make harder to read.
"""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

ENVIRONMENT = Environment(
    loader=PackageLoader("manyview.report.html", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **values: object) -> Markup:
    """Fill `templates/<template>.html.j2`; values that are not `Markup` are escaped."""
    return Markup(ENVIRONMENT.get_template(f"{template}.html.j2").render(values))


def join(*parts: object) -> Markup:
    """Concatenate parts, each escaped unless it is `Markup`; None is left out.

    Examples
    --------
    >>> print(join("<", Markup("<br>"), None, 3))
    &lt;<br>3
    """
    return Markup("").join(escape(part) for part in parts if part is not None)


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """Return one element; `class_` becomes class, `data_tip` becomes data-tip.

    Attributes that are None are left out.

    Examples
    --------
    >>> print(element("text", "a < b", class_="end", x=3.5))
    <text class="end" x="3.5">a &lt; b</text>
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    end = "" if tag == "img" else f"{join(*content)}</{tag}>"
    return Markup(f"<{tag}{written}>{end}")


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(escape(value))
