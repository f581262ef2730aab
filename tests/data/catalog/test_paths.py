"""Data sets are found by name and their files by folder; absent ones are refused."""

import pytest

from manyview.data.catalog.cards import CATALOG
from manyview.data.catalog.paths import check_available, find_card, is_available, locate_file
from manyview.errors import DataFileError, InputError


def test_files_of_the_catalog_are_found_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    card = CATALOG["mnist"]
    assert is_available(CATALOG["digits"])
    assert not is_available(card)
    assert not is_available(card, tmp_path)
    (tmp_path / "paper").mkdir()
    file = tmp_path / "paper" / "MNIST.mat"
    file.touch()
    assert locate_file(card, tmp_path) == file
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    assert is_available(card)


def test_absent_file_is_refused_with_the_folders_that_were_searched(tmp_path, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    check_available(CATALOG["digits"])
    with pytest.raises(DataFileError, match=r"needs the file MNIST.mat. Set MANYVIEW_DATA"):
        check_available(CATALOG["mnist"])
    with pytest.raises(DataFileError, match="which is in none of") as refusal:
        check_available(CATALOG["mnist"], tmp_path)
    assert str(tmp_path / "paper") in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "key"),
    [("BBCsports", "bbcsports"), (" digits ", "digits"), ("Caltech-all", "caltech101-all")],
)
def test_names_are_found_in_any_case_and_as_the_paper_writes_them(name, key):
    assert find_card(name).name == key


def test_unknown_name_is_refused_with_a_near_one():
    with pytest.raises(InputError) as caught:
        find_card("bbcsport")
    assert str(caught.value) == (
        "No data set is named 'bbcsport'. Did you mean 'bbcsports'? "
        "`manyview datasets` lists them all."
    )


def test_name_that_the_paper_uses_for_two_is_refused():
    with pytest.raises(InputError, match=r"'caltech101-7' .* 'caltech101-20'. Name one of these"):
        find_card("Caltech-20")
