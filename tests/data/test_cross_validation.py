"""TransductiveViews: rows are taken, nobody leaves."""

import pickle

import numpy as np
import pytest

from manyview.data.cross_validation import TransductiveViews
from manyview.errors import InputError


def test_rows_of_rows_keep_all_samples(tiny_views):
    some = TransductiveViews(tiny_views.views)[np.arange(60) % 2 == 0][[3, 4]]
    assert some.rows.tolist() == [6, 8]
    assert len(some.views) == 60
    assert some.shape == (2, 13)
    assert some[0].rows.tolist() == [6]


@pytest.mark.parametrize(
    ("labels", "laid"),
    [
        (np.array([5, 7]), [-1, 5, -1, 7]),
        (np.array([5, 7], dtype=np.uint8), [-1, 5, -1, 7]),
        (np.array([0.0, np.nan]), [-1.0, 0.0, -1.0, np.nan]),
        (np.array(["a", "longer"]), [None, "a", None, "longer"]),
        (np.array(["a", None], dtype=object), [None, "a", None, None]),
        (np.array([True, False]), [None, True, None, False]),
    ],
)
def test_labels_are_laid_out_and_unknown_elsewhere(labels, laid):
    np.testing.assert_array_equal(TransductiveViews(np.eye(4))[[1, 3]].spread(labels), laid)


def test_labels_of_another_length_are_refused():
    with pytest.raises(InputError, match="got 3 labels for 2 rows"):
        TransductiveViews(np.eye(4))[[1, 3]].spread([1, 2, 3])
    with pytest.raises(InputError, match="got no rows"):
        TransductiveViews(np.eye(4))[[]].spread([])


def test_checksum_is_of_all_samples_and_survives_a_pickle_without_what_is_shared(tiny_views):
    samples = TransductiveViews(tiny_views.views)
    sent = pickle.loads(pickle.dumps(samples[[1, 2]]))
    assert samples[[0]].checksum() == samples.checksum() == sent.checksum()
    assert samples.shared is samples[[0]].shared
    assert samples.checksum() != TransductiveViews(tiny_views.views["shape"]).checksum()
