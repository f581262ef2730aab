"""MuData and AnnData files: read as the objects are, and refused when damaged."""

import sys

import numpy as np
import pytest

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning")


@pytest.fixture
def cohort(unlabeled_cohort, tiny_views):
    """60 samples with a diagnosis for twelve; the last five lack `color`."""
    known = tiny_views.known_labels
    diagnoses = np.where(known == -1, None, np.array(["ill", "old", "well"])[known])
    unlabeled_cohort.obs["diagnosis"] = diagnoses
    return unlabeled_cohort


@pytest.fixture
def file(cohort, tmp_path):
    cohort.write(tmp_path / "cohort.h5mu")
    return tmp_path / "cohort.h5mu"


def test_file_and_object_read_alike(cohort, file):
    for data in (
        read_views(file, label_column="diagnosis"),
        read_views(cohort, label_column="diagnosis"),
    ):
        label_of = dict(zip(data.sample_ids, data.labels, strict=True))
        assert label_of == dict(zip(cohort.obs_names, cohort.obs["diagnosis"], strict=True))
        assert data.views.present.sum(axis=0).tolist() == [60, 55]
        assert "labels in" in data.notes[0]
    assert read_views(file).labels is None


def test_missing_column_is_named_with_those_there(file):
    with pytest.raises(DataFileError) as caught:
        read_views(file, label_column="diagnose")
    assert str(caught.value) == (
        "cohort.h5mu has no column 'diagnose' in .obs; it has 'diagnosis'. "
        "Did you mean 'diagnosis'?"
    )


def test_options_of_other_formats_are_refused(cohort, file):
    with pytest.raises(InputError, match="labels_key is for arrays and tables"):
        read_views(file, labels_key="y")
    with pytest.raises(InputError, match=r"id_column is for tables; got 'id' with cohort\.h5mu"):
        read_views(file, id_column="id")
    with pytest.raises(InputError, match="id_column is for files; got 'id' with MuData"):
        read_views(cohort, id_column="id")


@pytest.mark.parametrize("fraction", [0.2, 0.8])
def test_damaged_file_is_refused(file, fraction):
    content = file.read_bytes()
    file.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(DataFileError, match=r"cohort\.h5mu could not be read as an \.h5mu file"):
        read_views(file)


def test_missing_library_names_the_install_command(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "mudata", None)
    with pytest.raises(DataFileError) as caught:
        read_views(file)
    assert str(caught.value) == (
        "cohort.h5mu needs mudata, which is not installed. "
        "Install it with: pip install 'manyview[omics]'"
    )
