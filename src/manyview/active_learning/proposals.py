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
    coverage = Coverage(similarity, is_labeled)
    choice = CoverageChoice(coverage, uncertainty)
    return np.array([choice.take() for _ in range(n)])


class Coverage:
    """How well each sample is covered by labeled and chosen ones.

    Shapes
    ------
    similarity : [sample, sample], symmetric
    is_labeled, is_excluded : [sample]; excluded samples cover nothing and are not chosen
    """

    def __init__(
        self,
        similarity: sparse.csr_array,
        is_labeled: np.ndarray,
        is_excluded: np.ndarray | None = None,
    ) -> None:
        self.similarity = similarity
        n_samples, columns = len(is_labeled), similarity.indices
        self.rows = np.repeat(np.arange(n_samples), np.diff(similarity.indptr))
        self.covered = np.zeros(n_samples)  # similarity to the most similar labeled or chosen one
        by_labeled = is_labeled[self.rows]
        np.maximum.at(self.covered, columns[by_labeled], similarity.data[by_labeled])
        self.is_taken = is_labeled if is_excluded is None else is_labeled | is_excluded
        self.is_taken = self.is_taken.copy()
        self.n_taken = 0

    def add(self, row: int) -> None:
        """Choose a sample."""
        self.is_taken[row] = True
        self.n_taken += 1
        near, values = self.of(row)
        self.covered[near] = np.maximum(self.covered[near], values)

    def of(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples that are similar to one, and how much."""
        entries = slice(self.similarity.indptr[row], self.similarity.indptr[row + 1])
        return self.similarity.indices[entries], self.similarity.data[entries]


class CoverageChoice:
    """Chooses samples by their gain in weighted coverage; several may share one `Coverage`.

    A gain never grows while samples are chosen, so only gains that could be the largest are
    computed again.

    Shapes
    ------
    weights : [sample], >= 0
    """

    def __init__(self, coverage: Coverage, weights: np.ndarray) -> None:
        self.coverage, self.weights = coverage, weights
        similarity = coverage.similarity
        new = np.maximum(similarity.data - coverage.covered[similarity.indices], 0)
        new *= weights[similarity.indices]
        self.gains = np.bincount(coverage.rows, weights=new, minlength=len(weights))
        self._computed_at = np.full(len(weights), coverage.n_taken)

    def take(self) -> int:
        """Choose the sample with the largest gain; of equal ones the one of most weight."""
        coverage = self.coverage
        self.gains[coverage.is_taken] = -np.inf
        while True:
            best = np.flatnonzero(self.gains >= self.gains.max() * (1 - 1e-12))
            stale = best[self._computed_at[best] < coverage.n_taken]
            for row in stale.tolist():
                near, values = coverage.of(row)
                gain = np.maximum(values - coverage.covered[near], 0) @ self.weights[near]
                self.gains[row], self._computed_at[row] = gain, coverage.n_taken
            if not len(stale):
                break
        row = int(best[np.argmax(self.weights[best])])
        coverage.add(row)
        return row
