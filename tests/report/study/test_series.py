"""Numbers behind the charts, for page and print alike."""

import numpy as np
import pytest

from manyview.report.figures.comparison import ratio_figure
from manyview.report.study.charts import ratio_charts
from manyview.report.study.results import METRICS, study_results
from manyview.report.study.series import (
    Charted,
    dot_panels,
    epoch_curves,
    graph_tiles,
    grid_curves,
    grid_maps,
    kept_by_title,
    mean_weights,
    ratio_curves,
)

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'
METHODS = "[methods.knn]\n[methods.mgcn-dns]\n[methods.svm]\n[methods.manyview]\n"


def charted(study):
    results = study_results(study, METRICS["accuracy"])
    return Charted.of(study.plan, results), results


def some(done):
    return lambda cell, trial: done(cell.label_ratio + 0.01 * trial.seed)


def test_our_methods_keep_their_places_with_manyview_first(make_study, done):
    chosen, _ = charted(make_study(HEAD + METHODS, some(done)))
    assert chosen.kind == "accuracy"
    assert [entry.name for entry in chosen.plain] == ["knn", "manyview", "svm", "mgcn-dns"]


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        ("label_ratios = [0.1, 0.2, 0.3]\n[methods.knn]\n", "ratios"),
        ('[methods.a]\nmethod = "knn"\n[methods.b]\nmethod = "knn"\n', "ablation"),
        ("[methods.knn]\n", ""),
    ],
)
def test_kind_of_chart_follows_ratios_and_methods(make_study, done, plan, kind):
    assert charted(make_study(HEAD + plan, some(done)))[0].kind == kind


def test_entries_without_a_result_are_not_charted(make_study, done):
    outcome = lambda cell, _: None if cell.entry == "svm" else done(0.5)  # noqa: E731
    chosen, _ = charted(make_study(HEAD + METHODS, outcome))
    assert "svm" not in [entry.name for entry in chosen.plain]


def test_dot_panels_have_one_row_per_entry_and_one_result_per_series(make_study, done):
    study = make_study(HEAD + "label_ratios = [0.2, 0.1]\n" + METHODS, some(done))
    chosen, results = charted(study)
    titles, panels = dot_panels(study.plan, chosen.plain, results)
    assert titles == ["10% labels", "20% labels"]
    assert [panel.title for panel in panels] == ["barn", "field"]
    entry, found = panels[0].rows[1]
    assert entry.name == "manyview"
    assert [result.mean for result in found] == pytest.approx([10.5, 20.5])


def test_page_and_print_draw_the_same_curves(make_study, done):
    study = make_study(HEAD + "label_ratios = [0.1, 0.2, 0.3]\n" + METHODS, some(done))
    chosen, results = charted(study)
    curves = ratio_curves(study.plan, chosen.plain, results, study.plan.protocols)["barn"]
    assert [curve.is_own for curve in curves] == [False, True, False, True]
    assert curves[0].means == pytest.approx([10.5, 20.5, 30.5])
    drawn = ratio_figure(study.plan, chosen.plain, results).axes[0].get_lines()
    assert [line.get_ydata().tolist() for line in drawn] == [curve.means for curve in curves]
    page = ratio_charts(study.plan, chosen.plain, results)[0]
    assert "manyview: 10.5" in page.lower()


def test_grids_have_curves_or_maps_with_gaps(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { tau = [0.5, 1.0] }\n"
    plan += '[methods.two]\nmethod = "mgcn-dns"\ngrid = { gamma = [1.0], tau = [0.5, 1.0] }\n'
    study = make_study(plan, lambda cell, _: None if cell.point[-1][1] == 0.5 else done(0.5))
    chosen, results = charted(study)
    curves, names = grid_curves(study.plan, chosen.grids[:1], results)
    assert names == []
    assert curves["barn"][0].places == [0.5, 1.0]
    np.testing.assert_array_equal(curves["barn"][0].means, [np.nan, 50.0])
    assert curves["barn"][0].stds == [0.0, 0.0]
    (first, _) = grid_maps(study.plan, chosen.grids[1], results)
    assert (first.title, first.names) == ("barn", ("gamma", "tau"))
    np.testing.assert_array_equal(first.means, [[np.nan, 50.0]])


def test_artifacts_are_averaged_over_seeds(make_study, done, kept):
    study = make_study(
        HEAD + "[methods.mgcn-dns]\n",
        lambda cell, trial: done(0.5, **{**kept, "view_importance": [0.25 * trial.seed, 0.75]}),
    )
    records = kept_by_title(study, "curve")["barn"]
    names, importance, weights = mean_weights(records)
    assert names[0] == "<shape>"
    assert importance.tolist() == [0.125, 0.75]
    assert weights.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    tiles, n_edges, largest = graph_tiles(records)
    assert (list(tiles), n_edges["selected"], largest) == (["fused", "refined", "selected"], 3, 1.0)


def test_training_curves_are_averaged_over_common_epochs():
    records = [{"curve": {"loss": [2.0, 1.0, 0.5]}}, {"curve": {"loss": [4.0, 3.0]}}]
    curves, mean = epoch_curves(records, "loss")
    assert list(map(len, curves)) == [3, 2]
    assert mean.tolist() == [3.0, 2.0]
    curves, mean = epoch_curves(records, "test_accuracy")
    assert (curves, len(mean)) == ([], 0)
    assert epoch_curves([{"curve": {"test_accuracy": [0.5]}}], "test_accuracy")[1].tolist() == [50]
