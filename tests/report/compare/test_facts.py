import shlex
from statistics import fmean, stdev

import pytest
from scipy import stats

from manyview.report.compare.facts import find_standings

CLEAR = {"knn": [0.9, 0.91, 0.92, 0.9], "svm": [0.7, 0.72, 0.71, 0.7], "mvar": [0.8, 0.8, 0.8, 0.7]}
NOISE = {"knn": [0.9, 0.8, 0.95, 0.85], "svm": [0.85, 0.9, 0.84, 0.9]}


def test_methods_are_listed_best_first_with_mean_sd_and_interval(compared):
    found, _ = compared(CLEAR)
    assert [one.method for one in found.standings] == ["knn", "mvar", "svm"]
    best = found.best
    values = [100 * one for one in CLEAR["knn"]]
    assert best.mean == pytest.approx(fmean(values))
    assert best.std == pytest.approx(stdev(values))
    expected = stats.t.interval(0.95, 3, loc=fmean(values), scale=stdev(values) / 2)
    assert best.interval == pytest.approx(expected)
    assert best.behind is None
    assert best.p_value is None


def test_differences_are_paired_and_adjusted_for_the_number_of_methods(compared):
    found, _ = compared(CLEAR)
    plain = {name: stats.ttest_rel(CLEAR["knn"], CLEAR[name]).pvalue for name in ("svm", "mvar")}
    by_method = {one.method: one for one in found.standings}
    low, high = sorted(plain, key=plain.get)
    assert by_method[low].p_value == pytest.approx(2 * plain[low])
    assert by_method[high].p_value == pytest.approx(max(plain[high], 2 * plain[low]))
    assert by_method["svm"].behind == pytest.approx(20, abs=0.5)
    assert found.tied == ()
    assert found.test == "paired"


def test_difference_within_noise_is_said(compared):
    found, _ = compared(NOISE)
    assert [one.method for one in found.tied] == ["svm"]
    assert found.document()["within_noise"] == ["svm"]


def test_known_labels_stand_for_others_so_the_test_is_corrected(compared):
    """12 known labels of 60: the same numbers as in CLEAR are far less certain."""
    found, _ = compared(CLEAR, known=True)
    assert found.test == "corrected"
    assert {one.method for one in found.tied} == {"svm", "mvar"}
    wide, narrow = found.best.interval, compared(CLEAR)[0].best.interval
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])


def test_equal_scores_on_few_labels_are_no_certainty(compared):
    found, _ = compared({"knn": [1.0] * 5, "svm": [2 / 3] * 5}, known=True)
    low, high = found.best.interval
    assert low < 85
    assert high == 100
    assert [one.method for one in found.tied] == ["svm"]


def test_equal_scores_on_all_samples_are_equal(compared):
    found, _ = compared({"knn": [0.9] * 5, "svm": [0.9] * 5})
    assert found.tied[0].p_value == 1.0


def test_equal_means_go_to_the_quicker_method(compared):
    found, _ = compared({"logistic-regression": [0.9] * 3, "knn": [0.9] * 3})
    assert found.best.method == "knn"


def test_method_without_all_splits_does_not_win(compared):
    found, _ = compared(
        {"svm": [0.99, 0.99], "knn": [0.8, 0.9, 0.85]}, failed={"mvar": "no memory"}
    )
    assert [one.method for one in found.standings] == ["knn", "svm", "mvar"]
    assert found.n_left == 1
    svm, mvar = found.standings[1:]
    assert svm.behind == pytest.approx(100 * ((0.8 + 0.9) / 2 - 0.99))
    assert svm.shortfall == "2 of 3 seeds"
    assert (mvar.mean, mvar.shortfall) == (None, "no memory")


def test_nothing_wins_without_records(compared):
    found, _ = compared({"knn": []}, n_splits=2)
    assert (found.best, found.command, found.n_left) == (None, None, 2)
    assert found.document()["best"] is None


def test_metric_decides_the_winner(compared):
    found, study = compared(CLEAR)
    other = find_standings(found.comparison, study, "balanced_accuracy")
    assert (found.best.method, other.best.method) == ("knn", "svm")


def test_command_is_ready_for_a_shell(compared, tmp_path):
    found, _ = compared(CLEAR, protocol="random", seed=0)
    assert shlex.split(found.command) == [
        "manyview", "fit", str(tmp_path / "shapes.npz"), "--label-ratio", "0.2",
        "--protocol", "random", "--method", "knn",
    ]  # fmt: skip
