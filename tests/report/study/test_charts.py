from pages import parts_of

from manyview.report.study.charts import (
    MAX_PLACES,
    curve_charts,
    graph_charts,
    grid_charts,
    method_charts,
    ratio_charts,
    weight_charts,
)
from manyview.report.study.results import METRICS, study_results
from manyview.report.svg.axes import N_COLORS

HEAD = 'title = "t"\ndatasets = ["barn"]\nseeds = [0, 1]\n'


def results_of(study):
    return study_results(study, METRICS["accuracy"])


def tips_of(markup):
    return [found["data-tip"] for _, found in parts_of(markup).elements if "data-tip" in found]


def test_methods_are_rows_with_ours_in_bold(compared_study):
    plan = compared_study.plan
    barn, field = method_charts(plan, plan.entries, results_of(compared_study))
    assert parts_of(barn).text("strong") == ["barn"]
    assert "KNN\n10% labels: 70.5 (0.7), paper 80.0 (1.0)" in tips_of(barn)
    assert "SVM\n10% labels: <no> memory" in tips_of(field)
    assert len(parts_of(barn).all("text", class_="end strong")) == 1


def test_lines_are_drawn_for_as_many_methods_as_there_are_colors(make_study, done):
    names = [f"m{number}" for number in range(N_COLORS)] + ["mgcn-dns", "manyview"]
    plan = HEAD + "label_ratios = [0.1, 0.2, 0.3]\n"
    plan += "".join(f'[methods.{name}]\nmethod = "knn"\n' for name in names)
    accuracy = {name: 0.9 - 0.01 * number for number, name in enumerate(names)}
    study = make_study(plan, lambda cell, _: done(accuracy[cell.entry]))
    (drawn,) = ratio_charts(study.plan, study.plan.entries, results_of(study))
    titles = [study.plan.entry(name).title for name in ("manyview", "mgcn-dns", "m0")]
    assert parts_of(drawn).text("li")[:3] == titles
    assert len(parts_of(drawn).text("li")) == N_COLORS
    assert "2 methods with a lower mean are in the table" in parts_of(drawn).text("span")


def test_grid_of_words_names_its_places(make_study, done):
    plan = HEAD + '[methods.mgcn-dns]\ngrid = { metric = ["cosine", "euclidean"] }\n'
    study = make_study(plan, lambda cell, trial: done(0.5))
    (drawn,) = grid_charts(study.plan, study.plan.entries[0], results_of(study))
    assert "In order: cosine, euclidean" in parts_of(drawn).text("span")


def test_grid_of_two_parameters_is_a_map_with_gaps(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { gamma = [0.5, 1.0], tau = [1.0] }\n"
    study = make_study(plan, lambda cell, _: None if cell.point[0][1] == 1.0 else done(0.5))
    (drawn,) = grid_charts(study.plan, study.plan.entries[0], results_of(study))
    assert tips_of(drawn) == ["gamma 0.5, tau 1\n50.0 (0.0)", "gamma 1, tau 1\nnot run"]


def test_artifacts_are_drawn_with_their_numbers(kept):
    accuracy, loss = curve_charts("barn", [kept])
    assert "epoch 3\nlabeled samples: 100.0\nhidden labels: 80.0" in tips_of(accuracy)
    assert "epoch 1\nloss: 2" in tips_of(loss)
    importance, weights = weight_charts("barn", [kept])
    assert "<shape>\nimportance: 25.0%" in tips_of(importance)
    assert "<shape> in the mixture of <shape>\n0.500" in tips_of(weights)
    (graphs,) = graph_charts("barn", [kept])
    assert tips_of(graphs)[2] == "barn, selected, 3 edges\n100% of the fused graph's weight"


def test_long_training_curves_are_thinned(kept):
    kept["curve"] = {"loss": [1.0] * 500}
    (loss,) = curve_charts("barn", [kept])
    assert len(tips_of(loss)) == MAX_PLACES
