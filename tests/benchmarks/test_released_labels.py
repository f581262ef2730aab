import numpy as np
import pytest
from released_labels import equal_class_labels

from manyview.errors import InputError


def test_classes_are_cut_in_order_and_the_last_takes_the_remainder():
    assumed, _ = equal_class_labels(544, 5, 0.1, random_state=0)
    np.testing.assert_array_equal(np.bincount(assumed), [108, 108, 108, 108, 112])
    assert np.all(np.diff(assumed) >= 0)


@pytest.mark.parametrize(("ratio", "n_drawn"), [(0.1, 10), (0.01, 1), (0.001, 1), (0.29, 29)])
def test_every_class_is_labeled_at_the_same_positions(ratio, n_drawn):
    _, is_labeled = equal_class_labels(403, 4, ratio, random_state=3)
    by_class = is_labeled[:400].reshape(4, 100)
    assert np.all(by_class == by_class[0])
    assert by_class[0].sum() == n_drawn
    assert not is_labeled[400:].any()


def test_all_but_the_remainder_is_labeled_at_ratio_one():
    _, is_labeled = equal_class_labels(11, 3, 1.0)
    np.testing.assert_array_equal(np.flatnonzero(~is_labeled), [9, 10])


def test_seed_decides_the_positions():
    draws = [equal_class_labels(90, 3, 0.2, random_state=seed)[1] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_assumed_labels_are_the_truth_where_classes_are_equal():
    truth = np.repeat([0, 1, 2], 7)
    np.testing.assert_array_equal(equal_class_labels(21, 3, 0.3)[0], truth)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 3, 0.0), "label_ratio must be above 0"),
        ((10, 3, 1.5), "label_ratio must be above 0"),
        ((10, 1, 0.5), "n_classes must be a whole number of at least 2"),
        ((2, 3, 0.5), "n_samples must be a whole number of at least 3"),
    ],
)
def test_impossible_requests_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        equal_class_labels(*arguments)
