"""Messages and checks that all readers share."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.io.reading import (
    as_view,
    equal_views,
    quoted,
    samples_are_rows,
    unreadable,
    view_notes,
)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "nothing"),
        (["X"], "'X'"),
        (["X", "Y", "gt"], "'X', 'Y' and 'gt'"),
        (list("abcdefghijkl"), "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j' and 2 more"),
    ],
)
def test_quoted_joins_names_as_a_sentence_does(names, text):
    assert quoted(names) == text


def test_equal_views_compares_dense_with_sparse():
    dense = np.array([[0, 1], [2, 0]], dtype=np.uint8)
    assert equal_views(dense, sparse.csr_array(dense.astype(float)))
    assert not equal_views(dense, sparse.csr_array(dense.T))
    assert not equal_views(dense, dense[:1])


def test_samples_are_the_side_that_most_views_fit():
    views = {"a": np.ones((5, 2)), "b": np.ones((5, 3)), "c": np.ones((4, 4))}
    assert samples_are_rows(views, 5, None, "f")
    assert not samples_are_rows({name: view.T for name, view in views.items()}, 5, None, "f")


def test_as_view_turns_any_sparse_matrix_into_rows():
    assert isinstance(as_view(sparse.coo_array(np.eye(2))), sparse.csr_array)


def test_view_notes_name_integers_and_copies(tmp_path):
    counts = np.ones((2, 2), dtype=np.uint8)
    assert view_notes({"a": counts, "b": counts.copy(), "c": np.ones((2, 3))}) == [
        "Views a and b are identical.",
        "Stored as uint8, cast before arithmetic: a, b.",
    ]


def test_unreadable_says_when_memory_is_short(tmp_path):
    error = unreadable(tmp_path / "a.mat", "a .mat file", MemoryError())
    assert str(error) == "a.mat does not fit in memory, or is damaged."
