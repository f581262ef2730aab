"""Comparison of new samples with those of the fit, for every method that labels new samples."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.input_checks import InputChecksMixin
from manyview.data.fitted_range import FittedRange
from manyview.data.shift import ColumnShift, shift_report, warn_of_shift
from manyview.data.views import MultiView
from manyview.errors import DataWarning, InputError, warn_user

NO_RANGES = (
    "an older manyview saved this model, without the ranges of its columns. Fit the model again."
)


class ShiftChecksMixin(InputChecksMixin):
    """Warns of new samples that are unlike those of the fit, and reports every column."""

    fitted_ranges_: dict[str, FittedRange] | None = None  # None in files of an older manyview

    def shift_report(self, views: Any) -> list[ColumnShift]:
        """Compare new samples with the fitted ones in every column, the most unusual first.

        Each record names a view and a column, the fraction of the samples beyond a threshold, and
        the fraction that was expected from fitted samples of the same predicted classes.
        """
        check_is_fitted(self)
        self.check_inductive()
        if self.fitted_ranges_ is None:
            raise InputError(f"new samples cannot be compared with the fitted ones: {NO_RANGES}")
        opened = self._check_new_views(views)
        predicted = self._predict_proba(opened).argmax(axis=1)
        return shift_report(opened, predicted, self.fitted_ranges_)

    def _warn_of_shift(self, views: MultiView, probabilities: np.ndarray) -> None:
        """Warn of each view in which new samples are unlike the fitted ones."""
        if self.fitted_ranges_ is None:
            warn_user(
                f"new samples are not compared with the fitted ones: {NO_RANGES}", DataWarning
            )
        else:
            warn_of_shift(views, probabilities.argmax(axis=1), self.fitted_ranges_)

    @classmethod
    def check_inductive(cls) -> None:
        """Refuse to label new samples where the method, as published, cannot."""
        raise NotImplementedError

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        """Return the class probabilities of new samples."""
        raise NotImplementedError
