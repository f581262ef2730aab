"""Five views of the digit images, each with its invariance."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from manyview.data.catalog.digits import (
    fourier_magnitudes,
    gradient_histograms,
    hermite_moments,
    load_digits_views,
)
from manyview.data.views import check_views

RNG = np.random.default_rng(0)


def test_digits_are_five_named_finite_views():
    data = load_digits_views()
    check_views(data.views)
    assert data.views.names == ("pixels", "fourier", "gradients", "profiles", "moments")
    assert len(data.views) == len(data.labels) == len(data.sample_ids) == 1797
    assert sorted(set(data.labels.tolist())) == list(range(10))


def test_digits_are_the_same_every_time():
    first, second = load_digits_views(), load_digits_views()
    assert first.sha256 == second.sha256
    for one, other in zip(first.views, second.views, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["pixels", "fourier", "gradients", "profiles", "moments"])
def test_every_view_of_the_digits_tells_them_apart(name):
    data = load_digits_views()
    view, half = data.views[name], np.arange(1797) % 2 == 0
    model = KNeighborsClassifier(metric="cosine").fit(view[half], data.labels[half])
    assert model.score(view[~half], data.labels[~half]) > 0.8


def test_fourier_magnitudes_do_not_change_when_an_image_is_shifted_round():
    images = RNG.random((3, 8, 8))
    shifted = np.roll(images, (2, 3), axis=(1, 2))
    np.testing.assert_allclose(fourier_magnitudes(images), fourier_magnitudes(shifted))


def test_gradient_histograms_share_out_the_whole_gradient():
    ramp = np.broadcast_to(np.arange(8.0), (1, 8, 8))  # ink grows to the right
    histograms = gradient_histograms(ramp).reshape(3, 3, 8)
    np.testing.assert_allclose(histograms[1, 1], [1, 0, 0, 0, 0, 0, 0, 0])


def test_hermite_moments_do_not_change_with_place_and_ink():
    image = np.zeros((1, 8, 8))
    image[0, 1:5, 1:4] = RNG.random((4, 3))
    moved = 0.3 * np.roll(image, (2, 3), axis=(1, 2))
    np.testing.assert_allclose(hermite_moments(image), hermite_moments(moved), atol=1e-12)


def test_moments_are_of_one_magnitude():
    moments = load_digits_views().views["moments"]
    spread = moments.std(axis=0)
    assert spread.max() < 30 * spread.min()
    assert np.abs(moments).max() < 1
