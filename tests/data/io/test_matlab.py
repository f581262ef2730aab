"""MATLAB files, of version 5 and 7.3: the layouts of the field, and what is refused."""

import sys

import h5py
import numpy as np
import pytest
import scipy.io
from scipy import sparse

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

RNG = np.random.default_rng(0)
VIEWS = [RNG.random((12, 4)), RNG.random((12, 6))]
DENSE = RNG.random((12, 4))
SPARSE = sparse.random_array((12, 6), density=0.3, rng=RNG, format="csc")
LABELS = np.arange(12) % 3 + 1


def cell(*items, upright=False):
    array = np.empty((1, len(items)), dtype=object)
    for position, item in enumerate(items):
        array[0, position] = item
    return array.T if upright else array


def write(path, **variables):
    scipy.io.savemat(path, variables)
    return path


def assert_views(data, expected=VIEWS):
    assert data.views.n_views == len(expected)
    for view, values in zip(data.views, expected, strict=True):
        np.testing.assert_array_equal(view, values)


@pytest.mark.parametrize(
    ("views_key", "labels_key"),
    [("X", "Y"), ("X", "y"), ("X", "gt"), ("fea", "gt"), ("data", "truelabel"), ("data", "truth")],
)
@pytest.mark.parametrize("upright", [False, True], ids=["1xV", "Vx1"])
@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "columns"])
def test_reader_knows_the_layouts_of_the_field(
    tmp_path, views_key, labels_key, upright, transposed
):
    views = [view.T if transposed else view for view in VIEWS]
    file = write(
        tmp_path / "a.mat", **{views_key: cell(*views, upright=upright), labels_key: LABELS}
    )
    data = read_views(file)
    assert_views(data)
    assert data.views.names == ("view1", "view2")
    assert data.labels.tolist() == LABELS.tolist()
    assert data.sample_ids.tolist() == [str(row) for row in range(12)]
    assert data.notes[0] == (
        f"{views_key}: 2 views of 12 samples (4, 6 features); "
        f"labels in {labels_key}: 3 classes from 1 to 3."
    )


@pytest.mark.parametrize("labels", [LABELS - 1, LABELS[:, None].astype(np.uint8), LABELS * 1.0])
def test_reader_keeps_labels_from_0_or_1_as_whole_numbers(tmp_path, labels):
    data = read_views(write(tmp_path / "a.mat", X=cell(*VIEWS), Y=labels))
    assert data.labels.dtype == np.int64
    assert data.labels.tolist() == labels.ravel().tolist()


def test_reader_takes_one_matrix_as_one_view(tmp_path):
    data = read_views(write(tmp_path / "a.mat", X=VIEWS[0], Y=LABELS))
    assert data.views.names == ("X",)
    assert_views(data, VIEWS[:1])


def test_reader_keeps_sparse_views_sparse_and_counts_in_their_type(tmp_path):
    counts = RNG.integers(0, 255, (12, 5)).astype(np.uint8)
    thin = sparse.random_array((5, 12), density=0.3, rng=RNG, format="csc")
    data = read_views(write(tmp_path / "a.mat", X=cell(counts.T, thin), Y=LABELS))
    assert data.views["view1"].dtype == np.uint8
    assert isinstance(data.views["view2"], sparse.csr_array)
    np.testing.assert_array_equal(data.views["view2"].toarray(), thin.toarray().T)
    assert "Stored as uint8, cast before arithmetic: view1." in data.notes


def test_reader_reads_labels_as_text_cells(tmp_path):
    words = cell(*(["cat", "dog", "?"][number % 3] for number in range(12)), upright=True)
    data = read_views(write(tmp_path / "a.mat", X=cell(*VIEWS), Y=words))
    assert data.labels[:3].tolist() == ["cat", "dog", None]


def test_reader_reads_labels_as_a_char_matrix(tmp_path):
    words = np.array(["cat ", "bird"] * 6)
    data = read_views(write(tmp_path / "a.mat", X=cell(*VIEWS), Y=words))
    assert data.labels[:2].tolist() == ["cat", "bird"]


def test_reader_takes_a_label_vector_for_each_view_when_all_are_equal(tmp_path):
    labels = cell(LABELS, LABELS)
    data = read_views(write(tmp_path / "a.mat", data=cell(*VIEWS), truelabel=labels))
    assert data.labels.tolist() == LABELS.tolist()


def test_reader_refuses_label_vectors_that_differ_between_views(tmp_path):
    file = write(tmp_path / "a.mat", data=cell(*VIEWS), truelabel=cell(LABELS, LABELS[::-1]))
    with pytest.raises(DataFileError, match="the 2 label vectors in 'truelabel' differ"):
        read_views(file)


def test_reader_takes_the_first_of_two_equal_readings_and_says_so(tmp_path):
    thin = [sparse.csc_array(view.T) for view in VIEWS]
    file = write(tmp_path / "a.mat", data=cell(*thin), truth=LABELS, X=cell(*VIEWS), Y=LABELS)
    data = read_views(file)
    assert_views(data)
    assert "data holds the same views as X and is not used." in data.notes
    assert "truth holds the same labels as Y and is not used." in data.notes


def test_reader_refuses_two_readings_that_differ(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(*VIEWS), data=cell(*VIEWS[::-1]), Y=LABELS)
    with pytest.raises(DataFileError, match=r"Pass views_key='X' or views_key='data'\."):
        read_views(file)
    assert_views(read_views(file, views_key="data"), VIEWS[::-1])


def test_reader_refuses_labels_that_differ(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(*VIEWS), gt=LABELS, Y=LABELS[::-1])
    with pytest.raises(DataFileError, match=r"Pass labels_key='Y' or labels_key='gt'\."):
        read_views(file)
    data = read_views(file, labels_key="gt")
    assert data.labels.tolist() == LABELS.tolist()
    assert "Not used: 'Y'." in data.notes


def test_reader_refuses_square_views_until_told_where_samples_are(tmp_path):
    square = RNG.random((12, 12))
    file = write(tmp_path / "a.mat", X=cell(square), Y=LABELS)
    with pytest.raises(DataFileError, match="Pass samples_in='rows' or samples_in='columns'"):
        read_views(file)
    assert_views(read_views(file, samples_in="rows"), [square])
    assert_views(read_views(file, samples_in="columns"), [square.T])


def test_reader_lets_other_views_decide_for_a_square_one(tmp_path):
    square = RNG.random((12, 12))
    data = read_views(write(tmp_path / "a.mat", X=cell(square, VIEWS[0].T), Y=LABELS))
    assert_views(data, [square.T, VIEWS[0]])


def test_reader_decides_by_the_shared_side_without_labels(tmp_path):
    data = read_views(write(tmp_path / "a.mat", X=cell(VIEWS[0].T, VIEWS[1].T)))
    assert_views(data)
    assert data.labels is None
    assert data.notes[0].endswith("; no labels found.")


def test_reader_refuses_one_matrix_without_labels_until_told(tmp_path):
    file = write(tmp_path / "a.mat", X=VIEWS[0])
    with pytest.raises(DataFileError, match="samples_in="):
        read_views(file)
    assert len(read_views(file, samples_in="rows").views) == 12


def test_reader_takes_square_cells_in_adj_as_graphs(tmp_path):
    graphs = [sparse.eye_array(12, format="csc"), sparse.csc_array(np.ones((12, 12)))]
    file = write(tmp_path / "a.mat", X=VIEWS[0], Y=LABELS, adj=cell(*graphs))
    data = read_views(file)
    assert data.views.names == ("X", "adj1", "adj2")
    assert data.views.graph_names == {"adj1", "adj2"}
    assert isinstance(data.views["adj1"], sparse.csr_array)
    assert "precomputed graphs: adj1, adj2" in data.notes[0]


def test_reader_finds_graphs_by_the_given_key(tmp_path):
    file = write(tmp_path / "a.mat", X=VIEWS[0], Y=LABELS, links=np.eye(12))
    assert read_views(file, graphs_key="links").views.graph_names == {"links"}
    with pytest.raises(DataFileError, match="Did you mean 'links'"):
        read_views(file, graphs_key="link")


def test_reader_refuses_graphs_of_another_size(tmp_path):
    file = write(tmp_path / "a.mat", X=VIEWS[0], Y=LABELS, adj=cell(np.ones((5, 5))))
    with pytest.raises(DataFileError, match="'adj' must hold graphs of 12 x 12; got adj1 of 5 x 5"):
        read_views(file)


def test_reader_takes_a_list_of_variables_as_views(tmp_path):
    file = write(tmp_path / "a.mat", X1=VIEWS[0], X2=VIEWS[1], Y=LABELS)
    data = read_views(file, views_key=["X1", "X2"])
    assert data.views.names == ("X1", "X2")
    assert_views(data)


def test_reader_notes_identical_views(tmp_path):
    data = read_views(write(tmp_path / "a.mat", X=cell(*VIEWS, VIEWS[1]), Y=LABELS))
    assert "Views view2 and view3 are identical." in data.notes


def test_missing_label_variable_names_the_one_that_is_there(tmp_path):
    file = write(tmp_path / "MNIST.mat", X=cell(*VIEWS), gt=LABELS)
    with pytest.raises(DataFileError) as caught:
        read_views(file, labels_key="Y")
    assert str(caught.value) == (
        "MNIST.mat has no variable 'Y'; it has 'X' and 'gt'. Pass labels_key='gt'."
    )


def test_unknown_variable_that_looks_like_labels_is_named(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(*VIEWS), species=LABELS, rank=np.arange(12))
    with pytest.raises(DataFileError, match=r"has no variable 'Y'.*Pass labels_key='species'"):
        read_views(file)
    assert read_views(file, labels_key="species").labels.tolist() == LABELS.tolist()


def test_missing_views_variable_names_a_likely_one(tmp_path):
    file = write(tmp_path / "a.mat", pixels=VIEWS[0], Y=LABELS)
    with pytest.raises(DataFileError, match=r"a\.mat has no variable 'X'; .*views_key='pixels'"):
        read_views(file)


def test_misspelt_views_key_is_corrected(tmp_path):
    file = write(tmp_path / "a.mat", pixels=VIEWS[0], Y=LABELS)
    with pytest.raises(DataFileError, match=r"no variable 'pixel'.*Did you mean 'pixels'"):
        read_views(file, views_key="pixel")


def test_keys_that_hold_something_else_are_refused(tmp_path):
    file = write(tmp_path / "a.mat", X=VIEWS[0], Y=LABELS, info="text", table={"a": 1})
    with pytest.raises(DataFileError, match="'info' must be a matrix or a cell of matrices"):
        read_views(file, views_key="info")
    with pytest.raises(DataFileError, match=r"'X' must hold one label per sample; got a var"):
        read_views(file, views_key="X", labels_key="X")


def test_reader_refuses_views_of_another_length_than_the_labels(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(VIEWS[0], VIEWS[1][:-1]), Y=LABELS)
    with pytest.raises(DataFileError) as caught:
        read_views(file)
    assert str(caught.value) == (
        "a.mat: view 'view2' has 11 samples (11 x 6) but 'Y' has 12 labels."
    )


def test_reader_refuses_views_of_unequal_length_without_labels(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(VIEWS[0], VIEWS[1][:-1]))
    with pytest.raises(DataFileError, match="view 'view2' has 11 samples but view 'view1' has 12"):
        read_views(file)


def test_reader_refuses_nan_and_says_where(tmp_path):
    broken = VIEWS[0].copy()
    broken[3, 1] = np.nan
    file = write(tmp_path / "a.mat", X=cell(broken), Y=LABELS)
    with pytest.raises(InputError, match=r"view 'view1' holds NaN .* in 1 of 12 rows"):
        read_views(file)


@pytest.mark.parametrize("fraction", [0.0, 0.02, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("compress", [False, True])
def test_truncated_file_is_refused(tmp_path, fraction, compress):
    whole = tmp_path / "whole.mat"
    scipy.io.savemat(whole, {"X": cell(*VIEWS), "Y": LABELS}, do_compression=compress)
    content = whole.read_bytes()
    cut = tmp_path / "cut.mat"
    cut.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(DataFileError, match=r"cut\.mat"):
        read_views(cut)


def test_file_of_another_format_is_refused(tmp_path):
    file = tmp_path / "a.mat"
    file.write_text("id,a,b\n" * 100)
    with pytest.raises(DataFileError, match=r"a\.mat could not be read as a \.mat file"):
        read_views(file)


def test_label_file_decides_in_place_of_the_own_labels(tmp_path):
    file = write(tmp_path / "a.mat", X=cell(VIEWS[0].T), Y=LABELS)
    (tmp_path / "truth.txt").write_text("\n".join(["cat", "dog"] * 6))
    data = read_views(file, labels=tmp_path / "truth.txt")
    assert data.labels.tolist() == ["cat", "dog"] * 6
    assert_views(data, VIEWS[:1])
    assert "Not used: 'Y'." in data.notes


class Mat73:
    """Writes variables as MATLAB 7.3 does: transposed, cells as references."""

    def __init__(self, path):
        self.file = h5py.File(path, "w", userblock_size=512)
        self.n_refs = 0

    def put(self, name, value, matlab_class="double"):
        if isinstance(value, list):
            refs = np.empty((len(value), 1), dtype=h5py.ref_dtype)  # a 1 x V cell
            for row, item in enumerate(value):
                self.n_refs += 1
                item_class = "char" if isinstance(item, str) else "double"
                refs[row, 0] = self.put(f"#refs#/{self.n_refs}", item, item_class).ref
            node = self.file.create_dataset(name, data=refs, dtype=h5py.ref_dtype)
            matlab_class = "cell"
        elif sparse.issparse(value):
            node = self.file.create_group(name)
            node.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
            node["jc"] = value.indptr.astype(np.uint64)
            if value.nnz:
                node["data"], node["ir"] = value.data, value.indices.astype(np.uint64)
        else:
            if isinstance(value, str):
                value = np.array([[ord(letter) for letter in value]], dtype=np.uint16)
            node = self.file.create_dataset(name, data=np.atleast_2d(value).T)
        node.attrs["MATLAB_class"] = np.bytes_(matlab_class)
        return node


@pytest.fixture
def mat73(tmp_path):
    return Mat73(tmp_path / "big.mat")


def finish(mat73, tmp_path):
    mat73.file.close()
    path = tmp_path / "big.mat"
    content = bytearray(path.read_bytes())
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64"
    content[: len(head)] = head
    path.write_bytes(content)
    return path


def test_reader_reads_cells_of_dense_and_sparse_matrices(mat73, tmp_path):
    mat73.put("X", [DENSE, SPARSE])
    mat73.put("Y", LABELS[:, None])
    data = read_views(finish(mat73, tmp_path))
    np.testing.assert_array_equal(data.views["view1"], DENSE)
    assert isinstance(data.views["view2"], sparse.csr_array)
    np.testing.assert_array_equal(data.views["view2"].toarray(), SPARSE.toarray())
    assert data.labels.tolist() == LABELS.tolist()
    assert data.notes[0].startswith("X: 2 views of 12 samples (4, 6 features); labels in Y")


def test_reader_reads_samples_in_columns(mat73, tmp_path):
    mat73.put("fea", [DENSE.T, SPARSE.T.tocsc()])
    mat73.put("gt", LABELS)
    data = read_views(finish(mat73, tmp_path))
    np.testing.assert_array_equal(data.views["view1"], DENSE)
    np.testing.assert_array_equal(data.views["view2"].toarray(), SPARSE.toarray())


def test_reader_reads_text_cells_and_logical_matrices(mat73, tmp_path):
    mat73.put("X", (DENSE > 0.5).astype(np.uint8), "logical")
    mat73.put("Y", ["cat", "dog"] * 6)
    data = read_views(finish(mat73, tmp_path))
    assert data.views["X"].dtype == bool
    assert data.labels.tolist() == ["cat", "dog"] * 6


def test_reader_reads_an_all_zero_sparse_matrix_and_passes_over_structs(mat73, tmp_path):
    mat73.put("X", [DENSE, sparse.csc_array((12, 3))])
    mat73.put("Y", LABELS)
    mat73.file.create_group("settings").attrs["MATLAB_class"] = np.bytes_("struct")
    data = read_views(finish(mat73, tmp_path))
    assert data.views["view2"].nnz == 0
    assert "Not used: 'settings'." in data.notes


def test_missing_variable_is_named(mat73, tmp_path):
    mat73.put("X", DENSE)
    mat73.put("gt", LABELS)
    with pytest.raises(DataFileError, match=r"has no variable 'Y'; it has 'X' and 'gt'"):
        read_views(finish(mat73, tmp_path), labels_key="Y")


def test_missing_h5py_names_the_extra(mat73, tmp_path, monkeypatch):
    mat73.put("X", DENSE)
    path = finish(mat73, tmp_path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataFileError, match=r"needs h5py.*pip install 'manyview\[io\]'"):
        read_views(path)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_truncated_mat73_file_is_refused(mat73, tmp_path, fraction):
    mat73.put("X", [DENSE, SPARSE])
    mat73.put("Y", LABELS)
    path = finish(mat73, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(DataFileError, match=r"big\.mat could not be read as a MATLAB 7\.3 file"):
        read_views(path)
