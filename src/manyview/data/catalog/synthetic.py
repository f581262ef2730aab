"""Synthetic multi-view data: planted classes in several views, some of them noise."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.validation import (
    RandomState,
    check_choice,
    check_number,
    check_whole_number,
    draw_seed,
)

BLOCK_ROWS = 2**16  # rows drawn at a time
DTYPES = ("float32", "float64")


def make_multiview_classification(
    n_samples: int = 1000,
    n_views: int = 3,
    *,
    n_classes: int = 3,
    n_features: int | Sequence[int] = 20,
    n_latent: int = 10,
    n_noise_views: int = 0,
    class_sep: float = 1.0,
    noise: float | Sequence[float] = 0.5,
    weights: Sequence[float] | None = None,
    nonlinear: bool = False,
    shuffle: bool = True,
    dtype: str = "float64",
    random_state: RandomState = None,
) -> tuple[MultiView, np.ndarray]:
    """Generate a multi-view data set with known classes, like scikit-learn's generators.

    Each class is a normal distribution around its own center in a latent space of `n_latent`
    dimensions. A view is a random linear map of the latent space plus noise of its own; the last
    `n_noise_views` views are pure noise. Rows are drawn in blocks, so that a million samples take
    little more memory than the result.

    Parameters
    ----------
    n_samples
        Number of samples, at least one per class.
    n_views
        Number of views, noise views included.
    n_classes, n_latent
        Number of classes, and dimensions of the latent space.
    n_features
        Columns of every view, or one number per view.
    n_noise_views
        Number of views, the last ones, that do not depend on the classes.
    class_sep
        Standard deviation of the class centers over that of the samples around them; at 0 the
        classes cannot be separated.
    noise
        Standard deviation of a view's noise over that of its signal around a center; one number,
        or one per view.
    weights
        Fraction of samples per class; None makes classes of equal size. Every class has at least
        one sample.
    nonlinear
        Whether to take the hyperbolic tangent of the linear map.
    shuffle
        Whether samples come in random order instead of class by class.
    dtype
        "float64" or "float32".

    Returns
    -------
    views : MultiView, with views `view1`, `view2`, ...
    labels : [sample] class numbers from 0

    Examples
    --------
    >>> views, labels = make_multiview_classification(
    ...     300, 3, n_features=[20, 8, 5], n_noise_views=1, weights=[0.6, 0.3, 0.1], random_state=0
    ... )
    >>> views
    MultiView(300 samples; view1: 20, view2: 8, view3: 5)
    >>> import numpy as np
    >>> np.bincount(labels).tolist()
    [180, 90, 30]
    """
    for name, value in (("n_samples", n_samples), ("n_views", n_views), ("n_latent", n_latent)):
        check_whole_number(name, value, at_least=1)
    check_whole_number("n_classes", n_classes, at_least=1)
    check_whole_number("n_noise_views", n_noise_views, at_least=0)
    check_number("class_sep", class_sep, at_least=0)
    check_choice("dtype", dtype, DTYPES)
    if n_noise_views > n_views:
        raise InputError(
            f"n_noise_views must be at most n_views; got {n_noise_views} with {n_views} views."
        )
    widths = _one_per_view("n_features", n_features, n_views)
    for width in widths:
        check_whole_number("n_features", width, at_least=1)
    noises = _one_per_view("noise", noise, n_views)
    for one in noises:
        check_number("noise", one, at_least=0)
    sizes = class_sizes(n_samples, n_classes, weights)
    rng = np.random.default_rng(draw_seed(random_state))
    labels = np.repeat(np.arange(n_classes), sizes)
    if shuffle:
        rng.shuffle(labels)
    centers = class_sep * rng.normal(size=(n_classes, n_latent))
    maps = [rng.normal(size=(n_latent, width)) / np.sqrt(n_latent) for width in widths]
    views = [np.empty((n_samples, width), dtype=dtype) for width in widths]
    for start in range(0, n_samples, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        latent = centers[labels[rows]]
        latent += rng.normal(size=latent.shape)
        for number, view, linear_map, own_noise in zip(count(), views, maps, noises, strict=False):
            block = rng.normal(size=(len(latent), view.shape[1]))
            if number < n_views - n_noise_views:
                signal = latent @ linear_map
                block = (np.tanh(signal) if nonlinear else signal) + own_noise * block
            view[rows] = block
    return MultiView(views), labels


def class_sizes(n_samples: int, n_classes: int, weights: Sequence[float] | None) -> np.ndarray:
    """Distribute samples over classes by weight, at least one each, by largest remainder.

    Examples
    --------
    >>> class_sizes(10, 3, None).tolist(), class_sizes(10, 2, [0.99, 0.01]).tolist()
    ([4, 3, 3], [9, 1])
    """
    if n_samples < n_classes:
        raise InputError(
            f"n_samples must be at least n_classes; got {n_samples} with {n_classes} classes."
        )
    values = np.ones(n_classes) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.shape != (n_classes,) or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"weights must be {n_classes} numbers above 0, one for each class; got {weights!r}."
        )
    quotas = n_samples * values / values.sum()
    sizes = np.maximum(np.floor(quotas).astype(np.int64), 1)
    while sizes.sum() < n_samples:
        sizes[np.argmax(quotas - sizes)] += 1
    while sizes.sum() > n_samples:
        sizes[np.argmax(np.where(sizes > 1, sizes - quotas, -np.inf))] -= 1
    return np.asarray(sizes)


def _one_per_view(name: str, value: Any, n_views: int) -> list[Any]:
    """Return one value per view: a single number repeated, or a sequence of that length."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        return [value] * n_views
    if len(value) != n_views:
        raise InputError(
            f"{name} must be one number, or one for each of the {n_views} views; got {len(value)}."
        )
    return list(value)
