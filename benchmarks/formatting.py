"""How the pages write numbers, tables and folds."""

import numpy as np

SCORES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "macro_f1": "macro-F1"}


def deviation(values):
    """Return the standard deviation over seeds; NaN for a single value, which no figure draws."""
    return np.std(values, ddof=1) if len(values) > 1 else np.nan


def spread(values):
    """Write the mean and, for more than one value, the standard deviation in brackets."""
    mean = f"{np.mean(values):.1f}"
    return f"{mean} ({deviation(values):.1f})" if len(values) > 1 else mean


def cell(values, n_seeds=None):
    """Write the values of all seeds as `spread` does, with their number if not `n_seeds`."""
    if not values:
        return ""
    few = n_seeds is not None and len(values) != n_seeds
    return spread(values) + (f", n = {len(values)}" if few else "")


def signed(points):
    """Write points with their sign; what rounds to 0 is +0.0."""
    return f"{round(points, 1) + 0.0:+.1f}"


def and_list(words):
    """Join words with commas, the last two with "and".

    Examples
    --------
    >>> and_list(["a"]), and_list(["a", "b"]), and_list(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def p_value(value, digits=3, name="p"):
    """Write a p value with its name, such as "p = 0.012" or "p < 0.001".

    Examples
    --------
    >>> p_value(0.0123), p_value(0.0001), p_value(0.0001, name="")
    ('p = 0.012', 'p < 0.001', '< 0.001')
    """
    rounded = f"{value:.{digits}f}"
    written = f"= {rounded}" if float(rounded) else f"< {10**-digits:.{digits}f}"
    return f"{name} {written}" if name else written.removeprefix("= ")


def table(heads, rows, n_words=1):
    """Lay out a Markdown table; the first `n_words` columns are words, the others numbers."""
    rule = ["---"] * n_words + ["---:"] * (len(heads) - n_words)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows])


def fold(title, body):
    """Put a part of a page behind a fold that opens by a click."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{body}\n\n</details>'


def score_folds(title, table_of):
    """Put a table per score behind folds; `table_of` returns it for a field of the records."""
    return "\n\n".join(
        fold(title if field == "accuracy" else f"{title}: {name}", table_of(field))
        for field, name in SCORES.items()
    )
