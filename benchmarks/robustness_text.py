"""What the robustness studies found, in sentences.

All numbers come from stored records; methods are compared on the data sets and seeds that both
have.
"""

import numpy as np
from compared import ALONE, OWN, TITLES
from formatting import signed
from paired_gains import above, average, chosen, data_sets, gains

from manyview.report.study.results import dataset_title

RIVAL_WAYS = {"mean": "filling in means", "dropped": "dropping incomplete samples"}


def largest_fraction(records, series):
    """Return the largest corrupted fraction a series has records of; 0 without records."""
    return max((one["fraction"] for one in chosen(records, series=series)), default=0.0)


def missing_views(records):
    """Return what keeping incomplete samples gains over the other ways, and where it loses."""
    worst = largest_fraction(records, "kept")
    kept = chosen(records, series="kept")
    comparisons, losses = [], []
    for way, name in RIVAL_WAYS.items():
        for fraction in sorted({one["fraction"] for one in kept} - {0.0}):
            found = gains(
                chosen(kept, fraction=fraction), chosen(records, series=way, fraction=fraction)
            )
            losses += [
                f"{name} is better on {dataset_title(dataset)} with {fraction:.0%} removed "
                f"({-points:.1f} points)"
                for dataset, points in found.items()
                if points < 0
            ]
            if fraction == worst and found:
                comparisons.append(f"{above(average(found), name)} ({data_sets(found)})")
    if not comparisons:
        return "Nothing can be compared yet."
    cost = gains(chosen(kept, fraction=worst), chosen(kept, fraction=0.0))
    sentences = [
        f"With {worst:.0%} of the pairs removed, keeping incomplete samples is on average "
        f"{' and '.join(comparisons)}.",
        f"Where it is behind: {'; '.join(losses)}."
        if losses
        else "It is not behind the other ways on any data set, at any fraction.",
    ]
    if cost:
        sentences.append(f"Its accuracy is {above(average(cost), 'that on complete data')}.")
    return " ".join(sentences)


def wrong_labels(fraction):
    return f"{fraction:.0%} of the labels wrong"


def noise_added(fraction):
    return f"{fraction:.0%} as many noise views as true views"


def methods(records, corruption):
    """Return where the default ranks among the methods on corrupted data, and what each loses.

    `corruption` writes a fraction of it.
    """
    worst = largest_fraction(records, OWN)
    if not worst:
        return "The default has no records with corrupted data yet, so nothing is compared."
    ours = chosen(records, series=OWN, fraction=worst)
    rivals = {}
    for name in TITLES.keys() - {OWN, ALONE}:
        for dataset, points in gains(chosen(records, series=name, fraction=worst), ours).items():
            rivals.setdefault(dataset, []).append((points, TITLES[name]))
    best = {dataset: max(found) for dataset, found in sorted(rivals.items())}
    behind = [
        f"{dataset_title(dataset)} ({title} is {above(points, 'it')})"
        for dataset, (points, title) in best.items()
        if points > 0
    ]
    return (
        f"With {corruption(worst)}, manyview is the best method on "
        f"{len(best) - len(behind)} of {data_sets(best)}"
        f"{', and behind on ' + ', '.join(behind) if behind else ''}. {_losses(records, worst)}"
    ).strip()


def _losses(records, worst):
    """Return how accuracy changes, for the default and methods that ran on its data sets."""
    changes = {
        name: gains(
            chosen(records, series=name, fraction=worst),
            chosen(records, series=name, fraction=0.0),
        )
        for name in TITLES
    }
    own = changes.pop(OWN)
    if not own:
        return ""
    others = {
        TITLES[name]: average({dataset: found[dataset] for dataset in own})
        for name, found in changes.items()
        if found.keys() >= own.keys()
    }
    ordered = sorted(others.items(), key=lambda change: -change[1])
    written = "".join(f"; {title} {points:+.1f}" for title, points in ordered)
    return (
        f"Change against clean data in points, averaged over {data_sets(own)}: manyview "
        f"{average(own):+.1f}{written}."
    )


def audit(records, peer):
    """Return what audit and mixture gain over the network alone, and what the audit finds.

    `peer` is the series of another audit.
    """
    changes = []
    for fraction in sorted({one["fraction"] for one in chosen(records, series=OWN)}):
        own = chosen(records, series=OWN, fraction=fraction)
        points = gains(own, chosen(records, series=ALONE, fraction=fraction))
        if points:
            changes.append(f"{signed(average(points))} with {fraction:.0%} wrong")
    if not changes:
        return ""
    found = [
        f"{name} finds {recall:.0%} of the wrong labels, and {precision:.0%} of the labels it "
        "doubts are wrong"
        for name, one in (("the audit", OWN), ("cleanlab", peer))
        for recall, precision in _recall_and_precision(chosen(records, series=one))
    ]
    return (
        f"Audit and mixture change the accuracy of manyview's network by {', '.join(changes)} "
        f"(mean of {data_sets(points)}). Over all fits {'; '.join(found)}."
    )


def _recall_and_precision(records):
    """Return the pair in a list, an empty one where nothing is wrong or doubted."""
    found, doubted, wrong = (
        sum(one[name] for one in records) for name in ("n_found", "n_doubted", "n_wrong")
    )
    return [(found / wrong, found / doubted)] if wrong and doubted else []


def noise_weight(records):
    """Return the weight of the noise views where half of all views are noise."""
    weights = []
    for name in (OWN, "mgcn-dns"):
        found = chosen(records, series=name, fraction=1.0)
        of_noise = [one["noise_importance"] for one in found if "noise_importance" in one]
        if of_noise:
            weights.append(f"{np.mean(of_noise):.0%} ({TITLES[name]})")
    if not weights:
        return ""
    return (
        "Where half of all views are noise, equal weights would give them 50%; the learned "
        f"weights give them {' and '.join(weights)}, averaged over all fits."
    )
