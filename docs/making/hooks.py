"""Hooks of MkDocs: formulas, sessions, attributes, and the help texts of commands."""

import io
import os
import re
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

from latex2mathml.converter import convert

HELP = re.compile(r"^<!-- manyview (.*?) ?--help -->$", re.MULTILINE)
BARE = re.compile(  # an attribute whose docstring says everything after the colon
    r'\s*(?:\(<code>([^\n]*)</code>\)\s*)?–\s*<div class="doc-md-description">\s*</div>'
)
SESSION = re.compile(r"^```python(?=[^\n]*\n>>> )", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Render blocks fenced as `math` as formulas."""
    options = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences = options.setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": formula})
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Highlight sessions, and replace a comment that names a command by its help text."""
    markdown = SESSION.sub("```pycon", markdown)
    return HELP.sub(lambda found: f"```text\n{help_of(found[1])}```", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Show the description of an attribute as a sentence, not as a type."""
    return BARE.sub(lambda found: meaning(found[1]), html)


def meaning(text: str | None) -> str:
    """Return the description of an attribute, with backticks rendered as code."""
    return "" if text is None else " – " + re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def formula(source: str, *_: Any, **__: Any) -> str:
    r"""Convert LaTeX to MathML, which browsers show without a script.

    Parts separated by `\qquad` may wrap on narrow pages.
    """
    parts = (convert(part.strip(), display="block") for part in source.split(r"\qquad"))
    return f'<div class="math">{"".join(parts)}</div>'


def help_of(command: str) -> str:
    """Return the help text of a command, 80 characters wide."""
    from manyview.cli.app import main

    out = io.StringIO()
    with patch.dict(os.environ, COLUMNS="80", NO_COLOR="1"), redirect_stdout(out):
        try:
            main([*command.split(), "--help"])
        except SystemExit as end:
            if end.code:
                raise ValueError(f"manyview {command} --help failed") from end
    return out.getvalue()
