"""The pages of results, made from stored records alone.

    python benchmarks/result_pages.py  # results, labeling, daily use, ...; README's table

Records come from `manyview bench run PLAN --out results` for every plan named on the pages, and
from the studies in this folder.
"""

import json
import tomllib
from collections import defaultdict
from pathlib import Path

import as_printed
import daily_use
import estimates
import few_labels
import few_labels_figure
import kdd99
import label_draws
import label_shares
import labeling_page
import learning_rates
import numpy as np
import paper_rows
import peers
import promises
import pseudo_label_parts
import replication
import training_costs
import unseen_data
from figure_files import save_figure
from formatting import SCORES, fold, score_folds, spread, table
from new_samples import RECORDS as NEW_SAMPLES
from new_samples import VARIANTS
from rich.console import Console
from stored_records import RESULTS, read

from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study
from manyview.methods import METHODS
from manyview.report.figures.write import write_figures
from manyview.report.study.comparison import paired_t_test
from manyview.report.study.formats import tables_as
from manyview.report.study.results import METRICS, dataset_title, far_from_paper, study_results

ROOT = Path(__file__).parent.parent
TEMPLATES = Path(__file__).parent / "templates"
NOWHERE = "no data needed"  # a folder that does not exist: pages depend on records alone
OPENING, CLOSING = "<!-- results, written by benchmarks/result_pages.py -->", "<!-- /results -->"
PLANS = {  # plan -> title of the fold that holds its table
    "few-labels": "All data sets, means over seeds",
    "accuracy": "All methods and data sets",
    "protocols": "All methods, both ways",
    "raw-features": "All methods and data sets",
    "other-data": "All methods and data sets",
    "ablation": "All data sets",
    "ratios": "All means",
    "neighbors": "All means",
    "gamma-tau": "All means",
}
FIGURES = ("ratios", "neighbors", "gamma-tau", "weights", "convergence", "adjacency")
FIGURE_FOLDER = ROOT / "docs" / "figures"
FIRST_FIGURE = FIGURE_FOLDER / "few-labels.svg"


def study_of(name):
    return Study.open(load_plan(name), RESULTS, NOWHERE)


def markdown(name, part=0):
    """Return one table of a plan's study without its title; the page has its own headings."""
    tables = tables_as(study_of(name), "markdown").split("\n### ")
    return tables[part].split("\n", 1)[1].strip()


def differences():
    """One row for each number that differs from the paper's by more than five points."""
    order = list(METHODS)
    reasons = tomllib.loads((TEMPLATES / "reasons.toml").read_text())
    found = sorted(far_from_paper(study_of("accuracy")), key=lambda one: order.index(one.entry))
    rows = [
        [
            METHODS[one.entry].card.title, one.dataset, f"{one.label_ratio:.0%}",
            f"{one.ours:.1f}", f"{one.paper:.1f}", f"{one.difference:+.1f}", reasons[one.entry],
        ]
        for one in found
    ]  # fmt: skip
    heads = ["method", "data set", "labels", "ours", "paper", "difference", "probable reason"]
    return table(heads, rows, n_words=3)


def what_has_run(name):
    """Return one sentence: how many cells of a plan have records, of which data and seeds."""
    results = study_results(study_of(name), METRICS["accuracy"])
    done = {cell: len(result.by_seed) for cell, result in results.items() if result.by_seed}
    datasets = ", ".join(dict.fromkeys(cell.dataset for cell in done)) or "none"
    fewest, most = min(done.values(), default=0), max(done.values(), default=0)
    seeds = f"{most}" if fewest == most else f"{fewest} to {most}"
    return (
        f"Of the {len(results):,} cells of the plan `{name}`, {len(done):,} have run, with {seeds} "
        f"seeds each: {datasets}."
    )


def new_sample_scores():
    """Return the percentages of all seeds by (dataset, variant)."""
    groups = defaultdict(list)
    for record in read(NEW_SAMPLES):
        groups[record["dataset"], record["variant"]].append(100 * record["accuracy"])
    return groups


def new_samples_sentence():
    """Write the means of new samples, predicted against fitted, by data set."""
    groups = new_sample_scores()
    return ", ".join(
        " against ".join(f"{np.mean(groups[dataset, one]):.1f}" for one in VARIANTS)
        + f" on {dataset_title(dataset)}"
        for dataset in dict.fromkeys(dataset for dataset, _ in groups)
    )


def new_samples():
    groups = new_sample_scores()
    rows = [
        [dataset, *(spread(groups[dataset, variant]) for variant in VARIANTS)]
        for dataset in dict.fromkeys(dataset for dataset, _ in groups)
    ]
    return table(["data set", *VARIANTS], rows)


def costs():
    """Time and memory of one fit of each method, as ratios to MGCN-DNS."""
    stored = json.loads((RESULTS / "costs.json").read_text())["costs"]
    datasets = list(stored["mgcn-dns"])
    ours = {dataset: stored["mgcn-dns"][dataset]["seconds"] for dataset in datasets}
    rows = []
    for name, found in stored.items():
        cells = []
        for dataset in datasets:
            cost = found[dataset]
            if cost["status"] != "done":
                cells += ["refused", "-"]
                continue
            cells.append(f"{cost['seconds'] / ours[dataset]:.2g} x")
            cells.append(f"{cost['peak_memory_mb'] / 1024:.1f}")
        rows.append([METHODS[name].card.title, METHODS[name].card.cost, *cells])
    heads = [f"{dataset} {what}" for dataset in datasets for what in ("time", "GB")]
    return table(["method", "grows with", *heads], rows, n_words=2)


def paper_table():
    """Table and summary: the paper's method, a plain GCN, the best of the others, the paper."""
    study = study_of("accuracy")
    entries = [entry.name for entry in study.plan.entries]
    results = {
        (cell.dataset, cell.label_ratio, cell.entry): result
        for cell, result in study_results(study, METRICS["accuracy"]).items()
        if len(result.by_seed) == result.n_planned
    }
    rows = []
    n_best = n_as_good = n_plain = 0
    for dataset, ratio in dict.fromkeys(key[:2] for key in results):
        row = {entry: results.get((dataset, ratio, entry)) for entry in entries}
        row = {entry: result for entry, result in row.items() if result is not None}
        if len(row) < len(entries) - 1:  # all but HLR-M2VS, which refuses large data
            continue
        ours, plain = row.pop("mgcn-dns"), row.pop("gcn-fusion")
        best = max(row, key=lambda entry: row[entry].mean)
        rival = max((plain, row[best]), key=lambda result: result.mean)
        n_plain += plain.mean > ours.mean - 1
        if ours.mean >= rival.mean:
            n_best += 1
        elif paired_t_test([rival.by_seed[s] - ours.by_seed[s] for s in ours.by_seed]) > 0.05:
            n_as_good += 1
        paper = f"{ours.paper[0]}" if ours.paper else ""
        others = f"{METHODS[best].card.title}, {_spread(row[best])}"
        printed = as_printed.printed_cell(dataset, ratio)
        cells = [_spread(ours), printed, _spread(plain), others, paper]
        rows.append([dataset, f"{ratio:.0%}", *cells])
    summary = (
        f"The paper's MGCN-DNS has the highest mean in {n_best} of these {len(rows)} rows, is not "
        f"significantly worse than the best in {n_as_good} more (paired t test over the five "
        f"splits, p above 0.05), and significantly worse in {len(rows) - n_best - n_as_good}. GCN "
        f"fusion, a plain GCN on the averaged graphs, is above it or within a point in {n_plain}."
    )
    methods = ["MGCN-DNS", "as printed", "GCN fusion", "best of the others"]
    return table(["data set", "labels", *methods, "paper"], rows, n_words=2), summary


def _spread(result):
    return spread(list(result.by_seed.values()))


def few_label_parts():
    """Return the parts of both pages about few labels."""
    study = study_of("few-labels")
    rows, counts = few_labels.methods_table(study)
    return {
        "answer": few_labels.answer(study),
        "short_table": few_labels.short_table(study),
        "few_labels_table": rows,
        "few_labels_scores": "\n\n".join(
            fold(name.capitalize(), few_labels.methods_table(study, field)[0])
            for field, name in SCORES.items()
            if field != "accuracy"
        ),
        "few_labels_counts": counts,
        "n_counted": few_labels.n_counted(study),
        "paper_numbers": few_labels.beside_paper(study, study_of("accuracy")),
        "losses": few_labels.largest_losses(study),
        "against_plain": few_labels.against_plain(study),
        "against_self_trained": few_labels.against_self_trained(study),
        "modules": few_labels.modules_sentence(study),
        "pseudo_label_parts": fold("All parts", pseudo_label_parts.parts_table()),
        "training_costs": training_costs.cost_table(),
        "label_draws": score_folds("All draws", label_draws.draws_table),
        "other_draws": f"{label_draws.sentence()} {label_draws.coverage_sentence()}",
        "unseen": score_folds("All methods and data sets", unseen_data.unseen_tables),
        "unseen_sentence": unseen_data.sentence(),
        "new_samples_sentence": new_samples_sentence(),
        "as_printed": as_printed.readme_sentence(),
    }


def result_parts():
    """Return the other parts of the page of results, long tables behind folds."""
    parts = {name.replace("-", "_"): fold(title, markdown(name)) for name, title in PLANS.items()}
    parts |= {
        f"run_of_{name.replace('-', '_')}": what_has_run(name)
        for name in ("accuracy", "ablation", "ratios", "neighbors", "gamma-tau")
    }
    rows, summary = paper_table()
    return parts | {
        "paper_table": rows,
        "paper_summary": summary,
        "beside_paper": fold("All methods, ours and the paper's", markdown("accuracy", 1)),
        "differences": fold("All differences of more than five points", differences()),
        "costs": fold("All methods", costs()),
        "kernel_sentence": paper_rows.kernel_sentence(),
        "new_samples": new_samples(),
    }


def shares_page():
    """Return the page about shares of labels."""
    study = study_of("shares")
    shares = label_shares.shares_of(study)
    folds = {
        metric: fold(
            f"{title}: means over data sets",
            label_shares.means_table(label_shares.shares_of(study, metric)),
        )
        for metric, title in (("balanced_accuracy", "Balanced accuracy"), ("macro_f1", "Macro-F1"))
    }
    return (
        (TEMPLATES / "label-shares.md")
        .read_text()
        .format(
            answer=label_shares.answer(shares),
            means=label_shares.means_table(shares),
            gaps=label_shares.gaps_table(shares),
            balanced=folds["balanced_accuracy"],
            macro_f1=folds["macro_f1"],
            peers=peers.peers_table(),
            peers_sentence=peers.sentence(),
            peers_folds="\n\n".join(
                fold(name[0].upper() + name[1:], peers.peers_table(field))
                for field, name in SCORES.items()
                if field != "accuracy"
            ),
            kdd99=kdd99.kdd99_table(),
            estimates=estimates.estimate_table(),
            estimates_summary=estimates.sentence(),
            run_of_shares=what_has_run("shares"),
        )
    )


def readme(parts):
    """Return README with its block of results renewed."""
    path = ROOT / "README.md"
    before, rest = path.read_text().split(OPENING)
    _, after = rest.split(CLOSING)
    text = (TEMPLATES / "readme_results.md").read_text().format(**parts)
    return f"{before}{OPENING}\n{text}{CLOSING}{after}"


def pages():
    """Return the text of every generated page, by its path."""
    parts = few_label_parts()
    results = (TEMPLATES / "results.md").read_text()
    return {
        ROOT / "docs" / "results.md": results.format(**parts, **result_parts()),
        ROOT / "docs" / "label-shares.md": shares_page(),
        ROOT / "docs" / "labeling.md": labeling_page.page(),
        ROOT / "docs" / "replication.md": replication.page(),
        ROOT / "docs" / "daily-use.md": daily_use.page(),
        ROOT / "docs" / "promises.md": promises.page(),
        ROOT / "README.md": readme(parts),
    }


def draw_figures():
    """Draw the figures of all pages from the records; return their files."""
    save_figure(*few_labels_figure.draw(study_of("few-labels")), FIRST_FIGURE)
    save_figure(*learning_rates.draw(), learning_rates.FIGURE)
    of_plans = (write_figures(study_of(name), FIGURE_FOLDER, ("svg",)) for name in FIGURES)
    files = [path for paths in of_plans for path in paths]
    return [FIRST_FIGURE, learning_rates.FIGURE, *files, *daily_use.draw_figures()]


def main():
    console = Console()
    for path in draw_figures():
        console.print(f"drew {path}")
    for path, text in pages().items():
        path.write_text(text)
        console.print(f"wrote {path}")


if __name__ == "__main__":
    main()
