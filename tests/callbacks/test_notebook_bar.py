"""scikit-learn's ProgressBar in a notebook: a bar, and no warning about widgets."""

import sys
from types import ModuleType

import pytest
from recording_callbacks import Recorder

from manyview import METHODS, MGCNDNSClassifier
from manyview.callbacks.notebook_bar import NotebookProgress, suited
from manyview.errors import CallbackError

callback = pytest.importorskip("sklearn.callback")


def quick(max_epochs=4):
    return MGCNDNSClassifier(max_epochs=max_epochs, random_state=0)


def test_progress_bar_shows_the_epochs_without_a_warning(notebook, tiny_views, recwarn, capsys):
    model = quick().set_callbacks(callback.ProgressBar())
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert not [one for one in recwarn if "ipywidgets" in str(one.message)]
    assert capsys.readouterr() == ("", "")
    (states,) = notebook
    assert states[0][0].startswith("MGCNDNSClassifier: 0 of 4 epochs")
    assert states[-1][0].startswith("MGCNDNSClassifier: 4 epochs")


def test_every_fit_has_a_bar_of_its_own(notebook, tiny_views):
    model = quick().set_callbacks(callback.ProgressBar())
    for _ in range(2):
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert [states[-1][0].split(",")[0] for states in notebook] == [
        "MGCNDNSClassifier: 4 epochs"
    ] * 2
    assert isinstance(model._skl_callbacks[0], callback.ProgressBar)


def test_a_method_without_epochs_counts_one_fit(notebook, tiny_views):
    model = METHODS["svm"]().set_callbacks(callback.ProgressBar())
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert notebook[0][-1][0].startswith("SVMClassifier: 1 fit")


def test_bar_is_closed_after_a_failed_fit(notebook, tiny_views):
    failing = Recorder(fail_at=("end", "epoch", 1))
    model = quick().set_callbacks(callback.ProgressBar(), failing)
    with pytest.raises(CallbackError):
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert notebook[0][-1][0].startswith("MGCNDNSClassifier: 2 epochs")


def test_only_scikit_learns_bar_is_replaced_and_only_where_it_cannot_draw(notebook, monkeypatch):
    bar, other = callback.ProgressBar(), Recorder()
    assert isinstance(suited(bar, quick()), NotebookProgress)
    assert suited(other, quick()) is other
    part_of_a_search = quick()
    part_of_a_search._parent_callback_ctx = object()
    assert suited(bar, part_of_a_search) is bar
    widgets = ModuleType("ipywidgets")
    widgets.__spec__ = object()
    monkeypatch.setitem(sys.modules, "ipywidgets", widgets)
    assert suited(bar, quick()) is bar


def test_on_a_terminal_the_bar_stays_scikit_learns():
    bar = callback.ProgressBar()
    assert suited(bar, quick()) is bar
