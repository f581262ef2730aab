"""The labels that the released programs of AMGL and MLAN assume, to replicate their results.

Both programs take no labels. They assume that samples are sorted by class and that all classes
have the same size, and train and score against these labels. Where classes differ in size, as in
most data sets, many of the assumed labels are wrong, and so is the accuracy. Never use this to
compare methods.
"""

import math

import numpy as np

from manyview.errors import InputError
from manyview.validation import check_whole_number

ROUNDING_SLACK = 1e-9  # 0.29 * 100 is 28.999999999999996 in binary


def equal_class_labels(
    n_samples: int,
    n_classes: int,
    label_ratio: float,
    *,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Split the samples into classes of equal size, in order, and label the same positions in each.

    Every class gets floor(m / c) samples, the last one also the remainder. Of the floor(m / c)
    positions within a class, floor(ratio m / c) are drawn (at least one), the same in all classes.

    Returns
    -------
    assumed
        [sample] class number; the programs score unlabeled samples against it.
    is_labeled
        [sample] whether the method gets the assumed label.

    Examples
    --------
    >>> assumed, is_labeled = equal_class_labels(11, 3, 0.4, random_state=0)
    >>> assumed
    array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2])
    >>> np.flatnonzero(is_labeled)
    array([2, 5, 8])
    """
    check_whole_number("n_classes", n_classes, at_least=2)
    check_whole_number("n_samples", n_samples, at_least=n_classes)
    if not 0 < label_ratio <= 1:
        raise InputError(f"label_ratio must be above 0 and at most 1; got {label_ratio!r}.")
    class_size = n_samples // n_classes
    assumed = np.minimum(np.arange(n_samples) // class_size, n_classes - 1)
    n_drawn = max(1, math.floor(label_ratio * class_size + ROUNDING_SLACK))
    positions = np.random.default_rng(random_state).permutation(class_size)[:n_drawn]
    is_labeled = np.zeros(n_samples, dtype=bool)
    is_labeled[np.add.outer(class_size * np.arange(n_classes), positions)] = True
    return assumed, is_labeled
