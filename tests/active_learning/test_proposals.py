"""Proposals: the greedy choice against a literal loop, and refused calls."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manyview.active_learning.proposals import (
    cover,
    margin_uncertainty,
    propose_labels,
    similarity,
)
from manyview.baselines.knn import KNNClassifier
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier


@pytest.fixture
def model(tiny_views):
    return MGCNDNSClassifier(random_state=0, max_epochs=5).fit(
        tiny_views.views, tiny_views.known_labels
    )


def cover_slowly(similar, uncertainty, is_labeled, n):
    """Evaluate the covered uncertainty of every set from its definition."""

    def covered(rows):
        return sum(
            uncertainty[j] * max([similar[i, j] for i in rows], default=0.0)
            for j in range(len(uncertainty))
        )

    taken = []
    for _ in range(n):
        held = [*np.flatnonzero(is_labeled), *taken]
        free = [i for i in range(len(uncertainty)) if i not in held]
        gains = {i: round(covered([*held, i]) - covered(held), 12) for i in free}
        taken.append(max(free, key=lambda i: (gains[i], uncertainty[i], -i)))
    return taken


@pytest.mark.parametrize("n_labeled", [0, 3])
def test_cover_is_the_greedy_choice_of_its_definition(rng, n_labeled):
    graph = sparse.random_array((15, 15), density=0.2, rng=rng)
    similar = similarity(sparse.csr_array(graph + graph.T + sparse.eye_array(15)))
    uncertainty = rng.random(15)
    is_labeled = np.arange(15) < n_labeled
    found = cover(similar, uncertainty, is_labeled, 6)
    assert found.tolist() == cover_slowly(similar.toarray(), uncertainty, is_labeled, 6)


def test_similarity_is_the_cosine_of_rows(rng):
    graph = rng.random((6, 6)) * (rng.random((6, 6)) < 0.5)
    graph[2] = 0
    lengths = np.linalg.norm(graph, axis=1)
    found = similarity(sparse.csr_array(graph)).toarray()
    for i in range(6):
        for j in range(6):
            whole = lengths[i] * lengths[j]
            wanted = graph[i] @ graph[j] / whole if whole else 0.0
            assert found[i, j] == pytest.approx(wanted)


def test_one_of_each_group_is_taken_before_a_second_of_any():
    graph = sparse.csr_array(np.kron(np.eye(4), np.ones((5, 5))))
    taken = cover(similarity(graph), np.linspace(0.5, 1, 20), np.arange(20) == 0, 3)
    assert sorted(taken // 5) == [1, 2, 3]


def test_uncertainty_is_largest_between_equal_classes():
    assert margin_uncertainty(
        np.array([[1.0, 0, 0], [0.4, 0.4, 0.2], [0.6, 0.3, 0.1]])
    ).tolist() == (pytest.approx([0.0, 1.0, 0.7]))


@pytest.mark.parametrize("strategy", ["coverage", "uncertainty"])
def test_proposals_are_unlabeled_and_different(model, tiny_views, strategy):
    rows = propose_labels(model, 48, strategy=strategy)
    np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(tiny_views.known_labels < 0))
    np.testing.assert_array_equal(propose_labels(model, 7, strategy=strategy), rows[:7])


def test_uncertainty_strategy_takes_the_most_uncertain_first(model):
    uncertainty = margin_uncertainty(model.label_distributions_)[
        propose_labels(model, 20, strategy="uncertainty")
    ]
    assert (np.diff(uncertainty) <= 0).all()


def test_calls_that_break_a_rule_are_refused(model, tiny_views):
    with pytest.raises(InputError, match="at most the number of unlabeled samples, 48; got 49"):
        propose_labels(model, 49)
    with pytest.raises(InputError, match="n must be a whole number of at least 1"):
        propose_labels(model, 0)
    with pytest.raises(InputError, match="Did you mean 'coverage'"):
        propose_labels(model, 1, strategy="covrage")
    with pytest.raises(NotFittedError):
        propose_labels(MGCNDNSClassifier(), 1)
    plain = KNNClassifier().fit(tiny_views.views, tiny_views.known_labels)
    with pytest.raises(InputError, match=r"needs a fused graph.*strategy='uncertainty'"):
        propose_labels(plain, 1)
    assert len(propose_labels(plain, 3, strategy="uncertainty")) == 3
