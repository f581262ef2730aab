"""What classifiers of the MGCN-DNS network offer beyond predictions: reasons and embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.cross_validation import TransductiveViews
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.parameters import NodeSelectionConfig
from manyview.estimators.warm_start import LearnedWeights
from manyview.explain.explainer import Explainer, explain_new
from manyview.explain.records import Explanation, ViewEffects, find_sample
from manyview.network.inductive import InductiveState
from manyview.network.replay import NetworkReplay


class NetworkOutputsMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiViewClassifier):
    """Explains predictions and embeds samples by running the fitted network again.

    `set_output(transform="pandas")` or `"polars"` makes `transform` return a frame.
    """

    inductive_state_: InductiveState
    edge_gates_: Any = None
    learned_weights_: LearnedWeights | None = None
    # classifiers of the columns alone, and what they add to the logits of the fitted samples
    table_learners_: tuple[Any, ...] = ()
    table_logits_: Mapping[str, np.ndarray] = MappingProxyType({})
    scaling: Any
    _input_cache: dict[Any, Any] | None = None  # of warm starts; a saved model builds it again

    def _node_selection(self) -> NodeSelectionConfig:
        """Return the node selection of the fitted network."""
        raise NotImplementedError

    def explain(
        self,
        sample: int | str,
        views: Any = None,
        *,
        sample_ids: Sequence[str] | None = None,
    ) -> Explanation:
        """Explain the prediction of a fitted sample: neighbors, views and their contributions.

        Parameters
        ----------
        sample
            Row number among the fitted samples, or one of `sample_ids`.
        views
            The samples of the fit. With them, the columns are named that count most for the
            classifiers of the sample's own columns.
        sample_ids
            Names of the samples; by default the index of the frames of the fit.

        Examples
        --------
        >>> import manyview
        >>> data = manyview.load_dataset("digits")
        >>> labels = manyview.hide_labels(data.labels, keep=0.01, random_state=0)
        >>> model = manyview.MGCNDNSClassifier(max_epochs=20, random_state=0)
        >>> model = model.fit(data.views, labels)
        >>> why = model.explain(7)
        >>> parts = [why.itself, *why.neighbors]
        >>> abs(sum(part.margin for part in parts) - why.margin) < 1e-9
        True
        """
        check_is_fitted(self)
        names = self._names_of_samples(sample_ids)
        row = find_sample(sample, names, len(self.label_distributions_))
        why = self.explainer().explain(row, names or self._row_numbers())
        if views is None or not why.tables:
            return why
        opened = self._check_new_views(views)
        if len(opened) != len(self.label_distributions_):
            raise InputError(
                f"views must be those of the fit, {len(self.label_distributions_):,} samples; got "
                f"{len(opened):,}. For new samples, use explain_new.",
                parameter="views",
            )
        return self._with_columns(why, opened[[row]])

    def explain_new(
        self,
        views: Any,
        sample: int | str = 0,
        *,
        new_ids: Sequence[str] | None = None,
        sample_ids: Sequence[str] | None = None,
    ) -> Explanation:
        """Explain the prediction that `predict` gives a sample that came after the fit.

        Parameters
        ----------
        views
            New samples, as `predict` takes them.
        sample
            Row number among these, or one of `new_ids`.
        new_ids, sample_ids
            Names of the new and of the fitted samples; row numbers where there are none.
        """
        check_is_fitted(self)
        opened = self._check_new_views(views)
        row = find_sample(sample, new_ids, len(opened))
        name = str(row if new_ids is None else new_ids[row])
        names = self._names_of_samples(sample_ids) or self._row_numbers()
        why = explain_new(self.explainer(), opened[[row]], name, names, self._new_table_logits)
        return self._with_columns(why, opened[[row]])

    def with_columns(self, why: Explanation, views: Any) -> Explanation:
        """Add to an explanation the columns that count most; `views` hold this sample alone."""
        if not why.tables or any(one.columns for one in why.tables):
            return why
        return self._with_columns(why, self._check_new_views(views))

    def _with_columns(self, why: Explanation, views: MultiView) -> Explanation:
        """Add the columns of the sample that count most, for each classifier of columns."""
        first, second = (
            int(np.flatnonzero(self.classes_ == label)[0])
            for label in (why.prediction, why.runner_up)
        )
        tables = tuple(
            replace(
                evidence,
                columns=learner.column_evidence(views, (first, second), self.columns_),
            )
            for evidence, learner in zip(why.tables, self.table_learners_, strict=True)
        )
        return replace(why, tables=tables)

    def _new_table_logits(self, views: MultiView) -> dict[str, np.ndarray]:
        """Return what classifiers of the columns alone add to logits: name -> [sample, class]."""
        return {}

    def _names_of_samples(self, sample_ids: Sequence[str] | None) -> list[str] | None:
        names = self.sample_ids_ if sample_ids is None else sample_ids
        return None if names is None else [str(name) for name in names]

    def _row_numbers(self) -> list[str]:
        return [str(row) for row in range(len(self.label_distributions_))]

    def view_effects(self, y: Any = None) -> ViewEffects:
        """Remove each view in turn, without retraining, and count the predictions that change.

        Parameters
        ----------
        y
            True labels to score the predictions, -1 or None where unknown; by default the labels
            of the fit. With a single view the result is empty.
        """
        check_is_fitted(self)
        explainer = self.explainer()
        return explainer.view_effects(explainer.y_encoded if y is None else self._encode_labels(y))

    def check_learned(self) -> None:
        """Refuse graphs that the network cannot be run on again."""
        super().check_learned()
        n_samples = len(self.label_distributions_)
        if any(len(one.degrees) != n_samples for one in self.inductive_state_.indexes.values()):
            raise ValueError(f"every view must have the degrees of {n_samples} samples")
        self.explainer()

    def replay(self) -> NetworkReplay:
        """Return what runs the network again on the fitted samples."""
        selection = self._node_selection()
        return NetworkReplay.of(
            self.view_graphs_,
            self.edge_gates_,
            self.inductive_state_,
            tau=selection.tau,
            rank_axis=selection.rank_axis,
            ranking=selection.ranking,
        )

    def explainer(self) -> Explainer:
        """Return what explains many samples at the cost of one."""
        check_is_fitted(self)
        return Explainer(
            replay=self.replay(),
            view_graphs=dict(zip(self.view_names_, self.view_graphs_, strict=True)),
            selected=self.selected_graph_,
            classes=self.classes_,
            temperature=self.temperature_,
            y_encoded=self.y_,
            tables=self.table_logits_,
        )

    def transform(self, X: Any) -> np.ndarray:
        """Return the hidden features of the given rows as samples that came after the fit.

        They are the input of the last convolution, >= 0, in single precision: [sample, hidden];
        with one convolution alone, its logits. For the fitted samples themselves see
        `embedding_`; rows of `TransductiveViews` are fitted samples.
        """
        check_is_fitted(self)
        if isinstance(X, TransductiveViews):
            return np.asarray(self.embedding_[self._fitted_rows(X)])
        return _last_hidden(self.inductive_state_.outputs(self._check_new_views(X)))

    @property
    def embedding_(self) -> np.ndarray:
        """[sample, hidden] hidden features of the fitted samples; computed at each call."""
        return _last_hidden(self.replay().outputs())

    @property
    def _n_features_out(self) -> int:
        weights = self.inductive_state_.weights
        return int(weights[-1].shape[len(weights) == 1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _last_hidden(outputs: list[np.ndarray]) -> np.ndarray:
    hidden = outputs[-1] if len(outputs) == 1 else np.maximum(outputs[-2], 0.0)
    return hidden.astype(np.float32)
