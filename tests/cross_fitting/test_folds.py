"""Folds hide every label once, and leave one of each class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyview.cross_fitting.folds import NEVER_HIDDEN, draw_folds, held_out_parts


@given(arrays(int, st.integers(1, 60), elements=st.integers(-1, 4)), st.integers(2, 5))
def test_every_class_keeps_a_label_without_any_part(y_encoded, n_parts):
    parts = held_out_parts(y_encoded, n_parts, np.random.default_rng(0))
    assert (parts[y_encoded < 0] == NEVER_HIDDEN).all()
    for number in np.unique(y_encoded[y_encoded >= 0]):
        own = parts[y_encoded == number]
        assert ((own == NEVER_HIDDEN) == (len(own) == 1)).all()
        for part in range(n_parts):
            assert (own != part).any()


def test_parts_have_equal_sizes_over_many_small_classes():
    y_encoded = np.repeat(np.arange(30), 2)
    parts = held_out_parts(y_encoded, 3, np.random.default_rng(0))
    assert np.bincount(parts).tolist() == [20, 20, 20]


def test_few_labels_are_all_hidden_and_of_many_one_fold():
    few = np.arange(90) % 3
    assert set(draw_folds(few, np.random.default_rng(0)).tolist()) == {0, 1, 2}
    many = np.arange(6000) % 3
    drawn = draw_folds(many, np.random.default_rng(0))
    assert set(drawn.tolist()) == {0, NEVER_HIDDEN}
    assert (drawn == 0).sum() == 2000
