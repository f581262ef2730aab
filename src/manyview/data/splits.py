"""Draw the samples that keep their label, stratified by class or at random."""

import math
from typing import Any

import numpy as np

from manyview.data.label_values import is_known, mark_unknown
from manyview.errors import InputError
from manyview.validation import RandomState, as_generator, check_choice

PROTOCOLS = ("stratified", "random")
ROUNDING_SLACK = 1e-9  # 0.29 * 100 is 28.999999999999996 in binary


def draw_labeled(
    labels: Any,
    ratio: float,
    *,
    protocol: str = "stratified",
    random_state: RandomState = None,
) -> np.ndarray:
    """Mark a random `ratio` of the samples as labeled.

    Parameters
    ----------
    labels
        One label per sample. Samples with an unknown label (-1, None, NaN) are never drawn and do
        not count.
    ratio
        Fraction of the samples to draw, above 0 and at most 1.
    protocol
        `stratified` draws max(1, round(ratio n_c)) of the n_c samples of each class, halves
        rounded up. `random` draws floor(ratio m) of all m samples, so a class may get no label.
    random_state
        Seed or generator.

    Returns
    -------
    is_labeled : [sample] booleans

    Examples
    --------
    >>> int(draw_labeled([0, 0, 0, 0, 1, 1], 0.5, random_state=0).sum())
    3
    """
    check_choice("protocol", protocol, PROTOCOLS)
    if not (isinstance(ratio, (int, float, np.number)) and 0 < ratio <= 1):
        raise InputError(f"ratio must be above 0 and at most 1; got {ratio!r}.")
    values = _label_vector(labels)
    known = np.flatnonzero(is_known(values))
    if len(known) == 0:
        raise InputError("labels must hold at least one known label; got none.")
    rng = as_generator(random_state)
    is_labeled = np.zeros(len(values), dtype=bool)
    if protocol == "random":
        n_drawn = math.floor(ratio * len(known) + ROUNDING_SLACK)
        if n_drawn == 0:
            raise InputError(
                f"ratio must draw at least one sample; got {ratio} of {len(known)} samples, "
                "which the random protocol rounds down to 0. Raise it or use 'stratified'."
            )
        is_labeled[rng.permutation(known)[:n_drawn]] = True
        return is_labeled
    for members in _samples_by_class(values, known):
        n_drawn = max(1, math.floor(ratio * len(members) + 0.5 + ROUNDING_SLACK))
        is_labeled[rng.permutation(members)[:n_drawn]] = True
    return is_labeled


def hide_labels(
    labels: Any,
    keep: float,
    *,
    protocol: str = "stratified",
    random_state: RandomState = None,
) -> np.ndarray:
    """Return a copy of the labels with all but a random fraction hidden.

    Hidden labels are -1 among numbers and None among texts and booleans. `keep` is the `ratio` of
    `draw_labeled`; the other parameters are the same.

    Examples
    --------
    >>> hide_labels([7, 7, 8, 8], keep=0.5, random_state=0)
    array([ 7, -1,  8, -1])
    """
    is_labeled = draw_labeled(labels, keep, protocol=protocol, random_state=random_state)
    return mark_unknown(_label_vector(labels), ~is_labeled)


def _label_vector(labels: Any) -> np.ndarray:
    values = np.asarray(labels)
    if values.ndim != 1:
        raise InputError(f"labels must be 1-D, one per sample; got {values.ndim}-D.")
    return values


def _samples_by_class(values: np.ndarray, known: np.ndarray) -> list[np.ndarray]:
    samples: dict[object, list[int]] = {}
    for sample, label in zip(known.tolist(), values[known].tolist(), strict=True):
        samples.setdefault(label, []).append(sample)
    return [np.array(members) for members in samples.values()]
