"""scikit-learn's own callbacks with all methods; they exist since scikit-learn 1.9."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from manyview import METHODS, SCORERS, LabelHidingSplit, MGCNDNSClassifier, TransductiveViews

callback = pytest.importorskip("sklearn.callback")


def quick(max_epochs=4):
    return MGCNDNSClassifier(max_epochs=max_epochs, random_state=0)


def test_progress_bar_goes_to_the_end(tiny_views, capsys):
    model = quick().set_callbacks(callback.ProgressBar())
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert "MGCNDNSClassifier - fit" in (out := capsys.readouterr().out)
    assert "100%" in out


def test_scoring_monitor_scores_the_labeled_samples_of_every_epoch(tiny_views):
    monitor = callback.ScoringMonitor(scoring=["accuracy", "neg_log_loss"])
    model = quick().set_callbacks(monitor).fit(tiny_views.views, tiny_views.known_labels)
    rows = monitor.get_logs().data
    epochs = [row for row in rows if row["task_name"] == "epoch"]
    (whole,) = (row for row in rows if row["task_name"] == "fit")
    assert [row["task_id"] for row in epochs] == [0, 1, 2, 3]
    is_labeled = tiny_views.known_labels != -1
    right = model.transduction_[is_labeled] == tiny_views.known_labels[is_labeled]
    assert whole["accuracy"] == epochs[-1]["accuracy"] == right.mean()
    assert whole["neg_log_loss"] == pytest.approx(epochs[-1]["neg_log_loss"], rel=1e-5)


def test_scoring_monitor_takes_scorers_of_manyview_and_of_the_user(tiny_views):
    hidden = tiny_views.known_labels == -1

    def on_mine(model, views, labels):
        assert set(labels) <= {0, 1, 2}
        return {"mine": np.mean(model.transduction_[hidden] == tiny_views.labels[hidden])}

    ours = callback.ScoringMonitor(scoring={"macro_f1": SCORERS["macro_f1"]})
    mine = callback.ScoringMonitor(scoring=on_mine)
    model = quick().set_callbacks(ours, mine).fit(tiny_views.views, tiny_views.known_labels)
    assert 0 <= ours.get_logs().data[-1]["macro_f1"] <= 1
    expected = np.mean(model.transduction_[hidden] == tiny_views.labels[hidden])
    assert {r["task_name"]: r["mine"] for r in mine.get_logs().data}["fit"] == expected


def test_every_method_takes_a_scoring_monitor(tiny_views):
    for name, method in METHODS.items():
        monitor = callback.ScoringMonitor(scoring="accuracy")
        model = method(random_state=0).set_callbacks(monitor)
        model.fit(tiny_views.views, tiny_views.known_labels)
        assert monitor.get_logs().data[-1]["accuracy"] > 0.7, name


def test_a_model_with_scikit_learns_callbacks_can_be_pickled(tiny_views):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = quick().set_callbacks(callback.ProgressBar(), monitor)
    model.fit(tiny_views.views, tiny_views.known_labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    assert len(again._skl_callbacks) == 2


def test_a_grid_search_shows_the_progress_of_its_fits(tiny_views, capsys):
    known = tiny_views.known_labels != -1
    search = GridSearchCV(
        quick(2),
        {"hidden": [4, 8]},
        cv=LabelHidingSplit(2, random_state=0),
        scoring=SCORERS["accuracy"],
    ).set_callbacks(callback.ProgressBar(max_propagation_depth=1))
    search.fit(
        TransductiveViews(tiny_views.views)[np.flatnonzero(known)], tiny_views.known_labels[known]
    )
    out = capsys.readouterr().out
    assert "GridSearchCV - fit" in out
    assert "MGCNDNSClassifier - fit" in out
    assert not hasattr(search.best_estimator_, "_skl_callbacks")
