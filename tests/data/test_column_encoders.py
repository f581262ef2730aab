"""Encoders of columns: against loops over their formulas, for properties, and at the limits."""

import math
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

from manyview.data.column_encoders import (
    ENCODERS,
    BooleanEncoder,
    CategoryEncoder,
    DateEncoder,
    NumberEncoder,
    TextEncoder,
    _hashed,
    _weighted,
)
from manyview.data.mixed_table import as_column
from manyview.errors import InputError

NUMBERS = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3, 1e6]
DATES = [f"20{year:02}-{month:02}-11T{month:02}:30" for year in (19, 20, 21) for month in (1, 5, 9)]
TEXTS = ["good recovery", "severe pain", "good recovery after pain", "no pain", "fever", None]


def encode(encoder, cells):
    fitted = encoder.fit("c", as_column(cells), "v")
    return fitted, fitted(as_column(cells), "v")


COLUMNS = [
    (NumberEncoder, NUMBERS),
    (CategoryEncoder, ["a", "b", "a", "c", None, "a"]),
    (CategoryEncoder, [f"level {number // 3}" for number in range(900)]),
    (BooleanEncoder, ["yes", "No", "yes", None]),
    (DateEncoder, DATES),
    (TextEncoder, TEXTS),
]


@pytest.mark.parametrize(("encoder", "cells"), COLUMNS)
def test_every_column_has_mean_0_and_total_variance_1(encoder, cells):
    fitted, encoded = encode(encoder, cells)
    np.testing.assert_allclose(encoded.mean(axis=0), 0, atol=1e-9)
    assert encoded.var(axis=0).sum() == pytest.approx(1)
    assert encoded.shape == (len(cells), len(fitted.columns))


@pytest.mark.parametrize(("encoder", "cells"), COLUMNS)
def test_the_order_of_samples_changes_no_bit(encoder, cells):
    _, encoded = encode(encoder, cells)
    order = np.random.default_rng(0).permutation(len(cells))
    _, permuted = encode(encoder, [cells[row] for row in order])
    np.testing.assert_array_equal(permuted, encoded[order])


@pytest.mark.parametrize("encoder", ENCODERS.values())
@pytest.mark.parametrize("cells", [["2020-01-01"] * 3, [None, None]])
def test_a_constant_column_becomes_zeros(encoder, cells):
    if encoder is NumberEncoder:
        cells = [7.0 if cell else None for cell in cells]
    _, encoded = encode(encoder, cells)
    assert np.nan_to_num(encoded).any() == 0


def test_numbers_against_a_loop():
    fitted, encoded = encode(NumberEncoder, NUMBERS)
    ordered = sorted(NUMBERS)
    median = (ordered[3] + ordered[4]) / 2
    spread = np.quantile(NUMBERS, 0.75) - np.quantile(NUMBERS, 0.25)
    squashed = []
    for number in NUMBERS:
        z = (number - median) / spread
        squashed.append(z / math.sqrt(1 + (z / 3) ** 2))
    mean = sum(squashed) / len(squashed)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in squashed) / len(squashed))
    expected = [[(value - mean) / deviation] for value in squashed]
    np.testing.assert_allclose(encoded, expected, rtol=1e-12)
    assert np.ptp(fitted(np.array([-1e12, 1e12]), "v")) < 2 * 3 / deviation + 1e-9


@given(
    st.lists(st.integers(-1000, 1000), min_size=3, max_size=30, unique=True),
    st.sampled_from([1e-3, 2.0, 1e6]),
)
def test_units_of_numbers_do_not_matter(numbers, factor):
    _, one = encode(NumberEncoder, numbers)
    _, other = encode(NumberEncoder, [factor * number + factor for number in numbers])
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_blank_numbers_stay_nan_and_texts_are_read():
    _, encoded = encode(NumberEncoder, [1.0, None, 2.0])
    assert np.isnan(encoded[:, 0]).tolist() == [False, True, False]
    fitted, _ = encode(NumberEncoder, [1.0, 2.0])
    np.testing.assert_array_equal(
        fitted(as_column(["1", "2"]), "v"), fitted(np.array([1.0, 2.0]), "v")
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "many"], "must hold numbers; 1 of 2 cells do not, the first is 'many' (row 1)"),
        (["1", "inf"], "must hold finite numbers; row 1 holds inf"),
        (np.array(["2020-01-01"], "M8[D]"), "must hold numbers; got dates"),
    ],
)
def test_wrong_numbers_are_refused(cells, message):
    fitted, _ = encode(NumberEncoder, [1.0, 2.0])
    with pytest.raises(InputError) as refusal:
        fitted(as_column(cells), "v")
    assert f"view 'v': column 'c' {message}" in str(refusal.value)


def test_dates_against_a_loop():
    fitted, encoded = encode(DateEncoder, DATES)
    assert fitted.cycles == ["year", "day"]
    days = [(datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds() / 86400
            for text in DATES]  # fmt: skip
    blocks = [[[day] for day in days]]
    for length in (365.2425, 1):
        angles = [2 * math.pi * day / length for day in days]
        blocks.append([[math.sin(angle), math.cos(angle)] for angle in angles])
    for start, block in zip((0, 1, 3), map(np.array, blocks), strict=True):
        block = block - block.mean(axis=0)
        block = block / math.sqrt(3 * (block**2).mean(axis=0).sum())
        np.testing.assert_allclose(encoded[:, start : start + block.shape[1]], block, atol=1e-8)


def test_short_spans_have_no_cycle():
    assert encode(DateEncoder, ["2020-01-01", "2020-01-03"])[0].cycles == []
    assert encode(DateEncoder, ["2020-01-01", "2021-02-03"])[0].cycles == ["year"]
    assert encode(DateEncoder, ["2020-01-01", "2020-01-03 06:00"])[0].cycles == ["day"]


def test_dates_may_come_as_texts_or_as_dates():
    fitted, encoded = encode(DateEncoder, DATES)
    moments = as_column([datetime.fromisoformat(text) for text in DATES])
    np.testing.assert_array_equal(fitted(moments, "v"), encoded)
    assert np.isnan(fitted(np.array([np.nan]), "v")).all()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["soon"],
            "must hold dates of the form ISO 8601; 1 of 1 cells do not, the first is 'soon'",
        ),
        ([3.0], "must hold dates; got the number 3"),
    ],
)
def test_wrong_dates_are_refused(cells, message):
    fitted, _ = encode(DateEncoder, DATES)
    with pytest.raises(InputError, match=message):
        fitted(as_column(cells), "v")


def test_texts_are_weighted_as_by_scikit_learn():
    texts = np.array([text or "" for text in TEXTS])
    grams = _hashed(texts)
    fitted, _ = encode(TextEncoder, TEXTS)
    expected = TfidfTransformer().fit_transform(grams).toarray()
    np.testing.assert_allclose(_weighted(grams, fitted.idf).toarray(), expected, atol=1e-12)


def test_components_of_texts_hold_as_much_as_an_exact_svd():
    words = ("apple pie", "blue sky", "cold water")
    texts = [f"{word} {number}" for word in words for number in range(40)]
    fitted, _ = encode(TextEncoder, texts)
    weights = _weighted(_hashed(np.array(sorted(texts))), fitted.idf).toarray()
    exact = np.linalg.svd(weights, compute_uv=False)[:30]
    held = np.linalg.norm(weights @ fitted.components) ** 2
    assert held == pytest.approx((exact**2).sum(), rel=0.01)
    np.testing.assert_allclose(fitted.components.T @ fitted.components, np.eye(30), atol=1e-9)


def test_similar_texts_are_near():
    fitted, encoded = encode(TextEncoder, TEXTS)
    near, far = (np.linalg.norm(encoded[0] - encoded[row]) for row in (2, 4))
    assert near < far
    assert np.isfinite(fitted(as_column(["never seen", None]), "v")).all()
