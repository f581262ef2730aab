"""Properties of labeled frames: order means nothing, and absent ids are absent views.

The classes lie apart: random weights meet the columns in another order, which moves probabilities
a little and may decide about a sample on the border between two classes.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import build

from manyview import ManyviewClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.baselines.label_spreading import LabelSpreadingClassifier

QUICK = {ManyviewClassifier: {"max_epochs": 30}, KNNClassifier: {}, LabelSpreadingClassifier: {}}


def labeled_frames():
    """60 samples of 3 classes, in a view of numbers and one of mixed columns."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    ids = [f"s{row}" for row in rng.permutation(60)]
    numbers = 6 * rng.normal(size=(3, 4))[labels] + rng.normal(size=(60, 4))
    mixed = pd.DataFrame(
        {
            "size": 10.0 * labels + rng.normal(size=60),
            "color": np.array(["red", "green", "blue"])[labels],
            "day": pd.date_range("2020-01-01", periods=60, freq="11D"),
            "note": [f"{['early', 'middle', 'late'][own]} sample {row}"
                     for row, own in enumerate(labels)],
        },
        index=ids,
    )  # fmt: skip
    frames = {"numbers": pd.DataFrame(numbers, index=ids, columns=list("abcd")), "mixed": mixed}
    known = pd.Series(np.where(np.arange(60) % 5 == 0, labels, -1), index=ids)
    return frames, known, pd.Series(labels, index=ids)


FRAMES, KNOWN, LABELS = labeled_frames()


def predicted(method, frames, known):
    model = build(method, random_state=0, **QUICK[method]).fit(frames, known)
    return pd.Series(model.transduction_, index=model.sample_ids_)


@pytest.fixture(scope="module", params=list(QUICK), ids=lambda method: method.__name__)
def fitted(request):
    return request.param, predicted(request.param, FRAMES, KNOWN)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**20), views_reversed=st.booleans())
def test_the_order_of_rows_columns_and_views_changes_no_prediction(fitted, seed, views_reversed):
    method, expected = fitted
    rng = np.random.default_rng(seed)
    permuted = {
        name: frame.iloc[rng.permutation(60)].iloc[:, rng.permutation(frame.shape[1])]
        for name, frame in FRAMES.items()
    }
    if views_reversed:
        permuted = dict(reversed(permuted.items()))
    found = predicted(method, permuted, KNOWN.iloc[rng.permutation(60)])
    assert found.index.tolist() == next(iter(permuted.values())).index.tolist()
    pd.testing.assert_series_equal(found.loc[expected.index], expected)
    assert (expected == LABELS.loc[expected.index]).mean() > 0.95


@settings(max_examples=5)
@given(gone=st.sets(st.integers(0, 59), min_size=1, max_size=20))
def test_ids_absent_from_a_table_are_absent_views(gone):
    rows = np.array(sorted(gone))
    kept = np.setdiff1d(np.arange(60), rows)
    dropped = FRAMES | {"mixed": FRAMES["mixed"].iloc[kept]}
    blank = FRAMES["mixed"].astype(object)
    blank.iloc[rows] = None
    nan_rows = FRAMES | {"mixed": blank}
    models = [
        build(ManyviewClassifier, random_state=0, max_epochs=5).fit(views, KNOWN)
        for views in (dropped, nan_rows)
    ]
    assert models[0].sample_ids_.tolist() == models[1].sample_ids_.tolist()
    np.testing.assert_array_equal(models[0].label_distributions_, models[1].label_distributions_)
