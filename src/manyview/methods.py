"""Methods: every classifier by its name, those of other packages included."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from importlib.metadata import entry_points

from manyview.base.classifier import MultiViewClassifier
from manyview.base.method_card import MethodCard
from manyview.errors import InputError, did_you_mean, warn_user

ENTRY_POINTS = "manyview.methods"
BUILT_IN = {
    "manyview": "estimators.manyview:ManyviewClassifier",
    "mgcn-dns": "estimators.mgcn_dns:MGCNDNSClassifier",
    # the twelve methods of the paper's comparison, in its order
    "knn": "baselines.knn:KNNClassifier",
    "svm": "baselines.svm:SVMClassifier",
    "amgl": "baselines.amgl:AMGLClassifier",
    "mvar": "baselines.mvar:MVARClassifier",
    "mlan": "baselines.mlan:MLANClassifier",
    "awdr": "baselines.awdr:AWDRClassifier",
    "hlr-m2vs": "baselines.hlr_m2vs:HLRM2VSClassifier",
    "erl-mvsc": "baselines.erl_mvsc:ERLMVSCClassifier",
    "dsrl": "baselines.dsrl:DSRLClassifier",
    "gcn-fusion": "baselines.gcn:GCNFusionClassifier",
    "co-gcn": "baselines.co_gcn:CoGCNClassifier",
    "ssgcn": "baselines.ssgcn:SSGCNClassifier",
    # newer than the paper, on the same graphs
    "grand": "baselines.grand:GRANDClassifier",
    # what users of scikit-learn would try first
    "label-spreading": "baselines.label_spreading:LabelSpreadingClassifier",
    "self-training": "baselines.self_training:SelfTrainingSVMClassifier",
    "logistic-regression": "baselines.logistic_regression:LogisticRegressionClassifier",
    "random-forest": "baselines.random_forest:ForestClassifier",
    "hist-gradient-boosting": "baselines.hist_gradient_boosting:BoostingClassifier",
}


class MethodRegistry(MutableMapping[str, type[MultiViewClassifier]]):
    """Name -> class; a class is imported when it is first used.

    Parameters
    ----------
    paths
        Name -> module of manyview and class.
    """

    def __init__(self, paths: dict[str, str]) -> None:
        self._entries: dict[str, str | type[MultiViewClassifier]] = dict(paths)

    def __getitem__(self, name: str) -> type[MultiViewClassifier]:
        """Return the class of a method."""
        entry = self._entries[name]
        if isinstance(entry, str):
            module, class_name = entry.split(":")
            entry = getattr(import_module(f"manyview.{module}"), class_name)
            self._entries[name] = entry
        return entry

    def __setitem__(self, name: str, method: type[MultiViewClassifier]) -> None:
        """Add a method, or replace it."""
        self._entries[name] = method

    def __delitem__(self, name: str) -> None:
        """Remove a method."""
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a method, without importing it."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Count the methods."""
        return len(self._entries)


METHODS = MethodRegistry(BUILT_IN)


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
