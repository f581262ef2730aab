"""What the studies of growing trouble found, in sentences.

All numbers hang on stored records alone; methods are compared on the data sets and seeds that
both have.
"""

import numpy as np
from compared import OWN, TITLES
from paired_gains import above, average, chosen, data_sets, gains

from manyview.report.study.results import dataset_title

RIVAL_WAYS = {"mean": "filling in means", "dropped": "dropping incomplete samples"}


def worst_share(records, series):
    """Return the largest share of trouble a series has records of; 0 if of none."""
    return max((one["share"] for one in chosen(records, series=series)), default=0.0)


def missing_views(records):
    """Say what keeping incomplete samples gains over the other ways, where it loses, its cost."""
    worst = worst_share(records, "kept")
    kept = chosen(records, series="kept")
    comparisons, losses = [], []
    for way, name in RIVAL_WAYS.items():
        for share in sorted({one["share"] for one in kept} - {0.0}):
            found = gains(chosen(kept, share=share), chosen(records, series=way, share=share))
            losses += [
                f"{name} is better on {dataset_title(dataset)} with {share:.0%} "
                f"({-points:.1f} points)"
                for dataset, points in found.items()
                if points < 0
            ]
            if share == worst and found:
                comparisons.append(f"{above(average(found), name)} ({data_sets(found)})")
    if not comparisons:
        return "Nothing can be compared yet."
    cost = gains(chosen(kept, share=worst), chosen(kept, share=0.0))
    sentences = [
        f"With {worst:.0%} of the pairs removed, keeping the samples is on average "
        f"{' and '.join(comparisons)}.",
        f"Where it is behind: {'; '.join(losses)}."
        if losses
        else "It is behind neither on any data set that has run, at any share.",
    ]
    if cost:
        sentences.append(f"Beside complete data it is {above(average(cost), 'what these give')}.")
    return " ".join(sentences)


def wrong_labels(share):
    return f"{share:.0%} of the labels wrong"


def noise_beside(share):
    return f"{share:.0%} as many views of noise as true ones"


def methods(records, trouble):
    """Say where our default stands among the methods under trouble, and what each loses by it.

    `trouble` names a share of it.
    """
    worst = worst_share(records, OWN)
    if not worst:
        return "Our default has no records under trouble yet, so nothing is compared."
    ours = chosen(records, series=OWN, share=worst)
    rivals = {}
    for name in TITLES.keys() - {OWN}:
        for dataset, points in gains(chosen(records, series=name, share=worst), ours).items():
            rivals.setdefault(dataset, []).append((points, TITLES[name]))
    best = {dataset: max(found) for dataset, found in sorted(rivals.items())}
    behind = [
        f"{dataset_title(dataset)} ({title} is {above(points, 'it')})"
        for dataset, (points, title) in best.items()
        if points > 0
    ]
    return (
        f"With {trouble(worst)} our default is the best of the methods that have run on "
        f"{len(best) - len(behind)} of {data_sets(best)}"
        f"{', and behind on ' + ', '.join(behind) if behind else ''}. {_falls(records, worst)}"
    ).strip()


def _falls(records, worst):
    """Say what the default loses by trouble, and the methods with records of the same data sets."""
    falls = {
        name: gains(
            chosen(records, series=name, share=worst), chosen(records, series=name, share=0.0)
        )
        for name in TITLES
    }
    own = falls.pop(OWN)
    if not own:
        return ""
    others = {
        TITLES[name]: average({dataset: found[dataset] for dataset in own})
        for name, found in falls.items()
        if found.keys() >= own.keys()
    }
    ordered = sorted(others.items(), key=lambda fall: -fall[1])
    told = "".join(f"; {title} {points:+.1f}" for title, points in ordered)
    return (
        f"Points that this changes beside the same data without it, on average over "
        f"{data_sets(own)}: our default {average(own):+.1f}{told}."
    )


def noise_weight(records):
    """Say which share of the weight goes to the views of noise where they are half of all views."""
    told = []
    for name in (OWN, "paper"):
        found = chosen(records, series=name, share=1.0)
        shares = [one["noise_importance"] for one in found if "noise_importance" in one]
        if shares:
            told.append(f"{np.mean(shares):.0%} ({TITLES[name]})")
    if not told:
        return ""
    return (
        "Where half of all views are noise, and would have half of the weight if all counted "
        f"alike, they get {' and '.join(told)} of it, on average over all fits."
    )
