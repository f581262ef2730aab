"""The queue: covers the graph, asks where it is uncertain, and finds new classes."""

import numpy as np
import pytest
from scipy import sparse

from manyview.active_learning.proposals import cover
from manyview.labeling.queue import (
    AGAIN,
    AGAIN_EVERY,
    NEW,
    REASONS,
    UNCERTAIN,
    fraction_new,
    make_queue,
    rows_of_class,
    sample_similarity,
    spacing_again,
    sure_rows,
)


def planted(n_groups=5, size=8):
    """Return the graph of groups whose members are all neighbors."""
    blocks = [np.ones((size, size))] * n_groups
    return sparse.csr_array(sparse.block_diag(blocks))


@pytest.fixture
def nobody():
    return np.zeros(40, dtype=bool)


def test_first_samples_cover_all_groups(nobody):
    queue = make_queue(sample_similarity(planted()), None, nobody, nobody, 5)
    assert sorted(queue.rows // 8) == [0, 1, 2, 3, 4]


def test_skipped_and_labeled_samples_are_not_shown_again(nobody):
    is_labeled, is_skipped = nobody.copy(), nobody.copy()
    is_labeled[:8], is_skipped[8:12] = True, True
    queue = make_queue(sample_similarity(planted()), None, is_labeled, is_skipped, 100)
    assert sorted(queue.rows) == list(range(12, 40))
    assert queue.rows[0] // 8 != 0


def test_uncertain_groups_come_first_and_no_two_alike(nobody):
    probabilities = np.tile([1.0, 0.0], (40, 1))
    probabilities[16:24] = [0.5, 0.5]
    probabilities[24:32] = [0.6, 0.4]
    is_labeled = nobody.copy()
    is_labeled[[0, 8, 32]] = True
    queue = make_queue(sample_similarity(planted()), probabilities, is_labeled, nobody, 3)
    assert queue.rows[:2].tolist()[0] // 8 == 2
    assert queue.rows[1] // 8 == 3
    assert queue.reasons.tolist() == [UNCERTAIN] * 3
    assert queue.gains[16] > queue.gains[24] > queue.gains[0]


def test_a_group_without_labels_is_found_although_the_model_is_sure(nobody):
    probabilities = np.tile([1.0, 0.0], (40, 1))  # of all, also of the last group
    probabilities[:8] = [0.6, 0.4]
    is_labeled = nobody.copy()
    is_labeled[[0, 8, 16, 24]] = True
    queue = make_queue(sample_similarity(planted()), probabilities, is_labeled, nobody, 4)
    found = dict(zip(queue.rows // 8, queue.reasons, strict=True))
    assert found[4] == NEW
    assert REASONS[NEW] == "new"


def test_every_fifth_answer_is_a_second_look_while_labels_are_contradicted(nobody):
    probabilities = np.tile([0.6, 0.4], (40, 1))
    is_labeled = nobody.copy()
    is_labeled[[0, 8, 16]] = True
    alike = sample_similarity(planted())
    plain = make_queue(alike, probabilities, is_labeled, nobody, 12)
    queue = make_queue(alike, probabilities, is_labeled, nobody, 12, again=[8, 0], n_answers=12)
    assert np.flatnonzero(queue.reasons == AGAIN).tolist() == [2, 7]  # answers 15 and 20
    assert queue.rows[[2, 7]].tolist() == [8, 0]
    assert queue.rows[queue.reasons != AGAIN].tolist() == plain.rows.tolist()
    short = make_queue(alike, probabilities, is_labeled, nobody, 1, again=[8, 0])
    assert short.rows.tolist() == [*plain.rows[:1], 8, 0]


def test_new_samples_and_second_looks_are_counted_over_all_answers(nobody):
    probabilities = np.tile([0.6, 0.4], (40, 1))
    is_labeled = nobody.copy()
    is_labeled[[0, 8, 16]] = True
    alike = sample_similarity(planted())
    shown = []  # one answer per queue, as where the model learns faster than the person labels
    for n_answers in range(32):
        options = {"again": [8], "again_every": 16, "new_fraction": 1 / 8, "n_answers": n_answers}
        shown.append(make_queue(alike, probabilities, is_labeled, nobody, 1, **options).reasons[0])
    assert [place for place, reason in enumerate(shown) if reason == NEW] == [7, 23]
    assert [place for place, reason in enumerate(shown) if reason == AGAIN] == [15, 31]


@pytest.mark.parametrize(
    ("sizes", "fraction"),
    [([1, 1, 1], 1 / 4), ([5, 1, 14], 1 / 10), ([30, 30], 1 / 16), ([], 1 / 16)],
)
def test_new_classes_are_looked_for_by_the_labels_that_are_alone(sizes, fraction):
    assert fraction_new(sizes) == pytest.approx(fraction)


def test_confirmed_labels_are_asked_again_less_often():
    confirmed = [spacing_again(n, 0) for n in range(6)]
    assert confirmed == sorted(confirmed)
    assert confirmed[0] == AGAIN_EVERY < confirmed[1] < confirmed[5]
    assert spacing_again(5, 3) == AGAIN_EVERY < spacing_again(5, 1) < spacing_again(5, 0)


def test_lazy_choice_equals_the_literal_one(rng):
    graph = sparse.csr_array(sparse.random_array((60, 60), density=0.08, rng=rng))
    similarity = sample_similarity(sparse.csr_array(graph + graph.T))
    weights, is_labeled = rng.random(60), rng.random(60) < 0.1
    dense, covered = similarity.toarray(), np.zeros(60)
    covered = dense[is_labeled].max(axis=0, initial=0)
    taken, wanted = is_labeled.copy(), []
    for _ in range(12):
        gains = (np.maximum(dense - covered, 0) * weights).sum(axis=1)
        gains[taken] = -np.inf
        best = np.flatnonzero(gains >= gains.max() * (1 - 1e-12))
        wanted.append(int(best[np.argmax(weights[best])]))
        taken[wanted[-1]] = True
        covered = np.maximum(covered, dense[wanted[-1]])
    assert cover(similarity, weights, is_labeled, 12).tolist() == wanted


def test_samples_of_a_class_come_first(nobody):
    probabilities = np.tile([0.2, 0.8], (40, 1))
    probabilities[3:6] = [0.9, 0.1]
    gains = np.arange(40.0)
    rows = rows_of_class(probabilities, 0, gains, ~nobody)
    assert rows[:4].tolist() == [5, 4, 3, 39]


def test_sure_predictions_come_with_outliers_first(nobody):
    probabilities = np.tile([0.05, 0.95], (40, 1))
    probabilities[10] = [0.8, 0.2]
    places = np.zeros((40, 2))
    places[7] = [9, 9]
    rows = sure_rows(probabilities, places, 1, ~nobody, n=60)
    assert rows[0] == 7
    assert 10 not in rows
    assert len(sure_rows(probabilities, places, 0, ~nobody, n=60)) == 0
