"""Folds of the labeled samples: labels are hidden in turn, and no class loses its last one."""

import numpy as np

N_FOLDS = 3
NEVER_HIDDEN = -1
ENOUGH_LABELS = 500  # hidden labels that are enough; more folds would cost more than they bring


def held_out_parts(y_encoded: np.ndarray, n_parts: int, rng: np.random.Generator) -> np.ndarray:
    """Split the labeled samples of every class into parts: [sample], -1 for those never hidden.

    Without any one part every class still has a label: the only label of a class stays.

    Shapes
    ------
    y_encoded : [sample], class numbers, -1 where unknown

    Examples
    --------
    >>> parts = held_out_parts(np.array([0, 0, 1, -1, 0]), 3, np.random.default_rng(0))
    >>> sorted(parts[[0, 1, 4]].tolist()), parts[[2, 3]].tolist()
    ([0, 1, 2], [-1, -1])
    """
    parts = np.full(len(y_encoded), NEVER_HIDDEN)
    first = 0
    for number in np.unique(y_encoded[y_encoded >= 0]):
        members = rng.permutation(np.flatnonzero(y_encoded == number))
        if len(members) > 1:
            parts[members] = (first + np.arange(len(members))) % n_parts
            first += len(members)
    return parts


def draw_folds(y_encoded: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw three folds, and keep as many as it takes to hide enough labels: [sample].

    Few labels are all hidden once, in three folds; of many, one fold is enough.

    Examples
    --------
    >>> many, few = (np.arange(n) % 2 for n in (3000, 30))
    >>> [np.unique(draw_folds(y, np.random.default_rng(0))).tolist() for y in (many, few)]
    [[-1, 0], [0, 1, 2]]
    """
    parts = held_out_parts(y_encoded, N_FOLDS, rng)
    n_hidden = np.cumsum(np.bincount(parts[parts >= 0], minlength=N_FOLDS))
    n_folds = min(int(np.searchsorted(n_hidden, ENOUGH_LABELS)) + 1, N_FOLDS)
    return np.where(parts < n_folds, parts, NEVER_HIDDEN)
