"""The methods that the robustness studies compare, by the names their records have."""

import sys

import robustness

from manyview.methods import METHODS

OWN = "manyview"  # stands out in figures
MODULES_OFF = {"estimator__graph_learning": None, "estimator__node_selection": None}
ALONE = "network-alone"  # manyview without the mixture and without the label audit
NETWORK = {"cross_fit": False, "label_audit": None}
FORMS = {  # name -> method and parameters
    OWN: (OWN, {}),
    ALONE: (OWN, NETWORK),
    "mgcn-dns": ("mgcn-dns", {}),
    "plain": ("mgcn-dns", {"graph_learning": None, "node_selection": None}),
    "plain-self-trained": (
        OWN,
        MODULES_OFF
        | NETWORK
        | {"scaling": "unit", "early_fusion": False, "initial_teacher": "network"}
        | {"graph_epochs": None},
    ),
}
SERIES = (
    *FORMS, "gcn-fusion", "ssgcn", "label-spreading", "self-training", "amgl", "knn", "mlan",
)  # fmt: skip
TITLES = {name: METHODS[name].card.title for name in SERIES if name in METHODS} | {
    ALONE: "manyview's network alone",
    "plain": "plain GCN",
    "plain-self-trained": "plain GCN, self-trained",
}


def make(name, seed, **params):
    """Return the unfitted method of a series, with further parameters by path."""
    method, own = FORMS.get(name, (name, {}))
    return METHODS[method](random_state=seed).set_params(**own, **params)


def main(file, datasets, fractions, seeds, run, *, x_name, series=SERIES):
    """Run the command line of a study of all compared methods (see `robustness.main`)."""
    robustness.main(
        sys.argv[1:], file, datasets, series, fractions, seeds, run, x_name=x_name, own=OWN
    )
