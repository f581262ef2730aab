"""Data sets of the catalog are read, named and checked against their cards."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.io

from manyview.data.catalog.load import CATALOG, load_dataset
from manyview.errors import DataFileError

REAL_FILES = [name for name, card in CATALOG.items() if card.file and card.sha256]


@pytest.fixture
def small_card(monkeypatch):
    """Return a function that shrinks a card, so that a small file fits it."""

    def shrink(name, **changes):
        card = CATALOG[name]
        sizes = tuple(range(2, 2 + len(card.n_features)))
        small = {"n_samples": 12, "n_features": sizes, "n_classes": 3, "sha256": None, **changes}
        monkeypatch.setitem(CATALOG, name, replace(card, **small))
        return CATALOG[name]

    return shrink


def write_mat(folder, card, n_samples=12):
    rng = np.random.default_rng(0)
    views = np.empty((1, len(card.n_features)), dtype=object)
    for position, n_features in enumerate(card.n_features):
        views[0, position] = rng.random((n_samples, n_features))
    scipy.io.savemat(folder / card.file, {"X": views, "Y": np.arange(n_samples) % 3 + 1})


def test_digits_need_no_file(monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    data = load_dataset("digits")
    assert data.views.n_views == 5
    assert not any(note.startswith("checksum") for note in data.notes)


def test_absent_file_is_refused_with_the_places_searched(tmp_path, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    with pytest.raises(DataFileError, match=r"needs the file BBCsports\.mat\. Set MANYVIEW_DATA"):
        load_dataset("bbcsports")
    with pytest.raises(DataFileError) as caught:
        load_dataset("bbcsports", data_dir=tmp_path)
    assert str(caught.value) == (
        "Data set 'bbcsports' needs the file BBCsports.mat, which is in none of: "
        f"{tmp_path}, {tmp_path / 'paper'}, {tmp_path / 'other'}. "
        "Set MANYVIEW_DATA, or pass data_dir= (--data-dir), to the folder that holds it."
    )


@pytest.mark.parametrize("name", ["nus-wide", "youtube"])
@pytest.mark.parametrize("folder", ["", "paper", "other"])
def test_file_put_in_place_is_read_and_named(tmp_path, monkeypatch, small_card, name, folder):
    card = small_card(name)
    (tmp_path / folder).mkdir(exist_ok=True)
    write_mat(tmp_path / folder, card)
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    data = load_dataset(name)
    assert data.name == name
    assert data.views.names == card.view_names
    assert data.labels.tolist() == (np.arange(12) % 3 + 1).tolist()
    assert set(card.defects) <= set(data.notes)


def test_data_dir_goes_before_the_environment(tmp_path, monkeypatch, small_card):
    write_mat(tmp_path, small_card("youtube"))
    monkeypatch.setenv("MANYVIEW_DATA", "/no/such/folder")
    assert len(load_dataset("youtube", data_dir=tmp_path).views) == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 13}, "it has 12 samples where the catalog has 13"),
        ({"n_classes": 4}, "it has 3 classes where the catalog has 4"),
        ({"n_features": (2, 3, 4, 5, 6, 8)}, "it has 2/3/4/5/6/7 features where .* 2/3/4/5/6/8"),
        ({"n_graphs": 1}, "it has 0 graphs where the catalog has 1"),
    ],
)
def test_file_that_does_not_fit_its_card_is_refused(tmp_path, small_card, change, message):
    write_mat(tmp_path, small_card("nus-wide"))
    small_card("nus-wide", **change)
    with pytest.raises(DataFileError, match=rf"NUS-WIDE\.mat is not NUS-WIDE.*{message}"):
        load_dataset("nus-wide", data_dir=tmp_path)


def test_other_checksum_is_noted(tmp_path, small_card):
    write_mat(tmp_path, small_card("nus-wide", sha256="0" * 64))
    notes = load_dataset("nus-wide", data_dir=tmp_path).notes
    differing = [note for note in notes if note.startswith("checksum differs: ")]
    assert len(differing) == 1
    assert "the catalog has 000000000000..." in differing[0]


def test_view_that_the_paper_has_twice_is_copied(tmp_path, small_card):
    rng = np.random.default_rng(0)
    card = small_card("mnist-10k", n_features=(4, 3, 3))
    np.savez(
        tmp_path / card.file,
        view1=rng.random((12, 4)),
        view2=rng.random((12, 3)),
        y=np.arange(12) % 3,
    )
    data = load_dataset("mnist-10k", data_dir=tmp_path)
    assert data.views.names == ("isoprojection", "lda", "lda copy")
    np.testing.assert_array_equal(data.views["lda"], data.views["lda copy"])
    assert "View 3 is added as a copy of view 2." in data.notes
    assert any("leaks" in note for note in data.notes)


@pytest.mark.data
@pytest.mark.parametrize("name", REAL_FILES)
def test_real_file_fits_its_card(name):
    data, card = load_dataset(name), CATALOG[name]
    assert data.sha256 == card.sha256
    assert not any(note.startswith("checksum") for note in data.notes)
    assert set(card.defects) <= set(data.notes)


@pytest.mark.data
def test_real_graphs_are_views_in_order():
    views = load_dataset("acm3025").views
    assert views.names == ("X", "adj1", "adj2")
    assert views.graph_names == {"adj1", "adj2"}
    for name in ("adj1", "adj2"):
        assert (views[name].diagonal() == 1).all()


@pytest.mark.data
def test_real_class_names_are_text():
    data = load_dataset("caltech101-7")
    assert set(data.labels.tolist()) >= {"Faces", "Motorbikes"}
    assert data.sample_ids[0] == "Faces/image_0001.jpg"
