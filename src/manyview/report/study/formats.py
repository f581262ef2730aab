"""Tables of a study as text, Markdown, LaTeX and CSV."""

import csv
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from textwrap import fill

from manyview.experiments.study import Study
from manyview.report.layout import MAX_WIDTH, set_table
from manyview.report.study.comparison import DEFAULT_TEST
from manyview.report.study.results import find_metric, study_results, value_title
from manyview.report.study.table import BEST, SECOND, Table, TableCell, flat_header
from manyview.report.study.tables import study_tables
from manyview.validation import check_choice

MAX_COLUMNS = 8  # above which a table is scaled to the page width
SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\n": " ",
    }
)


def as_latex(table: Table, width: int = 0) -> str:
    r"""Write a table in LaTeX with booktabs rules: best in bold, second best underlined."""
    del width  # LaTeX breaks lines itself
    n_columns = len(table.header)
    sentences = [*table.legend(r"\textbf{Bold}", r"\underline{Underlined}", r"$\approx$")]
    caption = " ".join([*sentences, *(escape_latex(one) for one in table.caption)])
    is_wide = n_columns > MAX_COLUMNS
    lines = [
        r"% needs \usepackage{booktabs}" + (r" and \usepackage{graphicx}" if is_wide else ""),
        r"\begin{table*}[tbp]",
        r"  \centering",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        *([r"  \resizebox{\textwidth}{!}{%"] if is_wide else []),
        f"  \\begin{{tabular}}{{l{'r' * (n_columns - 1)}}}",
        r"    \toprule",
    ]
    if table.groups:
        spans = [_spanning(n, "c", escape_latex(name)) for name, n in table.groups]
        lines.append(f"    {' & '.join(['', *spans])} \\\\")
        start = 2
        for name, n in table.groups:
            if name:
                lines.append(f"    \\cmidrule(lr){{{start}-{start + n - 1}}}")
            start += n
    lines.append(f"    {' & '.join(map(escape_latex, ('', *table.header[1:])))} \\\\")
    for block in table.blocks:
        label = f"\\textit{{{escape_latex(block.label)}}}"
        lines += [r"    \midrule", f"    {_spanning(n_columns, 'l', label)} \\\\"]
        lines += [f"    {' & '.join(map(_cell, row))} \\\\" for row in block.rows]
    lines += [r"    \bottomrule", r"  \end{tabular}" + ("}" if is_wide else "")]
    if table.notes:
        notes = [f"\\textsuperscript{{{a}}}~{escape_latex(note)}." for a, note in table.notes]
        lines += [r"  \par\smallskip", f"  {{\\footnotesize {' '.join(notes)}\\par}}"]
    lines += [
        f"  \\caption{{{escape_latex(table.title)}. {caption}}}",
        f"  \\label{{tab:{table.name}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX prints it unchanged.

    Examples
    --------
    >>> print(escape_latex("50% of a_b & {c}"))
    50\% of a\_b \& \{c\}
    """
    return text.translate(SPECIAL)


def _spanning(n_columns: int, side: str, text: str) -> str:
    return f"\\multicolumn{{{n_columns}}}{{{side}}}{{{text}}}"


def _cell(cell: TableCell) -> str:
    command = {BEST: r"\textbf", SECOND: r"\underline"}.get(cell.mark)
    text = escape_latex(cell.text)
    text = f"{command}{{{text}}}" if command else text
    raised = (r"$\approx$" if cell.is_tied else "") + cell.note
    return text + (f"\\rlap{{\\textsuperscript{{{raised}}}}}" if raised else "")


CSV_HEADER = (
    "dataset",
    "entry",
    "point",
    "label_ratio",
    "protocol",
    "metric",
    "n_planned",
    "n_seeds",
    "mean",
    "std",
    "paper_mean",
    "paper_std",
    "n_failed",
    "reason",
)


def tables_as(
    study: Study,
    style: str = "text",
    *,
    metric: str = "accuracy",
    test: str = DEFAULT_TEST,
    width: int = MAX_WIDTH,
) -> str:
    """Write the tables of a study as "text", "markdown", "latex" or "csv".

    CSV has one row per cell of the plan, in full precision.
    """
    check_choice("format", style, (*FORMATS, "csv"))
    if style == "csv":
        return as_csv(study, metric)
    write = FORMATS[style]
    return "\n\n".join(write(table, width) for table in study_tables(study, metric, test=test))


def as_text(table: Table, width: int) -> str:
    """Write a table for a terminal; columns beyond the width follow below."""
    rows = [row for block in table.blocks for row in block.rows]
    heads = _header_lines(table)
    columns = [
        [*head, *(_aligned([row[n] for row in rows]) if n else [row[0].text for row in rows])]
        for n, head in enumerate(zip(*heads, strict=True))
    ]
    columns[0] += [block.label for block in table.blocks]  # for the width of the first column
    lines = [table.title]
    for part in _parts(columns, width):
        at = len(heads)
        for block in table.blocks:
            numbers = [*range(len(heads)), *range(at, at + len(block.rows))]
            body = [[columns[n][number] for n in (0, *part)] for number in numbers]
            body[0] = (
                [block.label, *_once(body[0][1:])] if table.groups else [block.label, *body[0][1:]]
            )
            at += len(block.rows)
            lines += ["", set_table(body[0], body[1:], "<" + ">" * len(part))]
    below = [" ".join([*table.legend("*", "+", "~"), *table.caption])]
    below += [f"[{letter}] {note}." for letter, note in table.notes]
    room = min(width, MAX_WIDTH)
    return "\n".join([*lines, "", *(fill(one, room, subsequent_indent="  ") for one in below)])


def as_markdown(table: Table, width: int = 0) -> str:
    """Write a table in Markdown: best in bold, second best in italics."""
    del width
    heads = [_escape_markdown(head) for head in flat_header(table)]
    lines = [f"### {_escape_markdown(table.title)}"]
    for block in table.blocks:
        head = [_escape_markdown(block.label), *heads[1:]]
        lines += ["", _markdown_row(head), _markdown_row(["---", *["---:"] * (len(heads) - 1)])]
        lines += [_markdown_row(map(_markdown_cell, row)) for row in block.rows]
    sentences = [*table.legend("**Bold**", "*Italics*", "≈"), *table.caption]
    lines += ["", _escape_markdown(" ".join(sentences), keep="*")]
    lines += [f"\n<sup>{letter}</sup> {_escape_markdown(note)}." for letter, note in table.notes]
    return "\n".join(lines)


FORMATS: dict[str, Callable[[Table, int], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
}


def as_csv(study: Study, metric: str = "accuracy") -> str:
    """Write one row per cell of the plan, with numbers in full precision."""
    shown = find_metric(metric)
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for cell, result in study_results(study, shown).items():
        paper_mean, paper_std = result.paper or (None, None)
        unrun = "" if result.by_seed else study.skipped.get(cell.dataset, "")
        writer.writerow(
            (
                cell.dataset,
                cell.entry,
                "; ".join(f"{name}={value_title(value)}" for name, value in cell.point),
                cell.label_ratio,
                cell.protocol,
                shown.name,
                result.n_planned,
                len(result.by_seed),
                result.mean,
                result.std,
                paper_mean,
                paper_std,
                len(result.failures),
                "; ".join(dict.fromkeys(result.failures)) or unrun,
            )
        )
    return stream.getvalue()


def _markdown_cell(cell: TableCell) -> str:
    stars = {BEST: "**", SECOND: "*"}.get(cell.mark, "")
    text = f"{stars}{_escape_markdown(cell.text)}{stars}"
    return f"{text}{' ≈' if cell.is_tied else ''}{f'<sup>{cell.note}</sup>' if cell.note else ''}"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_markdown(text: str, keep: str = "") -> str:
    """Escape the characters that Markdown interprets."""
    special = "".join(letter for letter in "\\`*_[]<>|#" if letter not in keep)
    text = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in special else letter for letter in text)


def _header_lines(table: Table) -> list[list[str]]:
    """Return the header in one or two lines, with group titles above each of their columns."""
    below = ["", *table.header[1:]]
    above = ["", *(name for name, size in table.groups for _ in range(size))]
    return [above, below] if table.groups else [below]


def _once(names: Sequence[str]) -> list[str]:
    """Blank names that repeat the one on their left."""
    return [name if n == 0 or name != names[n - 1] else "" for n, name in enumerate(names)]


def _aligned(cells: Sequence[TableCell]) -> list[str]:
    """Pad cells so that numbers are aligned regardless of their marks."""
    signs = {BEST: "*", SECOND: "+"}
    ends = [f"{'~' if c.is_tied else ''}{f'[{c.note}]' if c.note else ''}" for c in cells]
    room = max(map(len, ends), default=0)
    return [
        f"{signs.get(cell.mark, '')}{cell.text}{end:<{room}}"
        for cell, end in zip(cells, ends, strict=True)
    ]


def _parts(columns: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Split columns into parts of similar size that fit the width next to the first column."""
    widths = [max(map(len, column)) + 2 for column in columns]
    most = len(columns)
    while True:
        parts: list[list[int]] = [[]]
        for n, size in enumerate(widths[1:], start=1):
            used = widths[0] - 2 + sum(widths[m] for m in parts[-1])
            if parts[-1] and (used + size > width or len(parts[-1]) == most):
                parts.append([])
            parts[-1].append(n)
        even = -(-(len(columns) - 1) // len(parts))
        if even >= most:
            return parts
        most = even
