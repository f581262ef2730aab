"""ConfusionMatrixDisplay: scikit-learn's, for samples of the fit as well."""

from typing import Any

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay as SklearnConfusionMatrixDisplay

from manyview.base.classifier import MultiViewClassifier
from manyview.inspection._scored import ScoredPredictions
from manyview.report.figures.write import need_matplotlib

MAX_WITH_NUMBERS = 20  # classes up to which the cells hold their numbers
COLORS = "Blues"


class ConfusionMatrixDisplay(SklearnConfusionMatrixDisplay):
    """scikit-learn's `ConfusionMatrixDisplay`, which also takes the samples of a fit.

    It is recommended to use `from_estimator`, or `from_predictions` of scikit-learn.

    Parameters
    ----------
    confusion_matrix
        [true class, predicted class]
    display_labels
        [class]

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    im_, text_
        The image, and the texts of its cells.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import ConfusionMatrixDisplay, MGCNDNSClassifier, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> display = ConfusionMatrixDisplay.from_estimator(model, y=truth)
    >>> int(display.confusion_matrix.sum()) == (labels == -1).sum()
    np.True_
    >>> plt.close(display.figure_)
    """

    def __init__(self, confusion_matrix: np.ndarray, *, display_labels: Any = None) -> None:
        super().__init__(confusion_matrix, display_labels=display_labels)

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiViewClassifier,
        X: Any = None,
        y: Any = None,
        **kwargs: Any,
    ) -> "ConfusionMatrixDisplay":
        """Draw the confusion matrix of a fit.

        Parameters
        ----------
        estimator
            A fitted classifier.
        X, y
            New samples and their labels. Without X, y holds labels of the fitted samples, and
            those count that the fit did not see; without both, the labels count that the fit
            itself held out.
        **kwargs
            Those of scikit-learn's `ConfusionMatrixDisplay.from_predictions`, such as
            `normalize`, `cmap` and `ax`. Cells hold numbers with up to 20 classes.
        """
        need_matplotlib()
        found = ScoredPredictions.of_estimator(estimator, X, y)
        n_classes = len(set(found.y_true.tolist()) | set(found.y_pred.tolist()))
        options = {"cmap": COLORS, "include_values": n_classes <= MAX_WITH_NUMBERS}
        display: ConfusionMatrixDisplay = cls.from_predictions(
            found.y_true, found.y_pred, **(options | kwargs)
        )
        return display
