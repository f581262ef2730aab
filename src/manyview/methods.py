"""Methods: every classifier of this package by its name."""

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.awdr import AWDRClassifier
from manyview.baselines.co_gcn import CoGCNClassifier
from manyview.baselines.dsrl import DSRLClassifier
from manyview.baselines.erl_mvsc import ERLMVSCClassifier
from manyview.baselines.gcn import GCNFusionClassifier
from manyview.baselines.hlr_m2vs import HLRM2VSClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.baselines.label_spreading import LabelSpreadingClassifier
from manyview.baselines.mlan import MLANClassifier
from manyview.baselines.mvar import MVARClassifier
from manyview.baselines.self_training import SelfTrainingSVMClassifier
from manyview.baselines.ssgcn import SSGCNClassifier
from manyview.baselines.svm import SVMClassifier
from manyview.errors import InputError, did_you_mean
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

METHODS: dict[str, type[MultiViewClassifier]] = {
    "mgcn-dns": MGCNDNSClassifier,
    # the twelve methods of the paper's comparison, in its order
    "knn": KNNClassifier,
    "svm": SVMClassifier,
    "amgl": AMGLClassifier,
    "mvar": MVARClassifier,
    "mlan": MLANClassifier,
    "awdr": AWDRClassifier,
    "hlr-m2vs": HLRM2VSClassifier,
    "erl-mvsc": ERLMVSCClassifier,
    "dsrl": DSRLClassifier,
    "gcn-fusion": GCNFusionClassifier,
    "co-gcn": CoGCNClassifier,
    "ssgcn": SSGCNClassifier,
    # what users of scikit-learn would try first
    "label-spreading": LabelSpreadingClassifier,
    "self-training": SelfTrainingSVMClassifier,
}


def find_method(name: str) -> type[MultiViewClassifier]:
    """Return the class of a method by its name.

    Examples
    --------
    >>> find_method("mgcn-dns").__name__
    'MGCNDNSClassifier'
    """
    if name not in METHODS:
        raise InputError(
            f"No method is named {name!r}.{did_you_mean(name, METHODS)} "
            f"The methods are: {', '.join(METHODS)}."
        )
    return METHODS[name]
