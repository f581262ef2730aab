"""Displays of a fit, in the manner of scikit-learn's: `from_estimator`, then `plot`."""

from manyview.inspection.confusion import ConfusionMatrixDisplay
from manyview.inspection.embedding import EmbeddingDisplay
from manyview.inspection.graphs import LearnedGraphDisplay
from manyview.inspection.labels import EstimatedAccuracyDisplay, LabelIssuesDisplay
from manyview.inspection.reliability import CoverageDisplay, ReliabilityDisplay
from manyview.inspection.training import TrainingCurveDisplay
from manyview.inspection.views import ViewImportanceDisplay

__all__ = [
    "ConfusionMatrixDisplay",
    "CoverageDisplay",
    "EmbeddingDisplay",
    "EstimatedAccuracyDisplay",
    "LabelIssuesDisplay",
    "LearnedGraphDisplay",
    "ReliabilityDisplay",
    "TrainingCurveDisplay",
    "ViewImportanceDisplay",
]
