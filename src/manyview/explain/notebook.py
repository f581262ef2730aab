"""An explanation as a few lines of text, and as HTML for notebooks."""

from typing import TYPE_CHECKING

from manyview.system.notebook import Bar, html_box, html_table, html_text

if TYPE_CHECKING:
    from manyview.explain.records import (
        Evidence,
        Explanation,
        TableEvidence,
        ViewEffect,
        ViewEffects,
    )

TABLES = {"linear": "logistic regression", "forest": "random forest"}
N_IN_TEXT, N_IN_TABLE, N_CLASSES = 3, 8, 5


def explanation_text(why: "Explanation") -> str:
    """Write the prediction, the neighbors that contributed most, and the views, a line each."""
    lines = [
        _headline(why),
        f"  neighbors: {_neighbors(why)}",
        *(f"  {line}" for line in _columns(why)),
        f"  views: {', '.join(f'{one.view} {signed(one.margin)}' for one in why.views)}",
        *(f"  {line}" for line in _changes(why)),
    ]
    return "\n".join(lines)


def explanation_html(why: "Explanation") -> str:
    """Show the classes, the neighbors and the views with their contributions, as tables."""
    classes = sorted(why.probabilities.items(), key=lambda pair: -pair[1])
    against = f"log-odds against {why.runner_up}"
    parts = [
        html_table(
            ("class", "probability"),
            [(label, Bar(chance, f"{chance:.3f}")) for label, chance in classes],
            "<<",
            n_rows=N_CLASSES,
            rest="more classes",
        ),
        html_table(
            ("neighbor", "label", against, "by view"),
            [_row(one, "itself" if one is why.itself else one.name) for one in _ranked(why)],
            "<<><",
            caption="Contributions of the sample and its neighbors",
            n_rows=N_IN_TABLE,
            rest="more neighbors",
        ),
    ]
    if why.tables:
        n_columns = 3 if any(one.columns for one in why.tables) else 2  # without an empty one
        parts.append(
            html_table(
                ("classifier", against, "columns that count most")[:n_columns],
                [
                    (table_title(one), signed(one.margin), _listed(one))[:n_columns]
                    for one in why.tables
                ],
                "<><"[:n_columns],
                caption="Contributions of classifiers of the sample's own columns",
            )
        )
    if len(why.views) > 1:
        parts.append(
            html_table(
                ("view", against, "prediction without it"),
                [
                    (
                        one.view,
                        signed(one.margin),
                        f"{one.prediction_without} ({one.probability_without:.2f})"
                        + (", changed" if one.changes_prediction else ""),
                    )
                    for one in why.views
                ],
                "<><",
                caption="The sum over the sample and its neighbors, by view",
            )
        )
    return html_box(_headline(why), *parts, html_text(_sum_sentence(why)))


def effects_text(effects: "ViewEffects") -> str:
    """Write a line per view: the predictions that change without it, and the accuracy then."""
    if not effects:
        return "There is only one view, so none can be removed."
    return "\n".join(
        f"without {one.view}: {one.n_changed:,} predictions change ({one.fraction_changed:.1%})"
        + _accuracies(one)
        for one in effects
    )


def effects_html(effects: "ViewEffects") -> str:
    """Show the same as a table."""
    if not effects:
        return html_box("View effects", html_text(effects_text(effects)))
    has_scores = effects[0].accuracy is not None
    header = (
        "removed view",
        "changed predictions",
        *(["accuracy without it"] if has_scores else []),
    )
    rows = [
        (
            one.view,
            Bar(one.fraction_changed, f"{one.n_changed:,} ({one.fraction_changed:.1%})"),
            *([f"{one.accuracy_without:.1%}"] if has_scores else []),
        )
        for one in effects
    ]
    parts = [html_table(header, rows, "<<>"[: len(header)], rest="more views")]
    if has_scores:
        with_all = f"with all views it is {effects[0].accuracy:.1%}"
        scored = f"Accuracy is measured on {effects[0].n_scored:,} labels; {with_all}."
        parts.append(html_text(scored))
    return html_box("Effect of removing each view, without retraining", *parts)


def _accuracies(one: "ViewEffect") -> str:
    if one.accuracy is None:
        return ""
    return f", accuracy {one.accuracy_without:.1%} instead of {one.accuracy:.1%}"


def _sum_sentence(why: "Explanation") -> str:
    """Write what the contributions add up to, and the log-odds where these are not all of them."""
    of_graph = sum(one.margin for one in (why.itself, *why.neighbors))
    total = signed(of_graph + sum(one.margin for one in why.tables))
    odds = f"the log-odds of {why.prediction} against {why.runner_up}"
    if total == signed(why.margin):
        return f"The contributions add up to {total}, {odds}."
    return f"These contributions add up to {total} of {signed(why.margin)}, {odds}."


def _headline(why: "Explanation") -> str:
    first = why.probabilities[why.prediction]
    second = why.probabilities[why.runner_up]
    given = "" if why.given is None else f", given as {why.given}"
    return (
        f"Sample {why.name}{given}: predicted {why.prediction} ({first:.2f}), "
        f"then {why.runner_up} ({second:.2f})"
    )


def _neighbors(why: "Explanation") -> str:
    if not why.neighbors:
        return "none"
    listed = ", ".join(
        f"{one.name} ({_label(one)}) {signed(one.margin)}" for one in why.neighbors[:N_IN_TEXT]
    )
    n_more = len(why.neighbors) - N_IN_TEXT
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def table_title(one: "TableEvidence") -> str:
    """Return the name of a classifier of columns, in words."""
    return TABLES.get(one.name, one.name)


def _listed(one: "TableEvidence") -> str:
    """List the columns that count most; nothing where they are not known."""
    return ", ".join(
        f"{column.view} {column.column} {signed(column.margin)}" for column in one.columns
    )


def _columns(why: "Explanation") -> list[str]:
    if not why.tables:
        return []
    listed = ", ".join(f"{table_title(one)} {signed(one.margin)}" for one in why.tables)
    return [f"its columns: {listed}", *(f"  {_listed(one)}" for one in why.tables if one.columns)]


def _changes(why: "Explanation") -> list[str]:
    return [
        f"without {one.view}: predicted {one.prediction_without} ({one.probability_without:.2f})"
        for one in why.views
        if one.changes_prediction
    ]


def _ranked(why: "Explanation") -> list["Evidence"]:
    return sorted([why.itself, *why.neighbors], key=lambda one: -abs(one.margin))


def _row(one: "Evidence", name: str) -> tuple[str, str, str, str]:
    views = sorted(one.views.items(), key=lambda pair: -pair[1])
    by_view = ", ".join(f"{view} {fraction:.0%}" for view, fraction in views)
    return name, _label(one), signed(one.margin), by_view


def _label(one: "Evidence") -> str:
    return f"{one.prediction}" if one.given is None else f"{one.given}, given"


def signed(value: float) -> str:
    """Write a term of a sum with its sign and two decimals; zero is +0.00.

    Examples
    --------
    >>> signed(0.257), signed(-1.0), signed(-0.001)
    ('+0.26', '-1.00', '+0.00')
    """
    return f"{round(value, 2) + 0.0:+.2f}"
