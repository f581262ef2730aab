"""Sparse matrices from outside: no index may point outside of its array."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.coerce import as_matrix
from manyview.data.sparse_format import as_csr, check_view_size, sparse_fault
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.system.config import config_context

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def healthy(kind):
    return sparse.random(40, 6, 0.5, format=kind, rng=0)


def damaged(kind, part, place, value):
    matrix = healthy(kind)
    getattr(matrix, part)[place] = value
    return matrix


@pytest.mark.parametrize("kind", FORMATS)
def test_healthy_matrices_stay_as_they_are(kind):
    matrix = healthy(kind)
    converted, fault = as_csr(matrix)
    assert fault == ""
    np.testing.assert_array_equal(converted.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (damaged("csr", "indices", 3, 10**6), "column indices must be from 0 to 5; got 1000000"),
        (damaged("csr", "indices", 3, -1), "column indices must be from 0 to 5; got -1"),
        (damaged("csc", "indices", 3, 40), "row indices must be from 0 to 39; got 40"),
        (damaged("coo", "row", 3, 40), "row indices must be from 0 to 39; got 40"),
        (damaged("coo", "col", 0, -7), "column indices must be from 0 to 5; got -7"),
        (damaged("csr", "indptr", 5, 10**6), "pointers must ascend from 0 to at most 120"),
        (damaged("csr", "indptr", 40, 10**6), "pointers must ascend .* 0 to 1000000"),
        (damaged("csr", "indptr", 0, 3), "pointers must ascend .* got 3"),
        (damaged("bsr", "indices", 0, 99), "block column indices must be from 0"),
    ],
)
def test_wrong_indices_and_pointers_are_refused(matrix, words):
    with pytest.raises(InputError, match=f"view 'x' is not a valid sparse matrix: {words}"):
        as_matrix(matrix, "x")
    with pytest.raises(InputError, match=words):
        MultiView({"x": matrix})


def test_pointers_are_checked_where_the_last_is_zero_and_where_unsigned():
    matrix = sparse.csr_array((3, 4))
    matrix.indptr = np.array([0, 5, 2, 0])
    assert "pointers must ascend" in sparse_fault(matrix)
    matrix.indptr = np.array([0, 5, 2, 0], dtype=np.uint64)
    assert "pointers must ascend" in sparse_fault(matrix)
    matrix.indptr = np.zeros(3, dtype=np.int32)
    assert "it must have 4 pointers" in sparse_fault(matrix)


def test_lists_with_a_wrong_column_are_refused():
    matrix = healthy("lil")
    matrix.rows[2] = [500]
    matrix.data[2] = [1.0]
    with pytest.raises(InputError, match="column indices must be from 0 to 5; got 500"):
        as_matrix(matrix, "x")


def test_a_view_of_rows_without_values_needs_memory():
    with (
        config_context(max_memory=0.5),
        pytest.raises(InputError, match="a view of 1,000,000,000 samples and 3 features needs"),
    ):
        check_view_size((10**9, 3))
    with config_context(max_memory=0.5), pytest.raises(InputError, match="needs about"):
        MultiView(np.empty((10**9, 0)))
