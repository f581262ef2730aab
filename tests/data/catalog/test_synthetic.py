"""Synthetic data: planted classes that can be found, and views of pure noise."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from manyview.data.catalog import synthetic
from manyview.data.catalog.synthetic import class_sizes, make_multiview_classification
from manyview.errors import InputError


def knn_accuracy(view, labels):
    half = len(labels) // 2
    model = KNeighborsClassifier(10).fit(view[:half], labels[:half])
    return model.score(view[half:], labels[half:])


def test_views_tell_classes_and_noise_views_do_not():
    views, labels = make_multiview_classification(
        2000, 3, n_classes=4, n_noise_views=1, class_sep=3.0, random_state=0
    )
    assert [knn_accuracy(view, labels) > 0.9 for view in views] == [True, True, False]
    assert abs(knn_accuracy(views["view3"], labels) - 0.25) < 0.06


def test_classes_that_are_not_apart_cannot_be_told():
    views, labels = make_multiview_classification(2000, 1, class_sep=0.0, random_state=0)
    assert abs(knn_accuracy(views["view1"], labels) - 1 / 3) < 0.06


def test_noise_of_its_own_blinds_a_view():
    views, labels = make_multiview_classification(
        2000, 2, noise=[0.1, 50.0], class_sep=2.0, random_state=0
    )
    first, second = (knn_accuracy(view, labels) for view in views)
    assert first > second + 0.3


def test_bent_views_stay_within_their_range_and_tell_classes():
    views, labels = make_multiview_classification(
        1000, 1, noise=0.0, nonlinear=True, class_sep=3.0, random_state=0
    )
    assert np.abs(views["view1"]).max() <= 1
    assert knn_accuracy(views["view1"], labels) > 0.9


def test_same_seed_gives_the_same_data_and_another_seed_others():
    one, two, other = (
        make_multiview_classification(50, 2, random_state=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one[1], two[1])
    for name in one[0].names:
        np.testing.assert_array_equal(one[0][name], two[0][name])
        assert not np.array_equal(one[0][name], other[0][name])


def test_samples_may_stay_class_by_class_and_in_float32():
    views, labels = make_multiview_classification(
        40, 2, n_features=[3, 7], shuffle=False, dtype="float32", random_state=0
    )
    assert (np.diff(labels) >= 0).all()
    assert [view.dtype for view in views] == [np.float32, np.float32]
    assert [view.shape for view in views] == [(40, 3), (40, 7)]


@pytest.mark.parametrize(
    ("n_samples", "weights"), [(100, None), (7, [5, 1, 1]), (3, [1e9, 1, 1]), (11, [0.5, 0.3, 0.2])]
)
def test_class_sizes_add_up_and_leave_no_class_empty(n_samples, weights):
    sizes = class_sizes(n_samples, 3, weights)
    assert sizes.sum() == n_samples
    assert sizes.min() >= 1
    shares = np.ones(3) if weights is None else np.array(weights)
    if (n_samples * shares / shares.sum() >= 1).all():
        assert np.abs(sizes - n_samples * shares / shares.sum()).max() < 1


def test_blocks_are_all_filled(monkeypatch):
    monkeypatch.setattr(synthetic, "BLOCK_ROWS", 7)
    views, labels = make_multiview_classification(50, 2, class_sep=9.0, random_state=0)
    assert knn_accuracy(views["view2"], labels) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 2}, "n_samples must be at least n_classes; got 2 with 3 classes."),
        ({"n_noise_views": 4}, "n_noise_views must be at most n_views; got 4 with 3 views."),
        ({"n_features": [1, 2]}, "one for each of the 3 views; got 2."),
        ({"n_features": 0}, "n_features must be a whole number of at least 1; got 0."),
        ({"noise": -1}, "noise must be at least 0; got -1."),
        ({"weights": [1, 2]}, "weights must be 3 numbers above 0"),
        ({"weights": [1, 2, -3]}, "weights must be 3 numbers above 0"),
        ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64'; got 'float16'."),
        ({"class_sep": None}, "class_sep must be a number at least 0; got None."),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(parameters, message):
    with pytest.raises(InputError) as error:
        make_multiview_classification(**{"n_samples": 30, "n_views": 3} | parameters)
    assert message in str(error.value)


@pytest.mark.slow
def test_many_samples_take_little_more_memory_than_the_result():
    code = (
        "from manyview.system.memory import peak_memory\n"
        "from manyview.data.catalog.synthetic import make_multiview_classification as make\n"
        "before = peak_memory()\n"
        "make(1_000_000, 3, n_features=32, dtype='float32', random_state=0)\n"
        "print(peak_memory() - before)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 1.5 * (3 * 32 * 4 + 8)  # MB: the views, and the labels
