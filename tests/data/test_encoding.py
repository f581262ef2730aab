"""Encoding of views: distances between mixed columns, new samples, files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from models import manyview
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manyview import ManyviewClassifier, MultiView, PerView, to_pyg
from manyview.data.encoding import encode_views, fit_encoders
from manyview.data.mixed_table import MixedTable
from manyview.errors import DataWarning, InputError

QUICK = {"max_epochs": 5, "random_state": 0}


def mixed_frame(n_samples=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_samples)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n_samples),
            "income": rng.lognormal(10, 2, n_samples),
            "stage": np.where(rng.random(n_samples) < 0.9, np.array(["I", "II"])[labels], "III"),
            "smoker": rng.choice(["yes", "no"], n_samples),
            "visit": pd.date_range("2020-01-01", periods=n_samples, freq="9D"),
            "note": [("good recovery" if label else "severe pain") + f" no {row}"
                     for row, label in enumerate(labels)],
        },
        index=[f"p{row}" for row in range(n_samples)],
    )  # fmt: skip
    return frame, labels


@pytest.fixture
def clinical():
    frame, labels = mixed_frame()
    return frame, np.where(np.arange(60) % 4 == 0, labels, -1)


def encoded(frame):
    views = MultiView({"v": frame})
    return encode_views(views, fit_encoders(views))


def test_a_huge_number_does_not_drown_five_categories(rng):
    """Two groups that agree in all five categories, and a number that says nothing."""
    group = np.repeat([0, 1], 40)
    frame = pd.DataFrame({f"c{column}": np.where(group, "x", "y") for column in range(5)})
    frame["huge"] = rng.lognormal(20, 3, 80)
    values = encoded(frame)["v"]
    distances = np.linalg.norm(values[:, None] - values[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (group[distances.argsort(axis=1)[:, :10]] == group[:, None]).all()


def test_categories_of_many_levels_do_not_drown_a_number():
    frame = pd.DataFrame(
        {"number": np.repeat([0.0, 1.0], 30), "many": [f"l{i % 30}" for i in range(60)]}
    )
    values = encoded(frame)["v"]
    assert values[:, 0].var() == pytest.approx(values[:, 1:].var(axis=0).sum())


def named_panel(n_names, n_years):
    """Rows of names that repeat; the class is a random function of the name alone."""
    rng = np.random.default_rng(0)
    names = [f"{'North' if number % 2 else 'South'} Country {number}" for number in range(n_names)]
    frame = pd.DataFrame(
        {
            "name": np.repeat(names, n_years),
            "year": np.tile(np.arange(n_years) + 2000, n_names),
        }
    )
    return frame, np.repeat(rng.integers(0, 3, n_names), n_years), rng


def test_repeated_names_are_neighbors_of_themselves():
    frame, _, _ = named_panel(100, 4)
    values = encoded(frame)["v"]
    distances = np.linalg.norm(values[:, None] - values[None], axis=2)
    nearest = distances.argsort(axis=1)[:, :2]
    names = frame["name"].to_numpy()
    assert (names[nearest] == names[:, None]).all()


def test_a_class_that_depends_on_a_repeated_name_is_learned():
    frame, labels, rng = named_panel(60, 12)
    views = {"place": frame, "noise": rng.normal(size=(len(labels), 3))}
    known = np.where(np.arange(len(labels)) % 4 == 1, labels, -1)
    model = manyview(max_epochs=100, random_state=0).fit(views, known)
    assert model.column_kinds_["place"] == {"name": "category", "year": "number"}
    assert (model.transduction_ == labels)[known < 0].mean() > 0.95


@pytest.mark.parametrize(("n_names", "n_columns"), [(60, 61), (300, 255)])
def test_a_saved_model_keeps_the_codes_of_names(n_names, n_columns, tmp_path):
    frame, labels, _ = named_panel(n_names, 3)
    model = manyview(**QUICK).fit({"v": frame}, np.where(np.arange(len(labels)) % 4, -1, labels))
    model.save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    encoder, expected = loaded.encoders_["v"], model.encoders_["v"]
    assert len(encoder.columns) == n_columns
    table = MultiView({"v": frame})["v"]
    np.testing.assert_array_equal(encoder(table, "v"), expected(table, "v"))
    np.testing.assert_array_equal(
        loaded.predict_proba({"v": frame[:40]}), model.predict_proba({"v": frame[:40]})
    )


def test_numeric_frames_stay_as_they_are():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": ["1.5", "2"]})
    views = MultiView({"v": frame})
    assert fit_encoders(views) == {}
    assert encode_views(views, {}) is views
    np.testing.assert_array_equal(views["v"], [[1, 1, 1.5], [2, 0, 2]])


def election_views(n_samples=60):
    """A category, a percentage, and a year, whose mean is 80 times its standard deviation.

    The group depends on the year alone. In rows of length 1 the year is nearly 1 everywhere: only
    the percentage tells them apart.
    """
    rng = np.random.default_rng(0)
    group = np.arange(n_samples) % 2
    vote = pd.DataFrame(
        {
            "percent": rng.normal(50, 12, n_samples),
            "year": 1948 + 48 * group + 4 * rng.integers(-2, 3, n_samples),
        }
    )
    place = pd.DataFrame({"state": np.array(["a", "b", "c"])[rng.integers(0, 3, n_samples)]})
    return {"place": place, "vote": vote}, group


def own_fraction(values, group, n_neighbors=10):
    """Fraction of the nearest neighbors, rows scaled to length 1, that are of the same group."""
    rows = values / np.linalg.norm(values, axis=1, keepdims=True)
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    nearest = similarity.argsort(axis=1)[:, -n_neighbors:]
    return (group[nearest] == group[:, None]).mean()


def test_numbers_beside_a_category_are_encoded_by_column():
    """Each column has mean 0 and variance 1, whatever its unit and zero."""
    frames, group = election_views()
    views = MultiView(frames)
    changed = encode_views(views, fit_encoders(views))
    assert changed.encoded_names == {"place", "vote"}
    assert changed.columns["vote"] == ("percent", "year")
    np.testing.assert_allclose(changed["vote"].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(changed["vote"].var(axis=0), 1)
    other_unit = frames | {"vote": frames["vote"].assign(year=7 * frames["vote"]["year"] - 9000)}
    np.testing.assert_allclose(encoded_views(other_unit)["vote"], changed["vote"], atol=1e-12)
    assert own_fraction(changed["vote"], group) > 0.9
    assert own_fraction(frames["vote"].to_numpy(dtype=float), group) < 0.7


def encoded_views(frames):
    views = MultiView(frames)
    return encode_views(views, fit_encoders(views))


def test_a_year_beside_a_percentage_is_not_lost():
    frames, group = election_views(200)
    known = np.where(np.arange(200) % 10 < 2, group, -1)
    model = manyview(max_epochs=60, random_state=0).fit(frames, known)
    assert model.column_kinds_["vote"] == {"percent": "number", "year": "number"}
    assert model.scaling_ == {"place": "unit", "vote": "unit"}
    graph = model.view_graphs_[1].tocoo()
    off_diagonal = graph.row != graph.col
    same = group[graph.row] == group[graph.col]
    assert same[off_diagonal].mean() > 0.9
    assert (model.transduction_ == group)[known < 0].mean() > 0.95


def test_one_table_split_into_views_is_encoded_like_the_whole():
    frames, _ = election_views()
    whole = encoded_views({"all": pd.concat(list(frames.values()), axis=1)})["all"]
    parts = encoded_views(frames)
    np.testing.assert_array_equal(np.hstack([parts["place"], parts["vote"]]), whole)


def test_data_sets_of_numbers_alone_are_not_encoded(rng):
    """Whatever their types: a blank in a column of integers makes no other table change."""
    frames = {
        "a": pd.DataFrame(rng.normal(size=(30, 2)), columns=["x", "y"]),
        "b": pd.DataFrame({"n": pd.array([1, None, *range(28)], dtype="Int64")}),
    }
    views = MultiView(frames)
    changed = encode_views(views, fit_encoders(views))
    assert changed["a"] is views["a"]
    assert "a" not in changed.encoded_names


def test_frames_of_numbers_give_what_their_arrays_give(tiny_views):
    frames = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    one, other = (
        manyview(**QUICK).fit(views, tiny_views.known_labels)
        for views in (frames, tiny_views.views)
    )
    assert one.encoders_ == {}
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


@pytest.mark.parametrize(
    ("view", "is_encoded"),
    [
        (lambda values: pd.DataFrame(values[:, :100]), True),
        (lambda values: pl.DataFrame(values[:, :100]), True),
        (lambda values: pd.DataFrame(values), False),  # 101 columns: one measurement
        (lambda values: values[:, :5], False),
        (lambda values: sparse.csr_array(values[:, :5]), False),
    ],
)
def test_only_tables_of_few_numbers_are_encoded_beside_a_mixed_one(rng, view, is_encoded):
    given = view(rng.normal(size=(30, 101)))
    views = MultiView({"place": pd.DataFrame({"state": ["a", "b"] * 15}), "v": given})
    changed = encode_views(views, fit_encoders(views))
    assert ("v" in changed.encoded_names) == is_encoded
    if not is_encoded:
        assert changed["v"] is views["v"]


def test_named_arrays_and_frames_are_encoded_alike():
    frames, _ = election_views()
    named = MultiView(
        {"place": frames["place"], "vote": frames["vote"].to_numpy()},
        columns={"vote": ["percent", "year"]},
    )
    changed = encode_views(named, fit_encoders(named))
    np.testing.assert_array_equal(changed["vote"], encoded_views(frames)["vote"])
    sparse_view = MultiView(named).with_views({"vote": sparse.csr_array(named["vote"])})
    assert list(fit_encoders(sparse_view)) == ["place"]


def test_a_saved_model_encodes_new_numbers_alike(tmp_path):
    frames, group = election_views()
    model = manyview(**QUICK).fit(frames, np.where(np.arange(60) % 4 < 2, group, -1))
    model.save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    new = {name: frame.iloc[[7, 3, 11, 8]].reset_index(drop=True) for name, frame in frames.items()}
    expected = model.predict_proba(new)
    as_arrays = new | {"vote": new["vote"].to_numpy()}  # in the order of the fit
    shuffled = new | {"vote": new["vote"][["year", "percent"]]}
    numbers_alone = new | {"place": pd.DataFrame({"state": [1, 2, 3, 4]})}
    for views in (new, as_arrays, shuffled):
        np.testing.assert_array_equal(loaded.predict_proba(views), expected)
    with pytest.warns(DataWarning, match="category that the fit did not see"):
        probabilities = loaded.predict_proba(numbers_alone)
    assert not np.array_equal(probabilities, expected)
    with pytest.raises(InputError, match=r"'vote': column 'year' must hold numbers; 4 of 4"):
        loaded.predict(new | {"vote": new["vote"].assign(year="soon")})
    with pytest.raises(InputError, match="got numbers without names"):
        loaded.predict(new | {"vote": np.zeros((4, 3))})


def test_missing_numbers_of_an_encoded_table():
    frames, group = election_views()
    frames["vote"] = frames["vote"].astype(float)
    frames["vote"].iloc[5, 0] = np.nan
    frames["vote"].iloc[6] = np.nan
    known = np.where(np.arange(60) % 4 < 2, group, -1)
    with pytest.raises(InputError, match=r"view 'vote' holds NaN .* in 1 of 60 rows"):
        manyview(**QUICK).fit(frames, known)
    model = manyview(missing="impute", **QUICK).fit(frames, known)
    np.testing.assert_allclose(model.fill_values_["vote"], 0, atol=1e-12)
    assert not MultiView(frames).present[6, 1]


def test_values_of_samples_that_lack_a_table_are_never_used():
    frames, group = election_views()
    known = np.where(np.arange(60) % 4 < 2, group, -1)
    present = np.ones((60, 2), dtype=bool)
    present[9, 1] = False
    expected = manyview(**QUICK).fit(MultiView(frames, present=present), known)
    frames["vote"] = frames["vote"].astype(float)
    frames["vote"].iloc[9] = [np.inf, 1e200]
    model = manyview(**QUICK).fit(MultiView(frames, present=present), known)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    for value, message in ((np.inf, "finite numbers"), (1e200, r"numbers of at most 1e\+100")):
        frames["vote"].iloc[3, 0] = value
        with pytest.raises(InputError, match=f"'vote': column 'percent' must hold {message}"):
            manyview(**QUICK).fit(MultiView(frames, present=present), known)


def test_tables_are_joined_by_index_before_they_are_encoded():
    frames, group = election_views()
    named = {
        name: frame.set_axis([f"s{row}" for row in range(60)]) for name, frame in frames.items()
    }
    shuffled = named | {"vote": named["vote"].iloc[::-1]}
    known = np.where(np.arange(60) % 4 < 2, group, -1)
    one, other = (manyview(**QUICK).fit(views, known) for views in (named, shuffled))
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)
    assert other.sample_ids_.tolist() == [f"s{row}" for row in range(60)]


def test_transformed_numbers_are_not_encoded_again():
    frames, _ = election_views()
    changed = PerView({"vote": StandardScaler()}).fit_transform(frames)
    assert list(fit_encoders(changed)) == ["place"]


def test_samples_that_lack_the_view_take_no_part_in_the_encoding():
    frame, _ = mixed_frame()
    other = pd.DataFrame(np.zeros((70, 1)), index=[f"p{row}" for row in range(70)])
    views = MultiView({"other": other, "clinical": frame})
    assert views.present[:, 1].tolist() == [True] * 60 + [False] * 10
    alone = fit_encoders(MultiView({"clinical": frame}))["clinical"]
    together = fit_encoders(views)["clinical"]
    table = MultiView({"clinical": frame})["clinical"]
    np.testing.assert_array_equal(alone(table, "v"), together(table, "v"))


def test_a_blank_row_lacks_the_view():
    frame, _ = mixed_frame()
    frame.iloc[3] = None
    views = MultiView({"clinical": frame, "other": np.zeros((60, 1))})
    assert not views.present[3, 0]
    changed = encode_views(views, fit_encoders(views))
    assert np.isnan(changed["clinical"][3]).all()
    assert not changed.present[3, 0]


def test_a_saved_model_encodes_new_samples_alike(clinical, tmp_path):
    frame, known = clinical
    model = manyview(**QUICK).fit({"v": frame}, known)
    model.save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    new = mixed_frame(20, seed=1)[0]
    expected = model.predict_proba({"v": new})
    np.testing.assert_array_equal(loaded.predict_proba({"v": new}), expected)
    shuffled = new[list(reversed(new.columns))]
    np.testing.assert_array_equal(loaded.predict_proba({"v": shuffled}), expected)


def test_polars_and_pandas_frames_give_the_same(clinical):
    frame, known = clinical
    one = manyview(**QUICK).fit({"v": frame.reset_index(drop=True)}, known)
    other = manyview(**QUICK).fit({"v": pl.from_pandas(frame.reset_index(drop=True))}, known)
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


def test_new_samples_whose_cells_are_all_numbers(clinical):
    frame, known = clinical
    frame = frame[["age", "stage"]].assign(stage=["1", "2", "b"] * 20)
    model = manyview(**QUICK).fit({"v": frame}, known)
    texts = model.predict_proba({"v": frame.iloc[[0, 1]]})
    numbers = frame.iloc[[0, 1]].assign(stage=[1, 2])
    np.testing.assert_array_equal(model.predict_proba({"v": numbers}), texts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="stage"), "it lacks 1: stage"),
        (lambda f: f.assign(more=1), "1 are new: more. Remove them"),
        (lambda f: f.assign(age="old"), "column 'age' must hold numbers; 60 of 60 cells do not"),
        (lambda f: f.assign(visit="soon"), "column 'visit' must hold dates"),
        (lambda f: f.assign(age=None), "holds NaN"),
        (lambda f: np.zeros((60, 6)), "got numbers without names"),
    ],
)
def test_new_samples_of_another_form_are_refused(clinical, change, message):
    frame, known = clinical
    model = manyview(**QUICK).fit({"v": frame}, known)
    with pytest.raises(InputError, match=message):
        model.predict({"v": change(frame)})


def test_text_in_a_column_of_numbers_is_refused(tiny_views):
    frames = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    model = manyview(**QUICK).fit(frames, tiny_views.known_labels)
    frames["shape"][0] = "long"
    with pytest.raises(InputError, match="must hold numbers alone, as in the fit; column '0'"):
        model.predict(frames)


def test_an_unseen_category_is_reported_by_name(clinical):
    frame, known = clinical
    model = manyview(**QUICK).fit({"v": frame}, known)
    with pytest.warns(DataWarning, match=r"column 'stage': 60 of 60 samples .*'IV'"):
        model.predict({"v": frame.assign(stage="IV")})


def test_blank_cells_follow_the_rule_for_missing_values(clinical):
    frame, known = clinical
    frame = frame.assign(age=frame["age"].where(np.arange(60) != 5))
    with pytest.raises(InputError, match="view 'v' holds NaN"):
        manyview(**QUICK).fit({"v": frame}, known)
    model = manyview(missing="impute", **QUICK).fit({"v": frame}, known)
    filled = encoded(frame)["v"].copy()
    filled[5, 0] = 0.0  # the mean
    assert np.isfinite(filled).all()
    assert model.fill_values_["v"][0] == pytest.approx(0, abs=1e-12)
    blank_stage = frame.assign(age=1.0 * np.arange(60), stage=None)
    manyview(**QUICK).fit({"v": blank_stage}, known)  # a blank category is a category


def test_cross_validation_keeps_tables_raw(clinical):
    frame, _ = clinical
    rows = MultiView({"v": frame})[[3, 1]]
    assert isinstance(rows["v"], MixedTable)
    assert rows["v"].column("stage").tolist() == frame["stage"].iloc[[3, 1]].tolist()


def test_transformers_get_mixed_views_as_frames(clinical):
    frame, known = clinical
    encode_stage = make_column_transformer(
        (OneHotEncoder(), ["stage"]), (StandardScaler(), ["age"])
    )
    views = MultiView({"a": frame, "b": frame})
    changed = PerView({"a": encode_stage}).fit_transform(views)
    assert changed["a"].shape == (60, 4)
    assert isinstance(changed["b"], MixedTable)
    model = make_pipeline(PerView({"a": encode_stage}), manyview(**QUICK)).fit(views, known)
    assert list(model[-1].column_kinds_) == ["b"]


def test_pyg_gets_encoded_features(clinical):
    pytest.importorskip("torch_geometric")
    data = to_pyg(clinical[0])
    assert data.x.shape == (60, len(fit_encoders(MultiView(clinical[0]))["view1"].columns))
