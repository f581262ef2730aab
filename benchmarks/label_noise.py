"""Wrong labels: how much of its accuracy each method keeps.

10 % of the samples are labeled, and of these labels 0 to 30 % are wrong: each wrong one is drawn
evenly from the other classes. The same labels, right and wrong, for all methods (see
`compared.py`). Accuracy is on the unlabeled samples. Every fit is one line of
`results/label_noise.jsonl`; a study that was stopped goes on where it stopped. With names of data
sets, these alone.

    python benchmarks/label_noise.py [DATA ...]
    python benchmarks/label_noise.py --page [FIGURE]  # print the table, write the figure
"""

from pathlib import Path

import numpy as np
from compared import fresh, main
from study_lines import scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels

RECORDS = Path(__file__).parent.parent / "results" / "label_noise.jsonl"
DATASETS = ("3sources", "bbcsports", "mnist", "digits")
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3)
SEEDS = range(5)
RATIO = 0.1
X_NAME = "wrong labels (%)"


def spoil(labels, share, rng):
    """Make a share of the known labels wrong, rounded to whole labels."""
    known = np.flatnonzero(is_known(labels))
    classes = np.unique(labels[known])
    spoiled = labels.copy()
    for sample in rng.permutation(known)[: round(share * len(known))]:
        spoiled[sample] = rng.choice(classes[classes != labels[sample]])
    return spoiled


def run(dataset, name, share, seed):
    shown = hide_labels(dataset.labels, RATIO, random_state=seed)
    # One order of samples for all shares: more wrong labels are those of before, and others.
    labels = spoil(shown, share, np.random.default_rng(seed))
    model = fresh(name, seed).fit(dataset.views, labels)
    n_wrong = int((labels != shown).sum())
    found = scores(model.transduction_, dataset.labels, ~is_known(shown))
    return found | {"n_labeled": int(is_known(shown).sum()), "n_wrong": n_wrong, "ratio": RATIO}


if __name__ == "__main__":
    main(RECORDS, DATASETS, SHARES, SEEDS, run, x_name=X_NAME)
