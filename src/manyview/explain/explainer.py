"""Reasons: which neighbors, through which views, carried how much of a prediction.

The logits of a sample are a sum over its neighbors, itself among them,

    z_i = sum_j S_ij m_j,        m_j = relu(sum_k S_jk H_k W1) W2        (two layers)

with the selected graph S and the messages m_j of the last layer, so each neighbor's part is
S_ij m_j, whatever the depth. An edge's weight is a sum over views, which splits the part among
them. Given which hidden units are on, the rest is linear as well (there is no bias), so the same
logits are also a sum over the samples k whose features reach the sample through its neighbors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.explain.records import Evidence, Explanation, ViewEffect, ViewEvidence
from manyview.network.replay import NetworkReplay
from manyview.numerics import softmax


@dataclass(frozen=True)
class Explainer:
    """Reads the reasons off a fitted model; what is expensive is worked out once.

    Attributes
    ----------
    view_graphs
        Each view's renormalized graph, by name.
    selected
        The graph the network convolves with.
    given
        [sample] class numbers, -1 where no label was given.
    """

    fitted: NetworkReplay
    view_graphs: dict[str, sparse.csr_array]
    selected: sparse.csr_array
    classes: np.ndarray
    temperature: float
    given: np.ndarray

    @cached_property
    def logits(self) -> np.ndarray:
        """Logits of all samples, divided by the temperature: [sample, class]."""
        messages = self.fitted.inductive_state.messages[-1].astype(np.float64)
        return np.asarray(self.selected @ messages / self.temperature)

    @cached_property
    def logits_without(self) -> list[np.ndarray]:
        """The same without each view; empty where there is one view only."""
        if len(self.view_graphs) == 1:
            return []
        return [
            self.fitted.logits(view) / self.temperature for view in range(len(self.view_graphs))
        ]

    def row_without(self, row: int, view: int) -> np.ndarray:
        """Logits of one sample without one view, by its number: [class]."""
        return np.asarray(self.logits_without[view][row])

    def explain(self, row: int, names: Sequence[str]) -> Explanation:
        """Explain the prediction of the sample in this row; `names` has one name a sample."""
        logits = self.logits[row]
        probabilities = softmax(logits[None])[0]
        pair = np.argsort(-logits, kind="stable")[:2]
        neighbors, weights = _row(self.selected, row)
        messages = self.fitted.inductive_state.messages[-1][:, pair].astype(np.float64)
        parts = weights[:, None] * messages[neighbors] / self.temperature  # [neighbor, of two]
        shares = self._view_shares(row, neighbors)
        found = [
            self._evidence(neighbor, names, part, share)
            for neighbor, part, share in zip(neighbors.tolist(), parts, shares, strict=True)
        ]
        nothing = self._evidence(row, names, np.zeros(2), np.zeros(len(self.view_graphs)))
        return Explanation(
            row=row,
            name=names[row],
            given=self._label(self.given[row]),
            probabilities=dict(zip(self.classes.tolist(), probabilities.tolist(), strict=True)),
            prediction=self._label(pair[0]),
            runner_up=self._label(pair[1]),
            logit=float(parts[:, 0].sum()),
            runner_up_logit=float(parts[:, 1].sum()),
            temperature=self.temperature,
            itself=next((one for one in found if one.row == row), nothing),
            neighbors=_largest_first([one for one in found if one.row != row]),
            sources=self._sources(row, pair, names),
            views=self._views(row, parts, shares),
        )

    def view_effects(self, truth: np.ndarray) -> tuple[ViewEffect, ...]:
        """Compare the predictions with all views and without each; `truth` is -1 where unknown."""
        predictions, is_scored = self.logits.argmax(axis=1), truth != UNKNOWN
        right = _accuracy(predictions, truth, is_scored)
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
                    accuracy=right,
                    accuracy_without=_accuracy(without, truth, is_scored),
                )
            )
        return tuple(effects)

    def _views(self, row: int, parts: np.ndarray, shares: np.ndarray) -> tuple[ViewEvidence, ...]:
        sums = shares.T @ parts  # [view, of two]
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

    def _view_shares(self, row: int, neighbors: np.ndarray) -> np.ndarray:
        """Share of each view in the edges of a sample: [neighbor, view]."""
        weights = np.zeros((len(neighbors), len(self.view_graphs)))
        for number, graph in enumerate(self.view_graphs.values()):
            columns, values = _row(graph, row)
            by_column = dict(zip(columns.tolist(), values.tolist(), strict=True))
            weights[:, number] = [by_column.get(column, 0.0) for column in neighbors.tolist()]
        weights *= self.fitted.coefficients
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _sources(self, row: int, pair: np.ndarray, names: Sequence[str]) -> tuple[Evidence, ...]:
        """Walk back through the layers with the hidden units that are on held fixed."""
        inductive_state = self.fitted.inductive_state
        rows, weights = _row(self.selected, row)
        n_classes = len(self.classes)
        # Derivative of the two logits by what these rows send: [of two, row, output].
        slopes = weights[:, None] * np.eye(n_classes)[pair][:, None, :]
        for layer in range(len(inductive_state.weights) - 1, 0, -1):
            step = self.selected[rows].astype(np.float64)
            is_on = (
                step @ inductive_state.messages[layer - 1].astype(np.float64) > 0
            )  # [row, hidden]
            slopes = (slopes @ inductive_state.weights[layer].astype(np.float64).T) * is_on
            rows = np.unique(step.indices)
            slopes = np.stack([step[:, rows].T @ one for one in slopes])
        sent = inductive_state.messages[0][rows].astype(np.float64)
        parts = (slopes * sent).sum(axis=2).T / self.temperature  # [row, of two]
        nobody = np.zeros(0)
        return _largest_first(
            [
                self._evidence(source, names, part, nobody)
                for source, part in zip(rows.tolist(), parts, strict=True)
            ]
        )

    def _evidence(
        self, row: int, names: Sequence[str], part: np.ndarray, shares: np.ndarray
    ) -> Evidence:
        return Evidence(
            row=row,
            name=names[row],
            given=self._label(self.given[row]),
            prediction=self._label(self.logits[row].argmax()),
            views={
                view: share
                for view, share in zip(self.view_graphs, shares.tolist(), strict=False)
                if share > 0
            },
            for_prediction=float(part[0]),
            for_runner_up=float(part[1]),
        )

    def _label(self, code: int | np.integer[Any]) -> Any:
        return None if code == UNKNOWN else self.classes[[int(code)]].tolist()[0]


def _row(graph: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    of_row = slice(graph.indptr[row], graph.indptr[row + 1])
    return graph.indices[of_row], graph.data[of_row].astype(np.float64)


def _largest_first(parts: list[Evidence]) -> tuple[Evidence, ...]:
    return tuple(sorted(parts, key=lambda one: -abs(one.margin)))


def _accuracy(predictions: np.ndarray, truth: np.ndarray, is_scored: np.ndarray) -> float | None:
    return float((predictions == truth)[is_scored].mean()) if is_scored.any() else None


def explain_new(
    explainer: Explainer, views: MultiView, name: str, names: Sequence[str]
) -> Explanation:
    """Explain the prediction of one new sample.

    Its prediction without a view is the one it gets when it comes without that view. A sample that
    has no other view keeps its prediction, because nothing would be left to say of it.

    Parameters
    ----------
    views
        One row.
    name
        Of the new sample.
    names
        Of the fitted samples, one a sample.

    Returns
    -------
    Rows are those of the fitted samples; that of the new one is their number.
    """
    inductive_state = explainer.replay.inductive_state
    links = inductive_state.link(views)
    messages = [
        np.vstack([sent, own])
        for sent, own in zip(inductive_state.messages, links.own, strict=True)
    ]
    with_it = _WithNewSample(
        **{one.name: getattr(explainer, one.name) for one in fields(explainer)},
        views=views,
        explainer=explainer,
    )
    with_it = replace(
        with_it,
        fitted=replace(
            explainer.replay, inductive_state=replace(inductive_state, messages=messages)
        ),
        view_graphs={
            view: _with_row(graph, links.view_edges[view], 1 / links.view_degrees[view])
            for view, graph in explainer.view_graphs.items()
        },
        selected=_with_row(explainer.selected, links.edges, links.loops),
        given=np.append(explainer.y_encoded, UNKNOWN),
    )
    return with_it.explain(len(explainer.y_encoded), [*names, name])


@dataclass(frozen=True)
class _WithNewSample(Explainer):
    """An explainer with one row more, and what it needs to leave out a view of that sample."""

    views: MultiView
    explainer: Explainer

    def row_without(self, row: int, view: int) -> np.ndarray:
        name = list(self.view_graphs)[view]
        present = self.views.present.copy()
        present[:, self.views.names.index(name)] = False
        left = MultiView(self.views, present=present) if present.any() else self.views
        inductive_state = self.explainer.replay.inductive_state
        return np.asarray(inductive_state.logits(left)[0] / self.temperature)


def _with_row(
    graph: sparse.csr_array, edges: sparse.csr_array, loops: np.ndarray
) -> sparse.csr_array:
    """Add one row with edges to the others and a self-loop, and an empty column."""
    n_samples, is_edge = graph.shape[0], edges.data != 0
    indices = np.concatenate([graph.indices, edges.indices[is_edge], [n_samples]])
    values = np.concatenate([graph.data, edges.data[is_edge], loops])
    starts = np.append(graph.indptr, len(indices))
    return sparse.csr_array((values, indices, starts), shape=(n_samples + 1, n_samples + 1))
