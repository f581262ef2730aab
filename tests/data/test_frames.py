"""Frames of pandas and polars, as views and as labels."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from manyview.data.io.readers import read_views
from manyview.data.labels import check_labels
from manyview.data.mixed_table import MixedTable
from manyview.data.views import MultiView, check_views
from manyview.errors import DataFileError, InputError
from manyview.methods import METHODS

pl = pytest.importorskip("polars")


@pytest.fixture
def blood():
    return pl.DataFrame({"patient": ["a", "b", "c"], "iron": [1.0, 2.0, 3.0], "salt": [4, 5, 6]})


@pytest.fixture
def genes():
    return pl.DataFrame(
        {"patient": ["c", "a", "d"], "g1": [0.1, 0.2, 0.3], "kind": ["ill", None, "well"]}
    )


def test_polars_frame_is_a_view_with_names(blood):
    views = check_views(MultiView({"blood": blood.drop("patient")}))
    np.testing.assert_array_equal(views["blood"], [[1, 4], [2, 5], [3, 6]])
    assert views.columns == {"blood": ("iron", "salt")}


def test_frames_are_joined_on_the_id_column(blood, genes):
    data = read_views({"blood": blood, "genes": genes}, id_column="patient", label_column="kind")
    assert data.sample_ids.tolist() == ["a", "b", "c", "d"]
    assert data.labels.tolist() == [None, None, "ill", "well"]
    assert data.views.present.tolist() == [[True, True], [True, False], [True, True], [False, True]]
    np.testing.assert_array_equal(data.views["genes"][[0, 2, 3]], [[0.2], [0.1], [0.3]])


def test_pandas_frames_are_joined_on_their_index(blood, genes):
    frames = {
        "blood": pd.DataFrame(blood.to_dict(as_series=False)).set_index("patient"),
        "genes": pd.DataFrame(genes.to_dict(as_series=False)).set_index("patient"),
    }
    of_pandas = read_views(frames, label_column="kind")
    of_polars = read_views({"blood": blood, "genes": genes}, label_column="kind")
    assert of_pandas.labels.tolist() == of_polars.labels.tolist()
    assert of_pandas.sample_ids.tolist() == of_polars.sample_ids.tolist()
    for name in frames:
        np.testing.assert_array_equal(of_pandas.views[name], of_polars.views[name])


@pytest.mark.parametrize("kind", ["frame", "series"])
def test_labels_come_as_a_frame_or_series_with_ids(blood, kind):
    labels = pd.DataFrame({"kind": ["well", "ill"]}, index=["c", "a"])
    data = read_views(blood, labels=labels if kind == "frame" else labels["kind"])
    assert data.labels.tolist() == ["ill", None, "well"]


def test_labels_of_frames_may_come_from_a_file(blood, tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\nc,well\na,ill\n")
    assert read_views(blood, labels=tmp_path / "labels.csv").labels.tolist() == [
        "ill",
        None,
        "well",
    ]
    with pytest.raises(DataFileError, match=r"no file or folder .*Did you mean 'labels\.csv'"):
        read_views(blood, labels=tmp_path / "label.csv")


def test_two_level_columns_are_several_views():
    columns = pd.MultiIndex.from_tuples([("blood", "iron"), ("genes", "g1"), ("blood", "salt")])
    frame = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0]], columns=columns)
    views = check_views(MultiView(frame))
    assert views.names == ("blood", "genes")
    np.testing.assert_array_equal(views["blood"], [[1, 3], [4, 6]])
    assert views.present.tolist() == [[True, True], [True, False]]
    frame.index = ["a", "b"]
    assert read_views(frame).sample_ids.tolist() == ["a", "b"]


def test_three_levels_are_refused():
    columns = pd.MultiIndex.from_tuples([("a", "b", "c")])
    with pytest.raises(InputError, match="got 3 levels"):
        MultiView(pd.DataFrame([[1.0]], columns=columns))


NESTED = [
    pl.DataFrame({"x": [1.0, 2.0], "lists": [[1], [2, 3]]}),
    pl.DataFrame({"x": [1.0, 2.0], "lists": [{"a": 1}, {"a": 2}]}),
    pl.DataFrame(
        {"x": [1.0, 2.0], "lists": [[1, 2], [3, 4]]},
        schema={"x": pl.Float64, "lists": pl.Array(pl.Int64, 2)},
    ),
    pd.DataFrame({"x": [1.0, 2.0], "lists": [[1], [2, 3]]}),
]


@pytest.mark.parametrize("frame", NESTED, ids=["list", "struct", "array", "pandas"])
def test_nested_columns_are_refused_by_name(frame):
    with pytest.raises(InputError, match=r"view 'v' must hold one value per cell; .*: 'lists'"):
        MultiView({"v": frame})
    with pytest.raises(DataFileError, match=r"frame 'v' must hold one value per cell.*'lists'"):
        read_views({"v": frame})


def test_dates_and_texts_make_a_mixed_table():
    dates = pl.DataFrame({"x": [1.0]}).with_columns(pl.lit("2026-01-01").str.to_date().alias("day"))
    table = MultiView({"v": dates})["v"]
    assert isinstance(table, MixedTable)
    assert table.column("day").tolist() == [datetime(2026, 1, 1)]
    assert MultiView({"v": pl.DataFrame({"word": ["a"]})})["v"].column("word").tolist() == ["a"]


def test_lazy_frame_is_refused_with_the_way_out(blood):
    with pytest.raises(InputError, match=r"got a lazy frame\. Pass frame\.collect\(\)"):
        MultiView({"blood": blood.lazy()})


@pytest.mark.parametrize(
    ("labels", "y_encoded"),
    [
        (pl.Series(["a", None, "b"]), [0, -1, 1]),
        (pl.Series(["a", None, "b"], dtype=pl.Categorical), [0, -1, 1]),
        (pl.Series([1, None, 2]), [0, -1, 1]),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), [0, -1, 1]),
        (pd.Series(pd.Categorical(["a", None, "b"])), [0, -1, 1]),
    ],
)
def test_series_are_labels(labels, y_encoded):
    assert check_labels(labels, 3)[1].tolist() == y_encoded


def test_arrays_are_sent_to_the_views():
    with pytest.raises(InputError, match=r"got ndarray\. Pass arrays to MultiView or fit"):
        read_views(np.eye(3))


def test_a_method_takes_frames_and_is_cross_validated_on_them(tiny_views):
    parts = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    frame = pd.concat(parts, axis=1)
    model = METHODS["knn"]()
    scores = cross_val_score(model, frame, tiny_views.labels, cv=3)
    wanted = cross_val_score(model, MultiView(tiny_views.views), tiny_views.labels, cv=3)
    np.testing.assert_array_equal(scores, wanted)
    alone = pl.DataFrame(tiny_views.views["shape"], schema=list("abcde"))
    model.fit(alone, pl.Series(tiny_views.known_labels))
    assert model.feature_names_in_.tolist() == list("abcde")
    assert (model.predict(alone) == tiny_views.labels).mean() > 0.8
