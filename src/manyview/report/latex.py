"""Tables in LaTeX, with the rules of the package booktabs."""

from manyview.report.table import BEST, SECOND, Table, TableCell

MOST_COLUMNS = 8  # that fit a page as they are
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
    r"""Write a table in LaTeX with the rules of booktabs: best in bold, second best underlined."""
    del width  # lines are LaTeX's to break
    n_columns = len(table.header)
    sentences = [*table.legend(r"\textbf{Bold}", r"\underline{underlined}", r"$\approx$")]
    caption = " ".join([*sentences, *(escape_latex(one) for one in table.caption)])
    is_wide = n_columns > MOST_COLUMNS
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
        told = [f"\\textsuperscript{{{a}}}~{escape_latex(note)}." for a, note in table.notes]
        lines += [r"  \par\smallskip", f"  {{\\footnotesize {' '.join(told)}\\par}}"]
    lines += [
        f"  \\caption{{{escape_latex(table.title)}. {caption}}}",
        f"  \\label{{tab:{table.name}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def escape_latex(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b & {c}"))
    50 \% of a\_b \& \{c\}
    """
    return text.translate(SPECIAL)


def _spanning(n_columns: int, side: str, text: str) -> str:
    return f"\\multicolumn{{{n_columns}}}{{{side}}}{{{text}}}"


def _cell(cell: TableCell) -> str:
    text = escape_latex(cell.text)
    if cell.mark == BEST:
        text = f"\\textbf{{{text}}}"
    elif cell.mark == SECOND:
        text = f"\\underline{{{text}}}"
    raised = (r"$\approx$" if cell.is_tied else "") + cell.note
    return text + (f"\\rlap{{\\textsuperscript{{{raised}}}}}" if raised else "")
