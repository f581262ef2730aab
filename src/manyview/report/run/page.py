"""The page of a run: the result and what to do next, classes and checks, then the model."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from markupsafe import Markup

from manyview.base.classifier import MultiViewClassifier
from manyview.cross_fitting.performance import MIN_LABELS
from manyview.data.dataset import Dataset
from manyview.data.label_values import count_of
from manyview.data.labels import UNKNOWN
from manyview.data.pixels import PIXEL_VIEWS, gray_png, pixels_of
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.explain.explainer import Explainer
from manyview.explain.records import ViewEffect
from manyview.report.commands import run_command
from manyview.report.html.markup import element, join, render
from manyview.report.html.page import (
    Figure,
    Section,
    folded,
    html_page,
    key_figures,
    notes,
    section,
)
from manyview.report.html.tables import pairs
from manyview.report.listings import shown_params
from manyview.report.run.columns import column_section
from manyview.report.run.facts import (
    SampleFacts,
    describe_graph,
    describe_samples,
    graphs_of,
    view_graphs_of,
)
from manyview.report.run.model import graph_section, training_section, view_section
from manyview.report.run.predictions import (
    class_section,
    confusion_section,
    map_section,
    probability_section,
)
from manyview.report.run.reasons import reason_sentence
from manyview.report.run.reliability import reliability_section
from manyview.report.run.review import (
    N_CHECKED,
    PageSamples,
    doubted_rows,
    next_section,
    review_section,
)
from manyview.report.run.samples import listed_rows, sample_section
from manyview.report.run.text import FILES, labels_line, scaling_line
from manyview.report.svg.scatter import sampled
from manyview.runs.records import EstimateRecord, Run

CONFIDENT = 0.9
REPORT_NAME = "report.html"


def report_files(
    run: Run, data: Dataset, labels: np.ndarray, model: MultiViewClassifier
) -> dict[str, str]:
    """Return the files that a report adds to a run's folder: name -> content."""
    return {REPORT_NAME: run_page(run, data, labels, model)}


def run_page(
    run: Run,
    data: Dataset,
    labels: np.ndarray,
    model: MultiViewClassifier,
    *,
    has_values: bool = True,
) -> str:
    """Return the page of one fit, without the sections for which the method has no data.

    Parameters
    ----------
    run
        Record of the fit.
    data
        Data of the fit, with every label it has.
    labels
        Labels the method saw.
    model
        Fitted method.
    has_values
        Whether the views of the data hold the values of the fit, not their shapes alone.
    """
    summary = model.fit_summary()
    facts = describe_samples(data, labels, model)
    graphs, view_graphs = graphs_of(summary), view_graphs_of(summary, data.views.names)
    # Labels that the method saw are no truth to compare its graphs with.
    is_true = (facts.truth >= 0) & facts.is_scored.any()
    describe = partial(
        describe_graph, predictions=facts.predictions, truth=facts.truth, is_true=is_true
    )
    last = list(graphs.values())[-1] if graphs else None
    effects: tuple[ViewEffect, ...] = ()
    brief, full = None, None
    if isinstance(model, NetworkOutputsMixin):
        explainer = model.explainer()
        brief = _brief_reason(explainer, data, list(view_graphs))
        full = _full_reason(model, explainer, data, list(view_graphs)) if has_values else brief
        effects = explainer.view_effects(np.where(facts.is_scored, facts.truth, UNKNOWN))
    pixels = pixels_of(data.views, PIXEL_VIEWS.get(data.name))
    reviewed = np.union1d(
        facts.least_certain(N_CHECKED), doubted_rows(facts, summary.label_issues)
    ).astype(int)
    drawn = sampled(len(facts.ids))
    shown = np.union1d(reviewed, drawn)
    rows = listed_rows(facts, shown)
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    page = PageSamples(place_of, full, None if pixels is None else partial(_picture, facts, pixels))
    sections = [
        next_section(run, facts, summary.label_issues),
        class_section(facts),
        review_section(facts, last, view_graphs, page, summary.label_issues),
        map_section(facts, drawn, place_of),
        sample_section(
            facts,
            rows,
            shown,
            reason=brief,
            pixels=pixels,
            command=f"{run_command('explain', run.folder)} --sample"
            if run.has_files and brief is not None
            else "",
            has_files=run.has_files,
        ),
        confusion_section(facts),
        probability_section(facts),
        reliability_section(run, facts, summary),
        view_section(
            run, summary, {name: describe(graph) for name, graph in view_graphs.items()}, effects
        ),
        column_section(model),
        graph_section({name: describe(graph) for name, graph in graphs.items()}, summary.threshold),
        training_section(run, summary),
        _settings_section(run),
    ]
    files = list(FILES.items()) if run.has_files else []
    return html_page(
        run.data.name,
        [one for one in sections if one is not None],
        kicker=f"Run of {model.card.title}",
        lead=render("lead", run=run, estimate=run.estimate and run.estimate.accuracy),
        opening=join(
            notes(run.warnings, kind="warning"),
            key_figures(_figures(run, facts)),
            render("files", files=files) if files else None,
        ),
        scripts=("samples.js",),
    )


def _brief_reason(
    explainer: Explainer, data: Dataset, view_names: Sequence[str]
) -> Callable[[int], str]:
    names = [str(name) for name in data.sample_ids]

    def reason(row: int) -> str:
        return reason_sentence(explainer.explain(row, names, with_sources=False), view_names)

    return reason


def _full_reason(
    model: NetworkOutputsMixin, explainer: Explainer, data: Dataset, view_names: Sequence[str]
) -> Callable[[int], str]:
    """Name the sample's own columns, too; slower."""
    names = [str(name) for name in data.sample_ids]

    def reason(row: int) -> str:
        why = explainer.explain(row, names, with_sources=False)
        return reason_sentence(model.with_columns(why, data.views[[row]]), view_names)

    return reason


def _picture(facts: SampleFacts, pixels: np.ndarray, row: int) -> Markup:
    return element(
        "img",
        src=f"data:image/png;base64,{b64encode(gray_png(pixels[row])).decode()}",
        alt=f"Picture of {facts.ids[row]}",
        class_="picture",
    )


def uncertain_below(n_classes: int) -> float:
    """Return the probability below which a prediction is uncertain, halfway from chance to 1.

    Examples
    --------
    >>> uncertain_below(2), uncertain_below(10)
    (0.75, 0.55)
    """
    return (1 + 1 / n_classes) / 2


def _figures(run: Run, facts: SampleFacts) -> list[Figure]:
    probabilities = facts.probabilities[facts.is_counted]
    n_views = len(run.data.views) + len(run.data.graphs)
    figures = [
        Figure(
            f"{run.n_unlabeled:,}",
            "samples labeled",
            f"of {run.data.n_samples:,}, with {count_of(n_views, 'view')} and "
            f"{facts.n_known_classes} classes",
        )
    ]
    if run.estimate is not None:
        figures.append(_estimate_figure(run.estimate))
    if run.scores is not None:
        figures.append(
            Figure(
                f"{run.scores.accuracy:.1%}",
                "accuracy",
                f"on {run.scores.n_scored:,} hidden labels; balanced "
                f"{run.scores.balanced_accuracy:.1%}, macro\u2011F1 {run.scores.macro_f1:.1%}",
            )
        )
    uncertain = uncertain_below(facts.n_known_classes)
    figures += [
        Figure(
            f"{(probabilities >= CONFIDENT).mean():.0%}",
            "confident",
            f"predictions at {CONFIDENT} or more; the median is {np.median(probabilities):.2f}",
        ),
        Figure(
            f"{int((probabilities < uncertain).sum()):,}",
            "to check",
            f"predictions with a probability below {uncertain:.2g}",
        ),
    ]
    rule = run.abstention
    if rule is not None:
        right = "" if rule.accuracy is None else f"; {rule.accuracy:.1%} of the others are right"
        note = f"below the chosen probability of {rule.below:g}{right}"
        figures.append(Figure(f"{rule.n_unknown:,}", "left unknown", note))
    return figures


def _estimate_figure(estimate: EstimateRecord) -> Figure:
    found = estimate.accuracy
    if found is None:
        return Figure(
            "?",
            "estimated accuracy",
            f"too few labels to say: {estimate.n_labels} could be hidden in turn, {MIN_LABELS} are "
            "needed",
        )
    return Figure(
        f"{found.value:.0%}",
        "estimated accuracy",
        f"{100 * found.low:.0f} to {100 * found.high:.0f}%, from {estimate.n_labels:,} given "
        "labels, each predicted without it",
    )


def _settings_section(run: Run) -> Section:
    rows: list[tuple[str, object]] = [
        ("Data", ", ".join(run.data.paths) or run.data.name),
        ("Checksum", run.data.sha256[:16]),
        ("Labels", labels_line(run)),
        ("Method", run.settings.method),
        ("Seed", run.settings.seed),
    ]
    if not run.has_files:  # a model that was fitted in Python does not know its data or its split
        rows = [row for row in rows if row[0] in ("Labels", "Method")]
    if run.training.n_neighbors is not None:
        rows.append(("Neighbors", run.training.n_neighbors))
    scaled = scaling_line(run.training)
    if scaled is not None:
        rows.append(("Scaling", scaled))
    params = list(shown_params(run.params).items())
    return section(
        "Settings",
        pairs("Settings", rows),
        notes(run.training.scaling_advice) if run.training.scaling_advice else None,
        folded("Notes from reading the data", notes(run.data.notes)) if run.data.notes else None,
        folded("All parameters of the method", pairs("Parameters", params)) if params else None,
        intro="" if run.has_files else "The model was fitted in Python.",
    )
