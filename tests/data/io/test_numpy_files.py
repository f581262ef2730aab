"""NumPy files: `.npz` archives, and `.npy` arrays that are memory-mapped."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

RNG = np.random.default_rng(0)
ONE, TWO = RNG.random((8, 3)), RNG.random((8, 5))
LABELS = np.arange(8) % 2


def write(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("key", ["y", "Y", "labels", "gt"])
def test_reader_reads_numbered_views_and_labels(tmp_path, key):
    file = write(tmp_path / "a.npz", **{key: LABELS, "view2": TWO, "view1": ONE})
    data = read_views(file)
    assert data.name == "a"
    assert data.views.names == ("view1", "view2")
    np.testing.assert_array_equal(data.views["view2"], TWO)
    assert data.labels.tolist() == LABELS.tolist()
    assert data.notes == (
        "view1, view2: 2 views of 8 samples (3, 5 features); "
        f"labels in {key}: 2 classes from 0 to 1.",
    )


def test_reader_counts_views_in_the_order_of_their_numbers(tmp_path):
    arrays = {f"view{number}": RNG.random((8, number)) for number in (10, 2, 1)}
    data = read_views(write(tmp_path / "a.npz", y=LABELS, **arrays))
    assert data.views.names == ("view1", "view2", "view10")


def test_reader_takes_any_matrix_with_as_many_rows_as_labels(tmp_path):
    file = write(tmp_path / "a.npz", shape=ONE, color=TWO, codebook=RNG.random((4, 4)), y=LABELS)
    data = read_views(file)
    assert data.views.names == ("shape", "color")
    assert "Not used: 'codebook'." in data.notes


def test_reader_reads_samples_in_columns(tmp_path):
    data = read_views(write(tmp_path / "a.npz", shape=ONE.T, color=TWO.T, y=LABELS))
    np.testing.assert_array_equal(data.views["color"], TWO)


def test_reader_refuses_square_views_until_told_where_samples_are(tmp_path):
    file = write(tmp_path / "a.npz", shape=RNG.random((8, 8)), y=LABELS)
    with pytest.raises(DataFileError, match="Pass samples_in='rows' or samples_in='columns'"):
        read_views(file)
    assert len(read_views(file, samples_in="columns").views) == 8


def test_reader_reads_views_without_labels(tmp_path):
    data = read_views(write(tmp_path / "a.npz", view1=ONE, view2=TWO))
    assert data.labels is None


@pytest.mark.parametrize("first", [0, 1])
def test_class_names_take_the_place_of_numbers(tmp_path, first):
    file = write(
        tmp_path / "a.npz", view1=ONE, y=LABELS + first, class_names=np.array(["cat", "dog"])
    )
    assert read_views(file).labels.tolist() == ["cat", "dog"] * 4


def test_class_names_leave_unknown_samples_unknown(tmp_path):
    labels = np.array([0, 1, -1, 0, 1, 0, 1, -1])
    file = write(tmp_path / "a.npz", view1=ONE, y=labels, class_names=np.array(["cat", "dog"]))
    assert read_views(file).labels[:3].tolist() == ["cat", "dog", None]


def test_class_names_that_are_too_few_are_refused(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS, class_names=np.array(["cat"]))
    with pytest.raises(DataFileError, match="'class_names' has 1 classes, but labels in 'y'"):
        read_views(file)


def test_class_names_with_two_readings_are_left_out(tmp_path):
    names = np.array(["cat", "dog", "bird"])
    data = read_views(write(tmp_path / "a.npz", view1=ONE, y=LABELS + 1, class_names=names))
    assert data.labels.tolist() == (LABELS + 1).tolist()
    assert any(note.startswith("class_names is not used") for note in data.notes)


@pytest.mark.parametrize("key", ["sample_ids", "ids", "files"])
def test_names_of_views_and_samples_are_used(tmp_path, key):
    ids = np.array([f"s{row}" for row in range(8)])
    file = write(
        tmp_path / "a.npz", view1=ONE, y=LABELS, view_names=np.array(["shape"]), **{key: ids}
    )
    data = read_views(file)
    assert data.views.names == ("shape",)
    assert data.sample_ids.tolist() == ids.tolist()


def test_view_names_must_fit_the_views(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS, view_names=np.array(["a", "b"]))
    with pytest.raises(DataFileError, match="'view_names' must give 1 different names"):
        read_views(file)


def test_other_vectors_are_noted_as_not_used(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS, official_train=LABELS > 0)
    assert "Not used: 'official_train'." in read_views(file).notes


def test_identical_views_are_noted(tmp_path):
    data = read_views(write(tmp_path / "a.npz", view1=ONE, view2=ONE, y=LABELS))
    assert "Views view1 and view2 are identical." in data.notes


def test_adj_arrays_are_graphs(tmp_path):
    data = read_views(write(tmp_path / "a.npz", x=ONE, adj1=np.eye(8), y=LABELS))
    assert data.views.graph_names == {"adj1"}
    file = write(tmp_path / "b.npz", x=ONE, links=np.eye(8), y=LABELS)
    assert read_views(file, graphs_key="links").views.graph_names == {"links"}
    with pytest.raises(DataFileError, match=r"no array 'link'; .*Did you mean 'links'"):
        read_views(file, graphs_key="link")


def test_graph_of_another_size_is_refused(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, adj=np.eye(3), y=LABELS)
    with pytest.raises(DataFileError, match="'adj' must hold a graph of 8 x 8"):
        read_views(file)


def test_saved_sparse_matrix_is_one_view(tmp_path):
    thin = sparse.random_array((8, 6), density=0.3, rng=RNG, format="csc")
    sparse.save_npz(tmp_path / "thin.npz", thin)
    (tmp_path / "y.txt").write_text("\n".join(map(str, LABELS)))
    data = read_views(tmp_path / "thin.npz", labels=tmp_path / "y.txt")
    assert isinstance(data.views["thin"], sparse.csr_array)
    np.testing.assert_array_equal(data.views["thin"].toarray(), thin.toarray())


def test_keys_pick_arrays_and_absent_ones_are_refused(tmp_path):
    file = write(tmp_path / "a.npz", shape=ONE, color=TWO, y=LABELS, kinds=1 - LABELS)
    data = read_views(file, views_key=["color"], labels_key="kinds")
    assert data.views.names == ("color",)
    assert data.labels.tolist() == (1 - LABELS).tolist()
    with pytest.raises(DataFileError, match=r"no array 'colour'; .*Did you mean 'color'"):
        read_views(file, views_key="colour")
    with pytest.raises(DataFileError, match=r"no array 'kind'; .*Pass labels_key='y'\."):
        read_views(file, labels_key="kind")
    with pytest.raises(DataFileError, match="'shape' must hold one label per sample"):
        read_views(file, labels_key="shape")
    with pytest.raises(DataFileError, match="'kinds' must be 2-D to be a view"):
        read_views(file, views_key="kinds")


def test_two_different_label_arrays_are_refused(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS, gt=1 - LABELS)
    with pytest.raises(DataFileError, match="Pass labels_key='y' or labels_key='gt'"):
        read_views(file)


def test_views_of_another_length_are_refused(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, view2=TWO[:-1], y=LABELS)
    with pytest.raises(DataFileError, match=r"view 'view2' has 7 samples .* 'y' has 8 labels"):
        read_views(file)


def test_archive_without_views_is_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"no 2-D array with 8 samples.*it has 'y' and 'z'"):
        read_views(write(tmp_path / "a.npz", y=LABELS, z=np.ones((3, 3))))


def test_arrays_of_objects_are_refused_without_unpickling(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=np.array(["a", None] * 4, dtype=object))
    with pytest.raises(DataFileError, match=r"'y' in a\.npz holds Python objects.*never unpickles"):
        read_views(file)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_truncated_archive_is_refused(tmp_path, share):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataFileError, match=r"a\.npz could not be read as an \.npz archive"):
        read_views(file)


def test_damaged_archive_is_refused(tmp_path):
    file = write(tmp_path / "a.npz", view1=ONE, y=LABELS)
    content = bytearray(file.read_bytes())
    content[200:220] = bytes(20)
    file.write_bytes(content)
    with pytest.raises(DataFileError, match=r"a\.npz could not be read"):
        read_views(file)


@pytest.fixture
def folder(tmp_path, rng):
    np.save(tmp_path / "shape.npy", rng.normal(size=(12, 3)).astype(np.float16))
    np.save(tmp_path / "color.npy", rng.normal(size=(12, 5)).astype(np.float32))
    np.save(tmp_path / "labels.npy", np.arange(12) % 2)
    return tmp_path


def is_mapped(view):
    while isinstance(view, np.ndarray):
        if isinstance(view, np.memmap):
            return True
        view = view.base
    return False


def test_a_folder_is_read_with_its_labels_and_views_stay_on_the_disk(folder):
    data = read_views(folder)
    assert data.views.names == ("color", "shape")
    assert [view.dtype for view in data.views] == [np.float32, np.float16]
    assert all(is_mapped(view) for view in data.views)
    np.testing.assert_array_equal(data.views["shape"], np.load(folder / "shape.npy"))
    assert data.labels.tolist() == [0, 1] * 6


def test_a_list_and_a_single_file_are_read(folder):
    two = read_views([folder / "shape.npy", folder / "color.npy"], labels=folder / "labels.npy")
    assert two.views.names == ("shape", "color")
    one = read_views(folder / "shape.npy")
    assert one.views.shape == (12, 3)
    assert one.labels is None


def test_samples_may_be_columns(folder, rng):
    np.save(folder / "shape.npy", rng.normal(size=(3, 12)))
    np.save(folder / "color.npy", rng.normal(size=(5, 12)))
    assert read_views(folder).views.shape == (12, 8)
    told = read_views(folder / "shape.npy", samples_in="columns")
    assert told.views.shape == (12, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros(4), "must hold a 2-D array of numbers to be a view; got shape (4,) of float64."),
        (np.full((2, 2), "a"), "must hold a 2-D array of numbers"),
        (np.array([[{}]], dtype=object), "manyview never unpickles"),
    ],
)
def test_what_is_no_view_is_refused(tmp_path, content, message):
    np.save(tmp_path / "shape.npy", content)
    with pytest.raises(DataFileError) as error:
        read_views(tmp_path / "shape.npy")
    assert message in str(error.value)


def test_a_damaged_file_is_refused(folder):
    whole = (folder / "shape.npy").read_bytes()
    (folder / "shape.npy").write_bytes(whole[:-10])
    with pytest.raises(DataFileError, match=r"could not be read as an \.npy array"):
        read_views(folder / "shape.npy")


def test_mixed_lists_and_folders_are_refused(folder):
    (folder / "table.csv").write_text("id,a\n1,2\n")
    with pytest.raises(DataFileError, match=r"not both; got shape\.npy, table\.csv"):
        read_views([folder / "shape.npy", folder / "table.csv"])
    with pytest.raises(DataFileError, match="has more than one data set"):
        read_views(folder)


def test_options_of_other_formats_are_refused(folder):
    with pytest.raises(InputError, match=r"views_key is for \.mat and \.npz files"):
        read_views(folder / "shape.npy", views_key="X")
    with pytest.raises(InputError, match="id_column is for tables"):
        read_views(folder / "shape.npy", id_column="id")
