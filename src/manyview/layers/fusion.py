"""Graph fusion, Eq. (3)-(7): mix the view graphs, then weigh the mixtures.

mixing logits -> mixing_weights -> view_importance -> fused_graph
"""

import torch
from torch import Tensor, nn

from manyview.graphs.view_masks import SharedViews


def mixing_weights(logits: Tensor) -> Tensor:
    """Share of each view's graph (column) in each mixture (row): w, Eq. (4)."""
    return torch.softmax(logits, dim=1)


def view_importance(mixing_weights: Tensor) -> Tensor:
    """Share of each view in all mixtures; sums to 1: alpha, Eq. (5)-(6)."""
    totals = mixing_weights.sum(dim=0)  # [view]
    return totals / totals.sum()


def complementary_graphs(view_weights: Tensor, mixing_weights: Tensor) -> Tensor:
    """Mix the view graphs once for each view: A_w, Eq. (3).

    Shapes
    ------
    view_weights : [pair, view]
    returns : [pair, mixture]
    """
    return view_weights @ mixing_weights.T


def fusion_coefficients(mixing_weights: Tensor) -> Tensor:
    """Coefficient of each view's graph in the fused graph; they sum to 1.  Eq. (3)-(7).

    Both stages are linear, so the mixtures need never be stored.
    """
    return view_importance(mixing_weights) @ mixing_weights


def weigh_views(
    view_weights: Tensor, coefficients: Tensor, shared: SharedViews | None = None
) -> Tensor:
    """Add up the views' graphs, each times its coefficient, over the views a pair can have.

        A_f[i, j] = sum_v c_v A_v[i, j] / sum of c_v over the views that both i and j have

    Where all samples have all views (`shared` is None) the sum below is 1.

    Shapes
    ------
    view_weights : [pair, view]
    coefficients : [view], sum to 1
    returns : [pair]
    """
    weighed = view_weights @ coefficients
    if shared is None:
        return weighed
    # A view whose coefficient has vanished takes the pairs it alone has with it.
    return weighed / shared.total(coefficients).clamp(min=torch.finfo(weighed.dtype).tiny)


def fused_graph(
    view_weights: Tensor, mixing_weights: Tensor, shared: SharedViews | None = None
) -> Tensor:
    """Weigh the mixtures by the importance of their views: A_f, Eq. (7).

    Shapes
    ------
    view_weights : [pair, view]
    returns : [pair]
    """
    return weigh_views(view_weights, fusion_coefficients(mixing_weights), shared)


class GraphFusion(nn.Module):
    """Fuse the view graphs into one with learned weights.  Eq. (3)-(7).

    Parameters
    ----------
    n_views
        Number of view graphs V.
    start
        [view] share of each view to start with, above 0; None starts all alike.

    Shapes
    ------
    view_weights : [pair, view], >= 0
    returns : [pair], >= 0
    """

    def __init__(self, n_views: int, start: Tensor | None = None) -> None:
        super().__init__()
        shares = torch.ones(n_views) if start is None else start
        self.logits = nn.Parameter(shares.log().repeat(n_views, 1))

    def of_first(self, n_views: int) -> "GraphFusion":
        """Make a fusion of the first views alone, their weights in the same proportion."""
        fusion = GraphFusion(n_views).to(self.logits)
        fusion.logits.data = self.logits.data[:n_views, :n_views].clone()
        return fusion

    def forward(self, view_weights: Tensor, shared: SharedViews | None = None) -> Tensor:
        """Return the fused graph."""
        return fused_graph(view_weights, mixing_weights(self.logits), shared)
