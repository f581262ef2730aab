import sys

import h5py
import numpy as np
import pytest
from scipy import sparse

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError

RNG = np.random.default_rng(0)
DENSE = RNG.random((12, 4))
SPARSE = sparse.random_array((12, 6), density=0.3, rng=RNG, format="csc")
LABELS = np.arange(12) % 3 + 1


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


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_file_is_refused(mat73, tmp_path, share):
    mat73.put("X", [DENSE, SPARSE])
    mat73.put("Y", LABELS)
    path = finish(mat73, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataFileError, match=r"big\.mat could not be read as a MATLAB 7\.3 file"):
        read_views(path)
