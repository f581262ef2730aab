"""Whether the label generator of the released AMGL and MLAN programs explains the paper's rows.

Also how HLR-M2VS depends on the order of the samples, which files of this field sort by class.

Every fit is one line of `results/replication.jsonl`; a study that was stopped continues where it
stopped. `benchmarks/result_pages.py` makes `docs/replication.md` from these lines.

    python benchmarks/replication.py
"""

from collections import defaultdict
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import as_printed
import dead_units
import learning_rates
import numpy as np
import paper_rows
import printed_steps
from formatting import spread, table
from released_labels import equal_class_labels
from stored_records import RESULTS, add_missing, read

from manyview.baselines import hlr_m2vs
from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.hlr_m2vs import HLRM2VSClassifier
from manyview.baselines.mlan import MLANClassifier
from manyview.data.splits import hide_labels
from manyview.experiments.plan import load_plan
from manyview.system.config import config_context

RECORDS = RESULTS / "replication.jsonl"
TEMPLATE = Path(__file__).parent / "templates" / "replication.md"

DATASETS = ("bbcsports", "bbcnews", "mnist")
LABEL_RATIOS = (0.01, 0.1)
SEEDS = range(5)
# As in the released programs: AMGL on raw features with halved labels, MLAN with weights that
# compound.
METHODS = {
    "amgl": lambda: AMGLClassifier(scaling="none", halve_unlabeled=True),
    "mlan": lambda: MLANClassifier(compound_weights=True, max_iter=30, tol=0.0),
}
LABELS = ("generated", "true")
ORDERS = ("file order", "content order")
ORDER_DATASETS = ("bbcsports", "mnist")


KEY = ("method", "labels", "label_ratio", "seed")


def run_with_labels(dataset, method, labels, ratio, seed):
    """Return the accuracy on the unlabeled samples, scored against the labels of the same kind."""
    if labels == "true":
        truth = dataset.labels
        known = hide_labels(truth, ratio, random_state=seed)
    else:
        n_classes = len(set(dataset.labels.tolist()))
        truth, is_labeled = equal_class_labels(
            len(dataset.labels), n_classes, ratio, random_state=seed
        )
        known = np.where(is_labeled, truth, -1)
    return _accuracy(METHODS[method]().fit(dataset.views, known), known, truth)


def run_in_order(dataset, order, ratio, seed, cache):
    """Return the accuracy of HLR-M2VS with samples in file order, or in its own order."""
    known = hide_labels(dataset.labels, ratio, random_state=seed)
    as_given = patch.object(hlr_m2vs, "order_by_content", lambda _: np.arange(len(known)))
    with (
        as_given if order == "file order" else nullcontext(),
        config_context(cache_dir=cache),
    ):
        model = HLRM2VSClassifier().fit(dataset.views, known)
    return _accuracy(model, known, dataset.labels)


def _accuracy(model, known, truth):
    hidden = known == -1
    return round(float(np.mean(model.transduction_[hidden] == truth[hidden])), 6)


def measure():
    with TemporaryDirectory() as cache:

        def run(dataset, method, kind, ratio, seed):
            if method == "hlr-m2vs":
                accuracy = run_in_order(dataset, kind, ratio, seed, cache)
            else:
                accuracy = run_with_labels(dataset, method, kind, ratio, seed)
            return {"accuracy": accuracy}

        settings = list(product(METHODS, LABELS, LABEL_RATIOS, SEEDS))
        add_missing(RECORDS, DATASETS, KEY, settings, run)
        settings = list(product(["hlr-m2vs"], ORDERS, LABEL_RATIOS, SEEDS))
        add_missing(RECORDS, ORDER_DATASETS, KEY, settings, run)


def page():
    """Return the text of docs/replication.md."""
    groups = defaultdict(list)
    for record in read(RECORDS):
        place = record["dataset"], record["method"], record["labels"], record["label_ratio"]
        groups[place].append(100 * record["accuracy"])
    paper = load_plan("accuracy").paper
    rows, distances = [], []
    for method, ratio, dataset in product(METHODS, LABEL_RATIOS, DATASETS):
        generated, true = (groups[dataset, method, labels, ratio] for labels in LABELS)
        mean, deviation = paper[dataset][method][ratio]
        distances.append((abs(np.mean(generated) - mean), np.mean(true) - mean))
        cells = spread(generated), f"{mean} ({deviation})", spread(true)
        rows.append([method.upper(), f"{ratio:.0%}", dataset, *cells])
    near, far = zip(*distances, strict=True)
    summary = (
        f"With generated labels, all {len(near)} means lie within {max(near):.1f} points of the "
        f"paper's, {np.mean(near):.1f} on average. With true labels they lie "
        f"{min(far):.1f} to {max(far):.1f} points above them."
    )
    orders = [
        [dataset, f"{ratio:.0%}"]
        + [spread(groups[dataset, "hlr-m2vs", order, ratio]) for order in ORDERS]
        for dataset, ratio in product(ORDER_DATASETS, LABEL_RATIOS)
    ]
    heads = ["method", "labels", "data set", "generated labels", "paper", "true labels"]
    return TEMPLATE.read_text().format(
        table=table(heads, rows, n_words=3),
        summary=summary,
        orders=table(["data set", "labels", *ORDERS], orders, n_words=2),
        rows_table=paper_rows.rows_table(),
        kernel_sentence=paper_rows.kernel_sentence(),
        **as_printed.parts(),
        rate_sentence=learning_rates.rate_sentence(),
        spike_sentence=learning_rates.spike_sentence(),
        peak_sentence=learning_rates.peak_sentence(),
        smaller_rate=learning_rates.smaller_rate_sentence(),
        dead_units=dead_units.sentence(),
        explained=printed_steps.explained_sentence(),
        why=printed_steps.why(),
        steps_table=printed_steps.steps_table(),
    )


if __name__ == "__main__":
    measure()
