"""SVM: a support vector machine on the labeled samples."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._concat import JoinedViews, few_labels_a_class, join_views
from manyview.baselines._ridge import inner_products
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling, ViewScaler, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.graphs.neighbors import square_norms
from manyview.numerics import softmax
from manyview.system.memory import GB, check_memory
from manyview.validation import check_choice, check_number

TOLERANCE = 1e-6  # of the solver; its own 1e-3 shows in the predictions when samples are renumbered
KERNELS = ("rbf", "linear")
BLOCK_BYTES = 64 * 2**20  # one block of kernel values; bounds the memory of the predictions

Kernel = Callable[[View, View], np.ndarray]


class SVMClassifier(MultiViewClassifier):
    """Part the classes by wide margins between their labeled samples. Support vector machine.

    scikit-learn's `SVC` on the scaled views side by side: one machine for each pair of
    classes, whose votes, ties broken by their margins, choose the class. Unlabeled samples
    teach it nothing.

    Parameters
    ----------
    kernel
        "rbf" or "linear".
    penalty
        C: what a sample on the wrong side of its margin costs.
    gamma
        Width of the "rbf" kernel exp(-gamma |x - y|^2); "scale" takes 1 / (number of features
        x variance of the labeled table).
    class_weight
        None, "balanced", or a dict of class -> weight.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], softmax of the votes and margins: their order can
        be trusted, they are not calibrated as probabilities
    labeled_features_, labeled_codes_ : the labeled samples, scaled, and their class numbers;
        the machine is trained again from them when new samples come

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> SVMClassifier().fit(views, ["low", None, "high", None]).transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="svm",
        title="SVM",
        paper="Cortes, Vapnik: Support-vector networks. Machine Learning",
        year=1995,
        cost="l^2 x d, and l x m x d for the predictions",
    )
    record_types = (JoinedViews, ViewScaler)
    takes_graphs = False

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        penalty: float = 1.0,
        gamma: float | str = "scale",
        class_weight: str | Mapping[Any, float] | None = None,
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.gamma = gamma
        self.class_weight = class_weight
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_machine(self.kernel, self.penalty, self.gamma)
        scaling_by_view(self.scaling, views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.joined_, table = join_views(views, self.scaling)
        is_labeled = y_encoded != UNKNOWN
        check_kernel_memory(int(is_labeled.sum()), self.card.name)
        self.labeled_features_, self.labeled_codes_ = table[is_labeled], y_encoded[is_labeled]
        self.label_distributions_ = self._trained().predict_proba(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._trained().predict_proba(self.joined_(views))

    def _trained(self) -> "SoftmaxSVC":
        weights = class_weights(self.class_weight, self.classes_, self.labeled_codes_)
        machine = SoftmaxSVC(
            kernel=self.kernel,
            penalty=self.penalty,
            gamma=self.gamma,
            class_weight=None if weights is None else dict(enumerate(weights)),
        )
        return machine.fit(self.labeled_features_, self.labeled_codes_)


class SoftmaxSVC(ClassifierMixin, BaseEstimator):
    """scikit-learn's `SVC` with the softmax of its decision as probabilities.

    Its own probabilities come from a cross-validation, impossible with one label a class.
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
            random_state=0,  # it would draw a seed from the global generator, to no use
        )
        with few_labels_a_class():
            self.machine_ = machine.fit(features, y_encoded)
        self.classes_ = machine.classes_
        return self

    def predict_proba(self, features: View) -> np.ndarray:
        """Softmax of the decision, one column a class."""
        block = max(1, BLOCK_BYTES // (8 * self.machine_.shape_fit_[0]))
        decisions = [
            two_columns(self.machine_.decision_function(features[start : start + block]))
            for start in range(0, features.shape[0], block)
        ]
        return softmax(np.vstack(decisions))

    def predict(self, features: View) -> np.ndarray:
        """Class of the largest decision."""
        return np.asarray(self.classes_[self.predict_proba(features).argmax(axis=1)])


def kernel_function(kernel: str, gamma: float | str, features: View) -> Kernel:
    """Return the kernel as a function of two tables.

    libsvm's own kernels visit one pair of samples at a time; on wide views one matrix product
    is ten times as fast.
    """
    if kernel == "linear":
        return inner_products
    if isinstance(gamma, str):
        variance = table_variance(features)
        gamma = 1.0 / (features.shape[1] * variance) if variance > 0 else 1.0
    return partial(gaussian, gamma=gamma)


def gaussian(left: View, right: View, *, gamma: float) -> np.ndarray:
    """exp(-gamma |x - y|^2) of the rows of two tables, in the memory of the result.

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
    """Variance of all entries, zeros included, as `SVC(gamma="scale")` takes it."""
    if isinstance(features, sparse.csr_array):
        wide = features.astype(np.float64)
        return float(wide.power(2).mean() - wide.mean() ** 2)
    return float(features.var(dtype=np.float64))


def two_columns(decision: np.ndarray) -> np.ndarray:
    """Write a decision between two classes as one column for each; others stay as they are.

    Examples
    --------
    >>> two_columns(np.array([3.0, -1.0]))
    array([[-1.5,  1.5],
           [ 0.5, -0.5]])
    """
    return decision if decision.ndim == 2 else np.column_stack([-decision, decision]) / 2


def check_machine(kernel: object, penalty: object, gamma: object) -> None:
    """Refuse parameters that no support vector machine takes."""
    check_choice("kernel", kernel, KERNELS)
    check_number("penalty", penalty, above=0)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale",))
    else:
        check_number("gamma", gamma, above=0)


def check_kernel_memory(n_trained: int, name: str) -> None:
    """Refuse to train on more samples than have room for a kernel value a pair."""
    check_memory(
        8 * n_trained**2 / GB,
        f"{name} trained on {n_trained:,} samples",
        "Use fewer samples",
    )
