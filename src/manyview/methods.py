"""Methods: every classifier by its name, those of other packages included."""

from importlib.metadata import entry_points

from manyview.base.classifier import MultiViewClassifier
from manyview.base.method_card import MethodCard
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
from manyview.errors import InputError, did_you_mean, warn_user
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

ENTRY_POINTS = "manyview.methods"
METHODS: dict[str, type[MultiViewClassifier]] = {
    "manyview": ManyviewClassifier,
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


def register_method(method: type[MultiViewClassifier]) -> type[MultiViewClassifier]:
    """Add a method of one's own to `METHODS`, by the name on its card; usable as a decorator.

    Worker processes of a study do not see what a script registers. A package that names its
    method in the entry-point group `manyview.methods` is found everywhere:

        [project.entry-points."manyview.methods"]
        my-method = "my_package.my_module:MyClassifier"

    Examples
    --------
    >>> from manyview.baselines.knn import KNNClassifier
    >>> register_method(KNNClassifier)  # the same class may be registered again
    <class 'manyview.baselines.knn.KNNClassifier'>
    """
    if not (isinstance(method, type) and issubclass(method, MultiViewClassifier)):
        raise InputError(f"a method must be a child of MultiViewClassifier; got {method!r}.")
    card = getattr(method, "card", None)
    if not isinstance(card, MethodCard):
        raise InputError(f"{method.__name__} must have a MethodCard as its attribute card.")
    if METHODS.get(card.name, method) is not method:
        raise InputError(
            f"the name {card.name!r} is taken by {METHODS[card.name].__name__}. Choose another "
            f"name on the card of {method.__name__}."
        )
    METHODS[card.name] = method
    return method


def _register_installed() -> None:
    """Register the methods of installed packages; one that fails gives a warning."""
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            register_method(entry.load())
        except Exception as error:  # whatever code of others raises
            warn_user(
                f"the method {entry.name!r} of the entry point {entry.value} cannot be used: "
                f"{type(error).__name__}: {error}",
                UserWarning,
            )


_register_installed()


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
