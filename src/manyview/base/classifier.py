"""The contract of every method: views and a few labels in, a label for every sample out.

A method is a class that stores its parameters, checks them in `_check_parameters`, learns in
`_learn`, and, where it can label samples it was not fitted with, does so in `_label_new`.

A class without a labeled sample is unknown to every method alike: it is not in `classes_`, and
no sample is given it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview.base.persistence import load_tree, save_tree
from manyview.callbacks.tasks import FitTasks, TakesCallbacks, told_to_callbacks
from manyview.data.cross_validation import AllSamples
from manyview.data.imputing import fill_unknown, fit_fill_values
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.labels import UNKNOWN, check_labels
from manyview.data.views import MultiView, check_views
from manyview.errors import DataFileError, InputError, check_choice
from manyview.graphs.precomputed import check_given_graph
from manyview.validation import check_share

OTHER_CLASS = -2  # number of a class that no labeled sample has


@dataclass(frozen=True)
class MethodCard:
    """What to know about a method before choosing it.

    Attributes
    ----------
    name, title
        As typed, and as printed.
    paper, year
        Where it comes from.
    cost
        What its time grows with: m samples, l of them labeled, d features, V views, k neighbours.
    version
        Raised whenever the same input no longer gives the same answers, so that stored results
        of the older code are told from new ones.
    """

    name: str
    title: str
    paper: str
    year: int
    cost: str
    version: int = 1


class MultiViewClassifier(TakesCallbacks, ClassifierMixin, BaseEstimator):
    """Base of all methods: the door, the answers and the files; the learning is theirs."""

    card: ClassVar[MethodCard]
    record_types: ClassVar[tuple[type, ...]] = ()  # what a saved model may hold
    takes_graphs: ClassVar[bool] = True  # whether a view may be a given graph
    takes_missing_views: ClassVar[bool] = False  # whether samples may lack views
    missing: str = "error"  # what becomes of single NaNs; a parameter where they can be filled in
    fill_values_: dict[str, np.ndarray] | None = None  # by view, where they are

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the classes, and label every sample.

        A fit that fails leaves the model as it was before.

        Parameters
        ----------
        X
            What `MultiView` takes (a list or dict of views, one 2-D array or data frame, a
            MuData), or rows of `AllSamples`.
        y
            One label a sample; -1 where unknown, None or NaN among texts and objects.
        """
        with self._whole_or_as_before():
            self.all_samples_ = shared = None
            if isinstance(X, AllSamples):
                self.all_samples_, shared = X.checksum(), X.shared
                views, labels = self._open(X.views, reset=True), X.spread(y)
            else:
                views, labels = self._open(X, reset=True), y
            self.classes_, codes = check_labels(labels, len(views))
            _check_views_are_seen(views, codes)
            self._check_parameters(views)
            with told_to_callbacks(self, views, codes) as tasks:
                self._shared, self._tasks = shared, tasks
                try:
                    self._learn(views, codes)
                finally:
                    self._shared = self._tasks = None
                self.given_codes_ = codes
                self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
                if tasks is not None:
                    tasks.end()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Label the given rows as samples that came after the fit.

        For the fitted samples themselves see `transduction_`; rows of `AllSamples` are fitted
        samples, and get the answers of the fit.
        """
        most_likely = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most_likely])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the given rows as samples that came after the fit."""
        check_is_fitted(self)
        if isinstance(X, AllSamples):
            return np.asarray(self.label_distributions_[self._fitted_rows(X)])
        self.check_labels_new_samples()
        if self._is_unfinished:
            raise InputError(
                "an estimator in the middle of its fit labels only the samples of the fit: read "
                "transduction_, or label new samples when fit has ended."
            )
        return self._label_new(self._open(X, reset=False))

    def answers(self, *, min_probability: float = 0.0) -> np.ndarray:
        """Label the fitted samples, except where the answer is less probable than asked for.

        These stay unknown, as unknown labels are everywhere: -1 among numbers, else None. So
        the result is fit to be labels again.

        Parameters
        ----------
        min_probability
            From 0, which gives `transduction_`, to 1.
        """
        check_is_fitted(self)
        check_share("min_probability", min_probability)
        surest = self.label_distributions_.max(axis=1)
        return mark_unknown(self.transduction_, surest < min_probability)

    @property
    def is_labeled_(self) -> np.ndarray:
        """Whether each fitted sample came with a label."""
        if self.given_codes_ is None:
            raise AttributeError("the model does not say which samples came with a label")
        return np.asarray(self.given_codes_ != UNKNOWN)

    @classmethod
    def labels_new_samples(cls) -> bool:
        """Whether `predict` can label samples that were not in the fit."""
        return cls._label_new is not MultiViewClassifier._label_new

    @classmethod
    def check_labels_new_samples(cls) -> None:
        """Refuse to label new samples where the method, as published, cannot."""
        if not cls.labels_new_samples():
            raise InputError(
                f"{cls.card.title} labels only the samples it was fitted with: read "
                "transduction_, or fit again with the new samples among the others, labeled -1."
            )

    def save(self, folder: str | Path) -> None:
        """Write the fitted model as `model.safetensors` and `model.json` in a folder."""
        check_is_fitted(self)
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        learned = {name: value for name, value in vars(self).items() if name.endswith("_")}
        params = self.get_params()
        if not isinstance(params["random_state"], int):
            params["random_state"] = None  # a generator has moved on since
        save_tree(folder, self.card.name, {"params": params, "learned": learned})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that `save` wrote; nothing in the files is ever executed."""
        tree = load_tree(Path(folder), cls.card.name, cls.record_types)
        if not {"params", "learned"} <= set(tree):
            raise DataFileError(f"{folder} holds no whole model. Fit the model again.")
        unknown = set(tree["params"]) - set(cls().get_params())
        if unknown:
            raise DataFileError(
                f"{folder} holds a model with parameters this manyview does not know: "
                f"{', '.join(sorted(unknown))}."
            )
        model = cls(**tree["params"])
        for name, value in tree["learned"].items():
            setattr(model, name, value)
        return model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    label_distributions_: np.ndarray
    given_codes_: np.ndarray | None = None  # None in models saved before it existed
    all_samples_: str | None = None  # checksum of the AllSamples of the fit
    _shared: dict[Any, Any] | None = None  # what fits on the same samples share, while learning
    _tasks: FitTasks | None = None  # of the callbacks, while learning
    _is_unfinished: bool = False  # whether it is what a callback got of an epoch

    def _max_epochs(self) -> int:
        """Return how many epochs a fit has at most; methods without epochs are one task."""
        return int(getattr(self, "max_epochs", 0))

    @contextmanager
    def _whole_or_as_before(self) -> Iterator[None]:
        """Forget what was learned before, and have it back if the block fails."""
        before = dict(vars(self))
        for name in before:
            if name.endswith("_") and name != "learned_weights_":  # a warm start goes on from them
                delattr(self, name)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_parameters(self, views: MultiView) -> None:
        """Refuse parameters that break a rule; called before anything is learned."""
        raise NotImplementedError

    def _learn(self, views: MultiView, codes: np.ndarray) -> None:
        """Learn from class numbers, -1 where unknown; set `label_distributions_` at least."""
        raise NotImplementedError

    def _label_new(self, views: MultiView) -> np.ndarray:
        """Return the class probabilities of new samples."""
        raise NotImplementedError

    def _fitted_rows(self, samples: AllSamples) -> np.ndarray:
        """Rows of the fit that are asked about; refuse samples that were not in it."""
        if self.all_samples_ != samples.checksum():
            raise InputError(
                "rows of AllSamples must belong to the samples of the fit, and these do not. "
                "Fit with AllSamples of the same views, or pass plain views."
            )
        return samples.rows

    def _codes_of(self, y: Any) -> np.ndarray:
        """Class numbers of labels of the fitted samples: -1 unknown, -2 of no known class."""
        values, n_samples = np.asarray(y), len(self.label_distributions_)
        if values.shape != (n_samples,):
            raise InputError(
                f"y must hold one label for each of the {n_samples} fitted samples; got shape "
                f"{values.shape}."
            )
        number_of = {label: number for number, label in enumerate(self.classes_.tolist())}
        codes = np.full(n_samples, UNKNOWN)
        known = is_known(values)
        codes[known] = [number_of.get(label, OTHER_CLASS) for label in values[known].tolist()]
        return codes

    def _open(self, X: Any, *, reset: bool) -> MultiView:
        """Check the views at the door, and at predict that they are those of the fit."""
        check_choice("missing", self.missing, ("error", "impute"))
        views = check_views(X, may_lack_values=self.missing == "impute")
        # A single frame may have names of columns to remember; everything else is counted.
        table = views if isinstance(X, MultiView) or not hasattr(X, "columns") else X
        if reset:
            self.view_names_: list[str] = list(views.names)
        if len(self.view_names_) == 1 or reset:
            validate_data(self, table, reset=reset, skip_check_array=True)
        if reset:
            self._refuse_graphs(views)
            self._check_present(views)
            self.n_original_ = views.n_original
            self.columns_ = {name: list(columns) for name, columns in views.columns.items()}
            self.n_features_by_view_ = {n: views[n].shape[1] for n in views.feature_names}
            self.fill_values_ = fit_fill_values(views) if self.missing == "impute" else None
            return fill_unknown(views, self.fill_values_ or {})
        if set(views.names) != set(self.view_names_):
            raise InputError(
                f"views must be those of the fit ({', '.join(self.view_names_)}); "
                f"got {', '.join(views.names)}."
            )
        graph_names = set(self.view_names_) - set(self.n_features_by_view_)
        views = MultiView(views, graphs=graph_names)
        self._check_present(views)
        for name, n_columns in self.n_features_by_view_.items():
            if views[name].shape[1] != n_columns:
                raise InputError(
                    f"view {name!r} has {views[name].shape[1]} features, but was fitted "
                    f"with {n_columns}."
                )
        for name in graph_names:
            check_given_graph(views, name, self.n_original_)
        return fill_unknown(views.with_columns_as(self.columns_), self.fill_values_ or {})

    def _check_present(self, views: MultiView) -> None:
        """Refuse samples that lack views where the method cannot do without."""
        if views.present.all() or self.takes_missing_views:
            return
        lacking = [name for name in views.names if views.rows_with(name) is not None]
        n_incomplete = int((~views.present.all(axis=1)).sum())
        raise InputError(
            f"{self.card.title} needs every sample in every view, and {n_incomplete} of "
            f"{len(views)} samples lack one ({', '.join(lacking)}). Use mgcn-dns, gcn-fusion or "
            "ssgcn, which take samples that lack views, or remove them."
        )

    def _refuse_graphs(self, views: MultiView) -> None:
        if views.graph_names and not self.takes_graphs:
            first = next(name for name in views.names if name in views.graph_names)
            raise InputError(
                f"{self.card.title} needs features in every view, and view "
                f"{first!r} is a graph. Leave it out, or use a method "
                "that takes graphs, such as mgcn-dns."
            )


def _check_views_are_seen(views: MultiView, codes: np.ndarray) -> None:
    """Refuse a view that nobody has, and warn of one that no labeled sample has."""
    for name, present in zip(views.names, views.present.T, strict=True):
        if not present.any():
            raise InputError(
                f"view {name!r} is missing for all {len(views)} samples. Leave the view out."
            )
        if not present[codes != UNKNOWN].any():
            warnings.warn(
                f"view {name!r} is missing for all labeled samples: what it shows is learned from "
                "the graph alone.",
                UserWarning,
                stacklevel=3,
            )
