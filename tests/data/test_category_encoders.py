"""Categories and booleans: equal levels coincide, distinct ones lie equally far apart."""

import cmath
import math
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from manyview.data.category_encoders import BooleanEncoder, CategoryEncoder, level_codes
from manyview.data.mixed_table import as_column
from manyview.errors import DataWarning


def encode(encoder, cells):
    fitted = encoder.fit("c", as_column(cells), "v")
    return fitted, fitted(as_column(cells), "v")


def test_categories_against_a_loop():
    cells = ["a", "b", "a", "c", None, "a"]
    fitted, encoded = encode(CategoryEncoder, cells)
    assert fitted.columns == ["c=a", "c=b", "c=c", "c=(blank)"]
    frequencies = {"a": 3 / 6, "b": 1 / 6, "c": 1 / 6, None: 1 / 6}
    scale = math.sqrt(1 - sum(value**2 for value in frequencies.values()))
    for row, cell in enumerate(cells):
        for column, level in enumerate(["a", "b", "c", None]):
            expected = ((cell == level) - frequencies[level]) / scale
            assert encoded[row, column] == pytest.approx(expected)


def test_an_unseen_category_becomes_the_mean_with_a_warning():
    fitted, _ = encode(CategoryEncoder, ["a", "b", "a", "b"])
    with pytest.warns(DataWarning, match=r"column 'c': 1 of 2 samples .*did not see \('z'\)"):
        encoded = fitted(as_column(["z", "a"]), "v")
    assert not encoded[0].any()
    assert encoded[1].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not fitted(as_column([None, "a"]), "v")[0].any()  # blank cells are not news


def test_whole_numbers_are_the_same_level_with_and_without_a_point():
    fitted, _ = encode(CategoryEncoder, ["1", "2", "b", "1"])
    np.testing.assert_array_equal(
        fitted(np.array([1.0, 2.0]), "v"), fitted(as_column(["1", "2"]), "v")
    )


def test_booleans_are_the_same_in_all_words():
    fitted, _ = encode(BooleanEncoder, ["yes", "no", "Yes"])
    expected = fitted(as_column(["yes", "no"]), "v")
    for cells in (["TRUE", "False"], [True, False], ["y", "N"], [1, 0]):
        np.testing.assert_array_equal(fitted(as_column(cells), "v"), expected)


@pytest.mark.parametrize(
    ("n_levels", "n_columns", "bound"), [(5, 5, 0), (142, 142, 0), (5_000, 254, 0.05)]
)
def test_distinct_levels_lie_equally_far_apart(n_levels, n_columns, bound):
    names = [f"level {number}" for number in range(n_levels)]
    fitted, encoded = encode(CategoryEncoder, names * 2)
    assert encoded.shape == (2 * n_levels, n_columns)
    np.testing.assert_array_equal(encoded[:n_levels], encoded[n_levels:])
    distances = pdist(encoded[:n_levels][:: max(1, n_levels // 1_000)])
    np.testing.assert_allclose(distances, math.sqrt(2) * fitted.factor, rtol=bound + 1e-9)


def test_codes_of_many_levels_against_a_loop_over_the_formula():
    numbers = np.array([0, 1, 126, 127, 300, 16_128, 16_129, 1_000_000])
    codes = level_codes(numbers, 1_000_001)
    for number, code in zip(numbers.tolist(), codes, strict=True):
        digits = [number % 127, number // 127 % 127, number // 127**2]
        for t in range(127):
            value = sum(digit * t ** (place + 1) for place, digit in enumerate(digits))
            wave = cmath.exp(2j * math.pi * (value % 127) / 127) / math.sqrt(127)
            assert complex(code[t], code[127 + t]) == pytest.approx(wave, abs=1e-12)


@pytest.mark.parametrize(("n_levels", "degree"), [(257, 2), (127**2, 2), (127**3, 3)])
def test_inner_products_of_codes_keep_to_the_bound_of_weil(n_levels, degree):
    numbers = np.unique(np.random.default_rng(0).integers(n_levels, size=1_500))
    numbers = np.union1d(numbers, [0, 1, n_levels - 2, n_levels - 1])
    codes = level_codes(numbers, n_levels)
    products = codes @ codes.T
    np.testing.assert_allclose(np.diag(products), 1)
    np.fill_diagonal(products, 0)
    assert np.abs(products).max() <= (degree - 1) / math.sqrt(127) + 1e-9


def test_levels_that_occur_once_stay_apart():
    cells = [f"level {number}" for number in range(300)] + ["often"] * 900
    fitted, encoded = encode(CategoryEncoder, cells)
    np.testing.assert_allclose(pdist(encoded[:301]), math.sqrt(2) * fitted.factor, rtol=0.05)


def test_the_width_stays_bounded_and_each_level_up_to_256_has_a_column():
    for n_levels, n_columns in ((256, 256), (257, 254), (20_000, 254)):
        names = [str(number) for number in range(n_levels)]
        fitted, encoded = encode(CategoryEncoder, names)
        assert encoded.shape == (n_levels, n_columns)
        assert len(fitted.columns) == len(set(fitted.columns)) == n_columns
    assert fitted.columns[-1] == "c (254)"


def test_an_unseen_level_among_many_becomes_the_mean_with_a_warning():
    fitted, _ = encode(CategoryEncoder, [f"level {number}" for number in range(1_000)])
    with pytest.warns(DataWarning, match=r"1 of 2 samples .*did not see \('z'\)"):
        encoded = fitted(as_column(["z", "level 7"]), "v")
    assert not encoded[0].any()
    assert encoded[1].any()
