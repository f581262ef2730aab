"""SVM: a support vector machine on the labeled samples."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from manyview.baselines.bases.baseline import POSITIVE
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.concatenated import ConcatenatedViewsClassifier, many_classes_allowed
from manyview.baselines.solvers.ridge import inner_products
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.rows import MAX_MAGNITUDE, row_blocks
from manyview.data.views import MultiView, View
from manyview.graphs.neighbors import square_norms
from manyview.numerics import softmax
from manyview.system.memory import GB, check_memory
from manyview.validation import Choice, Constraint, OrChoice

# Of the solver. With its default of 1e-3, renumbering the samples visibly changes predictions.
TOLERANCE = 1e-6
N_REHEARSED = 5  # samples per class that a loaded model is tried with
BLOCK_BYTES = 64 * 2**20  # one block of kernel values; bounds the memory of the predictions

Kernel = Callable[[View, View], np.ndarray]


@dataclass(kw_only=True, eq=False, repr=False)
class BaseSVMClassifier(ConcatenatedViewsClassifier):
    """Base of the methods that train a support vector machine on the concatenated views.

    Parameters
    ----------
    kernel
        "rbf" or "linear".
    penalty
        C, the cost of a sample on the wrong side of its margin.
    gamma
        Width of the "rbf" kernel exp(-gamma |x - y|^2); "scale" takes 1 / (number of features
        x variance of the labeled table).
    class_weight
        None, "balanced" (by the given labels), or a dict of class -> weight.
    """

    kernel: str = "rbf"
    penalty: float = 1.0
    gamma: float | str = "scale"
    class_weight: str | Mapping[Any, float] | None = None

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": Choice(("rbf", "linear")),
        "penalty": POSITIVE,
        "gamma": OrChoice(("scale",), POSITIVE),
    }

    @abstractmethod
    def _training_data(self) -> "TrainingData":
        """Return what the last machine is trained on, by the names of the learned attributes."""

    def check_learned(self) -> None:
        """Refuse training data that no machine could be trained on again."""
        super().check_learned()
        self._training_data().check(len(self.classes_))
        check_kernel_memory(len(self._training_data().y_encoded), self.card.name)

    def rehearsal_model(self) -> Self:
        """Return a copy that trains on a few samples of each class."""
        rehearsed, data = copy(self), self._training_data()
        rows = first_of_each_class(data.y_encoded, N_REHEARSED)
        setattr(rehearsed, data.features_name, data.features[rows])
        setattr(rehearsed, data.y_name, data.y_encoded[rows])
        return rehearsed

    def _machine(self, weights: Mapping[int, float] | None) -> "SoftmaxSVC":
        return SoftmaxSVC(
            kernel=self.kernel, penalty=self.penalty, gamma=self.gamma, class_weight=weights
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SVMClassifier(BaseSVMClassifier):
    """Separate the classes by maximum margins between labeled samples. Support vector machine.

    scikit-learn's `SVC` on the concatenated scaled views: one machine per pair of classes. The
    class with the most votes wins; margins break ties. Unlabeled samples are not used in
    training. See `BaseSVMClassifier` for the parameters of the machine and `Baseline` for
    `scaling`.

    The paper names no kernel. "linear" is the default because it comes nearer to the paper's
    numbers than "rbf" (see `docs/results.md`).

    Attributes
    ----------
    label_distributions_ : [sample, class], softmax of votes and margins. It ranks the classes
        but is not calibrated.
    labeled_features_, labeled_y_ : scaled features and class numbers of the labeled samples.
        `predict` trains the machine again from them.

    Examples
    --------
    >>> labels = ["low", "high", None, None]
    >>> SVMClassifier(scaling="none").fit([[0.0], [9.0], [1.0], [7.0]], labels).transduction_
    array(['low', 'high', 'low', 'high'], dtype=object)
    """

    kernel: str = "linear"

    card = CARDS["svm"]

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        table = self._concatenate(views)
        is_labeled = y_encoded != UNKNOWN
        check_kernel_memory(int(is_labeled.sum()), self.card.name)
        self.labeled_features_, self.labeled_y_ = table[is_labeled], y_encoded[is_labeled]
        self.label_distributions_ = self._trained().predict_proba(table)

    def _training_data(self) -> "TrainingData":
        return TrainingData(
            self.labeled_features_, self.labeled_y_, "labeled_features_", "labeled_y_"
        )

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._trained().predict_proba(self.concatenator_(views))

    def _trained(self) -> "SoftmaxSVC":
        weights = class_weights(self.class_weight, self.classes_, self.labeled_y_)
        machine = self._machine(None if weights is None else dict(enumerate(weights)))
        return machine.fit(self.labeled_features_, self.labeled_y_)


@dataclass(frozen=True)
class TrainingData:
    """Features and class numbers of a machine, and the attributes that hold them."""

    features: View
    y_encoded: np.ndarray
    features_name: str
    y_name: str

    def check(self, n_classes: int) -> None:
        """Refuse numbers that are not finite or too large, and classes without a sample."""
        if self.features.ndim != 2 or self.y_encoded.shape != self.features.shape[:1]:
            raise ValueError(f"{self.y_name} must number the classes of {self.features_name}")
        if self.y_encoded.dtype.kind != "i" or self.features.dtype.kind != "f":
            raise ValueError(f"{self.features_name} must hold numbers, {self.y_name} classes")
        if not np.array_equal(np.unique(self.y_encoded), np.arange(n_classes)):
            raise ValueError(f"{self.y_name} must hold all {n_classes} classes")
        for block in row_blocks(self.features):
            rows = self.features[block]
            values = rows.data if isinstance(rows, sparse.csr_array) else rows
            if not (np.abs(values) <= MAX_MAGNITUDE).all():
                raise ValueError(f"{self.features_name} must be finite, at most {MAX_MAGNITUDE}")


def first_of_each_class(y_encoded: np.ndarray, n_each: int) -> np.ndarray:
    """Return the positions of the first samples of each class, ascending.

    Examples
    --------
    >>> first_of_each_class(np.array([0, 1, 0, 0, 1]), 2)
    array([0, 1, 2, 4])
    """
    order = np.argsort(y_encoded, kind="stable")
    starts = np.searchsorted(y_encoded[order], y_encoded[order])
    return np.sort(order[np.arange(len(order)) - starts < n_each])


class SoftmaxSVC(ClassifierMixin, BaseEstimator):
    """scikit-learn's `SVC` with the softmax of its decision function as probabilities.

    `SVC(probability=True)` needs cross-validation, which is impossible with one label per class.
    """

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        penalty: float = 1.0,
        gamma: float | str = "scale",
        class_weight: Mapping[int, float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.gamma = gamma
        self.class_weight = class_weight

    def fit(self, features: View, y_encoded: np.ndarray) -> "SoftmaxSVC":
        """Train on class numbers."""
        machine = SVC(
            C=self.penalty,
            kernel=kernel_function(self.kernel, self.gamma, features),
            class_weight=self.class_weight,
            tol=TOLERANCE,
            random_state=0,  # None would draw an unused seed from the global generator
        )
        with many_classes_allowed():
            self.machine_ = machine.fit(features, y_encoded)
        self.classes_ = machine.classes_
        return self

    def predict_proba(self, features: View) -> np.ndarray:
        """Return the softmax of the decision function: [sample, class]."""
        block = max(1, BLOCK_BYTES // (8 * self.machine_.shape_fit_[0]))
        decisions = [
            two_columns(self.machine_.decision_function(features[start : start + block]))
            for start in range(0, features.shape[0], block)
        ]
        return softmax(np.vstack(decisions))

    def predict(self, features: View) -> np.ndarray:
        """Return the class of the largest decision value."""
        return np.asarray(self.classes_[self.predict_proba(features).argmax(axis=1)])


def kernel_function(kernel: str, gamma: float | str, features: View) -> Kernel:
    """Return the kernel as a function of two tables.

    libsvm's own kernels visit one pair of samples at a time; one matrix product is ten times
    as fast on wide views.
    """
    if kernel == "linear":
        return inner_products
    if isinstance(gamma, str):
        variance = table_variance(features)
        gamma = 1.0 / (features.shape[1] * variance) if variance > 0 else 1.0
    return partial(gaussian, gamma=gamma)


def gaussian(left: View, right: View, *, gamma: float) -> np.ndarray:
    """Compute exp(-gamma |x - y|^2) of the rows of two tables, in the memory of the result.

    Examples
    --------
    >>> gaussian(np.array([[0.0]]), np.array([[0.0], [1.0]]), gamma=np.log(2))
    array([[1. , 0.5]])
    """
    left, right = left.astype(np.float64), right.astype(np.float64)
    result = inner_products(left, right)
    result *= -2.0
    result += square_norms(left)[:, None]
    result += square_norms(right)
    np.maximum(result, 0.0, out=result)
    result *= -gamma
    return np.asarray(np.exp(result, out=result))


def table_variance(features: View) -> float:
    """Return the variance of all entries, zeros included, as `SVC(gamma="scale")` uses it."""
    if isinstance(features, sparse.csr_array):
        wide = features.astype(np.float64)
        return float(wide.power(2).mean() - wide.mean() ** 2)
    return float(features.var(dtype=np.float64))


def two_columns(decision: np.ndarray) -> np.ndarray:
    """Expand the decision values of two classes to one column per class.

    Decision values of more classes are returned unchanged.

    Examples
    --------
    >>> two_columns(np.array([3.0, -1.0]))
    array([[-1.5,  1.5],
           [ 0.5, -0.5]])
    """
    return decision if decision.ndim == 2 else np.column_stack([-decision, decision]) / 2


def check_kernel_memory(n_trained: int, name: str) -> None:
    """Refuse more training samples than have a kernel matrix that fits in memory."""
    check_memory(
        8 * n_trained**2 / GB,
        f"{name} trained on {n_trained:,} samples",
        "Use fewer samples",
    )
