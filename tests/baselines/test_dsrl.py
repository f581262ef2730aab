"""DSRL: its learned threshold, its projections, and the unrolled network against dense loops."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from manyview.baselines.bases.must_link import heat_kernel_graphs
from manyview.baselines.dsrl import (
    DSRLClassifier,
    SparseRegularizer,
    fused_graph,
    project_knots,
    project_slopes,
    shrink,
    train_regularizer,
)
from manyview.data.views import MultiView
from manyview.errors import InputError


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def literal_xi(x, w0, w1, b0, b1):
    if abs(x) < b0:
        return 0.0
    sign = 1.0 if x > 0 else -1.0
    if abs(x) < b1:
        return sign * w0 * (abs(x) - b0)
    return sign * (w1 * (abs(x) - b1) + w0 * (b1 - b0))


def literal_forward(w, slopes, knots, step, n_layers):
    z = np.vectorize(literal_xi)(w, *slopes, *knots)
    for _ in range(n_layers):
        z = np.vectorize(literal_xi)(z - (z - w) / step, *slopes, *knots)
    return z


def planted_network(slopes, knots, step, n_layers=10):
    network = SparseRegularizer(n_layers)
    with torch.no_grad():
        network.slopes.copy_(tensor(slopes))
        network.knots.copy_(tensor(knots))
        network.step.fill_(step)
    return network


@pytest.mark.parametrize(
    "numbers", [(1.0, 1.0, 1.0, 2.0), (1.3, 0.4, 0.5, 1.5), (0.2, 1.0, 0.0, 0.3), (2.0, 0.5, 1, 1)]
)
def test_shrink_equals_its_definition(numbers):
    x = np.concatenate([np.linspace(-3, 3, 61), numbers[2:], -np.array(numbers[2:])])
    made = shrink(tensor(x), tensor(numbers[:2]), tensor(numbers[2:])).numpy()
    assert_allclose(made, [literal_xi(value, *numbers) for value in x], atol=1e-14)


def test_shrink_with_slopes_of_1_is_the_soft_threshold():
    x = tensor(np.linspace(-3, 3, 61))
    made = shrink(x, tensor([1.0, 1.0]), tensor([0.7, 2.0]))
    assert_allclose(made, torch.nn.functional.softshrink(x, 0.7), atol=1e-14)


def test_shrink_passes_gradcheck_away_from_the_knots():
    x = tensor([-2.6, -0.9, -0.2, 0.3, 0.8, 1.1, 1.9, 3.0]).requires_grad_()
    slopes, knots = tensor([1.2, 0.6]).requires_grad_(), tensor([0.5, 1.5]).requires_grad_()
    assert torch.autograd.gradcheck(shrink, (x, slopes, knots))


def test_a_weight_at_the_first_knot_moves_it():
    knots = tensor([1.0, 2.0]).requires_grad_()
    shrink(tensor([1.0]), tensor([1.0, 1.0]), knots).backward()
    assert_array_equal(knots.grad, [-1.0, 0.0])


def test_slopes_are_kept_within_their_bounds():
    assert_array_equal(project_slopes(tensor([-1.0, 3.0])), [1e-4, 1.0])
    assert_array_equal(project_slopes(tensor([3.0, 0.5])), [3.0, 0.5])


@pytest.mark.parametrize("slope", [0.3, 1.0, 1.4, 5.0])
def test_projected_knots_are_the_nearest_allowed(rng, slope):
    lower = max(0.0, 1 - 1 / slope)
    rules = [
        {"type": "ineq", "fun": lambda b: b[1] - b[0]},
        {"type": "ineq", "fun": lambda b: b[0] - lower * b[1]},
        {"type": "ineq", "fun": lambda b: b[1]},
    ]
    for knots in rng.uniform(-2, 2, size=(40, 2)):
        nearest = minimize(
            lambda b, to=knots: np.sum((b - to) ** 2), [0.1, 0.1], constraints=rules, tol=1e-12
        ).x
        made = project_knots(tensor(knots), tensor(slope)).numpy()
        assert_allclose(made, nearest, atol=1e-5)


@pytest.mark.parametrize("slope", [0.5, 1.7])
def test_projected_knots_pass_gradcheck(slope):
    for knots in ([0.9, 1.1], [0.2, 1.5], [1.0, 0.5], [-0.5, 1.0]):
        inputs = (tensor(knots).requires_grad_(), tensor(slope).requires_grad_())
        assert torch.autograd.gradcheck(project_knots, inputs)


def test_shrink_with_projected_numbers_never_enlarges(rng):
    x = tensor(np.linspace(0, 5, 101))
    for raw in rng.uniform(-1, 3, size=(50, 4)):
        slopes = project_slopes(tensor(raw[:2]))
        made = shrink(x, slopes, project_knots(tensor(raw[2:]), slopes[0]))
        assert torch.all(made <= x + 1e-12)
        assert torch.all(made >= 0)


@pytest.mark.parametrize(
    ("slopes", "knots", "step"),
    [([1.0, 1.0], [0.3, 2.0], 1.0), ([1.25, 0.6], [0.6, 1.6], 0.61), ([0.7, 0.9], [0.1, 0.5], 2.0)],
)
def test_network_equals_the_dense_loop(rng, slopes, knots, step):
    w = rng.random((7, 7)) * (rng.random((7, 7)) < 0.5)
    network = planted_network(slopes, knots, step)
    expected = literal_forward(w, slopes, knots, step, n_layers=10)
    assert_allclose(network(tensor(w)).detach(), expected, atol=1e-12)


def test_all_layers_agree_at_a_step_of_1(rng):
    w = tensor(rng.random(20))
    slopes, knots = [1.0, 1.0], [0.4, 2.0]
    made = planted_network(slopes, knots, 1.0)(w).detach()
    assert_allclose(made, shrink(w, tensor(slopes), tensor(knots)))


def test_zero_stays_zero():
    assert planted_network([1.3, 0.5], [0.2, 1.0], 0.6)(tensor([0.0])).item() == 0.0


def test_training_on_different_values_equals_training_on_the_whole_matrix(rng):
    upper = np.triu(rng.integers(0, 5, size=(8, 8)) / 4, k=1)
    w = upper + upper.T + np.eye(8)
    values, counts = np.unique(w[w != 0], return_counts=True)
    compact, whole = SparseRegularizer(10), SparseRegularizer(10)
    settings = {"n_epochs": 12, "learning_rate": 0.05, "weight_decay": 0.15}
    losses = train_regularizer(compact, tensor(values), tensor(counts * 1.0), **settings)
    expected = train_regularizer(
        whole, tensor(w), torch.ones(8, 8, dtype=torch.float64), **settings
    )
    assert_allclose(losses, expected)
    for name, value in compact.named_parameters():
        assert_allclose(value.detach(), whole.get_parameter(name).detach())
    assert_allclose(losses[0], np.sum(w**2) / 2)  # at the start everything is cut


def test_training_equals_adam_written_out(rng):
    w = np.append(rng.random(30), np.ones(5))
    network = SparseRegularizer(10)
    train_regularizer(
        network,
        tensor(w),
        torch.ones_like(tensor(w)),
        n_epochs=3,
        learning_rate=0.05,
        weight_decay=0.15,
    )
    numbers, mean, square = np.array([1.0, 1.0, 1.0, 2.0, 1.0]), np.zeros(5), np.zeros(5)
    for epoch in range(1, 4):
        probe = planted_network(numbers[:2], numbers[2:4], numbers[4])
        loss = torch.sum((probe(tensor(w)) - tensor(w)) ** 2) / 2
        loss.backward()
        gradient = np.concatenate([probe.slopes.grad, probe.knots.grad, probe.step.grad[None]])
        gradient += 0.15 * numbers
        mean, square = 0.9 * mean + 0.1 * gradient, 0.92 * square + 0.08 * gradient**2
        bias = 1 - 0.9**epoch, 1 - 0.92**epoch
        numbers = numbers - 0.05 * (mean / bias[0]) / (np.sqrt(square / bias[1]) + 1e-8)
    learned = [*network.slopes.tolist(), *network.knots.tolist(), network.step.item()]
    assert_allclose(learned, numbers)


@pytest.mark.parametrize("n_epochs", [1, 5, 8, 10])
def test_epochs_lower_the_threshold_by_the_learning_rate(tiny_views, n_epochs):
    views, labels = MultiView(tiny_views.views), tiny_views.known_labels
    model = DSRLClassifier(n_epochs=n_epochs).fit(views, labels)
    assert model.knots_[0] == pytest.approx(1 - 0.05 * n_epochs, abs=0.05)
    graph = fused_graph(heat_kernel_graphs(views, scaling="rows", n_neighbors=10, seed=0), labels)
    # A layer divides by the step constant, which falls as the knot does.
    assert model.sparse_graph_.nnz == np.sum(graph.data > model.knots_[0] * model.step_)


def test_more_epochs_keep_more_links(tiny_views):
    views, labels = tiny_views.views, tiny_views.known_labels
    n_links = [
        DSRLClassifier(n_epochs=n).fit(views, labels).sparse_graph_.nnz for n in (1, 5, 10, 20)
    ]
    assert n_links == sorted(n_links)
    assert n_links[0] < n_links[-1]


def test_fused_graph_is_the_mean_with_links_of_known_labels(rng):
    y_encoded = np.array([0, 0, 1, 1, -1, -1])
    graphs = []
    for _ in range(3):
        upper = np.triu(rng.random((6, 6)), k=1)
        graphs.append(sparse.csr_array(upper + upper.T))
    expected = sum(graph.toarray() for graph in graphs) / 3
    for i in range(4):
        for j in range(4):
            if y_encoded[i] == y_encoded[j]:
                expected[i, j] = 1.0
    made = fused_graph(graphs, y_encoded)
    assert_allclose(made.toarray(), expected)
    assert np.sum(made.data == 1.0) == 8  # exactly 1, where training starts


def test_prediction_equals_the_dense_inverse(tiny_views):
    labels = tiny_views.known_labels
    model = DSRLClassifier().fit(tiny_views.views, labels)
    z = model.sparse_graph_.toarray()
    known = (labels[:, None] == model.classes_).astype(float)
    p = np.linalg.inv(np.eye(60) + np.diag(z.sum(axis=1)) - z) @ known
    assert_array_equal(z, z.T)
    assert_allclose(model.label_distributions_, p / p.sum(axis=1, keepdims=True), rtol=1e-6)


def test_planted_classes_are_found(tiny_views):
    model = DSRLClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.95
    assert model.n_unreached_ == 0
    assert model.n_iter_ == len(model.objective_) == 10
    assert model.objective_[-1] < model.objective_[0]


def test_samples_that_no_label_reaches_are_counted_and_get_the_class_frequencies():
    friends = np.zeros((8, 8))
    friends[[0, 1, 2, 4, 6], [1, 2, 3, 5, 7]] = [0.8, 0.8, 0.8, 0.1, 0.8]
    views = MultiView({"friends": friends}, graphs="friends")
    labels = [0, 0, -1, -1, 1, -1, -1, -1]
    model = DSRLClassifier().fit(views, labels)
    assert model.n_unreached_ == 3  # 0.1 is too weak a link, and no label is linked to the last two
    assert_allclose(model.label_distributions_[5:], [[2 / 3, 1 / 3]] * 3)
    assert_array_equal(model.transduction_, [0, 0, 0, 0, 1, 0, 0, 0])


def test_long_training_stays_finite(tiny_views):
    model = DSRLClassifier(n_epochs=60).fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.9


def test_a_wild_learning_rate_is_refused(tiny_views):
    with pytest.raises(InputError, match=r"training diverged.* learning_rate; got 1\.0"):
        DSRLClassifier(learning_rate=1.0, n_epochs=1).fit(tiny_views.views, tiny_views.known_labels)
