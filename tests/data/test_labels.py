"""check_labels: classes and numbers from labels as users have them."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from manyview.data.labels import check_labels
from manyview.errors import InputError


@pytest.mark.parametrize(
    ("labels", "classes", "y_encoded"),
    [
        ([3, -1, 5, 3], [3, 5], [0, -1, 1, 0]),
        (np.array([0, 2, 255], dtype=np.uint8), [0, 2, 255], [0, 1, 2]),
        ([1.0, np.nan, 2.0], [1.0, 2.0], [0, -1, 1]),
        (["b", None, "a"], ["a", "b"], [1, -1, 0]),
        (np.array(["b", "a"]), ["a", "b"], [1, 0]),
        (np.array(["b", np.nan, "a", -1], dtype=object), ["a", "b"], [1, -1, 0, -1]),
        ([True, False], [False, True], [1, 0]),
        (np.array([True, None, False], dtype=object), [False, True], [1, -1, 0]),
    ],
)
def test_labels_become_classes_and_numbers(labels, classes, y_encoded):
    found, numbers = check_labels(labels, len(labels))
    assert found.tolist() == classes
    assert numbers.tolist() == y_encoded


@pytest.mark.parametrize(
    ("labels", "n_samples", "message"),
    [
        (None, 2, "requires y to be passed, but the target y is None"),
        ([0, 1], 3, "got 2 labels for 3 samples"),
        ([-1, -1], 2, "all 2 are unknown"),
        ([3, -1], 2, "labels must hold at least two classes; got one class: 3"),
        ([1.0, np.inf], 2, "labels must be finite"),
        ([[0, 1], [1, 0]], 2, "labels must be 1-D, one per sample; got shape (2, 2)"),
        (np.array(["a", 1], dtype=object), 2, "all texts or all numbers; got int and str"),
    ],
)
def test_check_labels_refuses_in_one_sentence(labels, n_samples, message):
    with pytest.raises(InputError) as refusal:
        check_labels(labels, n_samples)
    assert message in str(refusal.value)


def test_fractions_are_no_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        check_labels([0.5, 1.5], 2)


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        check_labels(np.array([[0], [1]]), 2)


def test_class_names_that_differ_in_case_or_spaces_give_a_warning():
    labels = ["Benign", "benign", "malignant", None, None]
    with pytest.warns(UserWarning, match=r"'Benign' \(labels: 1\) and 'benign' \(labels: 1\)"):
        classes, _ = check_labels(labels, 5)
    assert classes.tolist() == ["Benign", "benign", "malignant"]
    with pytest.warns(UserWarning, match=r"'ill' .* and 'ill '"):
        check_labels(["ill", "ill ", "well"], 3)


@pytest.mark.parametrize("labels", [[0.5, 1.5, -1.0], np.array([0.5, None, 2.5], dtype=object)])
def test_fractional_labels_are_refused_in_one_sentence(labels):
    with pytest.raises(InputError, match=r"labels must be classes: whole numbers, texts or"):
        check_labels(labels, 3)
