"""Tables and sentences of the studies of tuning, of calibration and of choosing what to label.

All numbers hang on stored records alone.
"""

from itertools import groupby

import labeling
import numpy as np
from paired_gains import average, chosen, data_sets, each, gains
from study_lines import cell, spread

from manyview.report.study.results import dataset_title

FOLDS = {1: "one fold", 3: "three folds", None: "before"}  # what calibration takes by itself


def groups(records, *parts):
    """Pairs of the parts and the records that share them, data sets in the order of the records."""
    order = list(dict.fromkeys(one["dataset"] for one in records))

    def place(one):
        return (order.index(one["dataset"]), *(one[part] for part in parts))

    for key, found in groupby(sorted(records, key=place), key=place):
        yield (order[key[0]], *key[1:]), list(found)


def tuning_table(records, n_seeds):
    """One row a data set and share of labels: the defaults, the choice, and the difference."""
    lines = [
        "| data set | labels | defaults | tuned | points gained | defaults kept |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (name, forced, ratio), found in groups(records, "forced", "ratio"):
        default, tuned = (
            [100 * one[f"{kind}_accuracy"] for one in found] for kind in ("default", "tuned")
        )
        n_kept = sum(one["is_default"] for one in found)
        lines.append(
            f"| {dataset_title(name)} | {ratio:.0%}{', forced' * forced} | "
            f"{cell(default, n_seeds)} | {cell(tuned, n_seeds)} | "
            f"{np.mean(tuned) - np.mean(default):+.1f} | {n_kept} of {len(found)} |"
        )
    return "\n".join(lines)


def tuning_summary(records):
    """Say how often tuning chose something else, and what that gained where nobody looked."""
    weak = [one for one in records if one["stopped"] == "weak"]
    tried = [one for one in records if one["stopped"] != "weak"]
    other = [one for one in tried if not one["is_default"]]
    n_trials = " or ".join(map(str, sorted({one["n_trials"] for one in records})))
    sentences = [
        f"In {len(weak)} of {len(records)} splits there were too few labels to judge, and the "
        f"defaults stayed untried. In {len(tried)} it tried {n_trials} settings, and kept the "
        f"defaults in {len(tried) - len(other)} of these."
    ]
    if not other:
        return f"{sentences[0]} So it has neither gained nor lost anything yet."
    points = np.array([100 * (one["tuned_accuracy"] - one["default_accuracy"]) for one in other])
    sentences.append(
        f"Where it chose another setting, accuracy on labels it never saw changed by "
        f"{points.mean():+.1f} points on average: better in {(points > 0).sum()}, worse in "
        f"{(points < 0).sum()}, {points.min():+.1f} at worst and {points.max():+.1f} at best."
    )
    return " ".join(sentences)


def calibrated(record):
    """Return what `calibration="temperature"` gives by itself."""
    return record[FOLDS[record["n_folds_auto"]]]


def calibration_table(records, n_seeds):
    """One row a data set and share of labels: the errors before, after, and at the best heat."""
    lines = [
        "| data set | labels | held out | ECE before | ECE after | ECE, best temperature "
        "| surprise before | surprise after |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for (name, ratio), found in groups(records, "ratio"):
        after = [calibrated(one) for one in found]
        before, best = ([one[kind] for one in found] for kind in ("before", "best"))
        errors = [cell([100 * one["ece"] for one in kind], n_seeds) for kind in (before, after)]
        errors.append(spread([100 * one["ece"] for one in best]))
        surprises = [
            f"{np.mean([one['surprise'] for one in kind]):.2f}" for kind in (before, after)
        ]
        held_out = np.mean([one["n_held_out"] for one in found])
        lines.append(
            f"| {dataset_title(name)} | {ratio:.0%} | {held_out:.0f} | "
            f"{' | '.join([*errors, *surprises])} |"
        )
    return "\n".join(lines)


def calibration_summary(records):
    """Say what calibration does to both errors on average, and where it raises or cannot help."""
    judged, worse, untouched = [], [], 0
    n_raised, n_fits = 0, 0
    for (name, ratio), found in groups(records, "ratio"):
        if all(one["n_folds_auto"] is None for one in found):
            untouched += 1
            continue
        pairs = [(one["before"], calibrated(one)) for one in found]
        n_raised += sum(second["ece"] > first["ece"] for first, second in pairs)
        n_fits += len(pairs)
        errors = np.array([[(one["ece"], one["surprise"]) for one in pair] for pair in pairs])
        judged.append(errors.mean(axis=0))
        before, after = 100 * judged[-1][:, 0]
        if after > before:
            place = f"{dataset_title(name)} with {ratio:.0%}"
            worse.append(f"{place} ({before:.1f}% to {after:.1f}%)")
    if not judged:
        return "No data set had a label to hold out."
    (before, surprise), (after, later) = np.mean(judged, axis=0)
    sentences = [
        f"Averaged over {len(judged)} pairs of data set and share of labels, calibration changes "
        f"the expected calibration error from {before:.1%} to {after:.1%}, and the surprise from "
        f"{surprise:.3f} to {later:.3f}.",
        f"It raises the error in {n_raised} of {n_fits} fits"
        + (f", and in the mean over seeds on {', '.join(worse)}." if worse else "."),
    ]
    if untouched:
        sentences.append(
            f"In {untouched} more pair{'s' * (untouched > 1)} no label could be held out, and the "
            "probabilities stayed as they were, with a warning."
        )
    return " ".join(sentences)


def labeling_table(records, n_seeds):
    """One row a data set and way to choose, one column a round."""
    rounds = range(labeling.N_ROUNDS + 1)
    lines = [
        f"| data set | chosen | {' | '.join(str(number + 1) for number in rounds)} |",
        f"|---|---|{'---:|' * len(rounds)}",
    ]
    for name in dict.fromkeys(one["dataset"] for one in records):
        for strategy in labeling.STRATEGIES:
            own = chosen(records, dataset=name, strategy=strategy)
            told = [
                cell([100 * one["accuracy"] for one in chosen(own, round=number)], n_seeds)
                for number in rounds
            ]
            if any(told):
                lines.append(f"| {dataset_title(name)} | {strategy} | {' | '.join(told)} |")
    return "\n".join(lines)


def labeling_summary(records):
    """Say what choosing gains over chance, and what a warm start saves."""
    later = [one for one in records if one["round"] > 0]
    at_random = chosen(later, strategy="random")
    sentences = []
    for strategy in labeling.STRATEGIES[1:]:
        found = gains(chosen(later, strategy=strategy), at_random, ("seed", "round"))
        if found:
            sentences.append(
                f"Labels chosen by {strategy} change accuracy by {average(found):+.1f} points "
                f"against random ones, on average over the rounds after the first and "
                f"{data_sets(found)} ({each(found)})."
            )
    if at_random:
        epochs, seconds = (
            np.median([one[part] / one["cold"][part] for one in at_random])
            for part in ("n_epochs", "cpu_seconds")
        )
        points = gains(at_random, [one | one["cold"] for one in at_random], ("seed", "round"))
        sentences.append(
            f"A fit that goes on from the one before takes {epochs:.2f} of the epochs and "
            f"{seconds:.2f} of the processor time of one from scratch (medians of "
            f"{len(at_random)} rounds), and its accuracy differs by {average(points):+.1f} points "
            f"on average over {data_sets(points)} ({each(points)})."
        )
    return " ".join(sentences)
