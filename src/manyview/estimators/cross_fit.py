"""Cross-fitting: labels are hidden in turn, and all models predict them without seeing them.

    labels -> folds -> held-out probabilities of the graph model and the table learners
           -> Mixture (weights that mix and calibrate), sharpness
           -> typicality of the labels -> PerformanceEstimate

The graphs are built once. A forest's held-out predictions are those of the trees that did not
draw a sample, which costs no further fit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.baselines.bases.table import TableClassifier
from manyview.baselines.logistic_regression import LogisticRegressionClassifier
from manyview.baselines.random_forest import ForestClassifier
from manyview.cross_fitting.folds import draw_folds
from manyview.cross_fitting.mixing import (
    fit_mixture,
    log_probabilities,
    match_sharpness,
    root_balance,
)
from manyview.cross_fitting.performance import (
    Estimate,
    PerformanceEstimate,
    estimate_performance,
)
from manyview.cross_fitting.typicality import typicality_weights
from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.distributed.world import world
from manyview.explain.records import ColumnEvidence
from manyview.numerics import softmax

NETWORK = "network"
N_COLUMNS = 5  # of a sample, in its explanation
N_TREES = 150  # half of the reference method's, for half of the time
N_WATCHED = 2000  # unlabeled samples, at most, that tell how sure the fits are


def _learners(**settings: Any) -> dict[str, TableClassifier]:
    return {
        "linear": LogisticRegressionClassifier(**settings),
        "forest": ForestClassifier(n_estimators=N_TREES, **settings),
    }


@dataclass(frozen=True)
class TableLearner:
    """A fitted classifier of the columns of all views, with its weight in the mixture."""

    name: str
    weight: float
    model: TableClassifier

    def logits(self, views: MultiView) -> np.ndarray:
        """Return what it adds to the logits of samples: [sample, class]."""
        return self._weighted(self.model._predict_proba(feature_views(views)))

    def column_evidence(
        self, views: MultiView, pair: tuple[int, int], names: Mapping[str, Sequence[str]]
    ) -> tuple[ColumnEvidence, ...]:
        """Return the columns of one sample that add most to the log-odds of two classes.

        `names` are those of the columns, by view; columns without a name have their number.
        """
        own = feature_views(views)
        effects = self.weight * self.model.column_effects(own, pair)
        places = self.model.column_places()
        found = []
        for place in np.argsort(-np.abs(effects), kind="stable")[:N_COLUMNS].tolist():
            view, number = places[place]
            column = names[view][number] if number < len(names.get(view, ())) else number
            found.append(ColumnEvidence(view, str(column), float(effects[place])))
        return tuple(one for one in found if one.margin)

    def take_fitted_logits(self) -> np.ndarray:
        """Return what it adds to the logits of the fitted samples, and forget their predictions."""
        probabilities = self.model.label_distributions_
        del self.model.label_distributions_
        return self._weighted(probabilities)

    def check(self, classes: np.ndarray) -> None:
        """Refuse what was read from a model file and does not fit the classes."""
        if not np.array_equal(self.model.classes_, classes) or not self.weight > 0:
            raise ValueError(f"{self.name} must have the classes of the model and a weight")
        self.model.check_learned()

    def _weighted(self, probabilities: np.ndarray) -> np.ndarray:
        return (self.weight * log_probabilities(probabilities)).astype(np.float32)


@dataclass(frozen=True)
class CrossFit:
    """Predictions for labels that the models did not see.

    Attributes
    ----------
    samples, y_encoded
        [label] row numbers and class numbers of the labels that were hidden once.
    label_weights
        [label] how much the label counts in estimates: the probability that it is right, times
        how typical its sample is of the unlabeled ones (see `typicality_weights`).
    probabilities
        [label, class] of the mixture.
    weights
        Weight of each fitted model in the predictions; the network's comes first.
    seed
        Of the draws behind intervals.
    """

    samples: np.ndarray
    y_encoded: np.ndarray
    label_weights: np.ndarray
    probabilities: np.ndarray
    weights: dict[str, float]
    seed: int

    def performance(
        self, probabilities: np.ndarray, n_left_out: int = 0
    ) -> PerformanceEstimate | None:
        """Estimate the scores on samples with these class probabilities, [sample, class].

        `n_left_out` labels were not used because they look wrong.
        """
        return estimate_performance(
            self.y_encoded,
            self.probabilities.argmax(axis=1),
            probabilities.sum(axis=0, dtype=np.float64),
            np.random.default_rng(self.seed),
            label_weights=self.label_weights,
            n_left_out=n_left_out,
        )

    def check(self, n_samples: int, n_classes: int) -> None:
        """Refuse arrays of a model file that do not fit together."""
        n_labels = len(self.samples)
        if (
            any(len(one) != n_labels for one in (self.y_encoded, self.label_weights))
            or self.probabilities.shape != (n_labels, n_classes)
            or (n_labels and not 0 <= self.samples.min() <= self.samples.max() < n_samples)
            or (n_labels and not 0 <= self.y_encoded.min() <= self.y_encoded.max() < n_classes)
        ):
            raise ValueError("cross_fit_ must name samples and classes of the model")
        weights = self.weights.values()
        if not self.weights.get(NETWORK, 0) > 0 or not all(weight >= 0 for weight in weights):
            raise ValueError("cross_fit_ must have a weight for the network")


RECORD_TYPES: tuple[type, ...] = (
    CrossFit,
    Estimate,
    PerformanceEstimate,
    TableLearner,
    LogisticRegressionClassifier,
    *LogisticRegressionClassifier.record_types,
    ForestClassifier,
    *ForestClassifier.record_types,
)


def feature_views(views: MultiView) -> MultiView:
    """Return the views that hold features, without precomputed graphs."""
    if not views.graph_names:
        return views
    names = views.feature_names
    places = [views.names.index(name) for name in names]
    return MultiView({name: views[name] for name in names}, present=views.present[:, places])


def cross_fit(
    views: MultiView,
    y_encoded: np.ndarray,
    classes: np.ndarray,
    fitted: np.ndarray,
    network_logits: Callable[[np.ndarray, int], np.ndarray],
    *,
    label_weights: np.ndarray,
    seed: int,
    class_weight: str | Mapping[Any, float] | None = None,
) -> tuple[CrossFit, tuple[TableLearner, ...]]:
    """Hide labels in turn, predict them by all models, and fit their mixture.

    Parameters
    ----------
    y_encoded, label_weights
        [sample] class numbers, -1 where unknown, and the probability that each label is right.
    fitted
        [sample, class] probabilities of the network that was fitted to all labels.
    network_logits
        Fits the network to class numbers, those of a fold hidden, and returns the logits of all
        samples, [sample, class].
    class_weight
        As the table learners take it.

    Returns
    -------
    The held-out predictions, and the table learners fitted to all labels.
    """
    rng = np.random.default_rng(seed)
    parts = draw_folds(y_encoded, rng)
    samples = np.flatnonzero(parts >= 0)
    watched = rng.permutation(np.flatnonzero(y_encoded == UNKNOWN))[:N_WATCHED]
    of_network, of_watched = _held_out(y_encoded, parts, watched, network_logits)
    held = [softmax(of_network[samples])]
    models = _learners(random_state=seed, class_weight=class_weight) if views.feature_names else {}
    for model in models.values():
        found = model.fit_held_out(feature_views(views), y_encoded, classes, parts, world())
        held.append(found[samples])
    sure = [softmax(one).max(axis=1) for one in (of_network[samples], *of_watched)]
    typical = typicality_weights(sure[0], np.concatenate(sure[1:] or [sure[0]]))
    label_weights = label_weights[samples] * typical
    counted = label_weights * root_balance(y_encoded[samples])
    mixture = fit_mixture(held, y_encoded[samples], counted)
    own = mixture.weights[0]
    sharpness = match_sharpness(
        own * log_probabilities(fitted[watched]),
        [own * log_probabilities(softmax(one)) for one in of_watched],
    )
    weights = dict(zip([NETWORK, *models], (sharpness * mixture.weights).tolist(), strict=True))
    learners = tuple(
        TableLearner(name, weights[name], model)
        for name, model in models.items()
        if weights[name] > 0
    )
    of_labels = samples, y_encoded[samples], label_weights, mixture(held)
    return CrossFit(*of_labels, weights, seed), learners


def _held_out(
    y_encoded: np.ndarray,
    parts: np.ndarray,
    watched: np.ndarray,
    predict: Callable[[np.ndarray, int], np.ndarray],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Predict the labels of each part by a fit without them.

    Returns
    -------
    [sample, class], 0 elsewhere; and by each fit [watched, class], those of unlabeled samples.
    """
    found, of_watched = np.zeros((len(y_encoded), y_encoded.max() + 1)), []
    for part in np.unique(parts[parts >= 0]).tolist():
        is_hidden = parts == part
        logits = predict(np.where(is_hidden, UNKNOWN, y_encoded), part)
        found[is_hidden] = logits[is_hidden]
        of_watched.append(logits[watched])
    return found, of_watched
