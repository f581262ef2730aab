import ast
import sys
from pathlib import Path

import pytest

import manyview.report
from manyview.errors import InputError
from manyview.report.figures.write import study_figures, write_figures

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'


def test_settings_of_one_method_are_an_ablation(make_study, mixed):
    plan = (
        HEAD + '[methods.plain]\nmethod = "mgcn-dns"\nparams = { tau = 0.5 }\n[methods.mgcn-dns]\n'
    )
    assert list(study_figures(make_study(plan, mixed))) == ["ablation"]


def test_files_are_the_same_every_time(make_study, mixed, tmp_path):
    plan = HEAD + "[methods.knn]\n[methods.svm]\n"
    study = make_study(plan, mixed)
    first = write_figures(study, tmp_path / "first")
    assert [path.name for path in first] == ["accuracy.png", "accuracy.svg", "accuracy.pdf"]
    for one, other in zip(first, write_figures(study, tmp_path / "second"), strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.stat().st_size > 1000


def test_unknown_format_is_refused_before_anything_is_drawn(make_study, mixed, tmp_path):
    study = make_study(HEAD + "[methods.knn]\n", mixed)
    with pytest.raises(InputError, match="got 'gif'"):
        write_figures(study, tmp_path, ["gif"])


def test_study_without_a_figure_is_refused(make_study, tmp_path):
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
    (root,) = map(Path, manyview.report.__path__)
    imports = {path.relative_to(root): imports_at_the_top(path) for path in root.rglob("*.py")}
    drawing = {path for path, names in imports.items() if any("matplotlib" in n for n in names)}
    assert drawing == {Path("figures", f"{n}.py") for n in ("comparison", "learned", "style")}
    for path in imports.keys() - drawing:
        assert not imports[path] & {f"manyview.report.figures.{one.stem}" for one in drawing}
