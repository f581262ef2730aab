import numpy as np
import pytest

from manyview.data.io.reading import ReadOptions
from manyview.errors import DataFileError, InputError
from manyview.runs.sources import DataSource


def test_catalog_name_loads_the_data_set():
    source = DataSource(("Digits",))
    assert source.load().name == "digits"
    assert source.paths() == []


def test_path_is_read(shapes, monkeypatch):
    source = DataSource((str(shapes),))
    assert source.load().views.names == ("shape", "color")
    monkeypatch.chdir(shapes.parent)
    relative = DataSource(("shapes.npz",))
    assert relative.load().sha256 == source.load().sha256
    assert relative.paths() == source.paths() == [shapes.resolve()]


def test_several_tables_are_one_view_each(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"id,{name}1,label\nx,1,u\ny,2,v\n")
    source = DataSource((str(tmp_path / "a.csv"), str(tmp_path / "b.csv")))
    data = source.load()
    assert (data.name, data.views.names) == ("a+b", ("a", "b"))
    assert [path.name for path in source.paths()] == ["a.csv", "b.csv"]


def test_reader_options_reach_the_reader(tmp_path, rng):
    file = tmp_path / "a.npz"
    np.savez(file, one=rng.random((4, 4)), two=rng.random((4, 2)), kind=[0, 1, 0, 1])
    options = ReadOptions(views_key=["two"], labels_key="kind")
    data = DataSource((str(file),), options=options).load()
    assert data.views.names == ("two",)
    assert data.labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("name", ["bbcsport", "nowhere/bbcsport"])
def test_unknown_name_is_refused_for_both_possibilities(name):
    with pytest.raises(DataFileError) as error:
        DataSource((name,)).load()
    assert str(error.value) == (
        f"There is no file or folder {name!r}, and no data set of that name in the catalog. "
        "Did you mean 'bbcsports'? `manyview datasets` lists the catalog."
    )


def test_misspelt_file_is_corrected_from_its_folder(shapes):
    with pytest.raises(DataFileError, match=r"Did you mean 'shapes\.npz'\?"):
        DataSource((str(shapes.with_name("shape.npz")),)).load()


def test_name_that_the_paper_uses_twice_is_explained():
    with pytest.raises(InputError, match="'Caltech-20' is ambiguous"):
        DataSource(("Caltech-20",)).load()


def test_folder_with_a_name_of_the_catalog_is_noted_and_can_be_read(tmp_path, shapes, monkeypatch):
    (tmp_path / "digits").mkdir()
    shapes.rename(tmp_path / "digits" / "shapes.npz")
    monkeypatch.chdir(tmp_path)
    data = DataSource(("digits",)).load()
    assert len(data.views) == 1797
    assert data.notes[-1] == (
        "digits is taken from the catalog; what lies here under that name is not read. "
        "Write ./digits to read it."
    )
    assert len(DataSource(("./digits",)).load().views) == 60


def test_reader_options_are_refused_for_the_catalog():
    with pytest.raises(InputError) as error:
        DataSource(("digits",), labels="y.csv", options=ReadOptions(id_column="id")).load()
    assert str(error.value) == (
        "labels=, id_column= can only be passed for data read from files; 'digits' is in the "
        "catalog, which knows how to read it."
    )


def test_paths_are_those_of_the_catalogs_files(tmp_path, monkeypatch):
    file = tmp_path / "MNIST.mat"
    file.touch()
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    assert DataSource(("mnist",)).paths() == [file.resolve()]
    assert DataSource(("digits",)).paths() == []
