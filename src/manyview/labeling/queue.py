"""The queue: which sample to show next.

Before any class is known, samples are chosen that cover the graph. After a fit, two kinds take
turns, so that no two chosen samples are alike:

uncertain    uncertain samples that are similar to other uncertain samples
new          samples unlike anything labeled, which may belong to a class that has no label yet

The more classes have a single label, the likelier another has none, and the more often new samples
are shown.

A person makes mistakes, and where labels are few, one of them misleads the model in a whole region.
So labels that the others contradict are asked again: every fifth sample at first, and less often
the more of them the person has confirmed.

again        a given label to confirm or to change
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.active_learning.proposals import (
    Coverage,
    CoverageChoice,
    margin_uncertainty,
    similarity,
)

QUEUE_LENGTH = 40
REASONS = ("covers", "uncertain", "new", "again")
COVERS, UNCERTAIN, NEW, AGAIN = range(4)
NEW_OFTEN, NEW_SELDOM = 1 / 4, 1 / 16  # fraction of answers that look for new classes
NEW_PER_SINGLE = 2.0  # this fraction, relative to that of labels that are alone in their class
AGAIN_EVERY = 5  # answers; at most one in five is about a labeled sample
AGAIN_POWER = 2.0  # how fast this falls where such labels turn out right
MAX_TWO_HOP = 60_000  # samples; beyond, two hops of the graph take too much memory


@dataclass(frozen=True)
class Queue:
    """Samples to show, in order.

    Attributes
    ----------
    rows, reasons
        [place] the samples, and why each was chosen: numbers of `REASONS`.
    gains
        [sample] the coverage of uncertainty that each sample alone would gain, for a queue of one
        class or region.
    """

    rows: np.ndarray
    reasons: np.ndarray
    gains: np.ndarray


def sample_similarity(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the similarity of samples by their neighbors in a graph, in [0, 1].

    That of `propose_labels`; of very many samples, only neighbors count as similar.
    """
    if graph.shape[0] <= MAX_TWO_HOP:
        return similarity(graph)
    largest = np.maximum(np.asarray(graph.max(axis=1).todense()).ravel(), 1e-12)
    scaled = sparse.csr_array(sparse.diags_array(1 / largest) @ graph)
    return sparse.csr_array(scaled.maximum(scaled.T) + sparse.eye_array(graph.shape[0]))


def make_queue(
    similarity: sparse.csr_array,
    probabilities: np.ndarray | None,
    is_labeled: np.ndarray,
    is_skipped: np.ndarray,
    n: int = QUEUE_LENGTH,
    *,
    new_fraction: float = NEW_OFTEN,
    again: Sequence[int] = (),
    again_every: int = AGAIN_EVERY,
    n_answers: int = 0,
) -> Queue:
    """Choose the next `n` samples, or all that are left.

    Of all answers, the `n_answers` before included, about the fraction `new_fraction` looks for new
    classes, and at most one in `again_every` is about a labeled row in `again`, in this order.

    Shapes
    ------
    similarity : [sample, sample]
    probabilities : [sample, class]; None before the first fit
    is_labeled, is_skipped : [sample]
    """
    coverage = Coverage(similarity, is_labeled, is_skipped)
    n = min(n, int((~coverage.is_taken).sum()))
    everywhere = CoverageChoice(coverage, np.ones(len(is_labeled)))
    if probabilities is None:
        gains = everywhere.gains.copy()
        rows = [everywhere.take() for _ in range(n)]
        return Queue(np.array(rows, dtype=np.int64), np.full(n, COVERS), gains)
    uncertain = CoverageChoice(coverage, margin_uncertainty(probabilities))
    gains = uncertain.gains.copy()
    new_every = round(1 / new_fraction)
    is_new = (np.arange(n) + n_answers) % new_every == new_every - 1
    reasons = np.where(is_new, NEW, UNCERTAIN)
    rows = [(everywhere if reason == NEW else uncertain).take() for reason in reasons]
    first = (again_every - 1 - n_answers) % again_every  # place of the next such answer
    places = [min(first + i * (again_every - 1), n) for i in range(len(again))]
    return Queue(
        np.insert(np.array(rows, dtype=np.int64), places, again),
        np.insert(reasons, places, AGAIN),
        gains,
    )


def fraction_new(class_sizes: Sequence[int] | np.ndarray) -> float:
    """Return which fraction of samples should look for new classes, by the labels per class.

    The probability that a random sample is of a class without a label is about the fraction of
    labels that are alone in their class (Good, Turing).

    Examples
    --------
    >>> fraction_new([1, 1, 3]), fraction_new([1, 20, 19]), fraction_new([20, 20])
    (0.25, 0.0625, 0.0625)
    """
    sizes = np.asarray(class_sizes)
    single = float((sizes == 1).sum() / max(sizes.sum(), 1))
    return float(np.clip(NEW_PER_SINGLE * single, NEW_SELDOM, NEW_OFTEN))


def spacing_again(n_checked: int, n_changed: int) -> int:
    """Return after how many answers a contradicted label is asked again.

    Where a person has confirmed most of the labels that were asked again, the model errs.

    Examples
    --------
    >>> spacing_again(0, 0), spacing_again(2, 0), spacing_again(2, 2)
    (5, 20, 5)
    """
    wrong = (n_changed + 1) / (n_checked + 2)
    return round(AGAIN_EVERY * float(max(0.5 / wrong, 1.0) ** AGAIN_POWER))


def rows_of_class(
    probabilities: np.ndarray, number: int, gains: np.ndarray, is_open: np.ndarray
) -> np.ndarray:
    """Return the open samples that may belong to a class, most useful first."""
    rows = np.flatnonzero(is_open)
    own = probabilities[rows, number]
    is_likely = probabilities[rows].argmax(axis=1) == number
    order = np.lexsort((-own, -gains[rows], ~is_likely))
    return np.asarray(rows[order])


def sure_rows(
    probabilities: np.ndarray,
    places: np.ndarray,
    number: int,
    is_open: np.ndarray,
    *,
    n: int,
    at_least: float = 0.9,
) -> np.ndarray:
    """Return open samples that surely belong to a class, outliers first, to confirm at a glance.

    An outlier is far from the median of its class on the map.

    Shapes
    ------
    probabilities : [sample, class]
    places : [sample, 2]
    """
    own = probabilities[:, number]
    rows = np.flatnonzero(is_open & (own >= at_least) & (probabilities.argmax(axis=1) == number))
    if not len(rows):
        return rows
    rows = rows[np.argsort(-own[rows], kind="stable")[:n]]
    distances = np.linalg.norm(places[rows] - np.median(places[rows], axis=0), axis=1)
    return np.asarray(rows[np.argsort(-distances, kind="stable")])
