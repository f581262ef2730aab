"""Proposals: the greedy choice against a literal loop, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manyview.active_learning.proposals import cover, doubt, likeness, propose_labels
from manyview.baselines.knn import KNNClassifier
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier


@pytest.fixture
def model(tiny_views):
    return MGCNDNSClassifier(random_state=0, max_epochs=5).fit(
        tiny_views.views, tiny_views.known_labels
    )


def cover_slowly(alike, doubts, is_labeled, n):
    """Evaluate the covered doubt of every set from its definition."""

    def covered_doubt(rows):
        return sum(
            doubts[j] * max([alike[i, j] for i in rows], default=0.0) for j in range(len(doubts))
        )

    taken = []
    for _ in range(n):
        held = [*np.flatnonzero(is_labeled), *taken]
        free = [i for i in range(len(doubts)) if i not in held]
        gains = {i: round(covered_doubt([*held, i]) - covered_doubt(held), 12) for i in free}
        taken.append(max(free, key=lambda i: (gains[i], doubts[i], -i)))
    return taken


@pytest.mark.parametrize("n_labeled", [0, 3])
def test_cover_is_the_greedy_choice_of_its_definition(rng, n_labeled):
    graph = sparse.random_array((15, 15), density=0.2, rng=rng)
    alike = likeness(sparse.csr_array(graph + graph.T + sparse.eye_array(15)))
    doubts = rng.random(15)
    is_labeled = np.arange(15) < n_labeled
    found = cover(alike, doubts, is_labeled, 6)
    assert found.tolist() == cover_slowly(alike.toarray(), doubts, is_labeled, 6)


def test_likeness_is_the_cosine_of_rows(rng):
    graph = rng.random((6, 6)) * (rng.random((6, 6)) < 0.5)
    graph[2] = 0
    lengths = np.linalg.norm(graph, axis=1)
    found = likeness(sparse.csr_array(graph)).toarray()
    for i in range(6):
        for j in range(6):
            whole = lengths[i] * lengths[j]
            wanted = graph[i] @ graph[j] / whole if whole else 0.0
            assert found[i, j] == pytest.approx(wanted)


def test_one_of_each_group_is_taken_before_a_second_of_any():
    graph = sparse.csr_array(np.kron(np.eye(4), np.ones((5, 5))))
    taken = cover(likeness(graph), np.linspace(0.5, 1, 20), np.arange(20) == 0, 3)
    assert sorted(taken // 5) == [1, 2, 3]


def test_doubt_is_largest_between_equal_classes():
    assert doubt(np.array([[1.0, 0, 0], [0.4, 0.4, 0.2], [0.6, 0.3, 0.1]])).tolist() == (
        pytest.approx([0.0, 1.0, 0.7])
    )


@pytest.mark.parametrize("strategy", ["coverage", "uncertainty"])
def test_proposals_are_unlabeled_and_different(model, tiny_views, strategy):
    rows = propose_labels(model, 48, strategy=strategy)
    np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(tiny_views.known_labels < 0))
    np.testing.assert_array_equal(propose_labels(model, 7, strategy=strategy), rows[:7])


def test_uncertainty_goes_by_doubt(model):
    doubts = doubt(model.label_distributions_)[propose_labels(model, 20, strategy="uncertainty")]
    assert (np.diff(doubts) <= 0).all()


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


def test_model_that_does_not_know_its_labels_is_refused(model):
    del model.y_
    with pytest.raises(InputError, match="Fit it again"):
        propose_labels(model, 1)
