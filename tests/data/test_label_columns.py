"""Labels of files, joined to samples and merged with each other."""

import numpy as np
import pytest

from manyview.data.label_columns import LabelColumn, merge_labels
from manyview.errors import DataFileError


def test_label_column_follows_the_ids_of_the_views():
    column = LabelColumn("y.csv", np.array([1, 2, 3]), ["c", "a", "b"])
    labels, notes = column.align(3, ["a", "b", "c"])
    assert labels.tolist() == [2, 3, 1]
    assert notes == []


def test_label_column_leaves_samples_it_does_not_name_unknown():
    column = LabelColumn("y.csv", np.array(["x", "y"]), ["a", "zz"])
    labels, notes = column.align(2, ["a", "b"])
    assert labels.tolist() == ["x", None]
    assert notes == [
        "y.csv has no label for 1 of 2 samples; they are unknown.",
        "y.csv names 1 sample that is in no view: zz; not used.",
    ]


def test_label_column_refuses_ids_that_fit_no_sample():
    column = LabelColumn("y.csv", np.array([1]), ["a"])
    with pytest.raises(DataFileError, match=r"y\.csv names none of the 1 samples of the views"):
        column.align(1, ["b"])


def test_label_column_refuses_another_length():
    with pytest.raises(DataFileError, match=r"y.txt has 2 labels but the views have 3 samples"):
        LabelColumn("y.txt", np.array([1, 2])).align(3, None)


def test_labels_with_ids_are_not_counted_against_views_without_ids():
    column = LabelColumn("y.csv", np.array([1, 2]), ["p1", "p2"])
    with pytest.raises(DataFileError) as caught:
        column.align(500, None)
    assert str(caught.value) == (
        "y.csv names samples, such as 'p1', but the views have no sample ids to join them on. Add "
        "a column of sample ids to the tables, or pass id_column= to name it."
    )
    assert column.align(2, None)[1] == ["Labels in y.csv are joined to the views by row order."]


def test_a_sample_with_the_same_label_twice_is_accepted_with_a_note():
    column = LabelColumn("y.csv", np.array(["ill", "well", "ill"]), ["p1", "p2", "p1"])
    labels, notes = column.align(2, ["p1", "p2"])
    assert labels.tolist() == ["ill", "well"]
    assert notes == ["y.csv names 1 sample more than once, with the same label: p1."]


@pytest.mark.parametrize("labels", [["ill", None, None], [None, "ill", None], [None, None, "ill"]])
def test_a_blank_never_replaces_a_label(labels):
    column = LabelColumn("y.csv", np.array(labels, dtype=object), ["p1", "p1", "p1"])
    assert column.align(1, ["p1"])[0].tolist() == ["ill"]


@pytest.mark.parametrize(
    ("labels", "shown"), [(["ill", "x", "well"], "'ill'"), ([3, 1, 4], "3")], ids=["text", "number"]
)
def test_two_labels_of_one_sample_are_refused_with_their_rows(labels, shown):
    column = LabelColumn("y.csv", np.array(labels), ["p1", "p2", "p1"])
    with pytest.raises(
        DataFileError, match=rf"y\.csv gives sample 'p1' two labels: {shown} \(row 2\) and .*row 4"
    ):
        column.align(2, ["p1", "p2"])


def test_numbers_that_are_no_ids_are_joined_by_row():
    column = LabelColumn("y.csv", np.array([1, 2, 1]), ["40", "50", "40"], "age", is_sure=False)
    assert column.align(3, ["a", "b", "c"])[0].tolist() == [1, 2, 1]
    with pytest.raises(DataFileError, match="names none of the 4 samples"):
        column.align(4, ["a", "b", "c", "d"])


def test_blank_lines_of_a_spreadsheet_are_skipped():
    column = LabelColumn("y.csv", np.array(["x", None, None], dtype=object), ["p1", "", ""])
    assert column.align(1, ["p1"])[1] == []


def test_files_are_merged_and_blanks_filled():
    one = LabelColumn("a.csv", np.array(["x", None], dtype=object), ["p", "q"], notes=("a",))
    other = LabelColumn("b.csv", np.array(["y", "x", "z"]), ["q", "p", "r"], notes=("b",))
    labels, notes = merge_labels([one, other]).align(3, ["p", "q", "r"])
    assert labels.tolist() == ["x", "y", "z"]
    assert notes == ["a", "b"]
    assert merge_labels([one]) is one


def test_files_that_disagree_are_refused_with_both_labels():
    one = LabelColumn("a.csv", np.array(["x", "y"]), ["p", "q"])
    other = LabelColumn("b.csv", np.array(["z"]), ["q"])
    with pytest.raises(DataFileError) as caught:
        merge_labels([one, other]).align(2, ["p", "q"])
    assert str(caught.value) == (
        "sample 'q' has label 'y' in a.csv and 'z' in b.csv. Remove or correct one of them."
    )


def test_files_without_ids_are_merged_by_row():
    one, other = LabelColumn("a.txt", np.array([1, -1])), LabelColumn("b.txt", np.array([-1, 2]))
    merged = merge_labels([one, other])
    assert merged.sample_ids is None
    assert merged.align(2, None)[0].tolist() == [1, 2]
    with pytest.raises(DataFileError, match=r"'row 1' has label 1 in a\.txt and 3 in c\.txt"):
        merge_labels([one, LabelColumn("c.txt", np.array([3, 3]))])
    with pytest.raises(DataFileError, match=r"same number of rows; got 2 in a\.txt, 1 in c\.txt"):
        merge_labels([one, LabelColumn("c.txt", np.array([3]))])


def test_files_with_and_without_ids_are_not_merged():
    one, other = LabelColumn("a.csv", np.array([1]), ["p"]), LabelColumn("b.txt", np.array([1]))
    with pytest.raises(DataFileError, match=r"a\.csv names its samples, but b\.txt does not\. Add"):
        merge_labels([other, one])


def test_numbers_and_texts_are_merged_as_texts():
    one = LabelColumn("a.csv", np.array([1, -1]), ["p", "q"])
    other = LabelColumn("b.csv", np.array(["1", "ill"]), ["p", "q"])
    assert merge_labels([one, other]).align(2, ["p", "q"])[0].tolist() == ["1", "ill"]
