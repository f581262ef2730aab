"""The random forest of README's table: scored on hidden labels, averaged over whole data sets."""

import json

import pytest
import random_forest

from manyview import load_dataset


def test_the_forest_is_scored_on_the_hidden_labels():
    found = random_forest.run(load_dataset("digits"), 0.05, 0)
    assert 0.85 < found["accuracy"] < 0.97


def test_a_mean_needs_every_split(tmp_path, monkeypatch):
    records = tmp_path / "forest.jsonl"
    monkeypatch.setattr(random_forest, "RECORDS", records)
    lines = [
        {"dataset": "a", "label_ratio": ratio, "seed": seed, "accuracy": 0.5 + seed / 10}
        for ratio in (0.01, 0.05)
        for seed in range(5)
    ]
    records.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    assert random_forest.means(["a"]) == {0.01: pytest.approx(70), 0.05: None, 0.1: None}
