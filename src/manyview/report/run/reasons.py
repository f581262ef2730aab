"""The reasons of a prediction as one sentence."""

from collections.abc import Sequence
from typing import Any

from manyview.explain.records import Evidence, Explanation
from manyview.report.svg.axes import shorten

N_FOR, N_AGAINST, N_COLUMNS = 3, 2, 3
MIN_AGAINST = 0.25  # of the strongest neighbor's margin, for a neighbor that contradicts
MIN_VIEW = 0.15  # of the edges to the named neighbors, for a view to be named
MAX_LETTERS = 40  # of a column's name
MIN_TABLES = 0.25  # of all margins, for the sample's own columns to be named


def reason_sentence(why: Explanation, all_views: Sequence[str]) -> str:
    """Write which samples and views, and which of its own columns, decided on a sample.

    Parameters
    ----------
    why
        Explanation of the prediction.
    all_views
        Names of the views that have a graph.

    Examples
    --------
    >>> from manyview.explain.records import ViewEvidence
    >>> views = {"pixels": 0.6, "profiles": 0.4}
    >>> parts = [ViewEvidence("fourier", 0.0, 1.0, 5, 0.9, False)]
    >>> near = Evidence(811, "811", 5, 5, views, 1, 0), Evidence(103, "103", None, 5, views, 1, 0)
    >>> own = Evidence(7, "7", None, 5, {}, 0, 0)
    >>> why = Explanation(7, "7", None, {}, 5, 3, 2.0, 0.0, 1.0, own, near, (), (*parts,))
    >>> reason_sentence(why, ["pixels", "profiles", "fourier"])
    'Looks like samples 811 and 103, both 5, in pixels and profiles; fourier disagrees.'
    """
    supporting = _of_class([one for one in why.neighbors if one.margin > 0], why.prediction)
    least = MIN_AGAINST * max((one.margin for one in supporting), default=0.0)
    contrary = _of_class(
        [one for one in why.neighbors if one.margin < 0 and -one.margin >= least], why.runner_up
    )
    own, views = _columns(why), _views_of(supporting[:N_FOR], all_views)
    against = [one.view for one in why.views if one.margin < 0 and one.view not in views]
    clauses = []
    if supporting:
        clauses.append(f"looks like {_by_label(supporting[:N_FOR])}{in_views(views, all_views)}")
    if contrary:
        more = "but also like" if supporting else "looks like"
        clauses.append(f"{more} {_by_label(contrary[:N_AGAINST])}")
    if against:
        clauses.append(f"{listed(against)} disagree{'s' * (len(against) == 1)}")
    sentences = ["; ".join(clauses), own, _without(why)]
    if not any(sentences):
        return f"Its own features decide: no neighbor tells {why.prediction} from {why.runner_up}."
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in sentences if one)


def listed(names: Sequence[str]) -> str:
    """Join names with commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def in_views(views: Sequence[str], all_views: Sequence[str]) -> str:
    """Name the views of edges, or those without them where they are fewer.

    Examples
    --------
    >>> in_views(["b", "a"], ["a", "b"]), in_views(["a"], ["a"]), in_views("abc", "abcd")
    (', in both views', '', ', in all views but d')
    """
    missing = [view for view in all_views if view not in views]
    if not views or len(all_views) < 2:
        return ""
    if not missing:
        return f", in {'both' if len(all_views) == 2 else f'all {len(all_views)}'} views"
    if len(all_views) > 3 and len(missing) == 1:
        return f", in all views but {missing[0]}"
    return f", in {listed(views)}"


def column_name(view: str, column: str) -> str:
    """Name a column; one that has only a number is named with its view.

    Examples
    --------
    >>> column_name("body", "mass"), column_name("pixels", "23")
    ('mass', 'column 23 of pixels')
    """
    return f"column {column} of {view}" if column.isdigit() else column


def same_label(names: Sequence[str], label: Any, *, is_given: bool) -> str:
    """Name samples of one class.

    Examples
    --------
    >>> same_label(["811", "103"], 5, is_given=True)
    'samples 811 and 103, both labeled 5'
    >>> same_label(["811"], 5, is_given=False)
    'sample 811, found to be 5'
    """
    if len(names) == 1:
        return f"sample {names[0]}, {'labeled' if is_given else 'found to be'} {label}"
    many = "both" if len(names) == 2 else "all"
    return f"samples {listed(names)}, {many} {'labeled ' if is_given else ''}{label}"


def _by_label(found: Sequence[Evidence]) -> str:
    groups: dict[Any, list[Evidence]] = {}
    for one in found:
        groups.setdefault(one.prediction if one.given is None else one.given, []).append(one)
    return ", and ".join(
        same_label(
            [one.name for one in own],
            label,
            is_given=all(one.given is not None for one in own),
        )
        for label, own in groups.items()
    )


def _of_class(found: Sequence[Evidence], label: Any) -> list[Evidence]:
    """Return the samples of a class; all, if none is of it."""
    own = [one for one in found if (one.prediction if one.given is None else one.given) == label]
    return own or list(found)


def _views_of(found: Sequence[Evidence], all_views: Sequence[str]) -> list[str]:
    """Return the views that much of the edges to these samples comes from, most first."""
    weights = {
        view: sum(one.views.get(view, 0.0) for one in found) / max(len(found), 1)
        for view in all_views
    }
    return sorted((one for one in weights if weights[one] >= MIN_VIEW), key=lambda v: -weights[v])


def _columns(why: Explanation) -> str:
    """Say what the sample's own columns say, where they carry much of the margin."""
    own = sum(one.margin for one in why.tables)
    others = why.margin - own
    if not why.tables or abs(own) < MIN_TABLES * (abs(own) + abs(others)):
        return ""
    sign = 1 if own > 0 else -1
    strongest = sorted(
        (one for table in why.tables for one in table.columns if sign * one.margin > 0),
        key=lambda one: -abs(one.margin),
    )
    names = list(dict.fromkeys(column_name(one.view, one.column) for one in strongest))[:N_COLUMNS]
    which = f", above all {listed([_short(name) for name in names])}" if names else ""
    label = why.prediction if own > 0 else why.runner_up
    too = ", too" if own > 0 and others > 0 else ""
    return f"its own columns say {label}{too}{which}"


def _short(name: str) -> str:
    return shorten(name, MAX_LETTERS).rstrip(".,;")


def _without(why: Explanation) -> str:
    """Name the views without which the prediction changes."""
    changes: dict[Any, list[str]] = {}
    for one in why.views:
        if one.changes_prediction:
            changes.setdefault(one.prediction_without, []).append(one.view)
    return ", ".join(
        f"without {' or '.join(views)} it would be {label}" for label, views in changes.items()
    )
