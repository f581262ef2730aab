"""Samples are found by row number or id, or refused in one sentence."""

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.explain.records import find_sample

IDS = ["doc-a", "doc-b", "news-1"]


@pytest.mark.parametrize(
    ("sample", "ids", "row"),
    [(0, None, 0), (-1, None, 2), (np.int64(2), IDS, 2), ("doc-b", IDS, 1)],
)
def test_sample_is_found(sample, ids, row):
    assert find_sample(sample, ids, 3) == row


@pytest.mark.parametrize(
    ("sample", "ids", "message"),
    [
        ("doc-c", IDS, "No sample has the id 'doc-c'. Did you mean 'doc-b' or 'doc-a'?"),
        ("zebra", IDS, "No sample has the id 'zebra'. The ids go from 'doc-a' to 'news-1'."),
        (3, None, "sample must be a row number from 0 to 2; got 3."),
        (-4, IDS, "sample must be a row number from 0 to 2; got -4."),
        (True, None, "sample must be a row number from 0 to 2; got True."),
        (1.0, None, "sample must be a row number from 0 to 2; got 1.0."),
        (
            "doc-a",
            None,
            "sample must be a row number from 0 to 2; got 'doc-a'. Pass sample_ids= to name a "
            "sample by its id.",
        ),
        ("doc-a", IDS[:2], "sample_ids must hold one id for each of the 3 samples; got 2."),
    ],
)
def test_unknown_sample_is_refused_in_one_sentence(sample, ids, message):
    with pytest.raises(InputError) as error:
        find_sample(sample, ids, 3)
    assert str(error.value) == message
