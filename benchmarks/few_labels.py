"""What the default brings where labels are few: summaries of the plan `few-labels`.

All numbers hang on stored records alone. A data set counts at a share of labels where every
entry compared there has records; seeds that all of these have are compared.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from manyview.report.study.comparison import average_ranks, paired_t_test
from manyview.report.study.results import METRICS, study_results

OWN, PLAIN, PLAIN_TAUGHT, MODULES_OFF = "mgcn-dns", "plain", "plain-taught", "modules-off"
NOTICEABLE = 0.2  # points
ENTRIES = (OWN, "paper", PLAIN, PLAIN_TAUGHT, "ssgcn", "label-spreading", "amgl", "mlan")


@dataclass(frozen=True)
class Comparison:
    """Entries on the same data sets and seeds, at one share of labels.

    Attributes
    ----------
    scores
        Percents by entry, data set and seed.
    """

    label_ratio: float
    scores: dict[str, dict[str, dict[int, float]]]

    @property
    def datasets(self):
        """Names of the data sets that count."""
        return list(self.scores[OWN])

    def mean(self, entry, dataset=None):
        """Mean percent of an entry on one data set, or over all of them."""
        names = self.datasets if dataset is None else [dataset]
        return float(np.mean([np.mean(list(self.scores[entry][d].values())) for d in names]))

    def ranks(self):
        """Average rank of every entry, 1 the best."""
        rows = [[self.mean(entry, d) for entry in self.scores] for d in self.datasets]
        return dict(zip(self.scores, average_ranks(rows), strict=True))

    def test(self, entry):
        """P value of the paired t test of our mean against the entry's, data sets as samples."""
        return paired_t_test([self.mean(OWN, d) - self.mean(entry, d) for d in self.datasets])

    def worst(self, entry=PLAIN):
        """Where we lose most, or win least, against an entry: data set and points."""
        gaps = {d: self.mean(OWN, d) - self.mean(entry, d) for d in self.datasets}
        return min(gaps.items(), key=lambda gap: gap[1])


def compare(study, label_ratio, entries):
    """Compare the entries on all data sets that every one of them has records of."""
    found = defaultdict(dict)
    for cell, result in study_results(study, METRICS["accuracy"]).items():
        if cell.label_ratio == label_ratio and cell.entry in entries and result.by_seed:
            found[cell.dataset][cell.entry] = result.by_seed
    scores = {entry: {} for entry in entries}
    for dataset, by_entry in found.items():
        if len(by_entry) < len(entries):
            continue
        seeds = set.intersection(*(set(by_seed) for by_seed in by_entry.values()))
        for entry, by_seed in by_entry.items():
            if seeds:
                scores[entry][dataset] = {seed: by_seed[seed] for seed in sorted(seeds)}
    return Comparison(label_ratio, scores)


def table(study):
    """Mean accuracy and average rank of every entry, at the shares of labels that all have run."""
    compared = [compare(study, ratio, ENTRIES) for ratio in study.plan.label_ratios]
    found = [one for one in compared if one.datasets]
    if not found:
        return "No data set has records of all these methods yet.", "none"
    heads = [f"{c.label_ratio:.0%}: mean | rank | p" for c in found]
    lines = [f"| method | {' | '.join(heads)} |", f"|---|{'---:|---:|---:|' * len(found)}"]
    titles = {entry.name: entry.title for entry in study.plan.entries}
    for entry in ENTRIES:
        cells = []
        for one in found:
            test = "" if entry == OWN else f"{one.test(entry):.3f}"
            cells.append(f"{one.mean(entry):.1f} | {one.ranks()[entry]:.1f} | {test}")
        lines.append(f"| {titles[entry]} | {' | '.join(cells)} |")
    ratios_of = defaultdict(list)
    for one in found:
        ratios_of[tuple(one.datasets)].append(f"{one.label_ratio:.0%}")
    counts = "; ".join(
        f"{len(datasets)} data sets at {', '.join(ratios)} ({', '.join(datasets)})"
        for datasets, ratios in ratios_of.items()
    )
    return "\n".join(lines), counts


def in_points(gain):
    """Write a gain with its sign; what rounds to nothing has none below 0."""
    return f"{round(gain, 1) + 0.0:+.1f}"


def against_plain(study):
    """Sentences: what the default gains over a plain GCN, and where it gains least."""
    sentences = []
    for ratio in study.plan.label_ratios:
        one = compare(study, ratio, (OWN, PLAIN))
        if not one.datasets:
            continue
        dataset, gap = one.worst()
        gain = one.mean(OWN) - one.mean(PLAIN)
        sentences.append(
            f"With {ratio:.0%} labels {in_points(gain)} points on average over "
            f"{len(one.datasets)} data sets (p = {one.test(PLAIN):.3f}), {in_points(gap)} at worst "
            f"({dataset})."
        )
    return " ".join(sentences)


def beside_taught(study):
    """Sentences: the default beside a plain GCN that teaches itself, and without its modules."""
    alone, _ = _gains_over(study, PLAIN_TAUGHT)
    off, gaps = _gains_over(study, MODULES_OFF)
    if not alone or not off:
        return ""
    modules = "a little" if min(gaps) >= NOTICEABLE else "nothing"
    return (
        "Against a plain GCN that its own predictions teach in the same way, without chosen "
        "scaling, "
        f"joint graph and linear teacher, the default is at {', '.join(alone)}. Against itself "
        f"without graph learning and node selection it is at {', '.join(off)}: the paper's two "
        f"modules add {modules} to what the lessons bring."
    )


def _gains_over(study, rival):
    """Say what the default gains over an entry at each share of labels; give the points, too."""
    told, gaps = [], []
    for ratio in study.plan.label_ratios:
        one = compare(study, ratio, (OWN, rival))
        if one.datasets:
            gaps.append(one.mean(OWN) - one.mean(rival))
            wins = sum(one.mean(OWN, d) > one.mean(rival, d) for d in one.datasets)
            told.append(
                f"{in_points(gaps[-1])} points at {ratio:.0%} (p = {one.test(rival):.2f}, ahead on "
                f"{wins} of {len(one.datasets)} data sets)"
            )
    return told, gaps
