"""The paper as printed: its ablation and its main rows again.

Records come from `manyview bench run as-printed --out results`; those of our defaults from the plan
`ablation`.
"""

from functools import cache
from itertools import product

import numpy as np
from formatting import and_list, cell, deviation, fold, signed, table
from stored_records import RESULTS

from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study
from manyview.report.study.comparison import paired_t_test
from manyview.report.study.results import METRICS, dataset_title, study_results

NOWHERE = "no data needed"  # a folder that does not exist: pages depend on records alone
N_SEEDS = 5
N_PAPER = 32  # numbers of the paper's ablation table
NEAR = 1.0  # points within which a number of the paper comes out
MARK = "<sup>e</sup>"  # one gate per edge
VARIANTS = {
    "neither": "neither",
    "graph-learning": "graph learning",
    "node-selection": "node selection",
    "both": "both",
}
MODULES = tuple(VARIANTS)[1:]
SOURCES = ("paper", "as printed", "default")
DRAWS = ("stratified", "random")


@cache
def study_of(plan):
    """Return the study of a plan with the stored records."""
    return Study.open(load_plan(plan), RESULTS, NOWHERE)


@cache
def accuracies(plan):
    """Return the percentages by seed of every cell of a plan that has records."""
    study = study_of(plan)
    return {
        (
            one.dataset,
            one.entry,
            one.label_ratio,
            one.protocol,
            dict(one.point).get("learning_rate"),
        ): result.by_seed
        for one, result in study_results(study, METRICS["accuracy"]).items()
        if result.by_seed
    }


def found(results, dataset, variant, *place):
    """Return a variant's percentages by seed, and whether one gate per edge stands in.

    m x m factors count once they have as many seeds as the gates.
    """
    full = results.get((dataset, variant, *place), {})
    edge = results.get((dataset, f"{variant}-edge", *place), {})
    return (edge, True) if len(edge) > len(full) else (full, False)


def printed(dataset, ratio=0.1, protocol="stratified", variant="both"):
    """Return the percentages of the paper as printed by seed, and whether gates stand in."""
    suffix = "" if ratio == 0.1 else "-few"
    return found(accuracies("as-printed"), dataset, variant + suffix, ratio, protocol, None)


def shown(by_seed, is_edge):
    """Write percentages, and a mark where one gate per edge stands in."""
    return cell(list(by_seed.values()), N_SEEDS) + (MARK if is_edge else "")


def printed_cell(dataset, ratio):
    """Write the accuracy of the paper as printed for the page of results."""
    return shown(*printed(dataset, ratio))


def ablation():
    """Return the cells of data sets with all variants: the paper's, ours, our default's, marked."""
    plan, default = load_plan("ablation"), accuracies("ablation")
    cells = {}
    for dataset in load_plan("as-printed").datasets:
        own = {variant: printed(dataset, variant=variant) for variant in VARIANTS}
        if not all(by_seed for by_seed, _ in own.values()):
            continue
        for variant, (by_seed, is_edge) in own.items():
            ours = default.get((dataset, variant, 0.1, "stratified", None), {})
            cells[dataset, variant] = plan.paper[dataset][variant][0.1], by_seed, ours, is_edge
    return cells


def ablation_table():
    """One row per data set and source: the paper, ours as printed, ours by default."""
    cells, rows = ablation(), []
    for dataset in dict.fromkeys(name for name, _ in cells):
        own = [cells[dataset, variant] for variant in VARIANTS]
        written = (
            [f"{mean} ({std})" for (mean, std), *_ in own],
            [shown(by_seed, is_edge) for _, by_seed, _, is_edge in own],
            [cell(list(ours.values()), N_SEEDS) for _, _, ours, _ in own],
        )
        rows += [
            [dataset_title(dataset), source, *own_cells]
            for source, own_cells in zip(SOURCES, written, strict=True)
        ]
    return table(["data set", "", *VARIANTS.values()], rows, n_words=2)


def gains(cells):
    """Return the gains over neither module: (data set, module) -> the paper's, by seed."""
    found_gains = {}
    for (dataset, variant), (paper, by_seed, *_) in cells.items():
        if variant in MODULES:
            start, of_start, *_ = cells[dataset, "neither"]
            seeds = by_seed.keys() & of_start.keys()
            own = [by_seed[seed] - of_start[seed] for seed in sorted(seeds)]
            found_gains[dataset, variant] = paper[0] - start[0], own
    return found_gains


def gains_table():
    """One row per data set and module: the paper's gain, ours as printed, whether signs agree."""
    rows = []
    for (dataset, module), (of_paper, own) in gains(ablation()).items():
        std = f" ({deviation(own):.1f})" if len(own) > 1 else ""
        words = [dataset_title(dataset), VARIANTS[module]]
        sign = "same" if np.mean(own) * of_paper > 0 else "other"
        rows.append([*words, signed(of_paper), signed(np.mean(own)) + std, sign])
    heads = ["data set", "module", "paper", "as printed", "sign"]
    return fold("Gain of each module, the paper's and ours", table(heads, rows, n_words=2))


@cache
def collapses():
    """Count the fits with 10% labels that found one class: (data set, variant) -> (n, all).

    Their balanced accuracy is below twice that of one class for all samples.
    """
    study, counts = study_of("as-printed"), {}
    for one in study.plan.cells():
        variant = one.entry.removesuffix("-edge")
        if variant in VARIANTS and one.label_ratio == 0.1:
            records = study.records_of(one)
            n_found = sum(r["balanced_accuracy"] < 2 / r["n_classes_labeled"] for r in records)
            n_before, n_all = counts.get((one.dataset, variant), (0, 0))
            counts[one.dataset, variant] = n_before + n_found, n_all + len(records)
    return counts


def collapsed_sets():
    """Return the data sets on which most fits with or without the modules found one class."""
    counts = collapses()
    names = dict.fromkeys(name for name, _ in counts)
    return [
        name
        for name in names
        if sum(counts[name, v][0] for v in VARIANTS) > sum(counts[name, v][1] for v in VARIANTS) / 2
    ]


def collapse_sentence():
    """Write on which data sets training as printed ends with one class, and how often."""
    counts = collapses()
    names = collapsed_sets()
    parts = [
        f"{dataset_title(name)} "
        + ", ".join(f"{words} {counts[name, v][0]} of {counts[name, v][1]}"
                    for v, words in VARIANTS.items())
        for name in names
    ]  # fmt: skip
    (n_plain, n_both), (of_plain, of_both) = (
        [sum(counts[name, v][place] for name in names) for v in ("neither", "both")]
        for place in (0, 1)
    )
    trained = [name for name, _ in ablation() if name not in names]
    kept = {key: one for key, one in gains(ablation()).items() if key[0] in trained}
    return (
        f"On {and_list([dataset_title(name) for name in names])} training as printed collapses: "
        f"most fits give nearly all samples one class ({'; '.join(parts)}). Without the modules "
        f"{of_plain - n_plain} of {of_plain} fits escape, with both {of_both - n_both} of "
        f"{of_both}, hence the large deviations. Over the other {len(set(trained))} data sets the "
        f"mean gain of both modules is {signed(mean_gain(kept, 'both'))} (the paper: "
        f"{signed(mean_gain(kept, 'both', of_paper=True))})."
    )


def is_significant(values):
    """Return whether gains differ from 0 in the paired t test over splits."""
    return len(values) > 1 and paired_t_test(values) < 0.05


def ablation_sentences():
    """Write how many of the paper's numbers and signs come out."""
    cells = ablation()
    near = {
        k: abs(np.mean(list(own.values())) - paper[0]) <= NEAR
        for k, (paper, own, *_) in cells.items()
    }
    found_gains = gains(cells)
    n_at_hand = len(VARIANTS) * len(load_plan("as-printed").datasets)
    not_run = "" if len(cells) == n_at_hand else f", of which {len(cells)} have run"
    same = sum(np.mean(own) > 0 for _, own in found_gains.values())
    up = sum(np.mean(own) > 0 and is_significant(own) for _, own in found_gains.values())
    down = sum(np.mean(own) < 0 and is_significant(own) for _, own in found_gains.values())
    by_module = and_list(
        [
            f"{signed(mean_gain(found_gains, module))} for {words} (the paper: "
            f"{signed(mean_gain(found_gains, module, of_paper=True))})"
            for module, words in list(VARIANTS.items())[1:]
        ]
    )
    return (
        f"Of the {N_PAPER} numbers in the paper's ablation, {n_at_hand} are on data at hand"
        f"{not_run}. As printed, {sum(near.values())} of these come out within {NEAR:.0f} point. "
        f"The paper's {len(found_gains)} gains over neither module are all positive. Ours have "
        f"the same sign in {same}, and differ from 0 over the splits (paired t test, p below 0.05) "
        f"in {up} upward and {down} downward. Mean gain over the data sets: {by_module}."
    )


def mean_gain(found_gains, module, *, of_paper=False):
    """Average the gain of a module over the data sets, in points."""
    return np.mean(
        [
            paper if of_paper else np.mean(own)
            for (_, v), (paper, own) in found_gains.items()
            if v == module
        ]
    )


def main_rows():
    """Rows of the main table: MGCN-DNS and GCN fusion as printed, both draws with 1% labels."""
    paper = load_plan("accuracy").paper
    rows = []
    places = [(0.01, "stratified"), (0.01, "random"), (0.1, "stratified")]
    for dataset, (ratio, draw) in product(load_plan("as-printed").datasets, places):
        own = printed(dataset, ratio, draw)
        plain = printed(dataset, ratio, draw, "gcn-fusion")[0]
        if own[0] or plain:
            of_paper = [f"{paper[dataset][m][ratio][0]}" for m in ("mgcn-dns", "gcn-fusion")]
            rows.append(
                [
                    dataset_title(dataset), f"{ratio:.0%}", draw,
                    shown(*own), of_paper[0], shown(plain, False), of_paper[1],
                ]
            )  # fmt: skip
    heads = ["data set", "labels", "draw", "MGCN-DNS", "paper", "GCN fusion", "paper"]
    return fold(
        "MGCN-DNS and GCN fusion as printed, in the main table", table(heads, rows, n_words=3)
    )


def readme_sentence():
    """Write in one sentence what the modules gain as printed and by default."""
    cells = ablation()
    collapsed = collapsed_sets()
    own = {key: one for key, one in gains(cells).items() if key[0] not in collapsed}
    names = list(dict.fromkeys(name for name, _ in own))
    default = [
        np.mean(list(cells[name, "both"][2].values()))
        - np.mean(list(cells[name, "neither"][2].values()))
        for name in names
    ]
    return (
        f"With the paper's recipe as printed, its two modules change accuracy by "
        f"{signed(mean_gain(own, 'both'))} points on average over {len(names)} of its data sets "
        f"(the paper has {signed(mean_gain(own, 'both', of_paper=True))}); with our defaults by "
        f"{signed(np.mean(default))}. On {and_list([dataset_title(one) for one in collapsed])} "
        "training as printed collapses to one class ([replication](docs/replication.md))."
    )


def parts():
    """Return the parts of the section of the replication page."""
    return {
        "ablation_sentences": ablation_sentences(),
        "ablation_table": ablation_table(),
        "gains_table": gains_table(),
        "main_rows": main_rows(),
        "collapse_sentence": collapse_sentence(),
    }
