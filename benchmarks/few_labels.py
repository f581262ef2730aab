"""What the default gains where labels are few: summaries of the plan `few-labels`.

All numbers come from stored records. A data set counts at a label ratio where every compared entry
has records; seeds that all of them have are compared.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import random_forest
from formatting import SCORES, and_list, p_value, signed, table

from manyview.report.study.comparison import average_ranks, paired_t_test
from manyview.report.study.results import METRICS, dataset_title, study_results

OWN, PLAIN, SELF_TRAINED = "manyview", "plain", "plain-self-trained"
PAPER, MODULES_OFF = "mgcn-dns", "modules-off"
NOTICEABLE = 0.2  # points
ENTRIES = (OWN, PAPER, PLAIN, SELF_TRAINED, "ssgcn", "label-spreading", "amgl", "mlan")
SHORT = (OWN, PAPER, PLAIN, SELF_TRAINED, "ssgcn")  # README's


@dataclass(frozen=True)
class Comparison:
    """Entries on the same data sets and seeds, at one label ratio.

    Attributes
    ----------
    scores
        Percentages by entry, data set and seed.
    """

    label_ratio: float
    scores: dict[str, dict[str, dict[int, float]]]

    @property
    def datasets(self):
        """Names of the data sets that count."""
        return list(self.scores[OWN])

    def mean(self, entry, dataset=None):
        """Mean percentage of an entry on one data set, or over all of them."""
        names = self.datasets if dataset is None else [dataset]
        return float(np.mean([np.mean(list(self.scores[entry][d].values())) for d in names]))

    def ranks(self):
        """Average rank of every entry, 1 is best."""
        rows = [[self.mean(entry, d) for entry in self.scores] for d in self.datasets]
        return dict(zip(self.scores, average_ranks(rows), strict=True))

    def gaps(self, entry):
        """Gain of the default over an entry by data set, in points."""
        return {d: self.mean(OWN, d) - self.mean(entry, d) for d in self.datasets}

    def test(self, entry):
        """P value of the paired t test of the default against an entry, data sets as samples."""
        return paired_t_test(list(self.gaps(entry).values()))

    def worst(self, entry=PLAIN):
        """Return the data set with the smallest gain over an entry, and that gain in points."""
        return min(self.gaps(entry).items(), key=lambda gap: gap[1])


def compare(study, label_ratio, entries, field="accuracy"):
    """Compare the entries on all data sets that every one of them has records of."""
    found = defaultdict(dict)
    for cell, result in study_results(study, METRICS[field]).items():
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


def comparisons(study, entries=ENTRIES, field="accuracy"):
    """Return the comparisons of these entries at all label ratios that have records."""
    compared = [compare(study, ratio, entries, field) for ratio in study.plan.label_ratios]
    return [one for one in compared if one.datasets]


def titles_of(study):
    """Return the title of every entry of the plan by its name."""
    return {entry.name: entry.title for entry in study.plan.entries}


def methods_table(study, field="accuracy"):
    """Mean score, average rank and p value of every entry; and which data sets count."""
    found = comparisons(study, field=field)
    if not found:
        return "No data set has records of all these methods yet.", "none"
    titles = titles_of(study)
    rows = []
    for entry in ENTRIES:
        cells = []
        for one in found:
            test = "" if entry == OWN else p_value(one.test(entry), name="")
            cells += [f"{one.mean(entry):.1f}", f"{one.ranks()[entry]:.1f}", test]
        rows.append([titles[entry], *cells])
    heads = [head for c in found for head in (f"{c.label_ratio:.0%}: mean", "rank", "p")]
    ratios_of = defaultdict(list)
    for one in found:
        ratios_of[tuple(one.datasets)].append(f"{one.label_ratio:.0%}")
    counts = "; ".join(
        f"{len(datasets)} with {and_list(ratios)} labels ({', '.join(datasets)})"
        for datasets, ratios in ratios_of.items()
    )
    return table(["method", *heads], rows), counts


def short_table(study):
    """Mean scores of the most telling entries: README's table."""
    by_score, titles = [comparisons(study, field=field) for field in SCORES], titles_of(study)
    titles[PAPER] += " (the paper's method)"
    cells = list(zip(*by_score, strict=True))  # one per label ratio: a comparison per score
    rows = [
        [titles[entry], *(" / ".join(f"{one.mean(entry):.1f}" for one in cell) for cell in cells)]
        for entry in SHORT
    ]
    forest = [
        [
            random_forest.means(one.datasets, field)[one.label_ratio]
            for one, field in zip(cell, SCORES, strict=True)
        ]
        for cell in cells
    ]
    if not any(None in means for means in forest):
        rows.append(["random forest", *(" / ".join(f"{m:.1f}" for m in one) for one in forest)])
    return table(["method", *(f"{cell[0].label_ratio:.0%} labels" for cell in cells)], rows)


def beside_paper(study, accuracy):
    """Write what the paper reports for its own method, beside ours on the same data sets.

    `accuracy` is the study with the paper's numbers.
    """
    reported = {
        (cell.dataset, cell.label_ratio): result.paper[0]
        for cell, result in study_results(accuracy, METRICS["accuracy"]).items()
        if cell.entry == PAPER and result.paper is not None
    }
    parts = []
    for one in comparisons(study):
        names = [d for d in one.datasets if (d, one.label_ratio) in reported]
        if names:
            printed = np.mean([reported[d, one.label_ratio] for d in names])
            own, paper = (np.mean([one.mean(entry, d) for d in names]) for entry in (OWN, PAPER))
            parts.append(
                f"With {one.label_ratio:.0%} labels, the paper reports {printed:.1f} for its "
                f"method, mean of {and_list([dataset_title(d) for d in names])}; there manyview "
                f"has {own:.1f}, and our MGCN-DNS {paper:.1f}."
            )
    return " ".join(parts)


def n_counted(study):
    """Write the number of data sets that the tables average over."""
    return " to ".join(map(str, sorted({len(one.datasets) for one in comparisons(study)})))


def largest_losses(study):
    """Write where the default is furthest behind any other entry, by label ratio."""
    titles, worst = titles_of(study), []
    for one in comparisons(study):
        gaps = [
            (gap, titles[entry], dataset)
            for entry in ENTRIES[1:]
            for dataset, gap in one.gaps(entry).items()
        ]
        forest = {d: random_forest.means([d])[one.label_ratio] for d in one.datasets}
        gaps += [
            (one.mean(OWN, dataset) - mean, "a random forest", dataset)
            for dataset, mean in forest.items()
            if mean is not None
        ]
        gap, title, dataset = min(gaps)
        if gap < 0:
            worst.append(
                f"{-gap:.1f} points to {title} on {dataset} ({one.label_ratio:.0%} labels)"
            )
    return and_list(worst) if worst else ""


def answer(study):
    """Return the first sentences of the page of results."""
    found, titles = comparisons(study), titles_of(study)
    ratios = and_list([f"{one.label_ratio:.0%}" for one in found])
    n_best = sum(all(one.mean(OWN) >= one.mean(e) for e in ENTRIES) for one in found)
    n_first = sum(all(one.ranks()[OWN] <= one.ranks()[e] for e in ENTRIES) for one in found)
    where = "" if n_best == n_first == len(found) else f" at {n_best} and {n_first} of these ratios"
    gains = [
        f"{and_list([signed(one.mean(OWN) - one.mean(entry)) for one in found])} points over {name}"
        for name, entry in (
            ("the paper's MGCN-DNS", PAPER),
            ("a plain GCN", PLAIN),
            ("a self-trained plain GCN", SELF_TRAINED),
        )
    ]
    behind = largest_losses(study)
    return (
        f"With {ratios} of the samples labeled, `{titles[OWN]}` has the highest mean accuracy and "
        f"the best average rank{where} of {len(ENTRIES)} methods on {n_counted(study)} data "
        f"sets. It gains {'; '.join(gains)}. {modules_sentence(study)}"
        + (f" Its largest losses are {behind}." if behind else "")
    )


def against_plain(study):
    """Return sentences: what the default gains over a plain GCN, and where it gains least."""
    sentences = []
    for one in comparisons(study, (OWN, PLAIN)):
        dataset, gap = one.worst()
        gain = one.mean(OWN) - one.mean(PLAIN)
        sentences.append(
            f"With {one.label_ratio:.0%} labels, the mean gain over a plain GCN is {signed(gain)} "
            f"points on {len(one.datasets)} data sets ({p_value(one.test(PLAIN))}), the smallest "
            f"{signed(gap)} ({dataset})."
        )
    return " ".join(sentences)


def modules_sentence(study):
    """Return what graph learning and node selection add to self-training."""
    gaps = [one.mean(OWN) - one.mean(MODULES_OFF) for one in comparisons(study, (OWN, MODULES_OFF))]
    if not gaps:
        return ""
    if min(gaps) >= NOTICEABLE:
        return "Graph learning and node selection added a little to self-training."
    return "Graph learning and node selection gave no measurable gain over self-training."


def against_self_trained(study):
    """Return sentences: the default against a self-trained plain GCN, and without its modules."""
    alone, off = (_gains_and_wins(study, rival) for rival in (SELF_TRAINED, MODULES_OFF))
    if not alone or not off:
        return ""
    return (
        f"The self-trained plain GCN has neither the chosen scaling nor the early-fusion graph nor "
        f"the linear initial teacher; the default's gain over it is {alone}. The default's gain "
        f"over itself without graph learning and node selection is {off}. {modules_sentence(study)}"
    )


def _gains_and_wins(study, rival):
    """Write the gains of the default over an entry, and on how many data sets it is ahead."""
    written = []
    for one in comparisons(study, (OWN, rival)):
        gaps = one.gaps(rival)
        wins = sum(gap > 0 for gap in gaps.values())
        gain = one.mean(OWN) - one.mean(rival)
        written.append(
            f"{signed(gain)} points at {one.label_ratio:.0%} ({p_value(one.test(rival), 2)}, ahead "
            f"on {wins} of {len(gaps)} data sets)"
        )
    return ", ".join(written)
