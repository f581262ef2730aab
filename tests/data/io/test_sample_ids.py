"""Sample ids: found by name, by distinct texts, or because other files hold the same ids."""

import numpy as np
import pytest

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError


@pytest.fixture
def write(tmp_path):
    """Write tables as columns: {file: {column: cells}}."""

    def write_tables(**tables):
        for name, columns in tables.items():
            rows = [columns.keys(), *zip(*columns.values(), strict=True)]
            text = "\n".join(",".join(str(cell) for cell in row) for row in rows)
            (tmp_path / f"{name}.csv").write_text(text + "\n")
        return tmp_path

    return write_tables


def patients(count, start=1):
    return [f"p{number}" for number in range(start, start + count)]


def numbers(count):
    return [number / 4 + 0.1 for number in range(count)]


def test_a_repeated_id_is_named_with_its_rows(write):
    ids = patients(40)
    ids[29] = "p7"
    folder = write(mean={"patient": ids, "x": numbers(40)})
    with pytest.raises(DataFileError) as caught:
        read_views(folder)
    assert str(caught.value) == (
        "mean.csv names sample 'p7' twice (rows 8 and 31); every sample must have one row. Remove "
        "or merge rows, or pass id_column= if another column holds the ids."
    )


@pytest.mark.parametrize("other", ["table", "labels"])
def test_ids_that_other_files_hold_are_ids_even_if_many_repeat(write, other):
    tables = {"mean": {"patient": ["p1", "p1", "p2", "p2", "p3", "p3"], "x": numbers(6)}}
    if other == "table":
        tables["other"] = {"patient": ["p1", "p2", "p3"], "z": numbers(3)}
    else:
        tables["labels"] = {"who": ["p1", "p2", "p3"], "what": ["a", "b", "a"]}
    folder = write(**tables)
    with pytest.raises(DataFileError, match=r"mean\.csv names sample 'p1' twice \(rows 2 and 3\)"):
        read_views(folder)


def test_ids_need_not_be_in_the_first_column_if_other_files_hold_them(write):
    folder = write(
        mean={"x": numbers(4), "who": ["p4", "p3", "p2", "p1"]},
        labels={"patient": ["p1", "p2"], "diagnosis": ["ill", "well"]},
    )
    data = read_views(folder)
    assert data.sample_ids.tolist() == ["p4", "p3", "p2", "p1"]
    assert data.labels.tolist() == [None, None, "well", "ill"]
    assert data.views.shape == (4, 1)


def test_a_first_column_of_categories_is_not_taken_for_ids(write):
    folder = write(mean={"sex": ["m", "f"] * 10, "x": numbers(20)})
    data = read_views(folder)
    assert data.views["mean"].kinds == {"sex": "category", "x": "number"}


def test_a_first_column_of_sentences_is_not_taken_for_ids(write):
    notes = [f"the patient of room {row} recovers" for row in range(20)]
    data = read_views(write(mean={"note": notes, "x": numbers(20)}))
    assert data.views["mean"].kinds == {"note": "text", "x": "number"}


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
@pytest.mark.parametrize("start", [0, 1])
def test_an_index_is_the_ids_if_there_are_no_others(write, name, start):
    data = read_views(write(mean={name: range(start, start + 6), "x": numbers(6)}))
    assert data.views.shape == (6, 1)
    assert data.sample_ids.tolist() == [str(start + row) for row in range(6)]
    note = f"mean.csv: column {name!r} is an index of the rows and is used as sample ids."
    assert note in data.notes


@pytest.mark.parametrize("cells", [range(4), [5, 17, 3, 3]], ids=["counts", "other rows"])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
def test_an_index_beside_ids_is_left_out(write, name, cells):
    data = read_views(write(mean={name: cells, "patient": patients(4), "x": numbers(4)}))
    assert data.sample_ids.tolist() == patients(4)
    assert data.views.columns["mean"] == ("x",)
    assert f"mean.csv: column {name!r} is an index of the rows and is left out." in data.notes


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1", "level_0"])
def test_an_index_in_another_place_is_left_out_if_it_counts(write, name):
    data = read_views(write(mean={"id": patients(4), name: range(4), "x": numbers(4)}))
    assert data.views.columns["mean"] == ("x",)
    assert f"mean.csv: column {name!r} is an index of the rows and is left out." in data.notes
    data = read_views(write(mean={"id": patients(4), name: [3, 1, 2, 0], "x": numbers(4)}))
    assert data.views.columns["mean"] == (name, "x")


def test_an_index_beside_a_column_named_id_is_left_out(write):
    data = read_views(write(mean={"": range(4), "x": numbers(4), "sample_id": [7, 8, 9, 10]}))
    assert data.sample_ids.tolist() == ["7", "8", "9", "10"]
    assert data.views.columns["mean"] == ("x",)


def test_an_index_in_one_table_only_is_left_out(write):
    folder = write(one={"": range(4), "x": numbers(4)}, two={"z": [4, 3, 2, 7]})
    data = read_views(folder)
    assert [view.shape for view in data.views] == [(4, 1), (4, 1)]
    assert "one.csv: column '' is an index of the rows and is left out." in data.notes
    assert "The tables have no sample ids; they are joined by row order." in data.notes


def test_an_index_in_all_tables_joins_them(write):
    folder = write(one={"": [0, 1, 2], "x": [1, 2, 4]}, two={"": [2, 0, 1], "z": [30, 10, 20]})
    np.testing.assert_array_equal(read_views(folder).views["two"], [[10], [20], [30]])


def test_numbered_samples_are_ids_if_all_tables_and_the_labels_name_them_alike(write):
    folder = write(
        one={"patient": [1, 2, 3, 4], "x": numbers(4)},
        two={"patient": [4, 3, 2, 1], "z": [40, 30, 20, 10]},
        labels={"patient": [3, 1], "diagnosis": ["ill", "well"]},
    )
    data = read_views(folder)
    assert data.sample_ids.tolist() == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(data.views["two"], [[10], [20], [30], [40]])
    assert data.labels.tolist() == ["well", None, "ill", None]
    assert (
        "one.csv, two.csv: column 'patient' is used as sample ids, since other files hold the same "
        "numbers; the option id_column names another."
    ) in data.notes


def test_numbered_samples_are_ids_if_all_tables_name_them_alike(write):
    folder = write(
        one={"patient": [1, 2, 3], "x": numbers(3)}, two={"patient": [3, 2, 1], "z": [30, 20, 10]}
    )
    data = read_views(folder)
    np.testing.assert_array_equal(data.views["two"], [[10], [20], [30]])
    assert (
        "one.csv, two.csv: column 'patient' is used as sample ids, since other files hold the same "
        "numbers; the option id_column names another."
    ) in data.notes


def test_repeated_numbered_sample_is_named(write):
    folder = write(
        mean={"patient": [1, 2, 3, 2], "x": numbers(4)},
        labels={"patient": [1, 3], "label": ["a", "b"]},
    )
    with pytest.raises(DataFileError, match=r"mean\.csv names sample '2' twice \(rows 3 and 5\)"):
        read_views(folder)


@pytest.mark.parametrize(
    "columns",
    [
        {"age": [40, 50, 40, 60], "x": [1, 2, 3, 4]},
        {"age": [40.5, 50.5, 41.5, 60.5], "x": [1, 2, 3, 4]},
    ],
    ids=["repeated", "fractions"],
)
def test_a_numeric_first_column_stays_a_feature(write, columns):
    folder = write(one=columns, two={"age": columns["age"], "z": [1, 2, 3, 4]})
    assert [view.shape for view in read_views(folder).views] == [(4, 2), (4, 2)]


def test_a_named_column_that_counts_the_rows_of_one_table_is_a_feature_with_a_note(write):
    data = read_views(write(mean={"visit": range(1, 7), "x": numbers(6)}))
    assert data.views.shape == (6, 2)
    assert (
        "mean.csv: column 'visit' counts the rows and is used as a feature; the option "
        "id_column=visit makes it the sample ids."
    ) in data.notes
    data = read_views(write(mean={"visit": range(1, 7), "x": numbers(6)}), id_column="visit")
    assert data.sample_ids.tolist() == ["1", "2", "3", "4", "5", "6"]


def test_ids_of_a_fit_are_those_of_tables_that_have_them(write):
    folder = write(
        mean={"patient": [3, 3000, 5], "x": numbers(3)}, worst={"who": patients(3), "y": numbers(3)}
    )
    data = read_views(folder / "mean.csv", id_column={"mean": "patient", "worst": "who"})
    assert data.sample_ids.tolist() == ["3", "3000", "5"]
    assert data.id_columns == {"mean": "patient"}
    assert read_views(folder / "mean.csv", id_column={"first": "patient"}).views.shape == (3, 1)
    data = read_views(folder / "worst.csv", id_column={"worst": "gone"})
    assert data.id_columns == {"worst": "who"}
