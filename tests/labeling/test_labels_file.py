"""labels.csv: written as a whole, and merged with what a person edits."""

import pytest

from manyview.errors import DataFileError
from manyview.labeling.labels_file import (
    Conflict,
    LabelsFile,
    labels_text,
    merge_edits,
    read_edited,
)


@pytest.mark.parametrize(
    ("base", "page", "file", "change"),
    [
        (None, None, "b", "b"),  # added in the file
        ("a", "a", "b", "b"),  # changed in the file
        ("a", "a", None, None),  # removed in the file
    ],
)
def test_a_change_of_the_file_alone_is_merged(base, page, file, change):
    sides = [{} if label is None else {"s": label} for label in (base, page, file)]
    assert merge_edits(*sides).changes == {"s": change}
    assert merge_edits(*sides).conflicts == ()


@pytest.mark.parametrize(
    ("base", "page", "file"),
    [("a", "b", "a"), (None, "b", None), ("a", "b", "b"), ("a", None, "a")],
)
def test_a_change_of_the_page_alone_or_of_both_alike_stays(base, page, file):
    sides = [{} if label is None else {"s": label} for label in (base, page, file)]
    assert merge_edits(*sides).changes == {}
    assert merge_edits(*sides).conflicts == ()


@pytest.mark.parametrize(
    ("base", "page", "file"),
    [("a", "b", "c"), ("a", None, "c"), ("a", "b", None), (None, "a", "b")],
)
def test_two_different_changes_are_a_conflict(base, page, file):
    sides = [{} if label is None else {"s": label} for label in (base, page, file)]
    found = merge_edits(*sides)
    assert found.changes == {}
    assert found.conflicts == (Conflict("s", page, file),)


def test_own_writing_is_not_an_edit_but_anything_else_is(tmp_path):
    file = LabelsFile(tmp_path)
    assert not file.is_edited()
    file.write(labels_text({"s": "a"}, {"s": "key"}), 1)
    assert (file.file.read_text(), file.base_number) == ("sample_id,label,source\ns,a,key\n", 1)
    assert not LabelsFile(tmp_path).is_edited()
    with file.file.open("a") as stream:
        stream.write("t,b,\n")
    assert LabelsFile(tmp_path).is_edited()
    assert read_edited(file.file) == {"s": "a", "t": "b"}


def test_a_process_killed_between_the_two_files_knows_both_contents(tmp_path, monkeypatch):
    from manyview.labeling import labels_file

    file = LabelsFile(tmp_path)
    file.write("sample_id,label\ns,a\n", 1)
    write = labels_file.write_whole

    def killed(path, content):
        if path == file.file:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(labels_file, "write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        file.write("sample_id,label\ns,b\n", 2)
    assert not LabelsFile(tmp_path).is_edited()  # it is the first content
    file.file.write_text("sample_id,label\ns,b\n")
    assert not LabelsFile(tmp_path).is_edited()  # it is the second


@pytest.mark.parametrize(
    ("text", "message"),
    [("label\na\nb\n", "column of sample ids"), ("sample_id,label\ns,a\ns,b\n", "two labels")],
)
def test_a_file_without_ids_or_with_two_labels_is_refused(tmp_path, text, message):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(DataFileError, match=message):
        read_edited(tmp_path / "labels.csv")
