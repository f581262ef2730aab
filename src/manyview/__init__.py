"""Label a whole multi-view data set from a few known labels.

>>> import manyview
>>> manyview.load_dataset("digits").views
MultiView(1797 samples; pixels: 64, fourier: 33, gradients: 72, profiles: 16, moments: 25)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:  # for type checkers and editors; at run time see __getattr__
    from manyview.active_learning.proposals import propose_labels
    from manyview.base.classifier import MultiViewClassifier
    from manyview.base.method_card import MethodCard
    from manyview.base.summary import FitSummary
    from manyview.callbacks.context import FitContext
    from manyview.callbacks.mlflow import MLflowCallback
    from manyview.callbacks.tensorboard import TensorBoardCallback
    from manyview.data.catalog.load import load_dataset
    from manyview.data.catalog.synthetic import make_multiview_classification
    from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews
    from manyview.data.dataset import Dataset
    from manyview.data.io.readers import read_views
    from manyview.data.splits import draw_labeled, hide_labels
    from manyview.data.views import MultiView
    from manyview.errors import DataFileError, InputError, ManyviewError
    from manyview.estimators.manyview import ManyviewClassifier
    from manyview.estimators.mgcn_dns import MGCNDNSClassifier
    from manyview.estimators.parameters import (
        CalibrationConfig,
        GraphLearningConfig,
        NeighborGraph,
        NodeSelectionConfig,
        TrainingConfig,
    )
    from manyview.inspection import (
        ConfusionMatrixDisplay,
        CoverageDisplay,
        EmbeddingDisplay,
        EstimatedAccuracyDisplay,
        LabelIssuesDisplay,
        LearnedGraphDisplay,
        ReliabilityDisplay,
        TrainingCurveDisplay,
        ViewImportanceDisplay,
    )
    from manyview.integrations.omics import annotate
    from manyview.integrations.per_view import PerView
    from manyview.integrations.pyg import from_pyg, to_pyg
    from manyview.label_audit.audit import LabelIssues
    from manyview.labeling.notebook import label
    from manyview.methods import METHODS, register_method
    from manyview.network.resume import checkpoints
    from manyview.report.model_report import Report, model_report
    from manyview.self_training.pseudo_labels import PseudoLabeler
    from manyview.system.config import config_context, get_config, set_config
    from manyview.tuning.scorers import SCORERS
    from manyview.tuning.search import tune

__version__: str  # read when first used, see __getattr__

# Public name -> its module; imported when first used, so that the command line starts fast.
_MODULES = {
    "CalibrationConfig": "manyview.estimators.parameters",
    "ConfusionMatrixDisplay": "manyview.inspection.confusion",
    "CoverageDisplay": "manyview.inspection.reliability",
    "DataFileError": "manyview.errors",
    "Dataset": "manyview.data.dataset",
    "EmbeddingDisplay": "manyview.inspection.embedding",
    "EstimatedAccuracyDisplay": "manyview.inspection.labels",
    "FitContext": "manyview.callbacks.context",
    "FitSummary": "manyview.base.summary",
    "GraphLearningConfig": "manyview.estimators.parameters",
    "InputError": "manyview.errors",
    "LabelHidingSplit": "manyview.data.cross_validation",
    "LabelIssues": "manyview.label_audit.audit",
    "LabelIssuesDisplay": "manyview.inspection.labels",
    "LearnedGraphDisplay": "manyview.inspection.graphs",
    "METHODS": "manyview.methods",
    "MGCNDNSClassifier": "manyview.estimators.mgcn_dns",
    "MLflowCallback": "manyview.callbacks.mlflow",
    "ManyviewClassifier": "manyview.estimators.manyview",
    "ManyviewError": "manyview.errors",
    "MethodCard": "manyview.base.method_card",
    "MultiView": "manyview.data.views",
    "MultiViewClassifier": "manyview.base.classifier",
    "NeighborGraph": "manyview.estimators.parameters",
    "NodeSelectionConfig": "manyview.estimators.parameters",
    "PerView": "manyview.integrations.per_view",
    "PseudoLabeler": "manyview.self_training.pseudo_labels",
    "ReliabilityDisplay": "manyview.inspection.reliability",
    "Report": "manyview.report.model_report",
    "SCORERS": "manyview.tuning.scorers",
    "TensorBoardCallback": "manyview.callbacks.tensorboard",
    "TrainingConfig": "manyview.estimators.parameters",
    "TrainingCurveDisplay": "manyview.inspection.training",
    "TransductiveViews": "manyview.data.cross_validation",
    "ViewImportanceDisplay": "manyview.inspection.views",
    "annotate": "manyview.integrations.omics",
    "checkpoints": "manyview.network.resume",
    "config_context": "manyview.system.config",
    "draw_labeled": "manyview.data.splits",
    "from_pyg": "manyview.integrations.pyg",
    "get_config": "manyview.system.config",
    "hide_labels": "manyview.data.splits",
    "label": "manyview.labeling.notebook",
    "load_dataset": "manyview.data.catalog.load",
    "make_multiview_classification": "manyview.data.catalog.synthetic",
    "model_report": "manyview.report.model_report",
    "propose_labels": "manyview.active_learning.proposals",
    "read_views": "manyview.data.io.readers",
    "register_method": "manyview.methods",
    "set_config": "manyview.system.config",
    "to_pyg": "manyview.integrations.pyg",
    "tune": "manyview.tuning.search",
}

__all__ = [
    "METHODS",
    "SCORERS",
    "CalibrationConfig",
    "ConfusionMatrixDisplay",
    "CoverageDisplay",
    "DataFileError",
    "Dataset",
    "EmbeddingDisplay",
    "EstimatedAccuracyDisplay",
    "FitContext",
    "FitSummary",
    "GraphLearningConfig",
    "InputError",
    "LabelHidingSplit",
    "LabelIssues",
    "LabelIssuesDisplay",
    "LearnedGraphDisplay",
    "MGCNDNSClassifier",
    "MLflowCallback",
    "ManyviewClassifier",
    "ManyviewError",
    "MethodCard",
    "MultiView",
    "MultiViewClassifier",
    "NeighborGraph",
    "NodeSelectionConfig",
    "PerView",
    "PseudoLabeler",
    "ReliabilityDisplay",
    "Report",
    "TensorBoardCallback",
    "TrainingConfig",
    "TrainingCurveDisplay",
    "TransductiveViews",
    "ViewImportanceDisplay",
    "__version__",
    "annotate",
    "checkpoints",
    "config_context",
    "draw_labeled",
    "from_pyg",
    "get_config",
    "hide_labels",
    "label",
    "load_dataset",
    "make_multiview_classification",
    "model_report",
    "propose_labels",
    "read_views",
    "register_method",
    "set_config",
    "to_pyg",
    "tune",
]


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        return _import_module("importlib.metadata").version("manyview")
    if name not in _MODULES:
        raise AttributeError(f"module 'manyview' has no attribute {name!r}")
    return getattr(_import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
