"""Propose samples to label next: uncertain ones that are similar to other uncertain samples.

Two samples are similar if they have neighbors in common in the fused graph. A sample is covered by
its most similar labeled or chosen sample. Samples are chosen one by one, each with the largest
gain in covered uncertainty (facility location; a greedy choice reaches at least 63% of the
optimum), so that no two chosen samples are alike.
"""

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
    """Return the rows of the `n` unlabeled samples to label next, most useful first.

    Parameters
    ----------
    model
        A fitted classifier.
    n
        Number of samples.
    strategy
        "coverage" prefers uncertain samples that are similar to many others, for methods with a
        fused graph; "uncertainty" takes the most uncertain samples, for all methods.

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
    is_labeled = model.is_labeled_
    n_unlabeled = int((~is_labeled).sum())
    if n > n_unlabeled:
        raise InputError(
            f"n must be at most the number of unlabeled samples, {n_unlabeled:,}; got {n}.",
            parameter="n",
        )
    uncertainty = margin_uncertainty(model.label_distributions_)
    if strategy == "uncertainty":
        rows = np.flatnonzero(~is_labeled)
        return np.asarray(rows[np.argsort(-uncertainty[rows], kind="stable")[:n]])
    graphs = model.fit_summary().graphs
    if "fused" not in graphs:
        raise InputError(
            f"strategy 'coverage' needs a fused graph, and {model.card.title} has none. Use "
            "strategy='uncertainty', or the methods manyview and mgcn-dns.",
            parameter="strategy",
        )
    return cover(similarity(graphs["fused"]), uncertainty, is_labeled, n)


def margin_uncertainty(probabilities: np.ndarray) -> np.ndarray:
    """Return 1 - (largest probability - second largest): [sample], from 0 to 1.

    Examples
    --------
    >>> margin_uncertainty(np.array([[0.75, 0.25], [0.5, 0.5]]))
    array([0.5, 1. ])
    """
    largest = np.sort(probabilities, axis=1)[:, -2:]
    return np.asarray(1 - (largest[:, 1] - largest[:, 0]))


def similarity(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the cosine similarity of the rows of a graph, in [0, 1].

    Shapes
    ------
    graph : [sample, sample], >= 0
    returns : [sample, sample], symmetric, nonzero where two samples have a common neighbor
    """
    lengths = np.sqrt(np.asarray(graph.multiply(graph).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    rows = sparse.csr_array(sparse.diags_array(inverse) @ graph)
    return sparse.csr_array(rows @ rows.T)


def cover(
    similarity: sparse.csr_array, uncertainty: np.ndarray, is_labeled: np.ndarray, n: int
) -> np.ndarray:
    """Choose the `n` samples that cover most uncertainty, one by one.

        gain of i = sum over j of uncertainty_j * max(0, similarity_ij - covered_j)

    where covered_j is the similarity of j to its most similar labeled or chosen sample. Among equal
    gains the more uncertain sample comes first, then the lower row.

    Shapes
    ------
    similarity : [sample, sample]
    uncertainty : [sample], >= 0
    is_labeled : [sample]
    returns : [n] rows
    """
    n_samples, columns = len(uncertainty), similarity.indices
    covered = np.zeros(n_samples)
    rows = np.repeat(np.arange(n_samples), np.diff(similarity.indptr))
    by_labeled = is_labeled[rows]
    np.maximum.at(covered, columns[by_labeled], similarity.data[by_labeled])
    is_taken = is_labeled.copy()
    chosen = []
    for _ in range(n):
        new = np.maximum(similarity.data - covered[columns], 0) * uncertainty[columns]
        gains = np.bincount(rows, weights=new, minlength=n_samples)
        gains[is_taken] = -np.inf
        best = np.flatnonzero(gains >= gains.max() * (1 - 1e-12))
        row = int(best[np.argmax(uncertainty[best])])
        chosen.append(row)
        is_taken[row] = True
        entries = slice(similarity.indptr[row], similarity.indptr[row + 1])
        near = columns[entries]
        covered[near] = np.maximum(covered[near], similarity.data[entries])
    return np.array(chosen)
