"""Lessons: what the answers of one network teach the next. An extension of the paper.

With few labels most edges are far from any of them: the network learns little there, its
classes come out of the wrong size, and a view of noise counts as much as a good one. But its
answers, once cleaned, are signals for every sample, every edge and every view:

probabilities -> align_shares -> view_agreement -> smooth -> Lesson

A lesson gives each unlabeled sample a distribution over the classes and a weight, and each graph
a share to start with. The next network learns from it beside the labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

# Labels that the answers' own class shares count for. As many labels and their shares weigh alike.
ANSWERS_COUNT_FOR = 20.0
UNLIKELY = 0.1  # p value below which labels are no sample of the classes
NEIGHBORS_SHARE = 0.5  # of what a sample's neighbours say in its cleaned answer, in each step
SHARPNESS = 3.0  # power of the probabilities that are taught
TRUST = 2.0  # power of the probability of an answer that is its weight
# What the logits of a network that learned sharpened answers are divided by: it is too sure, and
# half of the power, as factors go, is taken back.
TAUGHT_TEMPERATURE = SHARPNESS**0.5
# Agreement in the graphs that answers may lose when classes are weighed; labels that are no fair
# sample of the classes cost more.
DISAGREEMENT = 0.01
ROUNDING = 1e-9
LEAST_AGREEMENT = 1e-3  # of a view, so that the next network can still find it useful


@dataclass(frozen=True)
class Lesson:
    """What the next network is to learn beside the labels.

    Attributes
    ----------
    targets
        [sample, class] probabilities to come close to.
    weights
        [sample] how much each counts; 0 for labeled samples.
    graph_shares
        [graph] what a fusion starts with, the joint graph last where there is one; sums to 1.
    agreement
        [view] how far neighbours in each view have one answer: 1 always, 0 as by chance.
    """

    targets: np.ndarray
    weights: np.ndarray
    graph_shares: np.ndarray
    agreement: np.ndarray

    def shares_of(self, n_graphs: int) -> np.ndarray:
        """Return what a fusion of so many graphs, the first ones, starts with; sums to 1."""
        first = self.graph_shares[:n_graphs]
        return np.asarray(first / first.sum())


def prepare_lesson(
    probabilities: np.ndarray,
    codes: np.ndarray,
    view_graphs: Sequence[sparse.csr_array],
    class_weight: np.ndarray | None = None,
    *,
    joint_graph: sparse.csr_array | None = None,
    class_shares: str = "labels",
) -> Lesson:
    """Clean a network's answers into a lesson for the next.

    `class_shares` says whether the labels tell the size of the classes, or the answers alone. Even
    so labels are not believed where neighbours would then agree less on the likeliest class.

    Shapes
    ------
    probabilities : [sample, class]
    codes : [sample], class numbers, -1 where unknown
    view_graphs, joint_graph : [sample, sample] each, symmetric
    class_weight : [class]
    """
    together = [] if joint_graph is None else [joint_graph]
    graphs = [without_loops(graph) for graph in (*view_graphs, *together)]
    answers = probabilities.astype(np.float64)
    if class_shares == "labels":
        aligned = align_shares(probabilities, expected_shares(probabilities, codes))
        if graph_agreement(graphs, answers) - graph_agreement(graphs, aligned) <= DISAGREEMENT:
            answers = aligned
    agreement = np.array([view_agreement(graph, answers) for graph in graphs])
    shares = np.maximum(agreement, LEAST_AGREEMENT)
    shares /= shares.sum()
    answers = smooth(answers, codes, graphs, shares)
    weights = np.where(codes >= 0, 0.0, answers.max(axis=1) ** TRUST)
    targets = _rows_to_one(answers**SHARPNESS)
    if class_weight is not None:
        weights = weights * (targets @ class_weight)
    return Lesson(
        targets.astype(np.float32),
        weights.astype(np.float32),
        shares,
        agreement[: len(view_graphs)],
    )


def expected_shares(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Estimate the classes' shares of all samples from the labels and the answers: [class].

        n_c + 20 mean_i p_ic,   divided by the sum over the classes

    Few labels say little about shares, many nearly all, if they are drawn from the samples at
    random, or class by class in proportion. Labels that are hardly such a sample, say ten of every
    class where the answers find classes of very different size (chi-squared test, p below 0.1),
    say nothing about shares.

    Examples
    --------
    >>> even = np.full((100, 2), 0.5)
    >>> codes = np.r_[np.zeros(12, dtype=int), np.ones(9, dtype=int), np.full(79, -1)]
    >>> expected_shares(even, codes)
    array([0.53658537, 0.46341463])
    >>> uneven = np.tile([0.9, 0.1], (100, 1))
    >>> expected_shares(uneven, codes)
    array([0.9, 0.1])
    """
    counts = np.bincount(codes[codes >= 0], minlength=probabilities.shape[1])
    own = np.maximum(probabilities.mean(axis=0, dtype=np.float64), np.finfo(np.float32).tiny)
    own /= own.sum()
    if stats.chisquare(counts, counts.sum() * own).pvalue < UNLIKELY:
        return np.asarray(own)
    expected = counts + ANSWERS_COUNT_FOR * own
    return np.asarray(expected / expected.sum())


def align_shares(
    probabilities: np.ndarray, shares: np.ndarray, *, tol: float = 1e-4, max_steps: int = 100
) -> np.ndarray:
    """Weigh the classes so that their mean probabilities are the shares wanted.

        p_ic <- w_c p_ic / sum_k w_k p_ik     with w such that  mean_i p_ic = share_c

    Shapes
    ------
    probabilities : [sample, class]
    shares : [class], above 0, sum to 1
    returns : [sample, class], rows sum to 1

    Examples
    --------
    >>> align_shares(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0.5, 0.5])).round(2)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """
    given = np.maximum(probabilities.astype(np.float64), np.finfo(np.float32).tiny)
    weights = np.ones(len(shares))
    aligned = _rows_to_one(given)
    for _ in range(max_steps):
        means = aligned.mean(axis=0)
        if np.abs(means - shares).max() <= tol * shares.min():
            break
        weights *= (shares / means) ** 0.7  # the whole step may overshoot where rows are certain
        aligned = _rows_to_one(given * weights)
    return aligned


def view_agreement(graph: sparse.csr_array, probabilities: np.ndarray) -> float:
    """Say how far neighbours have one answer: 1 always, 0 as often as by chance.

        (e - a) / (1 - a)
        e = sum_ij A_ij p_i . p_j / sum_ij A_ij,   a = |sum_i d_i p_i / sum_i d_i|^2

    This is Newman's coefficient of assortativity (Mixing patterns in networks, 2003) of answers
    that are probabilities. A view of noise links samples regardless of their class and has
    about 0, whatever the labels. A graph without edges has 0.

    Shapes
    ------
    graph : [sample, sample], no self-loops
    probabilities : [sample, class]

    Examples
    --------
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> view_agreement(pairs, np.repeat(np.eye(2), 2, axis=0))
    1.0
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    if total <= 0:
        return 0.0
    meeting = float(np.sum(probabilities * (graph @ probabilities)) / total)
    chance = float(np.sum((degrees @ probabilities / total) ** 2))
    if chance >= 1 - ROUNDING:  # all answers are one
        return 0.0
    return max((meeting - chance) / (1 - chance), 0.0)


def graph_agreement(graphs: Sequence[sparse.csr_array], probabilities: np.ndarray) -> float:
    """Say how far neighbours have one likeliest class, as a mean over the graphs.

    Shapes
    ------
    graphs : [sample, sample] each, no self-loops
    probabilities : [sample, class]
    """
    answers = np.eye(probabilities.shape[1])[probabilities.argmax(axis=1)]
    return float(np.mean([view_agreement(graph, answers) for graph in graphs]))


def smooth(
    probabilities: np.ndarray,
    codes: np.ndarray,
    graphs: Sequence[sparse.csr_array],
    view_shares: np.ndarray,
    *,
    n_steps: int = 10,
) -> np.ndarray:
    """Let every answer hear its neighbours', and those theirs, the labels being certain.

        F <- 1/2 D^-1 A F + 1/2 P,   A = sum_v share_v A_v

    Shapes
    ------
    probabilities : [sample, class]
    codes : [sample], class numbers, -1 where unknown
    graphs : [sample, sample] each, no self-loops
    view_shares : [view]
    returns : [sample, class], rows sum to 1
    """
    own = probabilities.astype(np.float64)
    labeled = np.flatnonzero(codes >= 0)
    own[labeled] = np.eye(own.shape[1])[codes[labeled]]
    weighed = list(zip(graphs, view_shares.tolist(), strict=True))
    degrees = sum(share * np.asarray(graph.sum(axis=1)).ravel() for graph, share in weighed)
    is_alone = np.asarray(degrees) <= 0
    inverse = 1.0 / np.where(is_alone, 1.0, degrees)
    smoothed = own
    for _ in range(n_steps):
        heard = np.zeros_like(own)
        for graph, share in weighed:
            heard += share * (graph @ smoothed)
        heard *= inverse[:, None]
        heard[is_alone] = own[is_alone]
        smoothed = NEIGHBORS_SHARE * heard + (1 - NEIGHBORS_SHARE) * own
    return _rows_to_one(smoothed)


def without_loops(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the graph without its self-loops."""
    off = sparse.csr_array(graph - sparse.diags_array(graph.diagonal()))
    off.eliminate_zeros()
    return off


def _rows_to_one(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=1, keepdims=True))
