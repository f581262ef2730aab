"""The catalog's files: found where they lie, refused with a way out where they do not."""

import pytest

from manyview.data.catalog.cards import CATALOG
from manyview.data.catalog.paths import check_available, is_available, locate_file
from manyview.errors import DataFileError


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
