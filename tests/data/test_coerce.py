"""Forms of views that are taken, and masks that are refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview.data.views import MultiView, check_views
from manyview.errors import InputError, InputTypeError


def test_list_tuple_and_single_array_get_numbered_names():
    arrays = [np.ones((4, 3)), np.ones((4, 2))]
    assert MultiView(arrays).names == MultiView(tuple(arrays)).names == ("view1", "view2")
    assert MultiView(arrays[0]).names == ("view1",)
    assert MultiView([[1, 2], [3, 4]]).shape == (2, 2)
    assert MultiView([[[1, 2], [3, 4]], [[5], [6]]]).names == ("view1", "view2")


def test_every_sparse_format_is_one_view():
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        views = MultiView(sparse.random_array((5, 3), density=0.5, rng=0).asformat(form))
        assert views.names == ("view1",)
        assert views["view1"].format == "csr"


def test_frames_become_arrays_and_nullable_columns_numbers():
    frame = pd.DataFrame({"x": [1, 2], "y": pd.array([0.5, 1.5], dtype="Float64")})
    np.testing.assert_array_equal(MultiView({"f": frame})["f"], [[1, 0.5], [2, 1.5]])


def test_given_dtype_is_kept():
    assert MultiView(np.ones((2, 2), dtype=np.float16))["view1"].dtype == np.float16


def test_objects_that_are_no_numbers_are_type_errors_too():
    with pytest.raises(InputTypeError):
        check_views(np.array([[{}]], dtype=object))


@pytest.mark.parametrize(
    ("present", "message"),
    [
        (np.ones((3, 2), dtype=bool), "present must be [sample, view], of shape (4, 2); got"),
        (np.ones(3, dtype=bool), "of shape (4, 2); got shape (3,)"),
        (
            np.ones((4, 2)),
            "present must hold booleans, True where a sample has the view; got dtype",
        ),
        ({"a": [True]}, "present['a'] must be one per sample, of shape (4,); got shape (1,)"),
        ({"a": [1, 0, 1, 1]}, "present['a'] must hold booleans"),
        ({"z": [True] * 4}, "a name in present must be one of 'a', 'b'; got 'z'"),
    ],
)
def test_masks_that_break_a_rule_are_refused(present, message):
    with pytest.raises(InputError) as refusal:
        MultiView({"a": np.ones((4, 3)), "b": np.ones((4, 2))}, present=present)
    assert message in str(refusal.value)
