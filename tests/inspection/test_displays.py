"""What all displays have in common with scikit-learn's."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import manyview
from manyview import InputError, ManyviewClassifier, inspection

NAMES = [name for name in inspection.__all__ if name != "EstimatedAccuracyDisplay"]
NEED_TRUTH = ("ConfusionMatrixDisplay", "CoverageDisplay", "ReliabilityDisplay")
SEVERAL = ("LearnedGraphDisplay", "TrainingCurveDisplay")

for_each = pytest.mark.parametrize("name", NAMES)


def draw(name, model, truth, **options):
    if name in NEED_TRUTH:
        options = {"y": truth, **options}
    return getattr(inspection, name).from_estimator(model, **options)


def test_displays_are_public_names():
    assert all(getattr(manyview, name) is getattr(inspection, name) for name in inspection.__all__)


@for_each
def test_from_estimator_draws_a_figure_and_keeps_it(name, model, shared_views):
    display = draw(name, model, shared_views.labels)
    assert isinstance(display, getattr(inspection, name))
    assert isinstance(display.figure_, Figure)
    assert plt.get_fignums() == [display.figure_.number]
    display.figure_.canvas.draw()


@for_each
def test_axes_of_the_user_are_used(name, model, shared_views):
    figure, axes = plt.subplots(1, 2, layout="constrained")
    display = draw(name, model, shared_views.labels, ax=axes[0])
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    if name not in SEVERAL:
        assert display.ax_ is axes[0]
    figure.canvas.draw()


@for_each
def test_plot_can_be_called_again(name, model, shared_views):
    first = draw(name, model, shared_views.labels)
    before = first.figure_
    assert first.plot() is first
    assert first.figure_ is not before


@for_each
def test_dark_styles_of_matplotlib_are_respected(name, model, shared_views):
    with plt.style.context("dark_background"):
        display = draw(name, model, shared_views.labels)
    axes = display.figure_.axes[0]
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        assert text.get_color() == "white"


@for_each
def test_a_model_without_a_fit_is_refused(name, shared_views):
    with pytest.raises(NotFittedError):
        draw(name, ManyviewClassifier(), shared_views.labels)


@for_each
def test_docstring_has_the_parts_that_scikit_learns_have(name):
    text = getattr(inspection, name).__doc__
    for part in ("Parameters", "Attributes", "Examples"):
        assert f"\n    {part}\n    ---" in text


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes_are_checked(name, model):
    kind = getattr(inspection, name)
    n_axes = len(kind.from_estimator(model).axes_)
    _, axes = plt.subplots(1, n_axes)
    assert kind.from_estimator(model, ax=axes).axes_ == list(axes)
    _, too_many = plt.subplots(1, n_axes + 1)
    with pytest.raises(InputError, match=f"a list of {n_axes}; got {n_axes + 1}"):
        kind.from_estimator(model, ax=too_many)
    with pytest.raises(InputError, match="free position"):
        kind.from_estimator(model, ax=plt.figure().add_axes((0, 0, 1, 1)))


def test_without_matplotlib_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in NAMES:
        with pytest.raises(InputError, match=r"manyview\[plot\]"):
            draw(name, model, np.zeros(60))


def test_importing_the_displays_does_not_import_matplotlib():
    code = "import manyview.inspection, sys; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_names_are_drawn_as_they_are(rng):
    labels = np.array(["$a", "_b", "x" * 50], dtype=object)[np.arange(60) % 3]
    views = {
        "$\\frac": 5 * np.eye(3)[np.arange(60) % 3] + rng.normal(size=(60, 3)),
        "_v": rng.normal(size=(60, 2)),
    }
    known = np.where(np.arange(60) < 24, labels, None)
    model = ManyviewClassifier(random_state=0).set_params(estimator__max_epochs=3)
    model.fit(views, known)
    for name in NAMES:
        draw(name, model, labels).figure_.canvas.draw()
    legend = inspection.EmbeddingDisplay.from_estimator(model).ax_.get_legend()
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown[:2] == ["\\$a", " _b"]
    assert len(shown[2]) == 24
    axes = inspection.ViewImportanceDisplay.from_estimator(model).ax_
    assert {tick.get_text() for tick in axes.get_yticklabels()} == {"\\$\\frac", " _v"}
