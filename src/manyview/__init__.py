"""Label a whole multi-view data set from a few known labels.

>>> import manyview
>>> manyview.load_dataset("digits").views
MultiView(1797 samples; pixels: 64, fourier: 33, gradients: 72, profiles: 16, moments: 25)
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:  # for type checkers and editors; at run time see __getattr__
    from manyview.active_learning.proposals import propose_labels
    from manyview.callbacks.mlflow import MLflowCallback
    from manyview.callbacks.tensorboard import TensorBoardCallback
    from manyview.data.catalog.load import load_dataset
    from manyview.data.catalog.synthetic import make_multiview_classification
    from manyview.data.cross_validation import AllSamples, LabelHidingSplit
    from manyview.data.dataset import Dataset
    from manyview.data.io.readers import read_views
    from manyview.data.splits import draw_labeled, hide_labels
    from manyview.data.views import MultiView
    from manyview.errors import DataFileError, InputError, ManyviewError
    from manyview.estimators.mgcn_dns import MGCNDNSClassifier
    from manyview.integrations.omics import annotate
    from manyview.integrations.per_view import PerView
    from manyview.integrations.pyg import from_pyg, to_pyg
    from manyview.methods import METHODS
    from manyview.tuning.scorers import SCORERS
    from manyview.tuning.search import tune

__version__ = _version("manyview")

# Public name -> where it lives; loaded when first asked for, so that the command line is quick.
_HOMES = {
    "AllSamples": "manyview.data.cross_validation",
    "DataFileError": "manyview.errors",
    "Dataset": "manyview.data.dataset",
    "InputError": "manyview.errors",
    "LabelHidingSplit": "manyview.data.cross_validation",
    "METHODS": "manyview.methods",
    "MLflowCallback": "manyview.callbacks.mlflow",
    "MGCNDNSClassifier": "manyview.estimators.mgcn_dns",
    "ManyviewError": "manyview.errors",
    "MultiView": "manyview.data.views",
    "PerView": "manyview.integrations.per_view",
    "SCORERS": "manyview.tuning.scorers",
    "TensorBoardCallback": "manyview.callbacks.tensorboard",
    "annotate": "manyview.integrations.omics",
    "draw_labeled": "manyview.data.splits",
    "from_pyg": "manyview.integrations.pyg",
    "hide_labels": "manyview.data.splits",
    "load_dataset": "manyview.data.catalog.load",
    "make_multiview_classification": "manyview.data.catalog.synthetic",
    "propose_labels": "manyview.active_learning.proposals",
    "read_views": "manyview.data.io.readers",
    "to_pyg": "manyview.integrations.pyg",
    "tune": "manyview.tuning.search",
}

__all__ = [
    "METHODS",
    "SCORERS",
    "AllSamples",
    "DataFileError",
    "Dataset",
    "InputError",
    "LabelHidingSplit",
    "MGCNDNSClassifier",
    "MLflowCallback",
    "ManyviewError",
    "MultiView",
    "PerView",
    "TensorBoardCallback",
    "__version__",
    "annotate",
    "draw_labeled",
    "from_pyg",
    "hide_labels",
    "load_dataset",
    "make_multiview_classification",
    "propose_labels",
    "read_views",
    "to_pyg",
    "tune",
]


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'manyview' has no attribute {name!r}")
    return getattr(_import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
