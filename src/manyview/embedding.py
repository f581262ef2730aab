"""Embedding: where the network puts each sample, the input of its last convolution."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.data.cross_validation import AllSamples
from manyview.explainable import ExplainableClassifier


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
