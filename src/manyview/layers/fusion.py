"""Graph fusion, Eq. (3)-(7): mix the view graphs, then weight the mixtures.

mixing logits -> mixing_weights -> view_importance -> fused_graph
"""

import torch
from torch import Tensor, nn

from manyview.graphs.view_masks import ViewMasks


def mixing_weights(logits: Tensor) -> Tensor:
    """Weight of each view's graph (column) in each mixture (row): w, Eq. (4)."""
    return torch.softmax(logits, dim=1)


def view_importance(mixing_weights: Tensor) -> Tensor:
    """Mean weight of each view over all mixtures; sums to 1: alpha, Eq. (5)-(6)."""
    totals = mixing_weights.sum(dim=0)  # [view]
    return totals / totals.sum()


def complementary_graphs(view_weights: Tensor, mixing_weights: Tensor) -> Tensor:
    """Mix the view graphs once per view: A_w, Eq. (3).

    Shapes
    ------
    view_weights : [pair, view]
    returns : [pair, mixture]
    """
    return view_weights @ mixing_weights.T


def fusion_coefficients(mixing_weights: Tensor) -> Tensor:
    """Coefficient of each view's graph in the fused graph; they sum to 1.  Eq. (3)-(7).

    Both steps are linear, so the mixtures are never stored.
    """
    return view_importance(mixing_weights) @ mixing_weights


def weigh_views(
    view_weights: Tensor, coefficients: Tensor, view_masks: ViewMasks | None = None
) -> Tensor:
    """Average the views' graphs, weighted by the coefficients, over the views both ends have.

        A_f[i, j] = sum_v c_v A_v[i, j] / sum of c_v over the views that both i and j have

    When all samples have all views (`view_masks` is None), the denominator is 1.

    Shapes
    ------
    view_weights : [pair, view]
    coefficients : [view], sum to 1
    returns : [pair]
    """
    fused = view_weights @ coefficients
    if view_masks is None:
        return fused
    # Pairs whose only view has a coefficient of 0 get weight 0, not 0/0.
    return fused / view_masks.total(coefficients).clamp(min=torch.finfo(fused.dtype).tiny)


def fused_graph(
    view_weights: Tensor, mixing_weights: Tensor, view_masks: ViewMasks | None = None
) -> Tensor:
    """Average the mixtures, weighted by the importance of their views: A_f, Eq. (7).

    Shapes
    ------
    view_weights : [pair, view]
    returns : [pair]
    """
    return weigh_views(view_weights, fusion_coefficients(mixing_weights), view_masks)


class GraphFusion(nn.Module):
    """Fuse the view graphs into one with learned weights.  Eq. (3)-(7).

    Parameters
    ----------
    n_views
        Number of view graphs V.
    start
        [view] initial weight of each view, above 0; None starts all equal.

    Shapes
    ------
    view_weights : [pair, view], >= 0
    returns : [pair], >= 0
    """

    def __init__(self, n_views: int, start: Tensor | None = None) -> None:
        super().__init__()
        weights = torch.ones(n_views) if start is None else start
        self.logits = nn.Parameter(weights.log().repeat(n_views, 1))

    def of_first(self, n_views: int) -> "GraphFusion":
        """Return a fusion of the first views only, with weights in the same proportion."""
        fusion = GraphFusion(n_views).to(self.logits)
        fusion.logits.data = self.logits.data[:n_views, :n_views].clone()
        return fusion

    def forward(self, view_weights: Tensor, view_masks: ViewMasks | None = None) -> Tensor:
        """Return the fused graph."""
        return fused_graph(view_weights, mixing_weights(self.logits), view_masks)
