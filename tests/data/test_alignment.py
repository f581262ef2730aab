"""Alignment: rows of frames and labels are matched by their index, whatever their order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import manyview
from sklearn.model_selection import cross_val_score

from manyview import ManyviewClassifier, MultiView, TransductiveViews
from manyview.data.alignment import align_labels, index_of, is_default_index
from manyview.errors import InputError

QUICK = {"max_epochs": 5, "random_state": 0}


@pytest.fixture
def frames(tiny_views):
    """The tiny views as frames whose index names the samples s0 to s59."""
    names = [f"s{row}" for row in range(60)]
    return {name: pd.DataFrame(view, index=names) for name, view in tiny_views.views.items()}


@pytest.fixture
def labels(tiny_views, frames):
    return pd.Series(tiny_views.known_labels, index=frames["shape"].index)


def fit(views, labels):
    return manyview(**QUICK).fit(views, labels)


def by_sample(model):
    return pd.DataFrame(model.label_distributions_, index=model.sample_ids_)


def test_frames_in_another_order_give_the_same_fit(frames, labels):
    expected = fit(frames, labels)
    shuffled = frames | {"color": frames["color"].sample(frac=1, random_state=1)}
    model = fit(shuffled, labels.sample(frac=1, random_state=2))
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    assert model.sample_ids_.tolist() == frames["shape"].index.tolist()


def test_a_shuffled_frame_with_whole_numbers_for_an_index_is_joined(tiny_views):
    views = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    shuffled = views | {"color": views["color"].sample(frac=1, random_state=0)}
    found, expected = MultiView(shuffled), MultiView(views)
    np.testing.assert_array_equal(found["color"], expected["color"])


def test_shuffled_labels_are_matched_to_frames_that_number_their_rows(tiny_views):
    views = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    labels = pd.Series(tiny_views.known_labels)
    shuffled = labels.sample(frac=1, random_state=0)
    expected = fit(views, labels).label_distributions_
    np.testing.assert_array_equal(fit(views, shuffled).label_distributions_, expected)


def test_results_follow_the_rows_of_the_first_view(frames, labels):
    expected = by_sample(fit(frames, labels))
    first = {"shape": frames["shape"].iloc[::-1], "color": frames["color"]}
    model = fit(first, labels)
    assert model.sample_ids_.tolist() == frames["shape"].index[::-1].tolist()
    found = by_sample(model).loc[expected.index]
    assert (found.to_numpy().argmax(axis=1) == expected.to_numpy().argmax(axis=1)).mean() > 0.95


def test_samples_that_a_frame_lacks_lack_the_view(frames, tiny_views):
    part = {"shape": frames["shape"].iloc[:50], "color": frames["color"].iloc[5:]}
    views = MultiView(part)
    assert views.sample_ids.tolist() == [f"s{row}" for row in range(60)]
    np.testing.assert_array_equal(views.present[:, 0], np.arange(60) < 50)
    np.testing.assert_array_equal(views.present[:, 1], np.arange(60) >= 5)
    present = {"shape": np.arange(60) < 50, "color": np.arange(60) >= 5}
    masked = MultiView(tiny_views.views, present=present)
    one, other = (fit(given, tiny_views.known_labels) for given in (views, masked))
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


def test_new_samples_are_joined_too(frames, labels):
    model = fit(frames, labels)
    new = {name: frame.iloc[:9] for name, frame in frames.items()}
    shuffled = new | {"color": new["color"].iloc[::-1]}
    np.testing.assert_array_equal(model.predict_proba(shuffled), model.predict_proba(new))


def test_labels_of_some_samples_leave_the_others_unknown(frames, labels):
    known = labels[labels >= 0]
    expected = fit(frames, labels).label_distributions_
    np.testing.assert_array_equal(fit(frames, known).label_distributions_, expected)
    words = known.map({0: "ant", 1: "bee", 2: "cow"})
    assert fit(frames, words).classes_.tolist() == ["ant", "bee", "cow"]


def test_arrays_keep_their_order(tiny_views):
    series = pd.Series(tiny_views.known_labels, index=np.arange(60)[::-1])
    expected = fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    np.testing.assert_array_equal(fit(tiny_views.views, series).label_distributions_, expected)
    assert fit(tiny_views.views, series).sample_ids_ is None


def test_score_matches_labels_and_ignores_unknown_ones(frames, labels, tiny_views):
    model = fit(frames, labels)
    truth = pd.Series(tiny_views.labels, index=labels.index)
    expected = (model.predict(frames) == tiny_views.labels).mean()
    assert model.score(frames, truth.sample(frac=1, random_state=0)) == expected
    known = tiny_views.known_labels >= 0
    expected = (model.predict(frames) == tiny_views.labels)[known].mean()
    assert model.score(frames, tiny_views.known_labels) == expected
    with pytest.raises(InputError, match="at least one known label to score"):
        model.score(frames, np.full(60, -1))
    with pytest.raises(InputError, match="one label per sample; got 5 labels for 60"):
        model.score(frames, np.zeros(5))


def test_cross_validation_of_partly_labeled_data_scores_known_labels_alone(tiny_views, rng):
    labels = np.where(rng.random(60) < 0.5, tiny_views.labels, -1)
    scores = cross_val_score(manyview(**QUICK), MultiView(tiny_views.views), labels, cv=3)
    assert scores.mean() > 0.8


def test_rows_of_transductive_views_match_labels_by_their_index(frames, tiny_views):
    samples = TransductiveViews(frames)
    truth = pd.Series(tiny_views.labels, index=frames["shape"].index)
    rows = np.arange(0, 60, 5)
    spread = samples[rows].expand_labels(truth.iloc[rows].iloc[::-1])
    np.testing.assert_array_equal(spread[rows], tiny_views.labels[rows])


def test_saved_models_hold_the_index(frames, labels, tmp_path):
    model = fit(frames, labels)
    model.save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    assert loaded.sample_ids_.tolist() == model.sample_ids_.tolist()


def test_samples_are_explained_by_the_name_in_their_index(frames, labels):
    model = fit(frames, labels)
    assert model.explain("s7").name == model.explain(7).name == "s7"
    with pytest.raises(InputError, match=r"No sample has the id 's777'. Did you mean 's7'"):
        model.explain("s777")


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_any_order_of_rows_gives_the_same_views(first, second):
    base = pd.DataFrame({"x": range(6), "y": range(6, 12)}, index=list("abcdef"))
    views = MultiView({"one": base.iloc[list(first)], "two": base.iloc[list(second)] * 2.0})
    assert views.sample_ids.tolist() == base.index[list(first)].tolist()
    np.testing.assert_array_equal(views["two"], 2.0 * views["one"])


def test_repeated_and_foreign_names_are_refused_by_name(frames, labels):
    twice = pd.concat([frames["color"], frames["color"].iloc[:2]])
    with pytest.raises(InputError, match=r"index of view 'color' .* 2 repeat: 's0', 's1'"):
        MultiView({"shape": frames["shape"], "color": twice})
    other = frames["color"].rename(index=lambda name: f"x{name}")
    with pytest.raises(InputError, match="'shape' and 'color' have no sample in common"):
        MultiView({"shape": frames["shape"], "color": other})
    with pytest.raises(InputError, match=r"1 of 61 name samples that no view has: 'nobody'"):
        fit(frames, pd.concat([labels, pd.Series({"nobody": 1})]))
    with pytest.raises(InputError, match=r"the index of the labels .* 1 repeat: 's3'"):
        fit(frames, pd.concat([labels, labels.iloc[[3]]]))


def test_an_array_beside_frames_in_another_order_is_refused(frames, tiny_views):
    mixed = {"shape": frames["shape"], "color": tiny_views.views["color"]}
    assert MultiView(mixed).sample_ids is not None
    extra = {"noise": frames["shape"].iloc[::-1], **mixed}
    with pytest.raises(InputError, match="view 'color' has no index, and the frames"):
        MultiView(extra)


def test_graphs_are_not_reordered(frames):
    links = pd.DataFrame(np.ones((60, 60)), index=frames["shape"].index[::-1])
    with pytest.raises(InputError, match="view 'links' is a graph"):
        MultiView({**frames, "links": links}, graphs=["links"])


def test_index_values_of_every_kind_have_a_name():
    days = pd.Series([1, 2], index=pd.to_datetime(["2026-01-01", "2026-01-02"]))
    assert index_of(days).tolist() == ["2026-01-01 00:00:00", "2026-01-02 00:00:00"]
    pairs = pd.Series([1, 2], index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    assert index_of(pairs).tolist() == ["('a', 1)", "('b', 2)"]
    assert index_of([1, 2]) is None
    assert not is_default_index(np.array([True, 1], dtype=object))
    assert is_default_index(np.arange(3))
    assert align_labels([1, 2], np.array(["a", "b"], dtype=object)) == [1, 2]
