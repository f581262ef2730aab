"""The page about labeling with the queue: labels needed, and times, from stored records alone."""

import json
from pathlib import Path

import numpy as np
from formatting import and_list, cell, fold, table
from labeling_study import (
    COUNTS,
    LEVELS,
    MISTAKES,
    N_SEEDS,
    RECORDS,
    compared,
    counted,
)
from labeling_times import FILE as TIMES
from stored_records import read

from manyview.report.study.results import dataset_title

TEMPLATE = Path(__file__).parent / "templates" / "labeling.md"
TITLES = {
    "queue": "the queue of `manyview label`",
    "random": "random samples",
    "uncertainty": "smallest margin",
    "typiclust": "TypiClust",
    "coreset": "CoreSet",
    "badge": "BADGE",
}


def by_dataset(found):
    """Return {data set: labels needed by seed} of one strategy's runs."""
    groups = {}
    for (dataset, _), needed in found.items():
        groups.setdefault(dataset, []).append(needed)
    return groups


def mean_of(found):
    """Return the mean over data sets of the means over seeds."""
    return float(np.mean([np.mean(counted(needed)) for needed in by_dataset(found).values()]))


def seed_means(found):
    """Return the mean over data sets of each seed that all data sets have."""
    datasets = {dataset for dataset, _ in found}
    seeds = {seed for _, seed in found}
    whole = [seed for seed in sorted(seeds) if all((one, seed) in found for one in datasets)]
    return [np.mean(counted([found[one, seed] for one in datasets])) for seed in whole]


def needed_text(needed, n_seeds=None):
    """Write labels needed: "≥" where a run has not reached the level with 100 labels."""
    text = cell(counted(needed), n_seeds)
    return f"≥ {text}" if None in needed else text


def strategies_table(records, mistakes):
    """Return one row per strategy: labels needed to reach each level, mean over data sets."""
    rows = {}
    for level in LEVELS:
        found = compared(records, level, mistakes)
        if not any(found.values()):
            return "No run of all strategies is stored yet."
        for name, runs in found.items():
            means, n_more = seed_means(runs), list(runs.values()).count(None)
            mean = f"{mean_of(runs):.1f}"
            if len(means) > 1:
                mean += f" ({np.std(means, ddof=1):.1f})"
            ratio = mean_of(runs) / mean_of(found["random"])
            rows.setdefault(name, [TITLES[name]]).extend(
                [f"≥ {mean}" if n_more else mean, str(n_more), f"{ratio:.2f}"]
            )
    heads = [
        f"{level:.0%}: {what}"
        for level in LEVELS
        for what in ("labels", "not reached", "to random")
    ]
    return table(["samples chosen by", *heads], list(rows.values()))


def datasets_table(records, mistakes, level):
    """Return one row per data set: labels needed by each strategy, mean and deviation."""
    found = compared(records, level, mistakes)
    groups = {name: by_dataset(runs) for name, runs in found.items()}
    rows = [
        [dataset_title(dataset), *(needed_text(of[dataset], N_SEEDS) for of in groups.values())]
        for dataset in groups["random"]
    ]
    return table(["data set", *(TITLES[name] for name in groups)], rows)


def queue_and_random(records, mistakes, level):
    """Return {data set: (labels needed by the queue, by random choice)} in all stored runs."""
    found = compared(records, level, mistakes, ("queue", "random"))
    queue, random = (by_dataset(found[name]) for name in ("queue", "random"))
    return {dataset: (queue[dataset], random[dataset]) for dataset in queue}


def ratio_of(queue, random):
    """Return the queue's mean over that of random choice; None where no run reaches the level."""
    if set(queue) | set(random) == {None}:
        return None
    return float(np.mean(counted(queue)) / np.mean(counted(random)))


def mean_ratio(records, mistakes, level):
    """Return the mean of the data sets' ratios, and the number of data sets that have one."""
    pairs = queue_and_random(records, mistakes, level).values()
    ratios = [ratio for pair in pairs if (ratio := ratio_of(*pair)) is not None]
    return (float(np.mean(ratios)) if ratios else None), len(ratios)


def ratios_table(records):
    """Return one row per data set: labels of the queue, of random choice, and their ratio."""
    settings = [(mistakes, level) for mistakes in MISTAKES for level in LEVELS]
    rows, means = {}, []
    for setting in settings:
        for dataset, (queue, random) in queue_and_random(records, *setting).items():
            ratio = ratio_of(queue, random)
            both = " / ".join(
                f"≥ {np.mean(counted(one)):.0f}" if None in one else f"{np.mean(counted(one)):.0f}"
                for one in (queue, random)
            )
            cells = rows.setdefault(dataset, {})
            cells[setting] = both + (" (-)" if ratio is None else f" ({ratio:.2f})")
        mean, n_datasets = mean_ratio(records, *setting)
        means.append("" if mean is None else f"{mean:.2f} of {n_datasets}")
    heads = [f"{level:.0%}, {mistakes:.0%} mistakes" for mistakes, level in settings]
    body = [
        [dataset_title(dataset), *(cells.get(setting, "") for setting in settings)]
        for dataset, cells in rows.items()
    ]
    return table(["data set", *heads], [*body, ["mean of the ratios", *means]])


def what_has_run(records):
    """Return one sentence: how many runs are stored, of which data sets and seeds."""
    found = compared(records, LEVELS[-1], 0.0)["random"]
    if not found:
        return "No data set has runs of all strategies yet."
    groups = by_dataset(found)
    counts = sorted({len(needed) for needed in groups.values()})
    seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    names = and_list([dataset_title(name) for name in groups])
    return (
        f"So far {seeds} of {N_SEEDS} seeds have run for all strategies without mistakes on "
        f"{len(groups)} data set{'s' if len(groups) > 1 else ''}: {names}."
    )


def answer(records):
    """Return the first sentences: the queue's labels against random choice."""
    sentences = []
    for mistakes in MISTAKES:
        ratios, numbers = [], []
        for level in LEVELS:
            found = compared(records, level, mistakes, ("queue", "random"))
            if not found["random"]:
                continue
            queue, random = mean_of(found["queue"]), mean_of(found["random"])
            ratios.append(f"{queue / random:.0%}")
            at_least = "at least " if None in found["random"].values() else ""
            numbers.append(f"{queue:.0f} instead of {at_least}{random:.0f} labels for {level:.0%}")
        if not ratios:
            continue
        whose = f"who is wrong {mistakes:.0%} of the time" if mistakes else "who is always right"
        sentences.append(
            f"For a person {whose}, the queue needs {and_list(ratios)} of the labels of random "
            f"choice, mean over {len(by_dataset(found['random']))} data sets "
            f"({len(found['random'])} runs of each): {and_list(numbers)} of the accuracy with 10% "
            f"labels. {by_ratio(records, mistakes)}"
        )
    return " ".join(sentences) or "No run is stored yet."


def losses(records):
    """Return the strategies that need fewer labels than the queue, of those that all have run."""
    found = []
    for mistakes in MISTAKES:
        for level in LEVELS:
            runs = compared(records, level, mistakes)
            if not runs["queue"]:
                continue
            own = mean_of(runs["queue"])
            found += [
                f"{TITLES[name]} ({mean_of(other):.1f} instead of {own:.1f} labels for "
                f"{level:.0%}, with {mistakes:.0%} mistakes, n = {len(other)})"
                for name, other in runs.items()
                if mean_of(other) < own
            ]
    return f"On the same runs, these need fewer than the queue: {and_list(found)}." if found else ""


def by_ratio(records, mistakes):
    """Return a sentence: the mean of the data sets' ratios, which hard sets do not dominate."""
    means = [mean_ratio(records, mistakes, level) for level in LEVELS]
    ratios = and_list([f"{mean:.2f}" for mean, _ in means if mean is not None])
    n_reached = and_list(sorted({str(n_datasets) for mean, n_datasets in means if mean}))
    return (
        f"The mean of the data sets' ratios is {ratios}, over the {n_reached} data sets where "
        "either gets there with 100 labels."
    )


def times_table(file=TIMES):
    """Return one row per number of samples: times, their ratio to one epoch, and memory."""
    if not file.exists():
        return "No time is stored yet."
    rows = [
        [
            f"{one['n_samples']:,}",
            f"{one['saved_ms']['median']:.0f} ms ({one['saved_ms']['95%']:.0f})",
            f"{one['predictions_seconds']['median']:.1f} s "
            f"({one['predictions_seconds']['largest']:.1f})",
            f"{one['predictions_cpu_seconds']:.1f} s",
            f"{one['predictions_per_epoch']:.0f}",
            *(
                f"{one['memory_mb']['first'][name]:.0f}, {one['memory_mb']['last'][name]:.0f}"
                for name in ("server", "worker")
            ),
            f"{one['n_labels']:,}",
            f"{one['load']:.0f} on {one['n_cpus']}",
        ]
        for one in json.loads(file.read_text())
    ]
    heads = ["samples", "saved (95%)", "new predictions (largest)", "CPU", "epochs", "server MB",
             "worker MB", "labels", "load"]  # fmt: skip
    return table(heads, rows)


def page():
    """Return the text of the page."""
    records = read(RECORDS)
    folds = "\n\n".join(
        fold(
            f"By data set: {level:.0%} of the accuracy with 10% labels, {mistakes:.0%} mistakes",
            datasets_table(records, mistakes, level),
        )
        for mistakes in MISTAKES
        for level in LEVELS
        if any(compared(records, level, mistakes).values())
    )
    return TEMPLATE.read_text().format(
        answer=answer(records),
        losses=losses(records),
        without_mistakes=strategies_table(records, 0.0),
        with_mistakes=strategies_table(records, MISTAKES[-1]),
        ratios=ratios_table(records),
        by_dataset=folds,
        run=what_has_run(records),
        counts=and_list([str(one) for one in COUNTS]),
        most=max(COUNTS),
        times=times_table(),
    )
