"""ExplainableClassifier: a method whose answers are sums over neighbours, told as such."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.cross_validation import AllSamples
from manyview.data.labels import UNKNOWN
from manyview.explain.explainer import Explainer, explain_new
from manyview.explain.records import Explanation, ViewEffect, find_sample
from manyview.network.inductive import Attachment
from manyview.network.replay import FittedPass


class ExplainableClassifier(MultiViewClassifier):
    """A method that convolves with a selected graph, and keeps what a pass of it needs."""

    tau: float
    rank_axis: str
    ranking: str
    view_graphs_: list[sparse.csr_array]
    selected_graph_: sparse.csr_array
    edge_gates_: sparse.csr_array | None
    attachment_: Attachment
    temperature_: float = 1.0  # what models saved before it existed have

    def explain(self, sample: int | str, *, sample_ids: Sequence[str] | None = None) -> Explanation:
        """Give the reasons of a fitted sample's answer: neighbours, views and their parts.

        Parameters
        ----------
        sample
            Row number among the fitted samples, or one of `sample_ids`.
        sample_ids
            One name a sample, such as those of a `Dataset`; row numbers where there are none.

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
        n_samples = len(self.label_distributions_)
        row = find_sample(sample, sample_ids, n_samples)
        names = range(n_samples) if sample_ids is None else sample_ids
        return self.explainer().explain(row, [str(name) for name in names])

    def explain_new(
        self,
        views: Any,
        sample: int | str = 0,
        *,
        new_ids: Sequence[str] | None = None,
        sample_ids: Sequence[str] | None = None,
    ) -> Explanation:
        """Give the reasons of the answer that `predict` gives a sample that came after the fit.

        Parameters
        ----------
        views
            New samples, as `predict` takes them.
        sample
            Row number among these, or one of `new_ids`.
        new_ids, sample_ids
            One name a new and a fitted sample; row numbers where there are none.

        Examples
        --------
        >>> import manyview
        >>> data = manyview.load_dataset("digits")
        >>> labels = manyview.hide_labels(data.labels, keep=0.05, random_state=0)
        >>> model = manyview.MGCNDNSClassifier(max_epochs=20, random_state=0)
        >>> model = model.fit(data.views[:1000], labels[:1000])
        >>> why = model.explain_new(data.views[1000:], 7)
        >>> parts = [why.itself, *why.neighbors]
        >>> abs(sum(part.margin for part in parts) - why.margin) < 1e-9
        True
        """
        check_is_fitted(self)
        opened = self._open(views, reset=False)
        row = find_sample(sample, new_ids, len(opened))
        name = str(row if new_ids is None else new_ids[row])
        n_fitted = len(self.label_distributions_)
        names = [str(one) for one in (range(n_fitted) if sample_ids is None else sample_ids)]
        return explain_new(self.explainer(), opened[[row]], name, names)

    def view_effects(self, y: Any = None) -> tuple[ViewEffect, ...]:
        """Leave out each view in turn, without learning anew: which answers change.

        Parameters
        ----------
        y
            True labels to count right answers by, -1 or None where unknown; the labels of
            the fit where it is left out. There is nothing to tell with a single view.
        """
        check_is_fitted(self)
        explainer = self.explainer()
        return explainer.view_effects(explainer.given if y is None else self._codes_of(y))

    def fitted_pass(self) -> FittedPass:
        """Make what runs the network again on the fitted samples."""
        return FittedPass.of(
            self.view_graphs_,
            self.edge_gates_,
            self.attachment_,
            tau=self.tau,
            rank_axis=self.rank_axis,
            ranking=self.ranking,
        )

    def explainer(self) -> Explainer:
        """Make what explains many samples at the cost of one."""
        check_is_fitted(self)
        given = self.given_codes_
        return Explainer(
            fitted=self.fitted_pass(),
            view_graphs=dict(zip(self.view_names_, self.view_graphs_, strict=True)),
            selected=self.selected_graph_,
            classes=self.classes_,
            temperature=self.temperature_,
            given=np.full(len(self.transduction_), UNKNOWN) if given is None else given,
        )


class EmbeddingClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExplainableClassifier):
    """A method that also gives each sample a place: hidden features, for maps and pipelines.

    `set_output(transform="pandas")` or `"polars"` has `transform` return a frame.
    """

    def transform(self, X: Any) -> np.ndarray:
        """Return the hidden features of the given rows as samples that came after the fit.

        They are what the last convolution gets, >= 0, in single precision: [sample, hidden];
        with one convolution alone, its logits. For the fitted samples themselves see
        `embedding_`; rows of `AllSamples` are fitted samples.
        """
        check_is_fitted(self)
        if isinstance(X, AllSamples):
            return np.asarray(self.embedding_[self._fitted_rows(X)])
        return _last_hidden(self.attachment_.outputs(self._open(X, reset=False)))

    @property
    def embedding_(self) -> np.ndarray:
        """[sample, hidden] hidden features of the fitted samples; computed at each call."""
        return _last_hidden(self.fitted_pass().outputs())

    @property
    def _n_features_out(self) -> int:
        return int(self.attachment_.weights[-1].shape[len(self.attachment_.weights) == 1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _last_hidden(outputs: list[np.ndarray]) -> np.ndarray:
    hidden = outputs[-1] if len(outputs) == 1 else np.maximum(outputs[-2], 0.0)
    return hidden.astype(np.float32)
