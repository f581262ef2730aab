"""The studies of missing views and wrong labels: what they corrupt, store and show."""

import json
from itertools import product

import label_noise
import missing_views
import numpy as np
import pytest
import robustness
import stored_records

from manyview.data.dataset import Dataset
from manyview.data.views import MultiView


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5])
def test_as_many_pairs_go_as_asked_for_and_nobody_loses_all(fraction, rng):
    present = missing_views.remove_pairs(40, 3, fraction, rng)
    assert (~present).sum() == round(fraction * 120)
    assert present.any(axis=1).all()


def test_means_come_from_the_rows_that_are_there():
    views = MultiView({"a": [[1.0], [3.0], [99.0]], "b": np.ones((3, 1))})
    present = np.array([[True, True], [True, True], [False, True]])
    filled = missing_views.fill_means(views, present)
    assert filled["a"].ravel().tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("fraction", [0.0, 0.25, 0.5])
def test_as_many_labels_are_wrong_as_asked_for(fraction):
    labels = np.where(np.arange(100) < 40, np.arange(100) % 4, -1)
    corrupted = label_noise.corrupt(labels, fraction, np.random.default_rng(0))
    assert (corrupted != labels).sum() == round(fraction * 40)
    assert (corrupted[40:] == -1).all()
    assert set(corrupted[:40].tolist()) == {0, 1, 2, 3}


@pytest.fixture
def dataset(tiny_views):
    ids = np.arange(60).astype(str)
    return Dataset("tiny", MultiView(tiny_views.views), tiny_views.labels, ids, (), "0" * 64)


def test_dropped_samples_get_the_most_frequent_class(dataset, tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[:, 1] = False
    labels = np.where(np.arange(60) == np.flatnonzero(tiny_views.labels == 2)[0], 2, -1)
    labels[np.flatnonzero(tiny_views.labels == 1)[:2]] = 1
    predictions = missing_views.predict_labels(dataset, "dropped", present, labels, seed=0)
    assert set(predictions.tolist()) == {1}


def test_what_is_in_the_file_is_not_done_again(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_records, "load_dataset", lambda name: dataset)
    calls = []

    def run(data, series, fraction, seed):
        calls.append((series, fraction, seed))
        return {"accuracy": 0.5 + fraction}

    file = tmp_path / "records.jsonl"
    for seeds in ([0], [0, 1]):
        settings = list(product(["a"], [0.0, 0.1], seeds))
        stored_records.add_missing(file, ["tiny"], robustness.KEY, settings, run)
    assert calls == [("a", 0.0, 0), ("a", 0.1, 0), ("a", 0.0, 1), ("a", 0.1, 1)]
    assert [json.loads(line)["seed"] for line in file.read_text().splitlines()] == [0, 0, 1, 1]


def test_table_and_figure_show_every_series_and_fraction():
    records = [
        {
            "dataset": "digits",
            "series": one,
            "fraction": fraction,
            "seed": seed,
            "accuracy": 0.9 - fraction + 0.02 * seed,
        }
        for one in ("kept", "mean")
        for fraction in (0.0, 0.5)
        for seed in (0, 1)
    ]
    records.append(
        {"dataset": "digits", "series": "mean", "fraction": 1.0, "seed": 0, "accuracy": 0.1}
    )
    series, fractions = ("kept", "mean"), (0.0, 0.5, 1.0)
    table = robustness.table(records, series, fractions)
    assert table.splitlines()[0] == "| data set |  | 0% | 50% | 100% |"
    assert "| kept | 91.0 (1.4) | 41.0 (1.4) |  |" in table  # 1.0 with ddof=0
    assert "| mean | 91.0 (1.4) | 41.0 (1.4) | 10.0 |" in table
    drawn = robustness.figure(records, series, fractions, x_name="removed", own="kept")
    (ax,) = drawn.axes
    assert [line.get_label() for line in ax.lines] == ["kept", "mean"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [91.0, 41.0])
    (band,) = ax.collections
    top = band.get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(top, 91.0 + np.std([90.0, 92.0], ddof=1))
