"""Shares of labels from 1% to 50%: what the default gains or loses against simple methods.

All numbers come from stored records of the plan `shares`. A data set counts at a label ratio where
the default and all compared methods that the plan has for it have records of the same seeds.
"""

from dataclasses import dataclass

import numpy as np
from formatting import and_list, signed, table

from manyview.report.study.results import METRICS, dataset_title, study_results

OWN, ALONE = "manyview", "network-alone"


@dataclass(frozen=True)
class Shares:
    """Mean percentages by (data set, label ratio), and in these by entry."""

    by_cell: dict[tuple[str, float], dict[str, float]]
    peers: tuple[str, ...]  # of the plan, in its order; without the default and its network
    titles: dict[str, str]

    @property
    def label_ratios(self):
        """Label ratios that have records."""
        return sorted({ratio for _, ratio in self.by_cell})

    @property
    def datasets(self):
        """Data sets that have records, in the order of the plan."""
        return list(dict.fromkeys(dataset for dataset, _ in self.by_cell))

    def mean(self, entry, ratio):
        """Mean of an entry over the data sets; None where it lacks one of them."""
        found = [means.get(entry) for (_, own), means in self.by_cell.items() if own == ratio]
        return None if None in found else float(np.mean(found))

    def best_peer(self, dataset, ratio):
        """Return the mean of the best compared method, and its name."""
        means = self.by_cell[dataset, ratio]
        return max((means[entry], entry) for entry in self.peers if entry in means)

    def gap(self, dataset, ratio):
        """Return what the default has more than the best compared method, in points."""
        return self.by_cell[dataset, ratio][OWN] - self.best_peer(dataset, ratio)[0]

    def gaps(self, ratio):
        """Return the gap of every data set at a label ratio."""
        return {d: self.gap(d, ratio) for d in self.datasets if (d, ratio) in self.by_cell}


def shares_of(study, metric="accuracy"):
    """Collect the means of all cells where the default and every planned method have records."""
    entries = [entry.name for entry in study.plan.entries]
    results = study_results(study, METRICS[metric])
    found = {}
    for cell, result in results.items():
        if cell.entry != OWN or not result.by_seed:
            continue
        others = {
            name: other.by_seed
            for (name, other) in (
                (one.entry, own) for one, own in results.items()
                if (one.dataset, one.label_ratio) == (cell.dataset, cell.label_ratio)
            )
        }  # fmt: skip
        seeds = set.intersection(*(set(by_seed) for by_seed in others.values()))
        if seeds:
            found[cell.dataset, cell.label_ratio] = {
                name: float(np.mean([by_seed[seed] for seed in sorted(seeds)]))
                for name, by_seed in others.items()
            }
    titles = {entry.name: entry.title for entry in study.plan.entries}
    return Shares(found, tuple(one for one in entries if one not in (OWN, ALONE)), titles)


def means_table(shares):
    """Return one row per method: its mean over the data sets at each label ratio."""
    rows = []
    for entry in (OWN, ALONE, *shares.peers):
        means = [shares.mean(entry, ratio) for ratio in shares.label_ratios]
        if None not in means:
            rows.append([shares.titles[entry], *(f"{mean:.1f}" for mean in means)])
    best = [
        np.mean([shares.best_peer(d, ratio)[0] for d in shares.gaps(ratio)])
        for ratio in shares.label_ratios
    ]
    rows.append(["best compared method of each data set", *(f"{mean:.1f}" for mean in best)])
    return table(["method", *(f"{ratio:.0%} labels" for ratio in shares.label_ratios)], rows)


def gaps_table(shares):
    """Return one row per data set: accuracy, and the gap to the best compared method."""
    rows = []
    for dataset in shares.datasets:
        cells = []
        for ratio in shares.label_ratios:
            if (dataset, ratio) not in shares.by_cell:
                cells.append("")
                continue
            own, (_, best) = shares.by_cell[dataset, ratio][OWN], shares.best_peer(dataset, ratio)
            cells.append(f"{own:.1f} ({signed(shares.gap(dataset, ratio))}, {shares.titles[best]})")
        rows.append([dataset_title(dataset), *cells])
    return table(["data set", *(f"{ratio:.0%}" for ratio in shares.label_ratios)], rows)


def answer(shares):
    """Return the first sentences: gains over the network alone, and the gap to the best."""
    if not shares.by_cell:
        return "No data set has records of all methods yet."
    gains = [signed(shares.mean(OWN, r) - shares.mean(ALONE, r)) for r in shares.label_ratios]
    gaps = [signed(np.mean(list(shares.gaps(r).values()))) for r in shares.label_ratios]
    worst = min((gap, d, r) for r in shares.label_ratios for d, gap in shares.gaps(r).items())
    n_below = sum(gap < -2 for r in shares.label_ratios for gap in shares.gaps(r).values())
    ratios = and_list([f"{ratio:.0%}" for ratio in shares.label_ratios])
    return (
        f"With {ratios} of the labels, the default gains {and_list(gains)} points over its network "
        f"alone, mean over {len(shares.datasets)} data sets, and is {and_list(gaps)} points from "
        "the best compared method *of each data set*, chosen with the test labels at hand. Its "
        f"largest loss is {-worst[0]:.1f} points, on {dataset_title(worst[1])} with {worst[2]:.0%} "
        f"labels; it is more than 2 points behind in {n_below} of {len(shares.by_cell)} cells."
    )
