"""Labels drawn stratified or at random, and hidden."""

import numpy as np
import pytest

from manyview.data.splits import draw_labeled, hide_labels
from manyview.errors import InputError

LABELS = np.repeat([0, 1, 2], [60, 35, 3])


def test_stratified_draw_takes_the_rounded_fraction_of_each_class():
    drawn = LABELS[draw_labeled(LABELS, 0.1, random_state=0)]
    assert np.bincount(drawn).tolist() == [6, 4, 1]  # 3.5 rounds up, 0.3 becomes 1


@pytest.mark.parametrize(("ratio", "n_drawn"), [(0.25, 3), (0.15, 2), (0.145, 1), (1.0, 10)])
def test_stratified_draw_rounds_halves_up(ratio, n_drawn):
    assert draw_labeled(np.zeros(10, dtype=int), ratio, random_state=0).sum() == n_drawn


def test_stratified_draw_is_not_fooled_by_binary_fractions():
    assert 0.145 * 100 < 14.5
    assert draw_labeled(np.zeros(100, dtype=int), 0.145, random_state=0).sum() == 15


def test_random_draw_takes_the_floor_of_all_samples():
    assert draw_labeled(LABELS, 0.1, protocol="random", random_state=0).sum() == 9
    assert draw_labeled(np.zeros(100), 0.29, protocol="random", random_state=0).sum() == 29


def test_random_draw_may_leave_a_class_out():
    drawn = [
        LABELS[draw_labeled(LABELS, 0.02, protocol="random", random_state=s)] for s in range(5)
    ]
    assert any(len(set(labels)) < 3 for labels in drawn)


@pytest.mark.parametrize("protocol", ["stratified", "random"])
@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1, -1, -1] * 5),
        np.array(["a", "b", None, float("nan")] * 5, dtype=object),
        np.array([0.0, 1.0, np.nan, np.nan] * 5),
    ],
    ids=["integers", "texts", "floats"],
)
def test_draw_never_takes_a_sample_of_unknown_label(protocol, labels):
    is_labeled = draw_labeled(labels, 1.0, protocol=protocol, random_state=0)
    assert is_labeled.tolist() == [True, True, False, False] * 5


def test_draw_repeats_with_the_same_seed_and_differs_with_another():
    first, again, other = (draw_labeled(LABELS, 0.2, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("draw", [draw_labeled, hide_labels])
def test_draw_takes_every_kind_of_random_state(draw):
    for make in (
        lambda: 4,
        lambda: np.int64(4),
        lambda: np.random.RandomState(4),
        lambda: np.random.default_rng(4),
    ):
        first, again = (
            draw(LABELS, 0.2, random_state=make()),
            draw(LABELS, 0.2, random_state=make()),
        )
        np.testing.assert_array_equal(first, again)
    assert len(draw(LABELS, 0.2, random_state=None)) == len(LABELS)


def test_draws_of_a_seed_do_not_change():
    drawn = np.flatnonzero(draw_labeled(LABELS, 0.05, random_state=0)).tolist()
    assert drawn == [16, 20, 27, 89, 90, 97]
    drawn = np.flatnonzero(draw_labeled(LABELS, 0.05, protocol="random", random_state=0)).tolist()
    assert drawn == [5, 20, 36, 80]


def test_draw_continues_a_given_generator():
    rng = np.random.default_rng(1)
    first, second = (
        draw_labeled(LABELS, 0.2, random_state=rng),
        draw_labeled(LABELS, 0.2, random_state=rng),
    )
    np.testing.assert_array_equal(first, draw_labeled(LABELS, 0.2, random_state=1))
    assert (first != second).any()


def test_draw_leaves_the_global_generator_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    draw_labeled(LABELS, 0.2)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("ratio", [0, -0.1, 1.5, float("nan"), "0.1", None])
def test_draw_refuses_a_ratio_outside_its_range(ratio):
    with pytest.raises(InputError, match="ratio must be above 0 and at most 1; got"):
        draw_labeled(LABELS, ratio)


def test_draw_refuses_an_unknown_protocol_and_suggests_one():
    with pytest.raises(InputError, match=r"protocol must be one of.*Did you mean 'stratified'"):
        draw_labeled(LABELS, 0.1, protocol="stratifed")


def test_random_draw_refuses_to_draw_nothing():
    with pytest.raises(InputError, match=r"ratio must draw at least one sample; got 0.01 of 98"):
        draw_labeled(LABELS, 0.01, protocol="random")


def test_draw_refuses_labels_that_are_all_unknown_or_not_a_vector():
    with pytest.raises(InputError, match="at least one known label"):
        draw_labeled([-1, -1], 0.5)
    with pytest.raises(InputError, match="labels must be 1-D"):
        draw_labeled([[1, 2]], 0.5)


@pytest.mark.parametrize("random_state", [-1, "seed", 0.5, True])
def test_draw_refuses_anything_else_as_random_state(random_state):
    with pytest.raises(
        InputError, match="random_state must be a whole number of at least 0, a numpy gen"
    ):
        draw_labeled(LABELS, 0.5, random_state=random_state)


def test_hide_labels_leaves_only_the_drawn_ones():
    hidden = hide_labels(LABELS, keep=0.1, random_state=3)
    is_labeled = draw_labeled(LABELS, 0.1, random_state=3)
    np.testing.assert_array_equal(hidden, np.where(is_labeled, LABELS, -1))
    assert (LABELS >= 0).all()


@pytest.mark.parametrize(
    ("labels", "dtype", "unknown"),
    [
        (np.array([0, 1] * 4, dtype=np.uint8), np.int64, -1),
        (np.array([0, 1] * 4, dtype=np.int8), np.int8, -1),
        (np.array([0.0, 1.0] * 4), np.float64, -1),
        (np.array(["a", "b"] * 4), object, None),
        (np.array(["a", "b"] * 4, dtype=object), object, None),
        (np.array([True, False] * 4), object, None),
    ],
    ids=["unsigned", "small", "float", "text", "object", "boolean"],
)
def test_hide_labels_marks_each_kind_its_own_way(labels, dtype, unknown):
    hidden = hide_labels(labels, keep=0.25, random_state=0)
    assert hidden.dtype == dtype
    assert sum(label == unknown for label in hidden) == 6
    assert all(label in (unknown, own) for label, own in zip(hidden, labels, strict=True))


def test_hide_labels_keeps_unknown_labels_unknown():
    assert hide_labels([-1, 4, 4, -1], keep=1.0).tolist() == [-1, 4, 4, -1]
