"""Why the paper as printed collapses on Caltech101-20: hidden units that no sample activates.

The network without both modules, 10% of the samples labeled: as printed, with a learning rate of
0.01, and with a centered input. Every fit is one line of `results/dead_units.jsonl`; a study that
was stopped continues where it stopped.

    python benchmarks/dead_units.py
"""

from itertools import product

import numpy as np
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = RESULTS / "dead_units.jsonl"
DATASET = "caltech101-20"
SEEDS = range(5)
LABEL_RATIO = 0.1
AS_PRINTED = "as printed"
FORMS = {  # what differs from the paper as printed, besides the two modules
    AS_PRINTED: {},
    "a learning rate of 0.01": {"learning_rate": 0.01},
    "a centered input": {"training__center_input": True},
}


def run(dataset, form, seed):
    """Fit one form; return its scores and the fraction of hidden units with an active sample."""
    labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    model = MGCNDNSClassifier.as_printed(
        graph_learning=None, node_selection=None, random_state=seed, **FORMS[form]
    ).fit(dataset.views, labels)
    hidden = model.replay().outputs()[0]
    return {
        **scores(model.transduction_, dataset.labels, ~is_known(labels)),
        "active_units": round(float((hidden > 0).any(axis=0).mean()), 4),
        "largest_loss": round(max(model.training_curve_.loss), 4),
        "last_loss": round(model.training_curve_.loss[-1], 4),
        "label_ratio": LABEL_RATIO,
    }


def by_form():
    """Return the records of each form."""
    records = read(RECORDS)
    return {form: [one for one in records if one["form"] == form] for form in FORMS}


def sentence():
    """Write how many hidden units are left, and the accuracy, of each form."""
    found = by_form()
    if not all(found.values()):
        return ""
    units, accuracy, loss = (
        {form: np.mean([one[part] for one in own]) for form, own in found.items()}
        for part in ("active_units", "accuracy", "largest_loss")
    )
    others = "; ".join(
        f"with {form}, {units[form]:.0%} are, and the accuracy is {100 * accuracy[form]:.1f}"
        for form in list(FORMS)[1:]
    )
    return (
        f"Where training collapses, the hidden units are dead. On {DATASET} without the modules, "
        f"the first steps raise the loss to {loss[AS_PRINTED]:.0f}, and at the end "
        f"{units[AS_PRINTED]:.1%} of the hidden units are active for some sample, so that samples "
        f"hardly differ in their logits (accuracy {100 * accuracy[AS_PRINTED]:.1f}); {others} "
        f"(mean of {len(found[AS_PRINTED])} splits, `python benchmarks/dead_units.py`)."
    )


if __name__ == "__main__":
    add_missing(RECORDS, [DATASET], ("form", "seed"), list(product(FORMS, SEEDS)), run)
