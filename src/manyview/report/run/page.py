"""The page of a run: the prediction first, then what to check, then why."""

from functools import partial
from typing import Any

import numpy as np

from manyview.data.dataset import Dataset
from manyview.data.labels import UNKNOWN
from manyview.explain.records import ViewEffect
from manyview.report.html.markup import Html, element, join
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
from manyview.report.run.facts import (
    SampleFacts,
    describe_graph,
    describe_samples,
    graphs_of,
    view_graphs_of,
)
from manyview.report.run.model import graph_section, learning_section, view_section
from manyview.report.run.predictions import (
    class_section,
    confusion_section,
    map_section,
    sureness_section,
)
from manyview.report.run.reliability import trust_section
from manyview.report.run.review import check_section
from manyview.runs.records import Run

SURE, UNSURE = 0.9, 0.5
NOT_SETTINGS = ("device", "verbose", "random_state")
REPORT_NAME = "report.html"


def report_files(run: Run, data: Dataset, labels: np.ndarray, model: Any) -> dict[str, str]:
    """Return the page of one fit as a file of its folder: name -> content."""
    return {REPORT_NAME: run_page(run, data, labels, model)}


def run_page(run: Run, data: Dataset, labels: np.ndarray, model: Any) -> str:
    """Make the page of one fit; what a method does not have is left out.

    Parameters
    ----------
    run
        The record of the fit.
    data
        Its data, with all labels there are.
    labels
        The labels the method saw.
    model
        The fitted method.
    """
    facts = describe_samples(data, labels, model)
    is_true = facts.truth >= 0
    graphs, view_graphs = graphs_of(model), view_graphs_of(model, data.views.names)
    described = {
        name: describe_graph(graph, facts.predictions, facts.truth, is_true)
        for name, graph in {**graphs, **{f"view {n}": g for n, g in view_graphs.items()}}.items()
    }
    by_stage = {name: described[name] for name in graphs}
    by_view = {name: described[f"view {name}"] for name in view_graphs}
    last = list(graphs.values())[-1] if graphs else None
    explainer = model.explainer() if hasattr(model, "explainer") else None
    effects: tuple[ViewEffect, ...] = ()
    explain = None
    if explainer is not None:
        names = [str(name) for name in data.sample_ids]
        explain = partial(explainer.explain, names=names)
        effects = explainer.view_effects(np.where(facts.is_scored, facts.truth, UNKNOWN))
    sections = [
        check_section(facts, last, view_graphs, explain),
        map_section(facts),
        sureness_section(facts),
        trust_section(run, facts, model),
        class_section(facts),
        confusion_section(facts),
        view_section(run, model, by_view, effects),
        graph_section(by_stage, getattr(model, "threshold_", None)),
        learning_section(run, model),
        _settings_section(run),
    ]
    return html_page(
        run.data.name,
        [one for one in sections if one is not None],
        kicker=f"{_title(model, run)}, fitted once",
        lead=_lead(run, facts),
        opening=join(notes(run.warnings, kind="warning"), key_figures(_figures(run, facts))),
    )


def _title(model: Any, run: Run) -> str:
    card = getattr(model, "card", None)
    return run.settings.method if card is None else str(card.title)


def _lead(run: Run, facts: SampleFacts) -> Html:
    """Say the prediction in two sentences."""
    if run.n_unlabeled == 0:
        return join(f"All {run.n_labeled:,} samples came with a label; none was left to label.")
    found = (
        element("b", f"{run.n_unlabeled:,} samples"),
        f" were labeled from {run.n_labeled:,} known labels.",
    )
    if run.scores is None:
        return join(*found)
    checked = "" if run.scores.n_scored == run.n_unlabeled else f" {run.scores.n_scored:,}"
    return join(
        *found, " Checked against the", checked, " labels kept hidden, ",
        element("b", f"{run.scores.accuracy:.1%}"), " are right.",
    )  # fmt: skip


def _figures(run: Run, facts: SampleFacts) -> list[Figure]:
    figures = []
    if run.scores is not None:
        figures.append(
            Figure(
                f"{run.scores.accuracy:.1%}",
                "accuracy",
                f"on {run.scores.n_scored:,} hidden labels; balanced "
                f"{run.scores.balanced_accuracy:.1%}, macro\u2011F1 {run.scores.macro_f1:.1%}",
            )
        )
    counted = facts.is_open if facts.is_open.any() else np.ones_like(facts.is_open)
    probabilities = facts.probabilities[counted]
    n_views = len(run.data.views) + len(run.data.graphs)
    return [
        Figure(
            f"{run.n_unlabeled:,}",
            "samples labeled",
            f"{run.data.n_samples:,} in all, {n_views} view{'' if n_views == 1 else 's'}, "
            f"{facts.n_known_classes} classes",
        ),
        *figures,
        Figure(
            f"{(probabilities >= SURE).mean():.0%}",
            "sure predictions",
            f"with a probability of {SURE} or more; median {np.median(probabilities):.2f}",
        ),
        Figure(
            f"{int((probabilities < UNSURE).sum()):,}",
            "to look at",
            f"with a probability below {UNSURE}",
        ),
        *_abstained(run),
    ]


def _abstained(run: Run) -> list[Figure]:
    rule = run.abstention
    if rule is None:
        return []
    right = "" if rule.accuracy is None else f"; {rule.accuracy:.1%} of the others are right"
    note = f"below the probability of {rule.below:g} that was asked for{right}"
    return [Figure(f"{rule.n_unknown:,}", "left unknown", note)]


def _settings_section(run: Run) -> Section:
    asked = run.settings
    split = (
        f"{run.n_labeled:,} known, {run.n_unlabeled:,} unknown"
        if asked.label_ratio is None
        else f"{run.n_labeled:,} shown, {run.n_unlabeled:,} hidden "
        f"({asked.protocol}, ratio {asked.label_ratio:g})"
    )
    rows: list[tuple[str, object]] = [
        ("Data", ", ".join(run.data.paths) or run.data.name),
        ("Checksum", run.data.sha256[:16]),
        ("Labels", split),
        ("Method", asked.method),
        ("Seed", asked.seed),
    ]
    if run.training.n_neighbors is not None:
        rows.append(("Neighbors", run.training.n_neighbors))
    params = [(name, value) for name, value in run.params.items() if name not in NOT_SETTINGS]
    return section(
        "Data and settings",
        pairs("Data and settings", rows),
        folded("What the reader found", notes(run.data.notes)) if run.data.notes else None,
        folded("All parameters of the method", pairs("Parameters", params)) if params else None,
        element(
            "p",
            "predictions.csv beside this file has every sample; run.json has the settings.",
            class_="soft",
        ),
    )
