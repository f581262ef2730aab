"""The section on the paper as printed, and README's sentence, say what the records hold."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import as_printed
import dead_units
import learning_rates
import numpy as np
import paper_rows
import printed_steps
import pytest
import result_pages

from manyview.data.catalog.load import load_dataset
from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.experiments.plan import load_plan

README = (result_pages.ROOT / "README.md").read_text()
PAGE = (result_pages.ROOT / "docs" / "replication.md").read_text()


def test_figure_shows_the_records():
    (found,) = ElementTree.parse(learning_rates.FIGURE).iter(
        "{http://purl.org/dc/elements/1.1/}description"
    )
    assert found.text == learning_rates.draw()[1], "run: python benchmarks/result_pages.py"


def test_plan_has_the_papers_numbers_of_the_ablation_and_the_main_table():
    ablation, main = load_plan("ablation").paper, load_plan("accuracy").paper
    names = {"both-few": "mgcn-dns", "gcn-fusion-few": "gcn-fusion", "gcn-fusion": "gcn-fusion"}
    plan = load_plan("as-printed")
    for dataset, rows in plan.paper.items():
        for entry, numbers in rows.items():
            base = entry.removesuffix("-edge")
            of_paper = main[dataset].get(names.get(base)) or ablation[dataset][base]
            assert numbers == {ratio: of_paper[ratio] for ratio in numbers}
    assert set(plan.paper) == set(plan.datasets)


def test_every_ablation_cell_at_hand_is_shown_with_five_splits_or_their_number():
    cells = as_printed.ablation()
    lines = [line for line in as_printed.ablation_table().splitlines() if "| as printed |" in line]
    assert len(lines) == len({dataset for dataset, _ in cells})
    for (_, _), (_, by_seed, _, is_edge) in cells.items():
        written = as_printed.shown(by_seed, is_edge)
        assert any(written in line for line in lines)
        assert len(by_seed) == as_printed.N_SEEDS or f"n = {len(by_seed)}" in written


def test_gains_are_differences_of_the_tables_means():
    cells = as_printed.ablation()
    for (dataset, module), (of_paper, own) in as_printed.gains(cells).items():
        (paper, *_), (start, *_) = cells[dataset, module], cells[dataset, "neither"]
        assert of_paper == pytest.approx(paper[0] - start[0])
        assert of_paper > 0
        assert len(own) == len(cells[dataset, module][1].keys() & cells[dataset, "neither"][1])


def test_every_gain_has_its_sign_beside_the_papers():
    lines = as_printed.gains_table().splitlines()[5:-2]
    found = as_printed.gains(as_printed.ablation())
    assert len(lines) == len(found)
    for line, (_, own) in zip(lines, found.values(), strict=True):
        assert line.endswith("same |") == (np.mean(own) > 0)


def test_readme_says_the_mean_gain_as_printed():
    sentence = as_printed.readme_sentence()
    assert sentence in README
    cells = as_printed.ablation()
    collapsed = as_printed.collapsed_sets()
    own = [
        np.mean(list(cells[name, "both"][1].values()))
        - np.mean(list(cells[name, "neither"][1].values()))
        for name in dict.fromkeys(name for name, _ in cells if name not in collapsed)
    ]
    (number,) = re.findall(r"change accuracy by ([+-]\d+\.\d) points", sentence)
    assert float(number) == pytest.approx(np.mean(own), abs=0.051)


def test_results_have_a_column_as_printed():
    rows, _ = result_pages.paper_table()
    head, _, *lines = rows.splitlines()
    place = [cell.strip() for cell in head.split("|")].index("as printed")
    for line in lines:
        dataset, ratio, *_ = (cell.strip() for cell in line.split("|")[1:])
        ratio = float(ratio.rstrip("%")) / 100
        assert line.split("|")[place].strip() == as_printed.printed_cell(dataset, ratio)


def test_gates_stand_in_only_where_factors_have_fewer_seeds():
    results = {
        ("a", "both", 1): {0: 1.0},
        ("a", "both-edge", 1): {0: 2.0},
        ("b", "both-edge", 1): {0: 3.0},
    }
    assert as_printed.found(results, "a", "both", 1) == ({0: 1.0}, False)
    assert as_printed.found(results, "b", "both", 1) == ({0: 3.0}, True)


def test_steps_that_are_too_large_raise_the_loss():
    """What the page says: only large learning rates raise the loss, and less so with both."""
    counts = learning_rates.spikes()
    rates = sorted({rate for _, rate in counts})
    assert counts["neither", rates[0]][0] == counts["both", rates[0]][0] == 0
    assert counts["neither", rates[-1]][0] >= 0.9 * counts["neither", rates[-1]][1]
    assert counts["both", 0.1][0] < counts["neither", 0.1][0]


def test_gains_do_not_follow_from_the_printed_recipe():
    """The plain words of the page: a small part of the paper's gain, less than a smaller rate."""
    collapsed = as_printed.collapsed_sets()
    assert collapsed == ["caltech101-20", "caltech101-all"]
    found = as_printed.gains(as_printed.ablation())
    found = {key: one for key, one in found.items() if key[0] not in collapsed}
    own, of_paper = (as_printed.mean_gain(found, "both", of_paper=one) for one in (False, True))
    assert own < of_paper / 2
    assert learning_rates.mean_accuracy("neither", 0.01) > learning_rates.mean_accuracy("both", 0.1)


def test_collapsed_fits_have_the_accuracy_of_one_class():
    """Where most fits collapse, no variant reaches half of the paper's accuracy."""
    cells = as_printed.ablation()
    for name in as_printed.collapsed_sets():
        for variant in as_printed.VARIANTS:
            paper, by_seed, *_ = cells[name, variant]
            assert np.mean(list(by_seed.values())) < paper[0] / 2
            n_collapsed, n_fits = as_printed.collapses()[name, variant]
            assert 0 < n_collapsed <= n_fits
    assert as_printed.collapse_sentence() in PAGE


def test_units_die_as_printed_and_live_with_smaller_steps_or_a_centered_input():
    found = dead_units.by_form()
    printed = found.pop(dead_units.AS_PRINTED)
    assert len(printed) == len(dead_units.SEEDS)
    assert np.mean([one["active_units"] for one in printed]) < 0.1
    for own in found.values():
        assert len(own) == len(dead_units.SEEDS)
        assert min(one["active_units"] for one in own) > 0.2
        assert min(one["accuracy"] for one in own) > 2 * max(one["accuracy"] for one in printed)
    assert dead_units.sentence() in PAGE


def test_modules_shrink_the_graph_and_the_logits_of_the_first_step():
    for by_variant in printed_steps.steps().values():
        for part in ("selected_row_sum", "mean_logit"):
            both, neither = (
                np.mean([record[part][0] for record in by_variant[variant]])
                for variant in ("both", "neither")
            )
            assert both < neither


def test_linear_kernel_is_nearer_to_the_papers_row_than_rbf():
    distances, n_cells = paper_rows.kernel_distances()
    assert n_cells == 12
    assert distances["svm"] < min(distances["svm-rbf"], distances["svm-rbf-raw"])
    assert paper_rows.kernel_sentence() in PAGE


def test_small_graph_has_the_row_sums_of_the_selected_graph(monkeypatch):
    dataset = load_dataset("digits")
    rows = np.arange(150)
    few = replace(dataset, views=dataset.views[rows], labels=dataset.labels[rows])
    monkeypatch.setattr(printed_steps, "EPOCHS", (1, 2))
    labels = hide_labels(few.labels, 0.1, random_state=0)
    both, norms = printed_steps.fit_watched(few, labels, "both", 0, max_epochs=2)
    factor = both.start_row_sum / both.view_row_sum
    assert 0 < factor < 1
    small, of_small = printed_steps.fit_watched(few, labels, "small graph", 0, factor, max_epochs=2)
    assert small.start_row_sum == pytest.approx(both.start_row_sum, rel=1e-5)
    assert of_small[0]["selected_row_sum"] == pytest.approx(both.start_row_sum, rel=0.01)
    assert len(norms) == len(of_small) == 2
    assert small.transduction_.shape == labels.shape
    assert is_known(labels).sum() < len(labels)
