"""The page of a run: the result first, then what to check, then the model behind it."""

from functools import partial

import numpy as np

from manyview.base.classifier import MultiViewClassifier
from manyview.data.dataset import Dataset
from manyview.data.labels import UNKNOWN
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.explain.records import ViewEffect
from manyview.report.html.markup import join, render
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
from manyview.report.run.reliability import reliability_section
from manyview.report.run.review import review_section
from manyview.report.run.text import count_of, labels_line, scaling_line
from manyview.runs.records import Run

CONFIDENT = 0.9
REPORT_NAME = "report.html"


def report_files(
    run: Run, data: Dataset, labels: np.ndarray, model: MultiViewClassifier
) -> dict[str, str]:
    """Return the files that a report adds to a run's folder: name -> content."""
    return {REPORT_NAME: run_page(run, data, labels, model)}


def run_page(run: Run, data: Dataset, labels: np.ndarray, model: MultiViewClassifier) -> str:
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
    """
    summary = model.fit_summary()
    facts = describe_samples(data, labels, model)
    graphs, view_graphs = graphs_of(summary), view_graphs_of(summary, data.views.names)
    describe = partial(
        describe_graph, predictions=facts.predictions, truth=facts.truth, is_true=facts.truth >= 0
    )
    last = list(graphs.values())[-1] if graphs else None
    effects: tuple[ViewEffect, ...] = ()
    explain = None
    if isinstance(model, NetworkOutputsMixin):
        explainer = model.explainer()
        names = [str(name) for name in data.sample_ids]
        explain = partial(explainer.explain, names=names, with_sources=False)
        effects = explainer.view_effects(np.where(facts.is_scored, facts.truth, UNKNOWN))
    sections = [
        review_section(facts, last, view_graphs, explain, summary.label_issues),
        map_section(facts),
        probability_section(facts),
        reliability_section(run, facts, summary),
        class_section(facts),
        confusion_section(facts),
        view_section(
            run, summary, {name: describe(graph) for name, graph in view_graphs.items()}, effects
        ),
        graph_section({name: describe(graph) for name, graph in graphs.items()}, summary.threshold),
        training_section(run, summary),
        _settings_section(run),
    ]
    return html_page(
        run.data.name,
        [one for one in sections if one is not None],
        kicker=f"Run of {model.card.title}",
        lead=render("lead", run=run),
        opening=join(notes(run.warnings, kind="warning"), key_figures(_figures(run, facts))),
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


def _settings_section(run: Run) -> Section:
    rows: list[tuple[str, object]] = [
        ("Data", ", ".join(run.data.paths) or run.data.name),
        ("Checksum", run.data.sha256[:16]),
        ("Labels", labels_line(run)),
        ("Method", run.settings.method),
        ("Seed", run.settings.seed),
    ]
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
        intro="In the folder of this file, predictions.csv lists every sample and run.json records "
        "the settings.",
    )
