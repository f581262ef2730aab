"""Tables and sentences of the studies of tuning and active labeling.

All numbers come from stored records.
"""

from itertools import groupby

import labeling
import numpy as np
from formatting import cell, table
from paired_gains import average, chosen, data_sets, each, gains

from manyview.report.study.results import dataset_title

FOLDS = {1: "one fold", 3: "three folds", None: "before"}  # what n_folds="auto" takes


def groups(records, *parts):
    """Yield (dataset, parts) and the records that have them, in the order of the records."""
    order = list(dict.fromkeys(one["dataset"] for one in records))

    def place(one):
        return (order.index(one["dataset"]), *(one[part] for part in parts))

    for key, found in groupby(sorted(records, key=place), key=place):
        yield (order[key[0]], *key[1:]), list(found)


def tuning_table(records, n_seeds):
    """One row per data set and label ratio: the defaults, the choice, and the difference."""
    rows = []
    for (name, forced, ratio), found in groups(records, "forced", "label_ratio"):
        default, tuned = (
            [100 * one[f"{kind}_accuracy"] for one in found] for kind in ("default", "tuned")
        )
        n_kept = sum(one["is_default"] for one in found)
        gain = f"{np.mean(tuned) - np.mean(default):+.1f}"
        rows.append([
            dataset_title(name), f"{ratio:.0%}{', forced' * forced}",
            cell(default, n_seeds), cell(tuned, n_seeds), gain, f"{n_kept} of {len(found)}",
        ])  # fmt: skip
    heads = ["data set", "labels", "defaults", "tuned", "points gained", "defaults kept"]
    return table(heads, rows, n_words=2)


def tuning_summary(records):
    """Return how often tuning changed the defaults, and what that gained on hidden labels."""
    weak = [one for one in records if one["stopped"] == "weak"]
    tried = [one for one in records if one["stopped"] != "weak"]
    other = [one for one in tried if not one["is_default"]]
    n_trials = " or ".join(map(str, sorted({one["n_trials"] for one in records})))
    sentences = [
        f"In {len(weak)} of {len(records)} splits there were too few labels to compare settings, "
        f"and tuning kept the defaults. In the other {len(tried)} it tried {n_trials} settings and "
        f"kept the defaults in {len(tried) - len(other)}."
    ]
    if not other:
        return f"{sentences[0]} So it has neither gained nor lost accuracy yet."
    points = np.array([100 * (one["tuned_accuracy"] - one["default_accuracy"]) for one in other])
    sentences.append(
        f"Where it chose another setting, accuracy on hidden labels changed by "
        f"{points.mean():+.1f} points on average: better in {(points > 0).sum()}, worse in "
        f"{(points < 0).sum()}, {points.min():+.1f} at worst and {points.max():+.1f} at best."
    )
    return " ".join(sentences)


def labeling_table(records, n_seeds):
    """One row per data set and strategy, one column per round."""
    rounds = range(labeling.N_ROUNDS + 1)
    rows = []
    for name in dict.fromkeys(one["dataset"] for one in records):
        for strategy in labeling.STRATEGIES:
            own = chosen(records, dataset=name, strategy=strategy)
            cells = [
                cell([100 * one["accuracy"] for one in chosen(own, round=number)], n_seeds)
                for number in rounds
            ]
            if any(cells):
                rows.append([dataset_title(name), strategy, *cells])
    heads = ["data set", "strategy", *(str(number + 1) for number in rounds)]
    return table(heads, rows, n_words=2)


def labeling_summary(records):
    """Return what choosing gains over random labels, and what a warm start saves."""
    later = [one for one in records if one["round"] > 0]
    at_random = chosen(later, strategy="random")
    sentences = []
    for strategy in labeling.STRATEGIES[1:]:
        found = gains(chosen(later, strategy=strategy), at_random, ("seed", "round"))
        if found:
            sentences.append(
                f"Labels chosen by {strategy} change accuracy by {average(found):+.1f} points "
                f"against random labels, averaged over the rounds after the first and "
                f"{data_sets(found)} ({each(found)})."
            )
    if at_random:
        epochs, seconds = (
            np.median([one[part] / one["cold"][part] for one in at_random])
            for part in ("n_epochs", "cpu_seconds")
        )
        points = gains(at_random, [one | one["cold"] for one in at_random], ("seed", "round"))
        sentences.append(
            f"A warm start takes {epochs:.2f} of the epochs and {seconds:.2f} of the processor "
            f"time of a fit from scratch (medians of {len(at_random)} rounds), and its accuracy "
            f"differs by {average(points):+.1f} points on average over {data_sets(points)} "
            f"({each(points)})."
        )
    return " ".join(sentences)
