"""Neighbors cached on disk: searched once, replaced when damaged, never required."""

import numpy as np
import pytest
from scipy import sparse

from manyview.graphs import cached_neighbors as module
from manyview.graphs.cached_neighbors import cached_neighbors, content_key
from manyview.system.config import config_context

SETTINGS = {"n_neighbors": 3, "metric": "cosine", "search": "exact", "seed": 0}


def cached(features, folder, settings=SETTINGS):
    with config_context(cache_dir=folder):
        return cached_neighbors(features, **settings)


@pytest.fixture
def searches(monkeypatch):
    """Count the searches that are really made."""
    made, search = [], module.find_neighbors

    def counted(features, **settings):
        made.append(settings)
        return search(features, **settings)

    monkeypatch.setattr(module, "find_neighbors", counted)
    return made


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_second_search_is_taken_from_the_folder(rng, tmp_path, searches, as_view):
    features = as_view(rng.normal(size=(20, 4)))
    folder = tmp_path / "new" / "cache"
    one, two = (cached(features, folder) for _ in range(2))
    assert len(searches) == 1
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)
    assert (one.indices.dtype, one.recall) == (two.indices.dtype, two.recall)
    assert [file.name[:10] for file in folder.iterdir()] == ["neighbors-"]


def test_a_search_that_is_short_enough_is_not_stored(rng, tmp_path, searches, monkeypatch):
    features, clock = rng.normal(size=(20, 4)), iter([0.0, 59.0, 100.0, 160.0, 200.0])
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    for n_searches in (1, 2, 2):  # of 59 seconds, of 60 seconds, and none
        with config_context(cache_after=60):
            cached(features, tmp_path)
        assert len(searches) == n_searches


def test_other_content_and_other_settings_are_other_searches(rng, tmp_path, searches):
    features = rng.normal(size=(20, 4))
    changed = features.copy()
    changed[7, 2] += 1e-12
    for view, settings in [
        (features, SETTINGS),
        (changed, SETTINGS),
        (features.astype(np.float32), SETTINGS),
        (sparse.csr_array(features), SETTINGS),
        (features, SETTINGS | {"n_neighbors": 4}),
        (features, SETTINGS | {"metric": "euclidean"}),
    ]:
        cached(view, tmp_path, settings)
    assert len(searches) == 6


def test_the_seed_of_an_exact_search_and_its_name_do_not_count(rng, tmp_path, searches):
    features = rng.normal(size=(20, 4))
    cached(features, tmp_path)
    cached(features, tmp_path, SETTINGS | {"seed": 5, "search": "auto"})
    assert len(searches) == 1


def test_a_key_does_not_depend_on_memory_order_or_block(rng, monkeypatch):
    features = rng.normal(size=(20, 4))
    key = content_key(features, {})
    assert content_key(np.asfortranarray(features), {}) == key
    monkeypatch.setattr(module, "BLOCK_ROWS", 3)
    assert content_key(features, {}) == key


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:100],
        lambda whole: whole[: len(whole) // 2] + b"\0" * (len(whole) - len(whole) // 2),
        lambda whole: b"not an archive",
    ],
    ids=["empty", "cut", "overwritten", "other"],
)
def test_a_damaged_file_gives_a_warning_and_is_replaced(rng, tmp_path, searches, damage):
    features = rng.normal(size=(20, 4))
    whole = cached(features, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(UserWarning, match=r"cannot be read .*; searching again\."):
        again = cached(features, tmp_path)
    np.testing.assert_array_equal(again.indices, whole.indices)
    cached(features, tmp_path)
    assert len(searches) == 2


@pytest.mark.parametrize("wrong", [np.full((20, 3), 20), np.zeros((19, 3)), np.full((20, 3), -2)])
def test_a_file_of_impossible_neighbors_is_replaced(rng, tmp_path, searches, wrong):
    features = rng.normal(size=(20, 4))
    cached(features, tmp_path)
    (file,) = tmp_path.iterdir()
    np.savez(file, indices=wrong, distances=np.zeros(wrong.shape), recall=1.0)
    with pytest.warns(UserWarning, match="cannot be read"):
        cached(features, tmp_path)
    assert len(searches) == 2


def test_pickled_content_is_never_loaded(rng, tmp_path, searches):
    features = rng.normal(size=(20, 4))
    cached(features, tmp_path)
    (file,) = tmp_path.iterdir()
    np.savez(file, indices=np.array([{}], dtype=object), distances=np.zeros(1), recall=1.0)
    with pytest.warns(UserWarning, match="cannot be read"):
        cached(features, tmp_path)
    assert len(searches) == 2


def test_a_folder_that_cannot_be_made_gives_a_warning_and_the_search_goes_on(rng, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="neighbors are not cached"):
        found = cached(rng.normal(size=(20, 4)), tmp_path / "file" / "cache")
    assert found.indices.shape == (20, 3)
