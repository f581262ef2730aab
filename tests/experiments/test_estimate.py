"""The estimated time left."""

from manyview.experiments.estimate import Estimate, estimate
from manyview.experiments.trial import Trial


def record(method, ratio, seconds):
    return {"dataset": "a", "method": method, "label_ratio": ratio, "seconds": seconds}


def test_similar_records_count_and_trials_without_them_are_not_estimated():
    records = [record("knn", 0.1, 2.0), record("knn", 0.1, 4.0), record("knn", 0.5, 30.0)]
    trials = [
        Trial("a", "knn", {}, 0.1),  # 3 s: the same label ratio
        Trial("a", "knn", {}, 0.2),  # 12 s: any label ratio
        Trial("a", "svm", {}, 0.1),
        Trial("b", "knn", {}, 0.1),
    ]
    assert estimate(trials, records) == Estimate(seconds=15.0, n_unknown=2)


def test_estimate_is_formatted_as_a_phrase():
    assert Estimate(600.0, 0).text(n_jobs=2) == "about 5 min"
    assert Estimate(0.0, 1200).text(n_jobs=2) == "1,200 trials of unknown length"
    assert Estimate(60.0, 2).text(1) == "about 60 s, and 2 trials of unknown length"
