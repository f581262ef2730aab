"""Classifiers from parameters by their short names, as the command line takes them."""

from manyview import ManyviewClassifier, MGCNDNSClassifier
from manyview.base.parameters import parameter_path


def build(method, **parameters):
    """Make a classifier; `tau=0.3` stands for `node_selection__tau=0.3`."""
    model = method()
    return model.set_params(
        **{parameter_path(model, name): value for name, value in parameters.items()}
    )


def mgcn_dns(**parameters):
    """Make the paper's classifier."""
    return build(MGCNDNSClassifier, **parameters)


def manyview(**parameters):
    """Make manyview's own classifier."""
    return build(ManyviewClassifier, **parameters)
