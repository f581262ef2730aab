import pytest

from manyview.report.figures.write import study_figures

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'


def axes_titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_methods_are_dots_with_one_panel_per_data_set(make_study, mixed):
    plan = HEAD + "[methods.knn]\n[methods.svm]\n[methods.amgl]\n[methods.mgcn-dns]\n"
    plan += '[paper.barn]\nknn = { "0.1" = [50.0, 1.0] }\n'
    figures = study_figures(make_study(plan, mixed))
    assert list(figures) == ["accuracy"]
    assert axes_titles(figures["accuracy"]) == ["barn", "field"]
    (key,) = figures["accuracy"].legends
    assert [text.get_text() for text in key.get_texts()] == ["10% labels", "paper"]
    assert "failed" in [text.get_text() for text in figures["accuracy"].axes[1].texts]


def test_many_ratios_are_lines_of_all_methods(make_study, mixed):
    plan = (
        HEAD + "label_ratios = [0.1, 0.2, 0.3]\n[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
    )
    figures = study_figures(make_study(plan, mixed))
    assert list(figures) == ["ratios"]
    own = figures["ratios"].axes[0].get_lines()[2]
    assert own.get_xdata().tolist() == [10.0, 20.0, 30.0]
    assert own.get_ydata().tolist() == pytest.approx([51.5, 52.5, 53.5])
    looks = {
        (line.get_color(), line.get_marker()) for line in figures["ratios"].axes[0].get_lines()
    }
    assert len(looks) == 3


@pytest.mark.parametrize(
    ("n_ratios_of_barn", "shown"), [(3, ["barn"]), (2, ["barn"]), (1, ["barn", "field"])]
)
def test_data_sets_with_one_ratio_so_far_have_no_panel(make_study, done, n_ratios_of_barn, shown):
    def outcome(cell, trial):
        n_run = n_ratios_of_barn if cell.dataset == "barn" else 1
        return done(0.5) if trial.label_ratio <= 0.1 * n_run + 0.01 else None

    plan = HEAD + "label_ratios = [0.1, 0.2, 0.3]\n[methods.knn]\n[methods.mgcn-dns]\n"
    assert axes_titles(study_figures(make_study(plan, outcome))["ratios"]) == shown


def test_both_of_our_methods_stand_out(make_study, mixed):
    plan = HEAD + "[methods.knn]\n[methods.mgcn-dns]\n[methods.manyview]\n"
    (figure,) = study_figures(make_study(plan, mixed)).values()
    ticks = figure.axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == ["KNN", "manyview", "MGCN-DNS"]
    assert [tick.get_fontweight() for tick in ticks] == ["normal", "bold", "bold"]


def test_grid_of_one_parameter_is_a_line(make_study, mixed):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { n_neighbors = [5, 10] }\n"
    figures = study_figures(make_study(plan, mixed))
    assert list(figures) == ["n-neighbors"]
    assert figures["n-neighbors"].axes[0].get_lines()[0].get_xdata().tolist() == [5.0, 10.0]


def test_grid_of_words_is_drawn_in_order(make_study, mixed):
    plan = HEAD + '[methods.mgcn-dns]\ngrid = { metric = ["cosine", "euclidean"] }\n'
    (figure,) = study_figures(make_study(plan, mixed)).values()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["cosine", "euclidean"]


def test_grid_of_two_parameters_is_a_map_with_its_numbers(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { gamma = [0.5, 1.0], tau = [0.1, 1.0, 2.0] }\n"
    study = make_study(plan, lambda cell, _: None if cell.point[0][1] == 1.0 else done(0.5))
    figures = study_figures(study)
    assert list(figures) == ["gamma-tau"]
    assert [text.get_text() for text in figures["gamma-tau"].axes[0].texts] == ["50.0"] * 3
