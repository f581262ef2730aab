"""The methods that studies of trouble compare, by the names their records have."""

import sys

import study_lines

from manyview.methods import METHODS

OWN = "mgcn-dns"  # stands out in figures
PLAIN = {"graph_learning": None, "node_selection": None}
ALONE = {
    "scaling": "unit",
    "early_fusion_graph": False,
    "linear_teacher": False,
}  # no other teaches it
PARAMETERS = {
    OWN: {},
    "paper": {"recipe": "paper"},
    "plain": {"recipe": "paper", **PLAIN},
    "plain-taught": PLAIN | ALONE,
}
SERIES = (
    *PARAMETERS, "gcn-fusion", "ssgcn", "label-spreading", "self-training", "amgl", "knn", "mlan",
)  # fmt: skip
TITLES = {name: METHODS[name].card.title for name in SERIES if name in METHODS} | {
    OWN: "MGCN-DNS, default",
    "paper": "MGCN-DNS, paper's recipe",
    "plain": "plain GCN",
    "plain-taught": "plain GCN, self-trained",
}


def fresh(name, seed):
    """Make the method of a series, unfitted."""
    return METHODS["mgcn-dns" if name in PARAMETERS else name](
        random_state=seed, **PARAMETERS.get(name, {})
    )


def main(file, datasets, shares, seeds, run, *, x_name):
    """Do what the command line of a study of all compared methods asks (see `study_lines.main`)."""
    study_lines.main(
        sys.argv[1:], file, datasets, SERIES, shares, seeds, run, x_name=x_name, own=OWN
    )
