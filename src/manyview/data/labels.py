"""Check the labels of a user and encode them as class numbers."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from manyview.data.label_values import is_known
from manyview.errors import DataWarning, InputError, warn_user
from manyview.validation import check_choice

UNKNOWN = -1


def check_labels(labels: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and one class number per sample, -1 where unknown.

    Unknown labels are -1 among numbers, and None, NaN or -1 among objects and texts. At least two
    classes must have a label.

    Examples
    --------
    >>> classes, y_encoded = check_labels(["cat", None, "dog"], 3)
    >>> classes, y_encoded
    (array(['cat', 'dog'], dtype=object), array([ 0, -1,  1]))
    """
    if labels is None:
        raise InputError(
            "labels are missing: fit requires y to be passed, but the target y is None. "
            "Mark unknown samples with -1."
        )
    values = _vector(labels)
    if len(values) != n_samples:
        raise InputError(
            f"labels must hold one label per sample; got {len(values)} labels "
            f"for {n_samples} samples (inconsistent numbers of samples)."
        )
    known = is_known(values)
    if not known.any():
        raise InputError(
            "labels must hold at least one known label of two or more classes; "
            f"all {n_samples} are unknown."
        )
    given = values[known]
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError(
            "labels must be finite; got infinity. Mark unknown samples with -1 or NaN."
        )
    classes, encoded = _classes(given)
    if len(classes) < 2:
        raise InputError(
            f"labels must hold at least two classes; got one class: {classes[0]}. "
            "Mark unknown samples with -1."
        )
    y_encoded = np.full(n_samples, UNKNOWN)
    y_encoded[known] = encoded
    _warn_of_similar_names(classes, np.bincount(encoded))
    return classes, y_encoded


def _warn_of_similar_names(classes: np.ndarray, counts: np.ndarray) -> None:
    """Warn of classes whose names differ only in case or spaces."""
    first: dict[str, int] = {}
    for number, name in enumerate(classes.tolist()):
        key = "".join(str(name).casefold().split())
        other = first.setdefault(key, number)
        if other != number:
            warn_user(
                f"classes {classes[other]!r} (labels: {counts[other]}) and {name!r} "
                f"(labels: {counts[number]}) differ only in case or spaces, and count as two "
                "classes. Write them alike if they are one.",
                DataWarning,
            )


def class_weights(
    class_weight: str | Mapping[Any, float] | None, classes: np.ndarray, y_encoded: np.ndarray
) -> np.ndarray | None:
    """Return the weight of each class, as scikit-learn does; 1 for classes a dict leaves out."""
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        for label in class_weight:
            check_choice("a class in class_weight", label, classes.tolist())
    else:
        check_choice("class_weight", class_weight, ("balanced", None))
    known = classes[y_encoded[y_encoded != UNKNOWN]]
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=known))


def one_hot(y_encoded: np.ndarray, n_classes: int) -> np.ndarray:
    """Encode class numbers as rows with a single 1: [sample, class]; -1 gives zeros.

    Examples
    --------
    >>> one_hot(np.array([1, -1]), n_classes=2)
    array([[0., 1.],
           [0., 0.]])
    """
    return np.asarray(y_encoded[:, None] == np.arange(n_classes), dtype=np.float64)


def class_frequencies(y_encoded: np.ndarray) -> np.ndarray:
    """Return the fraction of each class among the labeled samples.

    Examples
    --------
    >>> class_frequencies(np.array([0, -1, 1, 0, 0]))
    array([0.75, 0.25])
    """
    counts = np.bincount(y_encoded[y_encoded != UNKNOWN])
    return np.asarray(counts / counts.sum())


def _vector(labels: Any) -> np.ndarray:
    values = np.asarray(labels)
    if values.dtype.kind == "U" and not isinstance(labels, np.ndarray):
        values = np.asarray(labels, dtype=object)  # numpy turns None among texts into 'None'
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the "
            "shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(f"labels must be 1-D, one per sample; got shape {values.shape}.")
    return values


def _no_classes(given: np.ndarray, error: ValueError) -> str:
    """Return the message for labels that are no classes, such as fractions."""
    reason = str(error).split("\n")[0].split(". ")[0].rstrip(".")
    return (
        f"labels must be classes: whole numbers, texts or booleans; got {given[0]!r} ({reason}). "
        "Cut a continuous target into classes first."
    )


def _classes(given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if given.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in given})
        if len(kinds) > 1 and "str" in kinds:
            raise InputError(f"labels must be all texts or all numbers; got {' and '.join(kinds)}.")
        if "str" not in kinds:
            given = np.array(given.tolist())
    with warnings.catch_warnings():  # few labels per class are expected here
        warnings.filterwarnings("ignore", message="The number of unique classes", append=False)
        try:
            check_classification_targets(given)
        except ValueError as error:  # scikit-learn's own words, which its tools look for
            raise InputError(_no_classes(given, error)) from error
    classes, y_encoded = np.unique(given, return_inverse=True)
    return classes, y_encoded
