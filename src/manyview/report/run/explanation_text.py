"""Explanations of a run's predictions as text for a terminal."""

from collections.abc import Mapping

from manyview.explain.notebook import table_title
from manyview.explain.records import Evidence, Explanation, TableEvidence, ViewEffect
from manyview.report.layout import set_sections, set_table, signed
from manyview.runs.explaining import RunReasons

N_CLASSES, N_NEIGHBORS, N_SOURCES = 5, 10, 5
WITHOUT_VIEW = (
    "A removed view loses its edges and features, and the other views replace it, without "
    "retraining."
)


def reasons_text(reasons: RunReasons, width: int) -> str:
    """Explain one sample's prediction, or the effect of each view on all predictions."""
    sections: list[tuple[str, list[str]]] = [
        ("Run", [f"{reasons.method} of {reasons.folder}, {reasons.n_samples:,} samples"])
    ]
    if reasons.explanation is None:
        sections.append(("Views", _effects(reasons.view_effects)))
    else:
        is_new = reasons.explanation.row >= reasons.n_samples
        sections += _explanation(reasons.explanation, is_new)
    return set_sections(sections, width)


def _explanation(why: Explanation, is_new: bool) -> list[tuple[str, list[str]]]:
    given = "came without a label" if why.given is None else f"came with the label {why.given}"
    given = "came after the fit" if is_new else given
    classes = sorted(why.probabilities.items(), key=lambda pair: -pair[1])
    listed = ", ".join(f"{label} {probability:.3f}" for label, probability in classes[:N_CLASSES])
    n_more = len(classes) - N_CLASSES
    more = f" and {n_more} more class{'' if n_more == 1 else 'es'}" if n_more > 0 else ""
    total = signed(why.margin)
    return [
        ("Sample", [f"{why.name}, {given}"]),
        ("Classes", [f"{listed}{more}", ""]),
        (
            "Reasons",
            [
                f"The log-odds of {why.prediction} against {why.runner_up} are {total}. They are "
                "the sum of the contributions of the sample and its neighbors in the graph, and "
                "also the sum over views"
                + (", plus those of classifiers of its own columns alone." if why.tables else "."),
                "",
                _neighbor_table(why),
                "",
            ],
        ),
        *([("Columns", [*_columns(why), ""])] if why.tables else []),
        ("Views", [*_view_evidence_table(why), ""]),
        ("Sources", [_sources(why)]),
    ]


def _columns(why: Explanation) -> list[str]:
    """List the columns that count most, for each classifier of columns."""
    lines = [
        f"{table_title(table)}: "
        + ", ".join(f"{one.view} {one.column} {signed(one.margin)}" for one in table.columns)
        for table in why.tables
        if table.columns
    ]
    if not lines:
        return ["With --data DATA, the columns that count most are listed, too."]
    return ["What the columns add that count most, against the mean of each column:", *lines]


def _neighbor_table(why: Explanation) -> str:
    head = ("neighbor", "label", f"for {why.prediction}", f"for {why.runner_up}", "sum", "by view")
    shown = why.neighbors[:N_NEIGHBORS]
    rows = [("itself", _label(why.itself), *_parts(why.itself), _weights(why.itself.views))]
    rows += [(one.name, _label(one), *_parts(one), _weights(one.views)) for one in shown]
    n_rest, for_prediction, for_runner_up = why.rest(N_NEIGHBORS)
    if n_rest:
        sums = (
            signed(for_prediction),
            signed(for_runner_up),
            signed(for_prediction - for_runner_up),
        )
        rows.append((f"{n_rest} others", "", *sums, ""))
    rows += [(f"its columns ({table_title(one)})", "", *_parts(one), "") for one in why.tables]
    totals = (signed(why.logit), signed(why.runner_up_logit), signed(why.margin))
    rows.append(("all", "", *totals, ""))
    return set_table(head, rows, "<<>>><")


def _view_evidence_table(why: Explanation) -> list[str]:
    if len(why.views) == 1:
        return [f"{why.views[0].view} is the only view."]
    rows = [
        (
            one.view,
            signed(one.margin),
            str(one.prediction_without),
            f"{one.probability_without:.3f}",
            "changed" if one.changes_prediction else "",
        )
        for one in why.views
    ]
    head = ("view", "sum", "prediction without it", "probability", "")
    return [set_table(head, rows, "<><><"), "", WITHOUT_VIEW]


def _sources(why: Explanation) -> str:
    listed = ", ".join(
        f"{one.name} ({_label(one)}) {signed(one.margin)}" for one in why.sources[:N_SOURCES]
    )
    return (
        f"The features of {len(why.sources):,} samples enter these sums. The largest "
        f"contributions: {listed}."
    )


def _effects(effects: tuple[ViewEffect, ...]) -> list[str]:
    if not effects:
        return ["There is only one view, so none can be removed."]
    rows = [
        (
            one.view,
            f"{one.n_changed:,}",
            f"{one.fraction_changed:.1%}",
            "" if one.accuracy_without is None else f"{one.accuracy_without:.1%}",
        )
        for one in effects
    ]
    first = effects[0]
    table = set_table(("removed view", "changed predictions", "of all", "accuracy"), rows, "<>>>")
    return [
        table,
        "",
        f"Accuracy is measured on the {first.n_scored:,} given labels; with all views it is "
        f"{first.accuracy or 0:.1%}.",
        WITHOUT_VIEW,
    ]


def _label(one: Evidence) -> str:
    return f"{one.prediction}" if one.given is None else f"{one.given}, given"


def _parts(one: Evidence | TableEvidence) -> tuple[str, str, str]:
    return signed(one.for_prediction), signed(one.for_runner_up), signed(one.margin)


def _weights(views: Mapping[str, float]) -> str:
    ordered = sorted(views.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{view} {weight:.0%}" for view, weight in ordered)
