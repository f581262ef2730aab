"""How the page writes times, ratios and memory."""

from formatting import table as markdown_table

NOT_YET = "Not measured yet."


def table(heads: str, lines: list[list[str]], n_words: int = 1) -> str:
    """Lay out a Markdown table with heads separated by "|", or note that nothing is measured."""
    return markdown_table(heads.split("|"), lines, n_words) if lines else NOT_YET


def seconds(value: float) -> str:
    """Write a time with about three digits.

    Examples
    --------
    >>> seconds(0.01234), seconds(1.234), seconds(1234.5)
    ('0.0123 s', '1.23 s', '1,234 s')
    """
    if value >= 100:
        return f"{value:,.0f} s"
    return f"{value:.3g} s" if value >= 0.1 else f"{value:.4f} s"


def spread(one: dict[str, float]) -> str:
    return f"{seconds(one['median'])} [{seconds(one['low'])} to {seconds(one['high'])}]"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def memory(megabytes: float) -> str:
    return f"{megabytes:,.0f} MB" if megabytes < 1024 else f"{megabytes / 1024:,.1f} GB"
