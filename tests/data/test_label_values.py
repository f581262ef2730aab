"""Labels parsed, described and aligned to samples."""

import numpy as np
import pytest

from manyview.data.label_values import (
    check_unique,
    describe_labels,
    is_known,
    is_number,
    mark_unknown,
    parse_labels,
    shown_names,
)
from manyview.errors import DataFileError


@pytest.mark.parametrize(
    ("labels", "known"),
    [
        ([0, -1, 2], [True, False, True]),
        ([1.0, np.nan, -1.0], [True, False, False]),
        (np.array(["a", None, float("nan"), -1], dtype=object), [True, False, False, False]),
        (["a", "b"], [True, True]),
        ([True, False], [True, True]),
    ],
)
def test_is_known_finds_minus_one_none_and_nan(labels, known):
    assert is_known(labels).tolist() == known


def test_parse_labels_keeps_whole_numbers_as_they_are():
    parsed = parse_labels(np.array([1, 2, 5], dtype=np.uint8), "Y")
    assert parsed.dtype == np.int64
    assert parsed.tolist() == [1, 2, 5]


@pytest.mark.parametrize("blank", ["", "NA", "nan", "NaN", "?", "-1", "  "])
def test_parse_labels_reads_blank_words_as_unknown(blank):
    assert parse_labels(["3", blank, "4.0"], "y").tolist() == [3, -1, 4]
    assert parse_labels(["cat", blank], "y").tolist() == ["cat", None]


def test_parse_labels_keeps_texts_and_booleans():
    assert parse_labels(["cat", "7"], "y").tolist() == ["cat", "7"]
    assert parse_labels(np.array([True, False]), "y").dtype == bool


def test_parse_labels_reads_float_nan_as_unknown():
    assert parse_labels(np.array([1.0, np.nan]), "y").tolist() == [1, -1]


def test_parse_labels_keeps_very_long_numbers_apart():
    parsed = parse_labels(["9007199254740992", "9007199254740993"], "y")
    assert len(set(parsed.tolist())) == 2


@pytest.mark.parametrize("values", [np.array([0.5, 1]), ["0.5", "1"]])
def test_parse_labels_refuses_numbers_that_are_not_whole(values):
    with pytest.raises(DataFileError, match="labels in Y must be whole numbers or text; got"):
        parse_labels(values, "Y")


def test_is_number_knows_that_an_id_with_underscore_is_none():
    assert is_number("1e3")
    assert not is_number("1_2")


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([1, 2, 3, 3], "labels in Y: 3 classes from 1 to 3"),
        ([1, 5], "labels in Y: 2 classes between 1 and 5"),
        ([7, 900_000_000], "labels in Y: 2 classes between 7 and 900000000"),
        ([1, 2, -1], "labels in Y: 2 classes from 1 to 2, 1 sample unknown"),
        (["b", "a"], "labels in Y: 2 classes (a, b)"),
        ([-1, -1], "labels in Y: every label unknown"),
        ([4, 4], "labels in Y: 1 class (4)"),
    ],
)
def test_describe_labels_says_what_they_are(labels, text):
    assert describe_labels(np.array(labels), "Y") == text


def test_shown_names_counts_what_it_leaves_out():
    assert shown_names("abc") == "a, b, c"
    assert shown_names("abcdefg") == "a, b, c, d, e and 2 more"


def test_check_unique_says_which_ids_repeat():
    with pytest.raises(DataFileError) as caught:
        check_unique(["s1", "s3", "s3"], "a.csv", first_row=2)
    assert str(caught.value) == (
        "a.csv names sample 's3' twice (rows 3 and 4); every sample must have one row. Remove or "
        "merge rows, or pass id_column= if another column holds the ids."
    )
    with pytest.raises(DataFileError, match=r"names sample 'a' 3 times, and 1 other sample\(s\)"):
        check_unique(["a", "b", "a", "b", "a"], "obs_names")
    with pytest.raises(DataFileError, match=r"has 2 rows without a sample id \(rows 2 and 4\)"):
        check_unique(["", "b", ""], "a.csv", first_row=2)
    check_unique(["a", "b"], "a.csv")


def test_mark_unknown_makes_room_for_minus_one():
    marked = mark_unknown(np.array([200, 3], dtype=np.uint8), np.array([False, True]))
    assert marked.dtype == np.int64
    assert marked.tolist() == [200, -1]


def test_parse_labels_takes_blanks_alone_as_unknown():
    assert parse_labels(["", "NA"], "y").tolist() == [-1, -1]


@pytest.mark.parametrize("labels", [[1.0, 1e300], np.array([1, 2**64 - 1], dtype=np.uint64)])
def test_labels_beyond_whole_numbers_are_refused(labels):
    with pytest.raises(DataFileError, match=r"labels in y must be whole numbers"):
        parse_labels(np.array(labels), "y")


def test_labels_in_half_precision_are_read_without_a_warning():
    with np.errstate(all="raise"):
        assert parse_labels(np.array([1, 2, np.nan], dtype=np.float16), "Y").tolist() == [1, 2, -1]
