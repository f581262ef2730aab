"""Proposals: which samples to label next, so that one label tells most.

A sample is worth its label where the model is in doubt, and where others like it are in doubt
too. Two samples are alike as far as they share neighbors in the fused graph. So the doubt of
every sample counts as far as no labeled sample is like it, and samples are taken one by one,
each the one that takes away most of what is left (facility location, which a greedy choice
solves to 63 % at least). Samples that are alike are never taken together.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.errors import InputError
from manyview.validation import check_choice, check_whole_number

STRATEGIES = ("coverage", "uncertainty")


def propose_labels(
    model: MultiViewClassifier, n: int = 10, *, strategy: str = "coverage"
) -> np.ndarray:
    """Return the rows of the `n` unlabeled samples to label next, the most useful first.

    Parameters
    ----------
    model
        A fitted classifier.
    n
        How many samples.
    strategy
        "coverage" weighs doubt and likeness, for methods with a fused graph; "uncertainty"
        takes the samples of most doubt, for all methods.

    Examples
    --------
    >>> from manyview.estimators.mgcn_dns import MGCNDNSClassifier
    >>> views = np.random.default_rng(0).normal(size=(30, 4))
    >>> labels = np.where(np.arange(30) < 6, np.arange(30) % 2, -1)
    >>> model = MGCNDNSClassifier(random_state=0, max_epochs=5).fit(views, labels)
    >>> len(propose_labels(model, 3))
    3
    """
    check_is_fitted(model)
    check_choice("strategy", strategy, STRATEGIES)
    check_whole_number("n", n, at_least=1)
    if model.y_ is None:
        raise InputError(
            "the model must know which of its samples are labeled, and this one was saved before "
            "that was kept. Fit it again."
        )
    is_labeled = model.is_labeled_
    n_open = int((~is_labeled).sum())
    if n > n_open:
        raise InputError(f"n must be at most the number of unlabeled samples, {n_open}; got {n}.")
    doubts = doubt(model.label_distributions_)
    if strategy == "uncertainty":
        rows = np.flatnonzero(~is_labeled)
        return np.asarray(rows[np.argsort(-doubts[rows], kind="stable")[:n]])
    graph: Any = getattr(model, "fused_graph_", None)
    if graph is None:
        raise InputError(
            f"strategy 'coverage' needs a fused graph, and {model.card.title} has none. Use "
            "strategy='uncertainty', or mgcn-dns."
        )
    return cover(likeness(graph), doubts, is_labeled, n)


def doubt(probabilities: np.ndarray) -> np.ndarray:
    """Return 1 minus the lead of the likeliest class over the second: [sample], from 0 to 1.

    Examples
    --------
    >>> doubt(np.array([[0.75, 0.25], [0.5, 0.5]]))
    array([0.5, 1. ])
    """
    largest = np.sort(probabilities, axis=1)[:, -2:]
    return np.asarray(1 - (largest[:, 1] - largest[:, 0]))


def likeness(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the cosine of the rows of a graph, in [0, 1]: 1 for a sample with itself.

    Shapes
    ------
    graph : [sample, sample], >= 0
    returns : [sample, sample], symmetric, nonzero where two samples share a neighbor
    """
    lengths = np.sqrt(np.asarray(graph.multiply(graph).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    rows = sparse.csr_array(sparse.diags_array(inverse) @ graph)
    return sparse.csr_array(rows @ rows.T)


def cover(
    likeness: sparse.csr_array, doubts: np.ndarray, is_labeled: np.ndarray, n: int
) -> np.ndarray:
    """Take the `n` samples that cover most doubt, one by one.

        gain of i = sum over j of doubt_j * max(0, likeness_ij - cover_j)

    where cover_j is the likeness of j to its most alike labeled or taken sample. Among equal
    gains the larger doubt goes first, then the lower row.

    Shapes
    ------
    likeness : [sample, sample]
    doubts : [sample], >= 0
    is_labeled : [sample]
    returns : [n] rows
    """
    covered = np.zeros(len(doubts))
    rows = np.repeat(np.arange(len(doubts)), np.diff(likeness.indptr))
    by_labeled = is_labeled[rows]
    np.maximum.at(covered, likeness.indices[by_labeled], likeness.data[by_labeled])
    is_taken = is_labeled.copy()
    taken = []
    for _ in range(n):
        new = np.maximum(likeness.data - covered[likeness.indices], 0) * doubts[likeness.indices]
        gains = np.bincount(rows, weights=new, minlength=len(doubts))
        gains[is_taken] = -np.inf
        best = np.flatnonzero(gains >= gains.max() * (1 - 1e-12))
        chosen = int(best[np.argmax(doubts[best])])
        taken.append(chosen)
        is_taken[chosen] = True
        alike = slice(likeness.indptr[chosen], likeness.indptr[chosen + 1])
        near = likeness.indices[alike]
        covered[near] = np.maximum(covered[near], likeness.data[alike])
    return np.array(taken)
