"""Graph fusion, Eq. (3)-(7)."""

from math import exp

import numpy as np
import pytest
import torch

from manyview.graphs.view_masks import find_view_masks
from manyview.layers.fusion import (
    GraphFusion,
    complementary_graphs,
    fused_graph,
    fusion_coefficients,
    mixing_weights,
    view_importance,
)

N_VIEWS = 3


@pytest.fixture
def logits(generator):
    return torch.randn(N_VIEWS, N_VIEWS, generator=generator, dtype=torch.float64)


@pytest.fixture
def view_weights(generator):
    return torch.rand(11, N_VIEWS, generator=generator, dtype=torch.float64)


def literal_fusion(view_weights, logits):
    """Loop over Eq. (3)-(7); return w, alpha, A_w [view][edge], A_f [edge]."""
    views = range(N_VIEWS)
    w = [[exp(logits[v, i]) / sum(exp(logits[v, n]) for n in views) for i in views] for v in views]
    alpha = [sum(w[v][i] for v in views) for i in views]
    alpha = [weight / sum(alpha) for weight in alpha]
    mixtures = [
        [sum(w[v][i] * float(edge[i]) for i in views) for edge in view_weights] for v in views
    ]
    fused = [sum(alpha[i] * mixtures[i][e] for i in views) for e in range(len(view_weights))]
    return [torch.tensor(part, dtype=torch.float64) for part in (w, alpha, mixtures, fused)]


def test_fusion_equals_a_literal_loop(view_weights, logits):
    w, alpha, mixtures, fused = literal_fusion(view_weights, logits)
    mixing = mixing_weights(logits)
    torch.testing.assert_close(mixing, w)
    torch.testing.assert_close(view_importance(mixing), alpha)
    torch.testing.assert_close(complementary_graphs(view_weights, mixing), mixtures.T)
    torch.testing.assert_close(fused_graph(view_weights, mixing), fused)


def test_mixing_weights_importance_and_coefficients_sum_to_one(logits):
    mixing = mixing_weights(logits)
    torch.testing.assert_close(mixing.sum(dim=1), torch.ones(N_VIEWS, dtype=torch.float64))
    assert view_importance(mixing).sum().item() == pytest.approx(1)
    assert fusion_coefficients(mixing).sum().item() == pytest.approx(1)


def test_fused_weight_lies_between_the_views(view_weights, logits):
    fused = fused_graph(view_weights, mixing_weights(logits))
    assert (fused >= view_weights.amin(dim=1)).all()
    assert (fused <= view_weights.amax(dim=1)).all()


def test_fused_graph_does_not_depend_on_the_order_of_views(view_weights, logits):
    order = [2, 0, 1]
    before = fused_graph(view_weights, mixing_weights(logits))
    after = fused_graph(view_weights[:, order], mixing_weights(logits[order][:, order]))
    torch.testing.assert_close(after, before)


def test_fusion_starts_as_the_mean_of_the_views(view_weights):
    fusion = GraphFusion(N_VIEWS).double()
    torch.testing.assert_close(fusion(view_weights), view_weights.mean(dim=1))


def test_fusion_of_a_single_view_is_the_view(view_weights):
    fusion = GraphFusion(1).double()
    torch.testing.assert_close(fusion(view_weights[:, :1]), view_weights[:, 0])


def test_fusion_with_one_dominant_view_is_that_view(view_weights):
    logits = torch.zeros(N_VIEWS, N_VIEWS, dtype=torch.float64)
    logits[:, 1] = 1000
    torch.testing.assert_close(
        fused_graph(view_weights, mixing_weights(logits)), view_weights[:, 1]
    )


def test_fusion_passes_gradcheck(view_weights, logits):
    logits.requires_grad_()
    view_weights.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda weights, raw: fused_graph(weights, mixing_weights(raw)), (view_weights, logits)
    )


@pytest.fixture
def present(generator):
    """[sample, view]: 5 samples, of which the last has view 2 alone."""
    present = torch.rand(5, N_VIEWS, generator=generator) < 0.6
    present[:, 0] = present[0] = True
    present[-1] = torch.tensor([False, False, True])
    return present.numpy()


@pytest.fixture
def pairs():
    """Samples of pairs with a common view."""
    return np.array([(0, 0), (0, 1), (0, 4), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (4, 4)]).T


def literal_incomplete(view_weights, coefficients, present, pairs):
    """Sum of c_v A_v[i, j] over that of c_v, both over the views that i and j have."""
    fused = []
    for weights, i, j in zip(view_weights.tolist(), *pairs, strict=True):
        both = [v for v in range(N_VIEWS) if present[i, v] and present[j, v]]
        total = sum(float(coefficients[v]) for v in both)
        fused.append(sum(float(coefficients[v]) * weights[v] for v in both) / total)
    return torch.tensor(fused, dtype=torch.float64)


def incomplete_weights(view_weights, present, pairs):
    both = torch.from_numpy(present[pairs[0]] & present[pairs[1]])
    return view_weights[: pairs.shape[1]] * both


def test_fusion_of_incomplete_samples_equals_a_literal_loop(view_weights, logits, present, pairs):
    weights = incomplete_weights(view_weights, present, pairs)
    mixing = mixing_weights(logits)
    fused = fused_graph(weights, mixing, find_view_masks(present, *pairs))
    expected = literal_incomplete(weights, fusion_coefficients(mixing), present, pairs)
    torch.testing.assert_close(fused, expected)


def test_fusion_of_incomplete_samples_passes_gradcheck(view_weights, logits, present, pairs):
    weights = incomplete_weights(view_weights, present, pairs).requires_grad_()
    shared = find_view_masks(present, *pairs)
    assert torch.autograd.gradcheck(
        lambda weights, raw: fused_graph(weights, mixing_weights(raw), shared),
        (weights, logits.requires_grad_()),
    )


def test_pairs_of_one_view_keep_its_weight_whatever_is_learned(
    view_weights, logits, present, pairs
):
    weights = incomplete_weights(view_weights, present, pairs)
    fused = fused_graph(weights, mixing_weights(logits), find_view_masks(present, *pairs))
    torch.testing.assert_close(fused[[2, 8]], weights[[2, 8], 2])  # of sample 4


def test_a_view_without_samples_changes_nothing(view_weights):
    present = np.ones((5, N_VIEWS), dtype=bool)
    present[:, 1] = False
    pairs = np.array([(0, 1), (2, 3), (4, 4)]).T
    weights = incomplete_weights(view_weights, present, pairs)
    fusion = GraphFusion(N_VIEWS).double()
    fused = fusion(weights, find_view_masks(present, *pairs))
    torch.testing.assert_close(fused, GraphFusion(2).double()(weights[:, [0, 2]]))


def test_a_vanished_view_leaves_weights_finite(view_weights, logits, present, pairs):
    logits = torch.zeros(N_VIEWS, N_VIEWS, dtype=torch.float64)
    logits[:, 2] = -2000
    weights = incomplete_weights(view_weights, present, pairs)
    fused = fused_graph(weights, mixing_weights(logits), find_view_masks(present, *pairs))
    assert torch.isfinite(fused).all()


def test_fusion_of_the_first_views_keeps_their_proportions(logits):
    fusion = GraphFusion(len(logits))
    fusion.logits.data = logits.detach().clone()
    fewer = mixing_weights(fusion.of_first(2).logits)
    all_of_them = mixing_weights(fusion.logits)
    torch.testing.assert_close(fewer[:, 0] / fewer[:, 1], all_of_them[:2, 0] / all_of_them[:2, 1])
    torch.testing.assert_close(fewer.sum(dim=1), torch.ones(2, dtype=fewer.dtype))
