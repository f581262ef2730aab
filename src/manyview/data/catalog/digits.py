"""Five views computed from scikit-learn's 1,797 digit images."""

import hashlib
from math import factorial

import numpy as np
from numpy.polynomial.hermite_e import hermevander

from manyview.data.dataset import Dataset
from manyview.data.views import MultiView

N_ORIENTATIONS = 8
MOMENT_ORDER = 6


def load_digits_views() -> Dataset:
    """Load five views of 1,797 handwritten digits; needs no file and no download.

    The views are `pixels` (64), `fourier` (33), `gradients` (72), `profiles` (16) and
    `moments` (25). `sha256` is the checksum of the images.

    Examples
    --------
    >>> load_digits_views().views
    MultiView(1797 samples; pixels: 64, fourier: 33, gradients: 72, profiles: 16, moments: 25)
    """
    from sklearn.datasets import load_digits  # imports much; other data sets do without

    digits = load_digits()
    images = digits.images / 16.0  # [sample, row, column], ink from 0 to 1
    views = MultiView(
        {
            "pixels": images.reshape(len(images), -1),
            "fourier": fourier_magnitudes(images),
            "gradients": gradient_histograms(images),
            "profiles": np.hstack([images.mean(axis=2), images.mean(axis=1)]),
            "moments": hermite_moments(images),
        }
    )
    return Dataset(
        name="digits",
        views=views,
        labels=digits.target.astype(np.int64),
        sample_ids=np.arange(len(images)).astype(str),
        notes=(
            "digits: 5 views of 1797 samples, computed from scikit-learn's 8 x 8 images; "
            "labels: 10 classes from 0 to 9.",
        ),
        sha256=hashlib.sha256(digits.images.astype(np.uint8).tobytes()).hexdigest(),
    )


def fourier_magnitudes(images: np.ndarray) -> np.ndarray:
    """Return the 33 distinct Fourier magnitudes of 8 x 8 images, without the total ink.

    They do not change when an image is shifted with wrap-around.
    """
    spectrum = np.abs(np.fft.rfft2(images))  # [sample, 8, 5]
    distinct = np.ones(spectrum.shape[1:], dtype=bool)
    distinct[5:, [0, 4]] = False  # mirrors of rows 1 to 3
    distinct[0, 0] = False
    return np.asarray(spectrum[:, distinct])


def gradient_histograms(images: np.ndarray) -> np.ndarray:
    """Return histograms of gradient orientation in 3 x 3 overlapping windows of 4 x 4 pixels.

    Each pixel contributes the length of its gradient, split between the two nearest of 8
    orientations.
    """
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    down = (padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]) / 2
    right = (padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]) / 2
    orientation = np.arctan2(down, right) * N_ORIENTATIONS / (2 * np.pi)
    steps = orientation[..., None] - np.arange(N_ORIENTATIONS)
    distance = np.abs((steps + N_ORIENTATIONS / 2) % N_ORIENTATIONS - N_ORIENTATIONS / 2)
    votes = np.hypot(down, right)[..., None] * np.maximum(1 - distance, 0)
    return np.concatenate(
        [
            votes[:, top : top + 4, left : left + 4].mean(axis=(1, 2))
            for top in (0, 2, 4)
            for left in (0, 2, 4)
        ],
        axis=1,
    )


def hermite_moments(images: np.ndarray) -> np.ndarray:
    """Return the Hermite moments of the ink, orders 2 to 6, about its center.

        E[He_q(v) He_p(u)] / sqrt(p! q!),   u, v standardized column and row

    They do not change with position or size, and all orders have the same magnitude.
    """
    ink = images / images.sum(axis=(1, 2), keepdims=True)
    axis = np.arange(images.shape[1], dtype=np.float64)
    across, along = ink.sum(axis=1), ink.sum(axis=2)  # [sample, column], [sample, row]
    columns = axis - (across @ axis)[:, None]
    rows = axis - (along @ axis)[:, None]
    variance = ((across * columns**2).sum(axis=1) + (along * rows**2).sum(axis=1)) / 2
    spread = np.sqrt(variance)[:, None]
    scale = np.sqrt([factorial(order) for order in range(MOMENT_ORDER + 1)])
    column_terms = hermevander(columns / spread, MOMENT_ORDER) / scale
    row_terms = hermevander(rows / spread, MOMENT_ORDER) / scale
    moments = np.einsum("nyx,nyq,nxp->nqp", ink, row_terms, column_terms)
    order = np.add.outer(np.arange(MOMENT_ORDER + 1), np.arange(MOMENT_ORDER + 1))
    return np.asarray(moments[:, (order >= 2) & (order <= MOMENT_ORDER)])
