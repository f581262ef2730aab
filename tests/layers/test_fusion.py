"""Graph fusion, Eq. (3)-(7)."""

from math import exp

import pytest
import torch

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
    alpha = [share / sum(alpha) for share in alpha]
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


def test_single_view_is_its_own_fusion(view_weights):
    fusion = GraphFusion(1).double()
    torch.testing.assert_close(fusion(view_weights[:, :1]), view_weights[:, 0])


def test_overwhelming_view_is_taken_alone(view_weights):
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
