"""The gain of the paper's two modules by the learning rate, and what the loss does.

Records come from `manyview bench run learning-rate --out results`.
"""

from itertools import product
from pathlib import Path

import as_printed
import numpy as np
from formatting import and_list, deviation, signed
from matplotlib import rc_context

from manyview.experiments.plan import load_plan
from manyview.report.figures.style import STYLE, legend_below, looks, panels
from manyview.report.study.results import dataset_title

FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "learning-rate.svg"


def rate_gains():
    """Return the gains by data set, module and learning rate, one value per seed."""
    results = as_printed.accuracies("learning-rate")
    plan = load_plan("learning-rate")
    rates = plan.entry("neither").grid["learning_rate"]
    by_dataset = {}
    for dataset in plan.datasets:
        own = {}
        for module, rate in product(as_printed.MODULES, rates):
            place = 0.1, "stratified", rate
            plain, _ = as_printed.found(results, dataset, "neither", *place)
            by_seed, _ = as_printed.found(results, dataset, module, *place)
            if len(plain) == len(by_seed) == as_printed.N_SEEDS:
                own.setdefault(module, {})[rate] = [by_seed[seed] - plain[seed] for seed in plain]
        if len(own) == len(as_printed.MODULES) and all(
            len(one) == len(rates) for one in own.values()
        ):
            by_dataset[dataset] = own
    return by_dataset


def draw():
    """Draw the gain of each module against the learning rate; return the numbers in words."""
    by_dataset = rate_gains()
    figure, axes = panels(max(len(by_dataset), 1), height=2.2, extra=0.4)
    words = []
    with rc_context(STYLE):
        for axis, (dataset, own) in zip(axes, by_dataset.items(), strict=False):
            axis.axhline(0, color="#777777", linewidth=0.8)
            for (module, by_rate), look in zip(
                own.items(), looks([m == "both" for m in own]), strict=True
            ):
                x, mean = np.array(list(by_rate)), np.array([np.mean(v) for v in by_rate.values()])
                axis.plot(x, mean, label=as_printed.VARIANTS[module], **look.line())
                if look.is_own:
                    std = np.array([deviation(values) for values in by_rate.values()])
                    axis.fill_between(
                        x, mean - std, mean + std, color=look.color, alpha=0.16, linewidth=0
                    )
                numbers = ", ".join(f"{signed(m)} at {r:g}" for r, m in zip(x, mean, strict=True))
                words.append(f"{dataset_title(dataset)}, {as_printed.VARIANTS[module]}: {numbers}.")
            axis.set_title(dataset_title(dataset))
            axis.set_xscale("log")
            axis.set_xticks(x, [f"{rate:g}" for rate in x])
            axis.minorticks_off()
            axis.set_xlabel("learning rate")
            axis.set_ylabel("gain (points)")
        if by_dataset:
            legend_below(figure, axes[0], len(as_printed.MODULES))
    return figure, " ".join(words)


def rate_sentence():
    """Write the mean gain of both modules, and the plain accuracy, by learning rate."""
    by_dataset = rate_gains()
    if not by_dataset:
        return "No data set has been run with all learning rates yet."
    results = as_printed.accuracies("learning-rate")
    parts = []
    for rate in next(iter(by_dataset.values()))["both"]:
        gain = np.mean([np.mean(own["both"][rate]) for own in by_dataset.values()])
        plain = np.mean(
            [
                np.mean(list(results[dataset, "neither", 0.1, "stratified", rate].values()))
                for dataset in by_dataset
            ]
        )
        parts.append(f"{signed(gain)} at {rate:g} ({plain:.1f} without)")
    return (
        f"Mean gain of both modules in points, and mean accuracy without them, over "
        f"{and_list([dataset_title(name) for name in by_dataset])}: {', '.join(parts)}."
    )


def curves():
    """Return the curves of the data sets with all rates: (variant, rate) -> data set -> curves."""
    study, found_curves = as_printed.study_of("learning-rate"), {}
    names = rate_gains()
    for one in study.plan.cells():
        if one.dataset in names and (records := study.records_of(one)):
            place = one.entry.removesuffix("-edge"), dict(one.point)["learning_rate"]
            own = [record["curve"] for record in records]
            found_curves.setdefault(place, {})[one.dataset] = own
    return found_curves


def spikes():
    """Count the fits whose loss rises above its first value: (variant, rate) -> (risen, all)."""
    counts = {}
    for place, by_dataset in curves().items():
        losses = [curve["loss"] for own in by_dataset.values() for curve in own]
        counts[place] = sum(max(loss) > loss[0] for loss in losses), len(losses)
    return counts


def peaks(rate=0.1):
    """Return the mean accuracy of the last epoch and of the best one, by variant."""
    means = {}
    for (variant, its_rate), by_dataset in curves().items():
        if its_rate == rate:
            tested = [[one["test_accuracy"] for one in own] for own in by_dataset.values()]
            last = np.mean([np.mean([values[-1] for values in own]) for own in tested])
            best = np.mean([np.mean([max(values) for values in own]) for own in tested])
            means[variant] = 100 * last, 100 * best
    return means


def mean_accuracy(variant, rate):
    """Return the mean accuracy over the data sets with all rates, in percent."""
    tested = curves()[variant, rate].values()
    return 100 * np.mean([np.mean([one["test_accuracy"][-1] for one in own]) for own in tested])


def smaller_rate_sentence():
    """Compare a smaller learning rate without the modules with the paper as printed."""
    if not rate_gains():
        return ""
    small, printed = mean_accuracy("neither", 0.01), mean_accuracy("both", 0.1)
    return (
        f"A learning rate of 0.01 without the modules has {small:.1f} on average over the data "
        f"sets of the figure, the paper as printed, 0.1 with both, {printed:.1f}."
    )


def peak_sentence():
    """Write what the modules would gain if the epoch were chosen by test accuracy."""
    found_peaks = peaks()
    if not found_peaks:
        return ""
    (last, top), (plain_last, plain_top) = found_peaks["both"], found_peaks["neither"]
    return (
        f"If the epoch were chosen by the test accuracy, which is no fair choice, the paper as "
        f"printed would have {top:.1f} instead of {last:.1f} on average over these data sets, and "
        f"{plain_top:.1f} instead of {plain_last:.1f} without the modules: a gain of "
        f"{signed(top - plain_top)} instead of {signed(last - plain_last)}."
    )


def spike_sentence():
    """Write how often the loss rises above its first value, by learning rate."""
    counts = spikes()
    if not counts:
        return ""
    rates = dict.fromkeys(rate for _, rate in counts)
    parts = [
        f"{counts['neither', rate][0]} and {counts['both', rate][0]} at {rate:g}" for rate in rates
    ]
    (n_fits,) = {n_fits for _, n_fits in counts.values()}
    return (
        f"Of {n_fits} fits without the modules and {n_fits} with both, the training loss rises "
        f"above its first value in {', '.join(parts)}."
    )
