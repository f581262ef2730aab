"""The learner: a model that is fitted again and again as labels come."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse

from manyview.callbacks.context import check_epochs
from manyview.data.cross_validation import TransductiveViews
from manyview.data.label_values import parse_labels
from manyview.data.views import MultiView
from manyview.errors import ManyviewError
from manyview.graphs.prepare import choose_n_neighbors
from manyview.label_audit.audit import contradiction
from manyview.labeling.embedding import first_places, move_places, turn_like
from manyview.labeling.learned import (
    N_EVIDENCE,
    Learned,
    load_places,
    save_places,
    strongest_neighbors,
)
from manyview.labeling.progress import Estimate, read_estimate
from manyview.labeling.queue import (
    fraction_new,
    make_queue,
    sample_similarity,
    spacing_again,
)
from manyview.labeling.two_step import TwoStepClassifier
from manyview.network.prepared import PreparedInputs
from manyview.network.spectral import propagated_features

N_FIRST_LABELS = 10  # that the number of neighbors is chosen for
N_DIRECTIONS = 8  # of the features that the first map is made from
N_SMOOTHED = 4  # hops over which these are averaged
MIN_CHECKED, MAX_CHECKED = 10, 1000  # labels; with more, one wrong label does little harm
CONTRADICTED = 0.5  # margin of the other class, from which a label is asked again
EPOCHS_FIRST, EPOCHS_AFTER = 150, 40  # of the map, before and after a fit


@dataclass(frozen=True)
class Task:
    """Labels to learn from.

    Attributes
    ----------
    number
        That of the last act of the journal behind them.
    y_encoded
        [sample] numbers in `classes`, -1 where unknown.
    classes
        Names.
    skipped
        Rows that are not shown again.
    checked
        Rows whose label was given twice, or confirmed; they are not asked again.
    n_changed
        How many of these have another label than at first.
    """

    number: int
    y_encoded: np.ndarray
    classes: tuple[str, ...]
    skipped: tuple[int, ...] = ()
    checked: tuple[int, ...] = ()
    n_changed: int = 0

    @property
    def is_labeled(self) -> np.ndarray:
        """[sample] whether it has a label."""
        return np.asarray(self.y_encoded >= 0)

    @property
    def is_skipped(self) -> np.ndarray:
        """[sample] whether it is not shown again."""
        is_skipped = np.zeros(len(self.y_encoded), dtype=bool)
        is_skipped[list(self.skipped)] = True
        return is_skipped

    @property
    def can_be_fitted(self) -> bool:
        """Whether two classes have a label."""
        return len(np.unique(self.y_encoded[self.is_labeled])) > 1

    def labels(self) -> np.ndarray:
        """Return the labels as a file of labels would hold them."""
        names = [*self.classes, ""]  # -1 is the last
        return parse_labels([names[number] for number in self.y_encoded.tolist()], "the journal")


class Learner:
    """Fits one model to more and more labels, each time from the weights it has.

    Parameters
    ----------
    views
        The data.
    model
        Not yet fitted.
    folder
        Where the state is written, and continued from if it belongs to these views.
    """

    def __init__(self, views: MultiView, model: TwoStepClassifier, folder: Path) -> None:
        self.folder = folder
        self.samples = TransductiveViews(views)
        n_samples = len(views)
        if model.parameter_group("graph").n_neighbors == "auto":
            n_neighbors = choose_n_neighbors(n_samples, 2, N_FIRST_LABELS)
            model.set_params(graph__n_neighbors=n_neighbors)
        model.set_params(warm_start=True)
        self._rng = np.random.default_rng(0)
        self.model = self._continued(model)
        n_neighbors = self.model.parameter_group("graph").n_neighbors
        prepared = model.prepare_graphs(self.samples, n_neighbors)
        self.prepared, self.graph = prepared, neighbor_graph(prepared)
        self.similarity = sample_similarity(self.graph)
        self.curve: tuple[Estimate, ...] = ()
        with suppress(ManyviewError):
            self.curve = Learned.load(folder, n_samples).curve
        places = load_places(folder, n_samples)
        if places is None:
            places = first_places(smoothed_features(prepared, self.graph, self._rng), self._rng)
            places = move_places(places, self.graph, self._rng, n_epochs=EPOCHS_FIRST)
            save_places(folder, places)
        self.places = places

    def _continued(self, model: TwoStepClassifier) -> TwoStepClassifier:
        """Return the model of an earlier session, if it has the same parameters."""
        try:
            earlier = type(model).load(self.folder)
        except ManyviewError:
            return model
        is_same = repr(earlier.get_params()) == repr(model.get_params())
        checksum = getattr(earlier.learned_weights_, "checksum", None)
        return earlier if is_same and checksum == self.samples.checksum() else model

    def save(self) -> None:
        """Write the model, for a later session to continue from."""
        if hasattr(self.model, "classes_"):
            self.model.save(self.folder)

    def learn(self, task: Task, check: Callable[[], None] = lambda: None) -> Learned:
        """Fit if two classes are known, make the queue, and write both.

        `check` is called after every epoch, and may raise to end the fit; the model is then as it
        was before.
        """
        start = perf_counter()
        if not task.can_be_fitted:
            queue = make_queue(self.similarity, None, task.is_labeled, task.is_skipped)
            evidence, _ = strongest_neighbors(self.graph, np.abs(self.graph.data))
            nothing = np.zeros((len(task.y_encoded), 0))
            found = Learned(
                task.number, (), nothing, queue, evidence, np.zeros(evidence.shape),
                seconds=perf_counter() - start,
            )  # fmt: skip
            found.save(self.folder)
            return found
        epochs: list[float] = []

        def end_epoch() -> None:
            epochs.append(perf_counter())
            check()

        if not self._is_fitted(task):  # a skip, or the first task of a later session
            with check_epochs(end_epoch), catch_warnings():
                simplefilter("ignore")  # the run that is written at the end reports its warnings
                self.model.fit(self.samples, task.labels())
        epoch_seconds = float(np.median(np.diff(epochs))) if len(epochs) > 1 else 0.0
        found = self._read(task)
        found = replace(found, seconds=perf_counter() - start, epoch_seconds=epoch_seconds)
        check()  # a worker whose server was killed must not write over what the next one learned
        found.save(self.folder)
        return found

    def complete(
        self, task: Task, found: Learned, check: Callable[[], None] = lambda: None
    ) -> Learned | None:
        """Cross-fit after `learn` has found predictions for a task; None if there is no need.

        `check` is called before every fold and before the result is written, and may raise to
        pause; see `TwoStepClassifier`.
        """
        if not (task.can_be_fitted and self.model.is_pending):
            return None
        with catch_warnings():
            simplefilter("ignore")
            self.model.complete(check)
        completed = replace(
            self._read(task), seconds=found.seconds, epoch_seconds=found.epoch_seconds
        )
        check()
        completed.save(self.folder)
        return completed

    def _read(self, task: Task) -> Learned:
        """Read what the model has learned from a task, and make the queue."""
        model = self.model
        estimate = read_estimate(model)
        if estimate is not None:
            earlier = (one for one in self.curve if one.n_labels < estimate.n_labels)
            self.curve = (*earlier, estimate)
        evidence, margins = explained(model)
        issues = model.label_issues_
        return Learned(
            number=task.number,
            classes=tuple(map(str, model.classes_.tolist())),
            probabilities=model.label_distributions_,
            queue=make_queue(
                self.similarity,
                model.label_distributions_,
                task.is_labeled,
                task.is_skipped,
                new_fraction=fraction_new(np.bincount(task.y_encoded[task.is_labeled])),
                again=self._contradicted(task),
                again_every=spacing_again(len(task.checked), task.n_changed),
                n_answers=task.number,
            ),
            evidence=evidence,
            margins=margins,
            curve=self.curve,
            **({} if issues is None else _doubts(issues)),
        )

    def _contradicted(self, task: Task) -> list[int]:
        """Return rows whose label the others contradict, most first, that were not checked."""
        rows = np.flatnonzero(task.is_labeled)
        if not MIN_CHECKED <= len(rows) <= MAX_CHECKED:
            return []
        inputs, weights = self.prepared.teacher_inputs, self.prepared.graph_weights
        features = propagated_features(inputs, weights, rows).cpu().numpy()
        _, y_encoded = np.unique(task.y_encoded[rows], return_inverse=True)
        found = contradiction(features, y_encoded)
        done = {*task.checked, *task.skipped}
        ranked = rows[np.argsort(-found, kind="stable")[: int((found > CONTRADICTED).sum())]]
        return [row for row in ranked.tolist() if row not in done]

    def _is_fitted(self, task: Task) -> bool:
        """Whether the model was fitted to these very labels."""
        model, labels = self.model, task.labels()
        if not hasattr(model, "y_"):
            return False
        known = labels[task.is_labeled].tolist()
        fitted = model.classes_[model.y_[model.is_labeled_]].tolist()
        return bool(np.array_equal(task.is_labeled, model.is_labeled_)) and known == fitted

    def move(self) -> None:
        """Move the points of the map by the last predictions, and write them."""
        predictions = self.model.label_distributions_.argmax(axis=1)
        moved = move_places(
            self.places, self.graph, self._rng, n_epochs=EPOCHS_AFTER, predictions=predictions
        )
        self.places = turn_like(moved, self.places)
        save_places(self.folder, self.places)


def _doubts(issues: Any) -> dict[str, Any]:
    """Return the labels that are more probably wrong than right, most doubtful first."""
    places = [place for place in issues.ranked.tolist() if issues.is_suspicious[place]]
    return {
        "doubted": issues.samples[places],
        "suggested": issues.suggested[places],
        "wrong": issues.wrong[places],
    }


def explained(model: TwoStepClassifier) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbors that contribute most to each prediction, and how much.

    Their contributions are those of `Explainer`, for all samples at once.
    """
    graph = model.selected_graph_
    messages = model.inductive_state_.messages[-1]
    top_two = np.argsort(-model.label_distributions_, axis=1, kind="stable")[:, :2]
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    margin = messages[graph.indices, top_two[rows, 0]] - messages[graph.indices, top_two[rows, 1]]
    strengths = graph.data * margin / model.temperature_
    return strongest_neighbors(graph, strengths, N_EVIDENCE)


def neighbor_graph(prepared: PreparedInputs) -> sparse.csr_array:
    """Return the graph of all views together, or else the mean of the views' graphs."""
    if prepared.early_fusion_graph is not None:
        return sparse.csr_array(prepared.early_fusion_graph)
    weighted: Sequence[sparse.csr_array] = [
        sparse.csr_array(graph * weight)
        for graph, weight in zip(prepared.view_graphs, prepared.graph_weights, strict=True)
    ]
    return sparse.csr_array(sum(weighted[1:], start=weighted[0]))


def smoothed_features(
    prepared: PreparedInputs, graph: sparse.csr_array, rng: np.random.Generator
) -> np.ndarray:
    """Return the main directions of the features, averaged over some hops: [sample, direction]."""
    from sklearn.utils.extmath import randomized_svd

    tensor = prepared.features.cpu()
    if tensor.is_sparse_csr:
        features: Any = sparse.csr_array(
            (tensor.values().numpy(), tensor.col_indices().numpy(), tensor.crow_indices().numpy()),
            shape=(tensor.shape[0], tensor.shape[1]),
        )
    else:
        features = tensor.numpy()
        features = features - features.mean(axis=0)
    n_directions = min(N_DIRECTIONS, *features.shape)
    left, sizes, _ = randomized_svd(
        features, n_directions, random_state=int(rng.integers(2**31)), n_iter=4
    )
    scores = left * sizes
    total = scores.copy()
    for _ in range(N_SMOOTHED):
        scores = graph @ scores
        total += scores
    return np.asarray(total)
