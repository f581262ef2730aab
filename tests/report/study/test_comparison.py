from math import isnan, sqrt

import pytest
from scipy import stats

from manyview.report.study.comparison import (
    adjusted_p_values,
    average_ranks,
    corrected_t_test,
    format_p_value,
    mean_interval,
    paired_t_test,
    sampling_variance,
    signed_rank_test,
)


def test_equal_values_share_the_mean_of_their_ranks():
    assert average_ranks([[3.0, 3.0, 1.0]]) == [1.5, 1.5, 3.0]


def test_ranks_are_averaged_over_cases():
    assert average_ranks([[9.0, 8.0, 7.0], [7.0, 8.0, 9.0], [9.0, 8.0, 7.0]]) == [
        pytest.approx(5 / 3),
        2.0,
        pytest.approx(7 / 3),
    ]


def test_lowest_value_is_first_where_less_is_better():
    assert average_ranks([[9.0, 8.0]], higher_is_better=False) == [2.0, 1.0]


def test_corrected_t_test_equals_the_formula_by_hand():
    # mean 2, variance 1, n 3, and 9 tested samples for each labeled one
    t = 2 / sqrt((1 / 3 + 9) * 1)
    assert corrected_t_test([1.0, 2.0, 3.0], 0.1) == pytest.approx(2 * stats.t.sf(t, 2))


def test_corrected_t_test_is_more_cautious_the_fewer_are_labeled():
    differences = [4.0, 5.0, 6.0, 5.0, 4.5]
    p_values = [corrected_t_test(differences, ratio) for ratio in (0.9, 0.5, 0.1, 0.01)]
    assert p_values == sorted(p_values)
    assert paired_t_test(differences) < p_values[0]


def test_paired_t_test_equals_scipys():
    first, second = [90.0, 91.0, 88.5, 92.0], [89.0, 90.5, 88.0, 90.0]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    assert paired_t_test(differences) == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_differences_without_spread_are_certain_or_none():
    assert paired_t_test([2.0, 2.0, 2.0]) == 0.0
    assert corrected_t_test([0.0, 0.0], 0.1) == 1.0


def test_one_split_gives_no_p_value():
    assert isnan(paired_t_test([2.0]))


def test_signed_rank_test_equals_the_count_by_hand():
    # All six differences have one sign: 2 of 2^6 sign patterns are as extreme.
    assert signed_rank_test([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]) == pytest.approx(2 / 64)


def test_five_data_sets_are_too_few_for_significance():
    assert signed_rank_test([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]) > 0.05


def test_equal_results_are_left_out():
    assert signed_rank_test([1.0, 2.0], [1.0, 2.0]) == 1.0


@pytest.mark.parametrize(
    ("p_value", "text"),
    [(0.0, "< 0.001"), (0.00049, "< 0.001"), (0.001, "0.001"), (0.0496, "0.050"), (1.0, "1.000")],
)
def test_p_values_are_never_written_as_zero(p_value, text):
    assert format_p_value(p_value) == text


def test_interval_holds_zero_exactly_where_the_test_is_not_significant():
    differences = [0.5, 1.5, 2.0, 3.5]
    for overlap in (0.0, 0.25, 1.0, 4.0):
        low, high = mean_interval(differences, overlap)
        ratio = 1 / (1 + overlap)
        p_value = corrected_t_test(differences, ratio) if overlap else paired_t_test(differences)
        assert (low < 0 < high) == (p_value > 0.05)
    assert mean_interval([1.0]) is None


def test_holm_multiplies_the_least_and_never_reorders():
    p_values = [0.04, 0.01, 0.03, 0.5]
    adjusted = adjusted_p_values(p_values)
    assert adjusted == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert adjusted_p_values([0.9, 0.8]) == [1.0, 1.0]
    assert adjusted_p_values([]) == []


def test_least_variance_is_used_where_the_splits_agree_by_chance():
    assert corrected_t_test([0.2] * 5, 0.8) == 0.0
    least = sampling_variance(0.2, n_scored=9, n_known=40)
    t = 0.2 / sqrt((1 / 5 + 0.25) * least)
    assert corrected_t_test([0.2] * 5, 0.8, least) == pytest.approx(2 * stats.t.sf(t, 4))
    spread = [0.0, 1.0, 0.0, 1.0]
    assert mean_interval(spread, 0.0, least) == mean_interval(spread)


def test_variance_of_drawn_labels_falls_with_their_number_and_is_never_zero():
    assert sampling_variance(1.0, 10, 50) > sampling_variance(1.0, 100, 500) > 0
    assert sampling_variance(0.5, 10, 50) == pytest.approx(0.25 / 10)
