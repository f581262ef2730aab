import ast
import sys
from pathlib import Path

import pytest

from manyview.errors import InputError
from manyview.report.figures.write import study_figures, write_figures

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'


def some_fail(done):
    """Most trials go well; one cell failed, one was not run."""

    def outcome(cell, trial):
        if (cell.dataset, trial.method) == ("field", "svm"):
            return {"status": "failed", "reason": "no memory"}
        if (cell.dataset, trial.method) == ("field", "amgl"):
            return None
        return done(0.5 + 0.1 * trial.label_ratio + 0.01 * trial.seed)

    return outcome


def axes_titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_methods_are_dots_with_one_panel_per_data_set(make_study, done):
    plan = HEAD + "[methods.knn]\n[methods.svm]\n[methods.amgl]\n[methods.mgcn-dns]\n"
    plan += '[paper.barn]\nknn = { "0.1" = [50.0, 1.0] }\n'
    figures = study_figures(make_study(plan, some_fail(done)))
    assert list(figures) == ["accuracy"]
    assert axes_titles(figures["accuracy"]) == ["barn", "field"]
    (key,) = figures["accuracy"].legends
    assert [text.get_text() for text in key.get_texts()] == ["10% labels", "paper"]
    assert "failed" in [text.get_text() for text in figures["accuracy"].axes[1].texts]


def test_settings_of_one_method_are_an_ablation(make_study, done):
    plan = (
        HEAD + '[methods.plain]\nmethod = "mgcn-dns"\nparams = { tau = 0.5 }\n[methods.mgcn-dns]\n'
    )
    assert list(study_figures(make_study(plan, some_fail(done)))) == ["ablation"]


def test_many_ratios_are_lines_of_all_methods(make_study, done):
    plan = (
        HEAD + "label_ratios = [0.1, 0.2, 0.3]\n[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
    )
    figures = study_figures(make_study(plan, some_fail(done)))
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
def test_data_with_one_ratio_so_far_have_no_panel_beside_lines(
    make_study, done, n_ratios_of_barn, shown
):
    def outcome(cell, trial):
        n_run = n_ratios_of_barn if cell.dataset == "barn" else 1
        return done(0.5) if trial.label_ratio <= 0.1 * n_run + 0.01 else None

    plan = HEAD + "label_ratios = [0.1, 0.2, 0.3]\n[methods.knn]\n[methods.mgcn-dns]\n"
    assert axes_titles(study_figures(make_study(plan, outcome))["ratios"]) == shown


def test_grid_of_one_parameter_is_a_line(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { n_neighbors = [5, 10] }\n"
    figures = study_figures(make_study(plan, some_fail(done)))
    assert list(figures) == ["n-neighbors"]
    assert figures["n-neighbors"].axes[0].get_lines()[0].get_xdata().tolist() == [5.0, 10.0]


def test_grid_of_words_is_set_one_after_the_other(make_study, done):
    plan = HEAD + '[methods.mgcn-dns]\ngrid = { metric = ["cosine", "euclidean"] }\n'
    (figure,) = study_figures(make_study(plan, some_fail(done))).values()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["cosine", "euclidean"]


def test_grid_of_two_parameters_is_a_map_with_its_numbers(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { gamma = [0.5, 1.0], tau = [0.1, 1.0, 2.0] }\n"
    study = make_study(plan, lambda cell, _: None if cell.point[0][1] == 1.0 else done(0.5))
    figures = study_figures(study)
    assert list(figures) == ["gamma-tau"]
    assert [text.get_text() for text in figures["gamma-tau"].axes[0].texts] == ["50.0"] * 3


def test_what_was_kept_is_drawn(make_study, done, kept):
    plan = HEAD + "[methods.mgcn-dns]\n"
    figures = study_figures(make_study(plan, lambda cell, trial: done(0.5, **kept)))
    assert list(figures) == ["convergence", "weights", "adjacency"]
    (label,) = [t for t in axes_titles(figures["adjacency"])[:3] if "select" in t]
    assert label.endswith("3 edges")


def test_data_set_alone_names_what_one_method_kept(make_study, done, kept):
    plan = HEAD + "[methods.knn]\n[methods.mgcn-dns]\n"
    study = make_study(
        plan, lambda cell, _: done(0.5, **kept) if cell.entry == "mgcn-dns" else done(0.4)
    )
    figures = study_figures(study)
    assert list(figures) == ["accuracy", "convergence", "weights", "adjacency"]
    assert axes_titles(figures["weights"])[:2] == ["barn", "field"]


def test_files_are_the_same_every_time(make_study, done, tmp_path):
    plan = HEAD + "[methods.knn]\n[methods.svm]\n"
    study = make_study(plan, some_fail(done))
    first = write_figures(study, tmp_path / "first")
    assert [path.name for path in first] == ["accuracy.png", "accuracy.svg", "accuracy.pdf"]
    for one, other in zip(first, write_figures(study, tmp_path / "second"), strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.stat().st_size > 1000


def test_unknown_format_is_refused_before_anything_is_drawn(make_study, done, tmp_path):
    study = make_study(HEAD + "[methods.knn]\n", some_fail(done))
    with pytest.raises(InputError, match="got 'gif'"):
        write_figures(study, tmp_path, ["gif"])


def test_study_without_a_figure_says_so(make_study, tmp_path):
    study = make_study(HEAD + "[methods.knn]\n", lambda cell, trial: None)
    with pytest.raises(InputError, match="fill no figure yet"):
        write_figures(study, tmp_path)


def test_missing_matplotlib_names_the_extra(make_study, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    study = make_study(HEAD + "[methods.knn]\n", lambda cell, trial: None)
    with pytest.raises(InputError, match=r'pip install "manyview\[plot\]"'):
        study_figures(study)


def imports_at_the_top(path: Path) -> set[str]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.module for node in body if isinstance(node, ast.ImportFrom) and node.module}


def test_matplotlib_is_loaded_only_when_a_figure_is_drawn():
    report = Path(__file__).parents[2] / "src" / "manyview" / "report"
    imports = {path.stem: imports_at_the_top(path) for path in report.glob("*.py")}
    drawing = {stem for stem, names in imports.items() if any("matplotlib" in n for n in names)}
    assert "figures" not in drawing
    for stem in imports.keys() - drawing:
        assert not imports[stem] & {f"manyview.report.{one}" for one in drawing}
