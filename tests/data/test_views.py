"""MultiView: forms it takes, rows, graphs, and what check_views refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview.data.rows import row_blocks
from manyview.data.views import MultiView, check_views
from manyview.errors import InputError


def two_views():
    return {"a": np.arange(12.0).reshape(4, 3), "b": np.arange(8).reshape(4, 2)}


def test_multiview_counts_samples_and_columns():
    views = MultiView(two_views())
    assert (len(views), views.shape, views.n_views, views.names) == (4, (4, 5), 2, ("a", "b"))


@pytest.mark.parametrize(
    "rows", [[0, 2], np.array([3, 0]), np.array([True, False, True, False]), slice(1, 3), [], -1]
)
def test_rows_are_taken_over_all_views_at_once(rows):
    views = MultiView({**two_views(), "s": sparse.csr_matrix(np.eye(4))})
    taken = views[rows]
    kept = np.arange(4)[rows if not isinstance(rows, int) else [rows]]
    np.testing.assert_array_equal(taken["a"], two_views()["a"][kept])
    np.testing.assert_array_equal(taken["s"].toarray(), np.eye(4)[kept])
    np.testing.assert_array_equal(taken.positions, kept)


def test_rows_with_ellipsis_are_rows_as_scikit_learn_asks():
    np.testing.assert_array_equal(MultiView(two_views())[[1], ...]["b"], [[2, 3]])


def test_rows_of_rows_remember_where_they_stood():
    graph = sparse.csr_array(np.arange(16.0).reshape(4, 4))
    views = MultiView({"g": graph}, graphs=["g"])[[3, 1, 0]][[0, 2]]
    np.testing.assert_array_equal(views.positions, [3, 0])
    np.testing.assert_array_equal(views["g"].toarray(), graph.toarray()[[3, 0]])
    assert views.n_original == 4


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (
            {"a": np.ones((4, 2)), "b": np.ones((3, 2))},
            "view 'b' has 3 samples but view 'a' has 4. Every view must hold the same samples",
        ),
        ({"a": np.ones(4)}, "view 'a' must be 2-D, samples in rows; got 1-D of shape (4,)"),
        ({"a": 3.0}, "view 'a' must be 2-D, samples in rows; got a scalar"),
        ({"a": np.ones((4, 0))}, "view 'a' is empty: 0 feature(s)"),
        ({"a": np.ones((0, 2))}, "view 'a' has 0 sample(s)"),
        ({"a": np.array([["x", "y"]])}, "view 'a' must be numeric; got dtype <U1"),
        ({"a": np.ones((2, 2), dtype=complex)}, "Complex data not supported: view 'a'"),
        (
            {"a": pd.DataFrame([[1.0, "Bern"]], columns=["town", "town"])},
            "view 'a' must name every column once; 'town' repeats",
        ),
        ({"a": np.array([[1, "x"]], dtype=object)}, "view 'a' must be numeric"),
        ({}, "views must hold at least one view; got none"),
        ([], "views must hold at least one view; got none"),
        (
            {"a": np.array([[1.0, 1.0], [np.nan, 1.0], [1.0, np.nan]])},
            "view 'a' holds NaN (NaN or inf) in 2 of 3 rows, the first is row 1",
        ),
        (
            {"a": np.array([[1.0], [np.nan], [np.nan]])},
            "every sample must have at least one view; 2 of 3 lack all (their rows are NaN or "
            "masked), the first is row 1",
        ),
        ({"a": np.array([[1.0], [np.inf]])}, "view 'a' holds infinity (NaN or inf) in 1 of 2 rows"),
        (
            {"a": sparse.csr_array(np.array([[0.0, np.nan], [0.0, 1.0]]))},
            "view 'a' holds NaN (NaN or inf) in 1 of 2 rows, the first is row 0",
        ),
    ],
)
def test_check_views_refuses_in_one_sentence(views, message):
    with pytest.raises(InputError) as refusal:
        check_views(views)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_finite_values_whose_sum_overflows_are_not_called_infinite():
    large = np.full((3, 2), 1.5e308)
    with pytest.raises(InputError, match=r"holds values up to 1\.5e\+308 in magnitude"):
        check_views(large)


def test_graphs_must_name_views():
    with pytest.raises(InputError, match="graphs must name views; got 'links'"):
        MultiView(two_views(), graphs=["links"])


def test_unknown_view_name_lists_the_views():
    with pytest.raises(KeyError, match="the views are a, b"):
        MultiView(two_views())["c"]


def test_columns_of_frames_and_given_names_are_put_in_order():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    views = MultiView({"f": frame, "a": np.eye(2)}, columns={"a": ["p", "q"]})
    assert views[[1]].columns == {"f": ("x", "y"), "a": ("p", "q")}
    turned = views.with_columns_as({"f": ["y", "x"], "a": ["q", "p"]})
    np.testing.assert_array_equal(turned["f"], [[3, 1], [4, 2]])
    np.testing.assert_array_equal(turned["a"], [[0, 1], [1, 0]])
    np.testing.assert_array_equal(views["f"], [[1, 3], [2, 4]])
    with pytest.raises(InputError, match="must have the columns of the fit; it lacks 1: z"):
        views.with_columns_as({"f": ["x", "z"]})


NAN = np.nan
INCOMPLETE = {
    "a": np.array([[1.0, 2.0], [NAN, NAN], [3.0, 4.0]]),
    "b": np.array([[NAN], [5.0], [6.0]]),
}


def test_rows_of_nan_are_samples_that_lack_the_view():
    views = check_views(INCOMPLETE)
    np.testing.assert_array_equal(views.present, [[True, False], [False, True], [True, True]])
    assert views.rows_with("a").tolist() == [0, 2]
    assert MultiView(two_views()).rows_with("a") is None
    assert MultiView(two_views()).present.all()


def test_a_row_of_nan_is_found_in_a_sparse_view_too():
    dense = np.array([[NAN, NAN, NAN], [0.0, 1.0, 0.0], [NAN, 0.0, 0.0]])
    views = MultiView({"a": sparse.csr_array(dense), "b": np.ones((3, 1))})
    assert views.present[:, 0].tolist() == [False, True, True]
    with pytest.raises(
        InputError, match=r"view 'a' holds NaN .* in 1 of 3 rows, the first is row 2"
    ):
        check_views(views)


def test_blocks_do_not_change_which_rows_are_absent(monkeypatch, rng):
    values = rng.normal(size=(40, 3))
    values[[3, 17, 39]] = NAN
    views = MultiView({"a": values, "b": np.ones((40, 1))})
    monkeypatch.setattr("manyview.data.rows.row_blocks", lambda view: row_blocks(view, 100))
    assert np.flatnonzero(~views.present[:, 0]).tolist() == [3, 17, 39]


def test_mask_is_kept_by_rows_copies_and_pickles():
    mask = np.array([[True, False], [True, True], [False, True], [True, True]])
    views = MultiView(two_views(), present=mask)
    np.testing.assert_array_equal(views.present, mask)
    np.testing.assert_array_equal(views[[2, 0]].present, mask[[2, 0]])
    np.testing.assert_array_equal(views[np.array([False, True, False, False])].present, mask[[1]])
    np.testing.assert_array_equal(MultiView(views, graphs=()).present, mask)
    np.testing.assert_array_equal(views.with_columns_as({}).present, mask)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(views)).present, mask)
    assert (len(views), views.shape) == (len(MultiView(two_views())), MultiView(two_views()).shape)


def test_mask_by_name_and_rows_of_nan_are_taken_together():
    views = MultiView(INCOMPLETE, present={"b": [True, True, False]})
    np.testing.assert_array_equal(views.present, [[True, False], [False, True], [True, False]])
    again = MultiView(views, present={"a": [False, True, True]})
    assert again.present[:, 0].tolist() == [False, False, True]


def test_what_a_masked_row_holds_is_not_looked_at():
    values = np.array([[1.0, 2.0], [np.inf, NAN]])
    views = MultiView({"a": values, "b": np.ones((2, 1))}, present={"a": [True, False]})
    assert check_views(views) is views


def test_a_sample_without_any_view_is_refused_by_name():
    views = MultiView(INCOMPLETE, present={"b": [True, False, True]})
    with pytest.raises(InputError, match=r"1 of 3 lack all .*, the first is row 1"):
        check_views(views)
    with pytest.raises(InputError, match="the first is sample 'P7'"):
        check_views(views, sample_names=["P6", "P7", "P8"])


def test_single_nans_may_be_allowed_and_infinity_never():
    views = {"a": np.array([[1.0, NAN], [2.0, 3.0]])}
    assert check_views(views, may_lack_values=True)["a"].shape == (2, 2)
    views["a"][1, 1] = np.inf
    with pytest.raises(InputError, match="view 'a' holds NaN"):
        check_views(views, may_lack_values=True)


def test_magnitudes_whose_squares_overflow_are_refused_without_a_warning():
    view = np.ones((4, 2))
    view[2, 1] = -1e300
    for values in (view, sparse.csr_array(view)):
        with pytest.raises(InputError, match=r"view 'a' holds values up to 1e\+300 .* in row 2\."):
            check_views({"a": values})
        with pytest.raises(InputError, match=r"holds values up to 1e\+300"):
            check_views({"a": values}, may_lack_values=True)
    view[2, 1] = 1e100
    assert check_views({"a": view}).shape == (4, 2)
    single = np.full((2, 2), np.inf, dtype=np.float32)
    with pytest.raises(InputError, match="holds infinity"):
        check_views({"a": single})


def test_repeated_column_names_of_a_frame_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.ones((3, 3)), columns=["a", "a", "b"])
    with pytest.raises(InputError, match=r"view 'x' must name every column once; 'a' repeats\."):
        MultiView({"x": frame})


def test_columns_of_one_name_keep_their_order():
    views = MultiView({"a": np.ones((2, 3))}, columns={"a": ["g", "g", "h"]})
    assert views.with_columns_as({"a": ["g", "g", "h"]}).columns["a"] == ("g", "g", "h")
    with pytest.raises(InputError, match="since several have the same name"):
        views.with_columns_as({"a": ["h", "g", "g"]})


def test_a_mapped_file_that_was_cut_short_is_refused(tmp_path, rng):
    file = tmp_path / "a.npy"
    np.save(file, rng.random((5000, 4)))
    views = MultiView({"a": np.load(file, mmap_mode="r")[10:, 1:], "b": np.ones((4990, 1))})
    check_views(views)
    with file.open("r+b") as opened:
        opened.truncate(100_000)
    with pytest.raises(InputError, match=r"view 'a' must not become shorter .* 100,000 bytes inst"):
        check_views(MultiView(views))


def test_a_mapped_file_that_was_replaced_keeps_its_values(tmp_path, rng):
    file, other, values = tmp_path / "a.npy", tmp_path / "other.npy", rng.random((5000, 4))
    np.save(file, values)
    views = MultiView({"a": np.load(file, mmap_mode="r")})
    np.save(other, values[:10])
    other.replace(file)
    assert np.array_equal(check_views(views)["a"], values)
