"""Data sets of the catalog are read, named and checked against their cards."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from manyview.data.catalog.load import CATALOG, load_dataset
from manyview.data.catalog.paths import locate_file
from manyview.data.io.paths import files_checksum
from manyview.data.splits import hide_labels
from manyview.errors import DataFileError
from manyview.methods import METHODS

REAL_FILES = [name for name, card in CATALOG.items() if card.file and card.sha256]
SLOW = {"kdd99"}  # half a million samples


@pytest.fixture
def small_card(monkeypatch):
    """Return a function that shrinks a card, so that a small file fits it."""

    def shrink(name, **changes):
        card = CATALOG[name]
        sizes = tuple(range(2, 2 + len(card.n_features)))
        small = {
            "n_samples": 12,
            "n_features": sizes,
            "n_classes": 3,
            "sha256": None,
            "git_blob": None,
        }
        small |= changes
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
        f"{tmp_path}, {tmp_path / 'paper'}, {tmp_path / 'other'}, {tmp_path / 'large'}. "
        "Set MANYVIEW_DATA, or pass data_dir= (--data-dir), to the folder that holds it."
    )


@pytest.mark.parametrize("name", ["nus-wide", "youtube"])
@pytest.mark.parametrize("folder", ["", "paper", "other", "large"])
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


@pytest.mark.parametrize("name", ["nus-wide", "youtube"])
def test_copy_of_a_file_that_was_not_at_hand_is_checked_by_its_git_blob(tmp_path, small_card, name):
    assert len(CATALOG[name].git_blob) == 40
    assert CATALOG[name].sha256 is None
    write_mat(tmp_path, small_card(name))
    content = (tmp_path / CATALOG[name].file).read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    small_card(name, git_blob=blob)
    notes = load_dataset(name, data_dir=tmp_path).notes
    assert not any(note.startswith("checksum") for note in notes)
    file = small_card(name, git_blob="0" * 40).file
    (differing,) = [
        note for note in load_dataset(name, data_dir=tmp_path).notes if note.startswith("checksum")
    ]
    assert differing == (
        f"checksum differs: the published {file} has the git blob id 000000000000..., this file "
        f"{blob[:12]}..., so results may not be comparable with the paper's."
    )


def write_graphs(folder, card, **changes):
    """Write an archive of rings in which sample i is next to i + 1 to i + 6, one per graph."""
    n_samples = 12
    arrays = {"y_inferred": np.arange(n_samples) % 3 + 1}
    for number in range(1, card.n_graphs + 1):
        ring = sparse.csr_array(np.roll(np.eye(n_samples), number, axis=1))
        for part in ("data", "indices", "indptr"):
            arrays[f"graph{number}_{part}"] = getattr(ring, part)
    arrays |= changes
    np.savez(folder / card.file, **{k: one for k, one in arrays.items() if one is not None})


def test_graphs_without_features_are_views_in_order(tmp_path, small_card):
    card = small_card("nus-wide-graphs")
    write_graphs(tmp_path, card)
    data = load_dataset("nus-wide-graphs", data_dir=tmp_path)
    assert data.views.names == tuple(f"graph{number}" for number in range(1, 7))
    assert data.views.graph_names == set(data.views.names)
    assert data.views["graph2"][0].nonzero()[0].tolist() == [2]
    assert data.labels.tolist() == (np.arange(12) % 3 + 1).tolist()
    assert data.notes[0] == (
        "graph1 to graph6: 6 precomputed graphs of 12 samples; labels in y_inferred: 3 classes "
        "from 1 to 3."
    )
    assert set(card.defects) <= set(data.notes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph3_data": None}, "it lacks graph3_data"),
        ({"y_inferred": None}, "it lacks y_inferred"),
        ({"graph2_indptr": np.arange(5)}, "the parts of graph2 must form a graph of 12 x 12"),
    ],
)
def test_damaged_archive_of_graphs_is_refused(tmp_path, small_card, changes, message):
    write_graphs(tmp_path, small_card("nus-wide-graphs"), **changes)
    with pytest.raises(DataFileError, match=message):
        load_dataset("nus-wide-graphs", data_dir=tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in REAL_FILES],
)
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


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(SLOW))
def test_real_file_that_takes_long_to_read_is_the_one_of_its_card(name):
    assert files_checksum([locate_file(CATALOG[name])]) == CATALOG[name].sha256


@pytest.mark.data
def test_real_links_of_pages_join_one_class_as_a_rule():
    data = load_dataset("facebook-pages")
    assert data.views.names == ("X", "adj")
    edges = data.views["adj"].tocoo()
    same = data.labels[edges.row] == data.labels[edges.col]
    assert edges.row.size > 300_000
    assert same.mean() == pytest.approx(0.88, abs=0.01)


@pytest.mark.data
def test_real_graphs_without_features_can_be_fitted():
    data = load_dataset("nus-wide-graphs")
    assert [view.shape for view in data.views] == [(1600, 1600)] * 6
    labels = hide_labels(data.labels, 0.1, random_state=0)
    model = METHODS["amgl"]().fit(data.views, labels)
    assert (model.transduction_ == data.labels)[labels == -1].mean() > 0.3
