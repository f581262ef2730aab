"""The map of the fitted samples."""

import numpy as np
import pytest

from manyview import EmbeddingDisplay, InputError


def test_coordinates_are_the_main_components_of_the_embedding(model):
    display = EmbeddingDisplay.from_estimator(model)
    centered = model.embedding_.astype(float) - model.embedding_.mean(axis=0)
    _, powers, directions = np.linalg.svd(centered, full_matrices=False)
    expected = centered @ directions[:2].T
    np.testing.assert_allclose(np.abs(display.coordinates), np.abs(expected), atol=1e-4)
    assert display.explained == pytest.approx((powers[:2] ** 2).sum() / (powers**2).sum(), rel=1e-4)


def test_methods_without_an_embedding_show_their_predictions(plain):
    display = EmbeddingDisplay.from_estimator(plain)
    assert display.coordinates.shape == (60, 2)
    with pytest.raises(InputError, match="features='predictions'"):
        EmbeddingDisplay.from_estimator(plain, features="embedding")
    with pytest.raises(InputError, match="features must be"):
        EmbeddingDisplay.from_estimator(plain, features="pca")


def test_every_sample_is_drawn_once_in_the_color_of_its_class(model):
    display = EmbeddingDisplay.from_estimator(model)
    sizes = [len(points.get_offsets()) for points in display.points_]
    assert sizes == [int((model.transduction_ == label).sum()) for label in model.classes_]
    colors = {tuple(points.get_facecolor()[0]) for points in display.points_}
    assert len(colors) == 3


def test_wrong_predictions_are_crossed_out_and_given_labels_are_not(model, shared_views):
    truth = (shared_views.labels + 1) % 3
    display = EmbeddingDisplay.from_estimator(model, y=truth)
    expected = ~model.is_labeled_ & (model.transduction_ != truth)
    np.testing.assert_array_equal(display.is_wrong, expected)
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2", "wrong"]
    with pytest.raises(InputError, match=r"60 fitted samples; got shape \(3,\)"):
        EmbeddingDisplay.from_estimator(model, y=truth[:3])


def test_many_classes_have_no_legend():
    labels = np.arange(50)
    display = EmbeddingDisplay(
        coordinates=np.random.default_rng(0).normal(size=(50, 2)),
        predictions=labels,
        classes=labels,
    ).plot()
    assert display.ax_.get_legend() is None


def test_options_of_scatter_are_passed_on(model):
    display = EmbeddingDisplay.from_estimator(model, alpha=0.25, legend=False)
    assert display.points_[0].get_alpha() == 0.25
    assert display.ax_.get_legend() is None
