"""The studies of missing views and wrong labels: what they take away, keep and tell."""

import json

import kept_records
import label_noise
import missing_views
import numpy as np
import pytest
import study_lines

from manyview.data.dataset import Dataset
from manyview.data.views import MultiView


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_as_many_pairs_go_as_asked_for_and_nobody_loses_all(share, rng):
    present = missing_views.remove_pairs(40, 3, share, rng)
    assert (~present).sum() == round(share * 120)
    assert present.any(axis=1).all()


def test_means_come_from_the_rows_that_are_there():
    views = MultiView({"a": [[1.0], [3.0], [99.0]], "b": np.ones((3, 1))})
    present = np.array([[True, True], [True, True], [False, True]])
    filled = missing_views.fill_means(views, present)
    assert filled["a"].ravel().tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_as_many_labels_are_wrong_as_asked_for(share):
    labels = np.where(np.arange(100) < 40, np.arange(100) % 4, -1)
    spoiled = label_noise.spoil(labels, share, np.random.default_rng(0))
    assert (spoiled != labels).sum() == round(share * 40)
    assert (spoiled[40:] == -1).all()
    assert set(spoiled[:40].tolist()) == {0, 1, 2, 3}


@pytest.fixture
def dataset(tiny_views):
    ids = np.arange(60).astype(str)
    return Dataset("tiny", MultiView(tiny_views.views), tiny_views.labels, ids, (), "0" * 64)


def test_dropped_samples_get_the_most_frequent_class(dataset, tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[:, 1] = False
    labels = np.where(np.arange(60) == np.flatnonzero(tiny_views.labels == 2)[0], 2, -1)
    labels[np.flatnonzero(tiny_views.labels == 1)[:2]] = 1
    predictions = missing_views.prediction(dataset, "dropped", present, labels, seed=0)
    assert set(predictions.tolist()) == {1}


def test_what_is_in_the_file_is_not_done_again(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_records, "load_dataset", lambda name: dataset)
    calls = []

    def run(data, series, share, seed):
        calls.append((series, share, seed))
        return {"accuracy": 0.5 + share}

    file = tmp_path / "records.jsonl"
    for seeds in ([0], [0, 1]):
        study_lines.run_all(file, ["tiny"], ["a"], [0.0, 0.1], seeds, run)
    assert calls == [("a", 0.0, 0), ("a", 0.1, 0), ("a", 0.0, 1), ("a", 0.1, 1)]
    assert [json.loads(line)["seed"] for line in file.read_text().splitlines()] == [0, 0, 1, 1]


def test_table_and_figure_show_every_series_and_share():
    records = [
        {
            "dataset": "digits",
            "series": one,
            "share": share,
            "seed": seed,
            "accuracy": 0.9 - share + 0.02 * seed,
        }
        for one in ("kept", "mean")
        for share in (0.0, 0.5)
        for seed in (0, 1)
    ]
    records.append(
        {"dataset": "digits", "series": "mean", "share": 1.0, "seed": 0, "accuracy": 0.1}
    )
    series, shares = ("kept", "mean"), (0.0, 0.5, 1.0)
    table = study_lines.markdown(records, series, shares)
    assert table.splitlines()[0] == "| data set | | 0% | 50% | 100% |"
    assert "| kept | 91.0 (1.4) | 41.0 (1.4) |  |" in table  # 1.0 with ddof=0
    assert "| mean | 91.0 (1.4) | 41.0 (1.4) | 10.0 |" in table
    drawn = study_lines.figure(records, series, shares, x_name="removed", own="kept")
    (ax,) = drawn.axes
    assert [line.get_label() for line in ax.lines] == ["kept", "mean"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [91.0, 41.0])
    (band,) = ax.collections
    top = band.get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(top, 91.0 + np.std([90.0, 92.0], ddof=1))
