"""How the page writes numbers and tables."""

NOT_YET = "Not measured yet."


def table(heads: str, lines: list[list[str]], n_words: int = 1) -> str:
    """Lay out a Markdown table; the first `n_words` columns are words, the others numbers."""
    if not lines:
        return NOT_YET
    titles = heads.split("|")
    rule = ["---"] * n_words + ["---:"] * (len(titles) - n_words)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [titles, rule, *lines])


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
