"""DSRL: a graph thresholded by a small unrolled network, and labels smoothed over it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from manyview.baselines.bases.baseline import POSITIVE_INT, TRAINING
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.must_link import (
    MustLinkClassifier,
    check_must_link_memory,
    must_link_graph,
    precise_smoothed_labels,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies, one_hot
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.normalization import laplacian
from manyview.network.training import pick_device
from manyview.numerics import normalize_rows
from manyview.system.progress import epoch_progress
from manyview.validation import Constraint

MIN_SLOPE = 1e-4
BETAS = (0.9, 0.92)  # of Adam, as the authors set them
PATIENCE = 3  # epochs without a lower loss before the learning rate is reduced
REDUCTION = 0.1
MIN_LEARNING_RATE = 1e-6


def shrink(weights: Tensor, slopes: Tensor, knots: Tensor) -> Tensor:
    """Shrink each weight towards 0 by a piecewise linear odd function: xi.

    It is 0 below the first knot, rises with the first slope up to the second knot, and with the
    second slope beyond:

        xi(x) = w0 (|x| - b0)                     for b0 <= |x| < b1
        xi(x) = w1 (|x| - b1) + w0 (b1 - b0)      for b1 <= |x|,     both times sign(x)

    With slopes of 1 this is soft thresholding. A weight exactly at a knot belongs to the piece
    above it: training starts with the links between known labels at the first knot, and only
    their gradient moves it.

    Examples
    --------
    >>> ones, knots = torch.ones(2), torch.tensor([1.0, 2.0])
    >>> shrink(torch.tensor([-3.0, 0.5, 1.5]), ones, knots)
    tensor([-2.0000,  0.0000,  0.5000])
    """
    size = weights.abs()
    first = slopes[0] * (size - knots[0])
    second = slopes[1] * (size - knots[1]) + slopes[0] * (knots[1] - knots[0])
    nothing = torch.zeros_like(size)
    above = torch.where(size >= knots[1], second, first)
    return weights.sign() * torch.where(size >= knots[0], above, nothing)


def project_slopes(slopes: Tensor) -> Tensor:
    """Clamp both slopes to at least 1e-4, and the second to at most 1."""
    first, second = slopes.clamp(min=MIN_SLOPE)
    return torch.stack([first, second.clamp(max=1.0)])


def project_knots(knots: Tensor, first_slope: Tensor) -> Tensor:
    """Move the knots to the nearest pair for which xi is a proximal operator: xi(x) <= x.

        0 <= b0 <= b1, and (1 - 1 / w0) b1 <= b0 when the first slope w0 is above 1

    Examples
    --------
    >>> project_knots(torch.tensor([3.0, 1.0]), torch.tensor(1.0))
    tensor([2., 2.])
    >>> project_knots(torch.tensor([0.0, 5.0]), torch.tensor(2.0))
    tensor([2., 4.])
    """
    first, second = knots
    steepness = first_slope.clamp(min=1.0)
    low = torch.stack([steepness - 1, steepness])  # the lower edge of the cone; (1, 1) the upper
    projected: Tensor = knots
    if first > second:
        projected = ((first + second) / 2).clamp(min=0.0).expand(2)
    elif steepness * first < (steepness - 1) * second or second < 0:
        projected = (knots @ low).clamp(min=0.0) * low / (low @ low)
    return projected


class SparseRegularizer(nn.Module):
    """Unroll proximal gradient steps towards a sparse copy of a graph.

        Z_0 = xi(W),   Z_{t+1} = xi(Z_t - (Z_t - W) / step)

    Five numbers are learned and used in all layers: two slopes and two knots of xi (see
    `shrink`), which are projected before use, and the step constant. Every entry of W is mapped
    independently and 0 stays 0, so only the nonzero entries need to be passed.

    Shapes
    ------
    weights : any
    returns : the same
    """

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.n_layers = n_layers
        self.slopes = nn.Parameter(torch.tensor([1.0, 1.0], dtype=torch.float64))
        self.knots = nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float64))
        self.step = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))

    def projected(self) -> tuple[Tensor, Tensor]:
        """Return slopes and knots after projection."""
        slopes = project_slopes(self.slopes)
        return slopes, project_knots(self.knots, slopes[0])

    def forward(self, weights: Tensor) -> Tensor:
        """Return Z of the last layer."""
        slopes, knots = self.projected()
        shrunk = shrink(weights, slopes, knots)
        for _ in range(self.n_layers):
            shrunk = shrink(shrunk - (shrunk - weights) / self.step, slopes, knots)
        return shrunk


def train_regularizer(
    network: SparseRegularizer,
    weights: Tensor,
    counts: Tensor,
    *,
    n_epochs: int,
    learning_rate: float,
    weight_decay: float,
    on_epoch: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Fit Z to W by 1/2 ||Z - W||_F^2, in place; return the loss before each epoch's step.

    Parameters
    ----------
    weights, counts
        [value] the distinct entries of W, and how often each occurs.
    """
    optimizer = torch.optim.Adam(
        network.parameters(), lr=learning_rate, betas=BETAS, weight_decay=weight_decay
    )
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=REDUCTION, patience=PATIENCE, min_lr=MIN_LEARNING_RATE
    )
    losses: list[float] = []
    for _ in range(n_epochs):
        loss = torch.sum(counts * (network(weights) - weights) ** 2) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step(loss.item())
        losses.append(loss.item())
        if on_epoch is not None:
            on_epoch(len(losses), losses[-1])
    return losses


def fused_graph(graphs: list[sparse.csr_array], y_encoded: np.ndarray) -> sparse.csr_array:
    """Average the views' graphs, and link labeled samples of the same class with a 1."""
    total = graphs[0]
    for graph in graphs[1:]:
        total = total + graph
    mean = total / len(graphs)
    links = must_link_graph(y_encoded)
    fused = sparse.csr_array(mean - mean.multiply(links) + links)
    fused.eliminate_zeros()
    fused.sort_indices()
    return fused


@dataclass(kw_only=True, eq=False, repr=False)
class DSRLClassifier(MustLinkClassifier):
    """Threshold the mean graph of all views by a learned function, and smooth the labels over it.

    Deep sparse regularizer learning (DSRL). W is the mean of the views' graphs, with a weight of 1
    between labeled samples of the same class. A network of ten proximal gradient steps with a
    learned piecewise linear threshold is trained to

        minimize  1/2 ||Z - W||_F^2   over the five numbers that map W to Z

    and the labels are P = (I + D - Z)^-1 Y with the row sums D of Z and the known labels Y.

    The first knot of the threshold and the step constant start at 1 and fall by about the
    learning rate per epoch. Links weaker than their product are removed, so `n_epochs` sets the
    sparsity of Z. Heat kernel weights are at most 1: at first only the links between known labels
    remain; after ten epochs links below 0.3 are removed, after fifteen those below 0.2. The
    authors choose 5 to 15 epochs per data set; 10, their most frequent choice, is the default
    here. Too few epochs leave samples without a path to any label (`n_unreached_`): they get the
    class frequencies of the labeled samples. See `MustLinkClassifier` for `scaling` and
    `random_state`.

    Parameters
    ----------
    n_epochs
        Training steps; links weaker than about (1 - n_epochs x learning_rate)^2 are removed.
    n_layers
        Unrolled proximal gradient steps.
    learning_rate, weight_decay
        Of Adam.
    n_neighbors
        Neighbors in each view's graph; all other samples where there are fewer. The weights of
        a view given as a graph should be at most 1, like those of the heat kernel.
    device, verbose
        As in `GraphNetworkClassifier`.

    Attributes
    ----------
    label_distributions_ : [sample, class], P with rows normalized
    slopes_, knots_ : [2], of the learned threshold (see `shrink`)
    step_ : float, learned step constant
    sparse_graph_ : CSR, Z
    objective_ : [epoch], the loss
    n_iter_ : int, number of epochs
    n_unreached_ : int, number of samples that no label reaches over Z

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> [DSRLClassifier(n_epochs=n).fit(views, labels).sparse_graph_.nnz for n in (1, 10)]
    [578, 942]
    """

    n_epochs: int = 10
    n_layers: int = 10
    learning_rate: float = 0.05
    weight_decay: float = 0.15
    n_neighbors: int = 10
    device: str = "auto"
    verbose: bool = False

    card = CARDS["dsrl"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **MustLinkClassifier._parameter_constraints,
        "n_epochs": POSITIVE_INT,
        "n_layers": POSITIVE_INT,
        **TRAINING,
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        pick_device(self.device)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        check_must_link_memory(y_encoded, 6, self.card.title)
        self.sparse_graph_ = self._sparsify(fused_graph(self._heat_kernel_graphs(views), y_encoded))
        known = one_hot(y_encoded, len(self.classes_))
        roughness = laplacian(self.sparse_graph_)
        evidence = precise_smoothed_labels(roughness, roughness.diagonal(), known)
        self.label_distributions_ = normalize_rows(evidence, class_frequencies(y_encoded))
        self.n_unreached_ = int(np.sum(evidence.max(axis=1) <= 0))

    def _sparsify(self, graph: sparse.csr_array) -> sparse.csr_array:
        """Train the threshold, and apply it to the graph."""
        device = pick_device(self.device)
        # Equal entries stay equal, so each distinct value is passed once, with its count.
        values, places, counts = np.unique(graph.data, return_inverse=True, return_counts=True)
        weights = torch.from_numpy(values).to(device)
        network = SparseRegularizer(self.n_layers).to(device)
        progress = epoch_progress(self.n_epochs) if self.verbose else nullcontext()
        with progress as on_epoch:
            self.objective_ = train_regularizer(
                network,
                weights,
                torch.from_numpy(counts).to(weights),
                n_epochs=self.n_epochs,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                on_epoch=on_epoch,
            )
        self.n_iter_ = self.n_epochs
        with torch.no_grad():
            slopes, knots = network.projected()
            shrunk = network(weights).numpy(force=True)
        if not np.all(shrunk >= 0):  # also true for NaN
            raise InputError(
                "training diverged: the learned graph has negative or infinite weights. "
                f"Lower learning_rate; got {self.learning_rate}."
            )
        self.slopes_, self.knots_ = slopes.numpy(force=True).copy(), knots.numpy(force=True).copy()
        self.step_ = network.step.item()
        sparser = sparse.csr_array((shrunk[places], graph.indices, graph.indptr), graph.shape)
        sparser.eliminate_zeros()
        return sparser
