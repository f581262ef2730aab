"""The contract of every method: views and a few labels in, a label for every sample out.

A method is a class that stores its parameters, declares their rules in `_parameter_constraints`,
learns in `_fit`, and, where it can label samples it was not fitted with, does so in
`_predict_proba`.

A class without a labeled sample is unknown to every method alike: it is not in `classes_`, and
no sample is given it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.base.input_checks import check_sample_weight, check_views_are_seen
from manyview.base.model_checks import check_model, set_learned
from manyview.base.notebook import NotebookMixin
from manyview.base.persistence import damaged, learned_attributes, load_tree, save_tree
from manyview.base.shift_checks import ShiftChecksMixin
from manyview.base.summary import FitSummary, StageRecord
from manyview.callbacks.context import EpochObserver, FitContext, current_observer
from manyview.callbacks.tasks import CallbackMixin, callback_context
from manyview.data.alignment import align_labels
from manyview.data.cross_validation import TransductiveViews
from manyview.data.fitted_range import FittedRange, fit_ranges
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.labels import UNKNOWN, check_labels
from manyview.data.views import MultiView
from manyview.errors import DataFileError, InputError
from manyview.network.training import TrainingCurve
from manyview.system.files import not_written
from manyview.validation import Constraint, check_constraints, check_fraction

GRAPHS = ("fused", "refined", "selected", "learned")
LEARNED = (  # attributes that the summary of a fit repeats
    "n_neighbors", "scaling", "neighbor_recall", "training_curve", "objective", "n_networks",
    "stages", "view_weights", "view_graphs", "node_confidence", "threshold", "temperature",
    "calibration", "cross_fit", "performance", "label_issues",
)  # fmt: skip
OTHER_CLASS = -2  # number of a class that no labeled sample has


class MultiViewClassifier(
    NotebookMixin, CallbackMixin, ShiftChecksMixin, ClassifierMixin, BaseEstimator
):
    """Base of all methods: input checks, predictions and files; the learning is theirs.

    A method defines
    - `card`, a `MethodCard`;
    - a constructor that stores its parameters, `random_state` among them;
    - `_parameter_constraints`, what each parameter may be (see `manyview.validation`);
    - `_fit(views, y_encoded, context)`, which sets `label_distributions_`;
    - optionally `_predict_proba(views)`, the class probabilities of new samples.
    """

    # what a saved model may hold, next to `FittedRange`
    record_types: ClassVar[tuple[type, ...]] = ()
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {}

    # Learned attributes that some methods have; None, 1 or empty in the others.
    label_distributions_: np.ndarray
    y_: np.ndarray
    sample_ids_: np.ndarray | None = None
    transductive_checksum_: str | None = None
    n_neighbors_: Any = None  # int
    scaling_: dict[str, str] | None = None
    neighbor_recall_: dict[str, float] | None = None
    n_iter_: int | None = None
    training_curve_: TrainingCurve | None = None
    objective_: Any = None
    n_networks_: int = 1
    stages_: tuple[StageRecord, ...] = ()
    view_importance_: np.ndarray | None = None
    view_weights_: Any = None
    view_graphs_: Any = None
    fused_graph_: Any = None
    refined_graph_: Any = None
    selected_graph_: Any = None
    learned_graph_: Any = None
    node_confidence_: np.ndarray | None = None
    threshold_: float | None = None
    temperature_: Any = None  # float
    calibration_: Any = None
    cross_fit_: Any = None
    performance_: Any = None
    label_issues_: Any = None
    _is_unfinished: bool = False  # whether a callback got it in the middle of a fit

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the classes, and label every sample.

        A fit that fails leaves the model as it was before.

        Parameters
        ----------
        X
            What `MultiView` takes (a list or dict of views, one 2-D array or data frame, a
            MuData), or rows of `TransductiveViews`.
        y
            One label per sample; -1 where unknown, None or NaN among texts and objects.
        """
        return self._fit_samples(X, y)

    def _fit_samples(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        with self._restored_on_error():
            self.transductive_checksum_ = cache = None
            if isinstance(X, TransductiveViews):
                self.transductive_checksum_, cache = X.checksum(), X.shared
                views, labels = self._check_fit_views(X.views), X.expand_labels(y)
            else:
                views, labels = self._check_fit_views(X), y
            self.sample_ids_ = views.sample_ids
            labels = align_labels(labels, None if cache is not None else views.sample_ids)
            self.classes_, y_encoded = check_labels(labels, len(views))
            check_views_are_seen(views, y_encoded)
            weights = check_sample_weight(sample_weight, X, y_encoded, views.sample_ids)
            self._check_parameters(views)
            with callback_context(self, views, y_encoded) as callbacks:
                context = FitContext(callbacks, self._observer(), cache, weights)
                self._fit(views, y_encoded, context)
                self.y_ = y_encoded
                predicted = self.label_distributions_.argmax(axis=1)
                self.transduction_ = self.classes_[predicted]
                if self.is_inductive():
                    self.fitted_ranges_ = fit_ranges(views, predicted, len(self.classes_))
                if callbacks is not None:
                    callbacks.end()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Label the given rows as samples that came after the fit.

        Warns of views in which they are unlike the fitted samples; see `shift_report`. For the
        fitted samples themselves see `transduction_`; rows of `TransductiveViews` are fitted
        samples, and get the predictions of the fit.
        """
        most_likely = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most_likely])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the given rows as samples that came after the fit."""
        check_is_fitted(self)
        if isinstance(X, TransductiveViews):
            return np.asarray(self.label_distributions_[self._fitted_rows(X)])
        self.check_inductive()
        if self._is_unfinished:
            raise InputError(
                "an estimator in the middle of its fit labels only the samples of the fit: read "
                "transduction_, or label new samples when fit has ended."
            )
        views = self._check_new_views(X)
        probabilities = self._predict_proba(views)
        self._warn_of_shift(views, probabilities)
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict` on the rows whose label is known.

        Unknown labels (-1, None, NaN) do not count; `y` with an index is matched to the samples
        by it.
        """
        predicted = self.predict(X)
        if isinstance(X, TransductiveViews):
            ids = X.views.sample_ids
            ids = None if ids is None else ids[X.rows]
        else:
            ids = (X if isinstance(X, MultiView) else MultiView(X)).sample_ids
        truth = np.asarray(align_labels(y, ids))
        if len(truth) != len(predicted):
            raise InputError(
                f"y must hold one label per sample; got {len(truth)} labels for {len(predicted)} "
                "samples."
            )
        known = is_known(truth)
        if not known.any():
            raise InputError(
                "y must hold at least one known label to score; all are unknown (-1, None or NaN). "
                "In cross-validation, split with cv=LabelHidingSplit()."
            )
        from sklearn.metrics import accuracy_score

        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(truth[known], predicted[known], sample_weight=weights))

    def predictions(self, *, min_probability: float = 0.0) -> np.ndarray:
        """Label the fitted samples, except where the prediction is less probable than asked for.

        These stay unknown: -1 among numbers, else None. So the result can serve as labels.

        Parameters
        ----------
        min_probability
            From 0, which gives `transduction_`, to 1.
        """
        check_is_fitted(self)
        check_fraction("min_probability", min_probability)
        confidence = self.label_distributions_.max(axis=1)
        return mark_unknown(self.transduction_, confidence < min_probability)

    @property
    def is_labeled_(self) -> np.ndarray:
        """Whether each fitted sample came with a label."""
        return np.asarray(self.y_ != UNKNOWN)

    @classmethod
    def is_inductive(cls) -> bool:
        """Whether `predict` can label samples that were not in the fit."""
        return cls._predict_proba is not MultiViewClassifier._predict_proba

    @classmethod
    def check_inductive(cls) -> None:
        """Refuse to label new samples where the method, as published, cannot."""
        if not cls.is_inductive():
            raise InputError(
                f"{cls.card.title} labels only the samples it was fitted with: read "
                "transduction_, or fit again with the new samples among the others, labeled -1."
            )

    def save(self, folder: str | Path) -> None:
        """Write the fitted model as `model.safetensors` and `model.json` in a folder."""
        check_is_fitted(self)
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, UnicodeEncodeError) as error:
            raise not_written(folder, error) from error
        params = self.get_params(deep=False)
        if not isinstance(params["random_state"], int):
            params["random_state"] = None  # a generator has moved on since
        save_tree(folder, self.card.name, {"params": params, "learned": learned_attributes(self)})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that `save` wrote, and check it; nothing in the files is ever executed."""
        types = (FittedRange, *cls.record_types, *cls.input_record_types)
        tree = load_tree(Path(folder), cls.card.name, types)
        parts = [tree.get("params"), tree.get("learned")]
        if not all(isinstance(part, dict) for part in parts):
            raise DataFileError(f"{folder} holds no whole model. Fit the model again.")
        unknown = set(tree["params"]) - set(cls().get_params(deep=False))
        if unknown:
            raise DataFileError(
                f"{folder} holds a model with parameters that this manyview does not have: "
                f"{', '.join(sorted(map(str, unknown)))}."
            )
        try:
            model = cls(**tree["params"])
            set_learned(model, tree["learned"])
            check_model(model)
        except Exception as error:  # of any kind, since anyone may have written the file
            raise damaged(Path(folder), error) from error
        return model

    def check_learned(self) -> None:
        """Refuse learned attributes that do not fit together; called when a model is loaded.

        A method extends this with what `predict` does not use. Any exception refuses the model.
        """

    def rehearsal_model(self) -> Self:
        """Return the model that labels two made-up samples when this one is loaded.

        A method that trains again at each prediction returns one with few samples, after
        `check_learned` has seen all of them.
        """
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit_summary(self) -> FitSummary:
        """Return what the fit did, for reports and studies."""
        check_is_fitted(self)
        curve, importance = self.training_curve_, self.view_importance_
        graphs = {name: getattr(self, f"{name}_graph_") for name in GRAPHS}
        return FitSummary(
            n_iter=self.n_iter_ if curve is None else curve.n_epochs,
            view_importance=None
            if importance is None
            else dict(zip(self.view_names_, map(float, importance), strict=True)),
            graphs={name: graph for name, graph in graphs.items() if graph is not None},
            **{name: getattr(self, f"{name}_") for name in LEARNED},
        )

    def _observer(self) -> EpochObserver | None:
        observer = current_observer()
        if observer is None:
            return None
        return lambda encoded: observer(self.classes_[encoded])

    def _max_epochs(self) -> int:
        """Return how many epochs a fit has at most; methods without epochs are one task."""
        return int(self.get_params(deep=False).get("max_epochs", 0))

    @contextmanager
    def _restored_on_error(self) -> Iterator[None]:
        """Forget what was learned before, and have it back if the block fails."""
        before = dict(vars(self))
        for name in before:
            if name.endswith("_") and name != "learned_weights_":  # which a warm start needs
                delattr(self, name)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_parameters(self, views: MultiView) -> None:
        """Refuse parameters that break a rule; called before anything is learned.

        A method whose rules depend on the views extends this.
        """
        check_constraints(self.get_params(deep=False), self._parameter_constraints)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        """Learn from class numbers, -1 where unknown; set `label_distributions_` at least."""
        raise NotImplementedError

    def _fitted_rows(self, samples: TransductiveViews) -> np.ndarray:
        """Rows of the fit that are asked about; refuse samples that were not in it."""
        if self.transductive_checksum_ != samples.checksum():
            raise InputError(
                "rows of TransductiveViews must be samples of the fit, and these are not. "
                "Fit with TransductiveViews of the same views, or pass plain views."
            )
        return samples.rows

    def _encode_labels(self, y: Any) -> np.ndarray:
        """Class numbers of labels of the fitted samples: -1 unknown, -2 of no known class."""
        values, n_samples = np.asarray(y), len(self.label_distributions_)
        if values.shape != (n_samples,):
            raise InputError(
                f"y must hold one label for each of the {n_samples} fitted samples; got shape "
                f"{values.shape}."
            )
        number_of = {label: number for number, label in enumerate(self.classes_.tolist())}
        y_encoded = np.full(n_samples, UNKNOWN)
        known = is_known(values)
        y_encoded[known] = [number_of.get(label, OTHER_CLASS) for label in values[known].tolist()]
        return y_encoded
