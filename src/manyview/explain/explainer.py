"""Explain predictions: how much each neighbor and each view contributed.

The logits of a sample are a sum over its neighbors, including itself,

    z_i = sum_j S_ij m_j,        m_j = relu(sum_k S_jk H_k W1) W2        (two layers)

with the selected graph S and the messages m_j of the last layer, so the contribution of a neighbor
is S_ij m_j at any depth. An edge's weight is a sum over views, which splits the contribution by
view. For fixed active hidden units the network is linear and has no bias, so the same logits are
also a sum over the samples k whose features reach the sample through its neighbors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.explain.records import (
    Evidence,
    Explanation,
    TableEvidence,
    ViewEffect,
    ViewEffects,
    ViewEvidence,
)
from manyview.network.inductive import InductiveState
from manyview.network.replay import NetworkReplay
from manyview.numerics import softmax

# samples -> [sample, class] by the name of a classifier
TableLogits = Callable[[MultiView], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Explainer:
    """Explains the predictions of a fitted model; costly results are computed once."""

    replay: NetworkReplay  # runs the fitted network again
    view_graphs: dict[str, sparse.csr_array]  # each view's renormalized graph, by name
    selected: sparse.csr_array  # the graph that the convolutions use
    classes: np.ndarray
    temperature: float
    y_encoded: np.ndarray  # [sample] class numbers, -1 where unknown
    # [sample, class] what classifiers of the columns alone add to the logits, by name
    tables: Mapping[str, np.ndarray] = field(default_factory=dict)

    def explain(self, row: int, names: Sequence[str], *, with_sources: bool = True) -> Explanation:
        """Explain the prediction of the sample in this row; `names` has one name per sample.

        Without the sources, which are many, an explanation takes a tenth of the time.
        """
        logits = self.logits[row]
        probabilities = softmax(logits[None])[0]
        top_two = np.argsort(-logits, kind="stable")[:2]
        neighbors, weights = _row(self.selected, row)
        messages = self.replay.inductive_state.messages[-1][:, top_two].astype(np.float64)
        parts = weights[:, None] * messages[neighbors] / self.temperature  # [neighbor, of two]
        fractions = self._view_fractions(row, neighbors)
        found = [
            self._evidence(neighbor, names, part, by_view)
            for neighbor, part, by_view in zip(neighbors.tolist(), parts, fractions, strict=True)
        ]
        nothing = self._evidence(row, names, np.zeros(2), np.zeros(len(self.view_graphs)))
        tables = tuple(
            TableEvidence(name, *own[row, top_two].astype(float).tolist())
            for name, own in self.tables.items()
        )
        return Explanation(
            row=row,
            name=names[row],
            given=self._label(self.y_encoded[row]),
            probabilities=dict(zip(self.classes.tolist(), probabilities.tolist(), strict=True)),
            prediction=self._label(top_two[0]),
            runner_up=self._label(top_two[1]),
            logit=float(parts[:, 0].sum() + sum(one.for_prediction for one in tables)),
            runner_up_logit=float(parts[:, 1].sum() + sum(one.for_runner_up for one in tables)),
            temperature=self.temperature,
            itself=next((one for one in found if one.row == row), nothing),
            neighbors=_largest_first([one for one in found if one.row != row]),
            sources=self._sources(row, top_two, names) if with_sources else (),
            views=self._views(row, parts, fractions),
            tables=tables,
        )

    def view_effects(self, truth: np.ndarray) -> ViewEffects:
        """Compare the predictions with all views and without each; `truth` is -1 where unknown."""
        predictions, is_scored = self.logits.argmax(axis=1), truth != UNKNOWN
        accuracy = _accuracy(predictions, truth, is_scored)
        effects = []
        for view, logits in zip(self.view_graphs, self.logits_without, strict=False):
            without = logits.argmax(axis=1)
            n_changed = int((without != predictions).sum())
            effects.append(
                ViewEffect(
                    view=view,
                    n_changed=n_changed,
                    fraction_changed=n_changed / len(predictions),
                    n_scored=int(is_scored.sum()),
                    accuracy=accuracy,
                    accuracy_without=_accuracy(without, truth, is_scored),
                )
            )
        return ViewEffects(effects)

    @cached_property
    def logits(self) -> np.ndarray:
        """Logits of all samples, divided by the temperature: [sample, class]."""
        messages = self.replay.inductive_state.messages[-1].astype(np.float64)
        return self._with_tables(self.selected @ messages / self.temperature)

    @cached_property
    def logits_without(self) -> list[np.ndarray]:
        """Logits of all samples without each view's edges and input; empty with one view."""
        if len(self.view_graphs) == 1:
            return []
        return [
            self._with_tables(self.replay.logits(view) / self.temperature)
            for view in range(len(self.view_graphs))
        ]

    def _with_tables(self, logits: np.ndarray) -> np.ndarray:
        return np.asarray(sum(self.tables.values(), start=logits))

    def row_without(self, row: int, view: int) -> np.ndarray:
        """Logits of one sample without the view of this number: [class]."""
        return np.asarray(self.logits_without[view][row])

    def _views(
        self, row: int, parts: np.ndarray, fractions: np.ndarray
    ) -> tuple[ViewEvidence, ...]:
        sums = fractions.T @ parts  # [view, of two]
        prediction = self.logits[row].argmax()
        found = []
        for number, view in enumerate(self.view_graphs):
            without, probability = None, None
            if len(self.view_graphs) > 1:
                probabilities = softmax(self.row_without(row, number)[None])[0]
                without, probability = probabilities.argmax(), float(probabilities.max())
            found.append(
                ViewEvidence(
                    view=view,
                    for_prediction=float(sums[number, 0]),
                    for_runner_up=float(sums[number, 1]),
                    prediction_without=None if without is None else self._label(without),
                    probability_without=probability,
                    changes_prediction=without is not None and bool(without != prediction),
                )
            )
        return tuple(found)

    def _view_fractions(self, row: int, neighbors: np.ndarray) -> np.ndarray:
        """Compute the fraction of each view in the edges of a sample: [neighbor, view]."""
        weights = np.zeros((len(neighbors), len(self.view_graphs)))
        for number, graph in enumerate(self.view_graphs.values()):
            columns, values = _row(graph, row)
            by_column = dict(zip(columns.tolist(), values.tolist(), strict=True))
            weights[:, number] = [by_column.get(column, 0.0) for column in neighbors.tolist()]
        weights *= self.replay.coefficients
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _sources(self, row: int, top_two: np.ndarray, names: Sequence[str]) -> tuple[Evidence, ...]:
        """Propagate back through the layers with the active hidden units held fixed."""
        state = self.replay.inductive_state
        rows, weights = _row(self.selected, row)
        # Derivative of the two logits by the messages of these rows: [of two, row, output].
        slopes = weights[:, None] * np.eye(len(self.classes))[top_two][:, None, :]
        for layer in range(len(state.weights) - 1, 0, -1):
            step = self.selected[rows].astype(np.float64)
            is_active = step @ state.messages[layer - 1].astype(np.float64) > 0  # [row, hidden]
            slopes = (slopes @ state.weights[layer].astype(np.float64).T) * is_active
            rows = np.unique(step.indices)
            slopes = np.stack([step[:, rows].T @ one for one in slopes])
        messages = state.messages[0][rows].astype(np.float64)
        parts = (slopes * messages).sum(axis=2).T / self.temperature  # [row, of two]
        no_views = np.zeros(0)
        return _largest_first(
            [
                self._evidence(source, names, part, no_views)
                for source, part in zip(rows.tolist(), parts, strict=True)
            ]
        )

    def _evidence(
        self, row: int, names: Sequence[str], part: np.ndarray, fractions: np.ndarray
    ) -> Evidence:
        return Evidence(
            row=row,
            name=names[row],
            given=self._label(self.y_encoded[row]),
            prediction=self._predictions[row],
            views={
                view: fraction
                for view, fraction in zip(self.view_graphs, fractions.tolist(), strict=False)
                if fraction > 0
            },
            for_prediction=float(part[0]),
            for_runner_up=float(part[1]),
        )

    @cached_property
    def _predictions(self) -> list[Any]:
        """Predicted label of each sample."""
        return [self._labels[number] for number in self.logits.argmax(axis=1).tolist()]

    @cached_property
    def _labels(self) -> list[Any]:
        """The classes as Python objects."""
        return list(self.classes.tolist())

    def _label(self, number: int | np.integer[Any]) -> Any:
        return None if number == UNKNOWN else self._labels[int(number)]


@dataclass(frozen=True)
class _NewSampleExplainer(Explainer):
    """An explainer with one more row, that of a new sample."""

    views: MultiView = field(kw_only=True)  # the new sample
    # state of the fitted samples, without the added row
    fitted: InductiveState = field(kw_only=True)
    table_logits: TableLogits = field(kw_only=True)

    def row_without(self, row: int, view: int) -> np.ndarray:
        name = list(self.view_graphs)[view]
        present = self.views.present.copy()
        present[:, self.views.names.index(name)] = False
        left = MultiView(self.views, present=present) if present.any() else self.views
        logits = self.fitted.logits(left)[0] / self.temperature
        return np.asarray(logits + sum(own[0] for own in self.table_logits(left).values()))


def explain_new(
    explainer: Explainer,
    views: MultiView,
    name: str,
    names: Sequence[str],
    table_logits: TableLogits,
) -> Explanation:
    """Explain the prediction of one new sample.

    Its prediction without a view is that of the same sample with the view missing. A sample
    without any other view keeps its prediction.

    Parameters
    ----------
    views
        One row.
    name
        Name of the new sample.
    names
        Names of the fitted samples, one per sample.
    table_logits
        Returns what classifiers of the columns alone add to the logits of samples, by name.

    Returns
    -------
    An explanation whose rows are those of the fitted samples; the new sample comes after them.
    """
    state = explainer.replay.inductive_state
    new = state.connect(views)
    messages = [
        np.vstack([fitted, own]) for fitted, own in zip(state.messages, new.messages, strict=True)
    ]
    extended = _NewSampleExplainer(
        replay=replace(explainer.replay, inductive_state=replace(state, messages=messages)),
        view_graphs={
            view: _with_row(graph, new.view_edges[view], 1 / new.view_degrees[view])
            for view, graph in explainer.view_graphs.items()
        },
        selected=_with_row(explainer.selected, new.edges, new.loops),
        classes=explainer.classes,
        temperature=explainer.temperature,
        y_encoded=np.append(explainer.y_encoded, UNKNOWN),
        tables={
            table: np.vstack([explainer.tables[table], own])
            for table, own in table_logits(views).items()
        },
        views=views,
        fitted=state,
        table_logits=table_logits,
    )
    return extended.explain(len(explainer.y_encoded), [*names, name])


def _with_row(
    graph: sparse.csr_array, edges: sparse.csr_array, loops: np.ndarray
) -> sparse.csr_array:
    """Append a row with edges to the others and a self-loop, and an otherwise empty column."""
    n_samples, is_edge = graph.shape[0], edges.data != 0
    indices = np.concatenate([graph.indices, edges.indices[is_edge], [n_samples]])
    values = np.concatenate([graph.data, edges.data[is_edge], loops])
    starts = np.append(graph.indptr, len(indices))
    return sparse.csr_array((values, indices, starts), shape=(n_samples + 1, n_samples + 1))


def _row(graph: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    of_row = slice(graph.indptr[row], graph.indptr[row + 1])
    return graph.indices[of_row], graph.data[of_row].astype(np.float64)


def _largest_first(parts: list[Evidence]) -> tuple[Evidence, ...]:
    return tuple(sorted(parts, key=lambda one: -abs(one.margin)))


def _accuracy(predictions: np.ndarray, truth: np.ndarray, is_scored: np.ndarray) -> float | None:
    return float((predictions == truth)[is_scored].mean()) if is_scored.any() else None
