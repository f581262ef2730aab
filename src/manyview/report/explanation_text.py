"""The reasons of a run's answers, told to people."""

from collections.abc import Mapping
from typing import Any

from manyview.explain.records import Evidence, Explanation, ViewEffect
from manyview.report.layout import set_sections, set_table, signed
from manyview.runs.explaining import RunReasons

N_CLASSES, N_NEIGHBORS, N_SOURCES = 5, 10, 5
NOT_LEARNED_ANEW = (
    "Left out: the view's edges and features are gone and the other views take their place; "
    "nothing is learned anew."
)


def reasons_text(reasons: RunReasons, width: int) -> str:
    """Tell why one sample got its answer, or what each view does to all answers."""
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
    chances = sorted(why.probabilities.items(), key=lambda pair: -pair[1])
    listed = ", ".join(f"{label} {chance:.3f}" for label, chance in chances[:N_CLASSES])
    n_more = len(chances) - N_CLASSES
    more = f" and {n_more} more class{'' if n_more == 1 else 'es'}" if n_more > 0 else ""
    total = signed(why.margin)
    return [
        ("Sample", [f"{why.name}, {given}"]),
        ("Answer", [f"{listed}{more}", ""]),
        (
            "Reasons",
            [
                f"The log-odds of {why.answer} against {why.runner_up} are {total}. They are the "
                "sum of what the sample and its neighbours in the graph send, and of the same by "
                "view.",
                "",
                _neighbor_table(why),
                "",
            ],
        ),
        ("Views", [*_view_table(why), ""]),
        ("Sources", [_sources(why)]),
    ]


def _neighbor_table(why: Explanation) -> str:
    head = ("neighbour", "label", f"for {why.answer}", f"for {why.runner_up}", "sum", "by view")
    shown = why.neighbors[:N_NEIGHBORS]
    rows = [("itself", _label(why.itself), *_parts(why.itself), _shares(why.itself.views))]
    rows += [(one.name, _label(one), *_parts(one), _shares(one.views)) for one in shown]
    n_rest, for_answer, for_runner_up = why.rest(N_NEIGHBORS)
    if n_rest:
        sums = (signed(for_answer), signed(for_runner_up), signed(for_answer - for_runner_up))
        rows.append((f"{n_rest} others", "", *sums, ""))
    totals = (signed(why.logit), signed(why.runner_up_logit), signed(why.margin))
    rows.append(("all", "", *totals, ""))
    return set_table(head, rows, "<<>>><")


def _view_table(why: Explanation) -> list[str]:
    if len(why.views) == 1:
        return [f"{why.views[0].view} is the only view."]
    rows = [
        (
            one.view,
            signed(one.margin),
            str(one.answer_without),
            f"{one.probability_without:.3f}",
            "changes the answer" if one.changes_answer else "",
        )
        for one in why.views
    ]
    head = ("view", "sum", "answer without it", "probability", "")
    return [set_table(head, rows, "<><><"), "", NOT_LEARNED_ANEW]


def _sources(why: Explanation) -> str:
    listed = ", ".join(
        f"{one.name} ({_label(one)}) {signed(one.margin)}" for one in why.sources[:N_SOURCES]
    )
    return (
        f"The features behind these sums are those of {len(why.sources):,} samples. The largest "
        f"parts: {listed}."
    )


def _effects(effects: tuple[ViewEffect, ...]) -> list[str]:
    if not effects:
        return ["There is one view only, so none can be left out."]
    rows = [
        (
            one.view,
            f"{one.n_changed:,}",
            f"{one.share_changed:.1%}",
            "" if one.accuracy_without is None else f"{one.accuracy_without:.1%}",
        )
        for one in effects
    ]
    first = effects[0]
    table = set_table(("view left out", "answers that change", "share", "accuracy"), rows, "<>>>")
    return [
        table,
        "",
        f"Accuracy is on the {first.n_scored:,} labels the method was given; it is "
        f"{first.accuracy or 0:.1%} with all views.",
        NOT_LEARNED_ANEW,
    ]


def _label(one: Evidence) -> str:
    return f"{one.answer}" if one.given is None else f"{one.given}, given"


def _parts(one: Evidence) -> tuple[str, str, str]:
    return signed(one.for_answer), signed(one.for_runner_up), signed(one.margin)


def _shares(views: Mapping[str, Any]) -> str:
    ordered = sorted(views.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{view} {share:.0%}" for view, share in ordered)
