"""DSRL: a graph thresholded by a small unrolled network, and the known labels smoothed over it."""

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._must_link import (
    check_links_fit,
    far_smoothed_labels,
    heat_graphs,
    same_class_links,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies, one_hot
from manyview.data.scaling import Scaling, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.normalization import laplacian
from manyview.network.training import pick_device
from manyview.numerics import normalize_rows
from manyview.system.progress import epoch_progress
from manyview.validation import check_number, check_whole_number, draw_seed

SMALLEST_SLOPE = 1e-4
BETAS = (0.9, 0.92)  # of Adam, as the authors set them
PATIENCE = 3  # epochs without a lower loss before the learning rate is cut
CUT = 0.1
LOWEST_RATE = 1e-6


def shrink(weights: Tensor, slopes: Tensor, knots: Tensor) -> Tensor:
    """Shrink each weight towards 0 by a piecewise linear odd function: xi.

    0 below the first knot, then rising with the first slope, from the second knot on with the
    second slope:

        xi(x) = w0 (|x| - b0)                     for b0 <= |x| < b1
        xi(x) = w1 (|x| - b1) + w0 (b1 - b0)      for b1 <= |x|,     both times sign(x)

    With slopes of 1 this is soft thresholding. A weight exactly at a knot belongs to the piece
    above it. That matters: training starts with the links of known labels at the first knot,
    and only their gradient sets the knot moving.

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
    """Keep both slopes at 1e-4 or more, and the second at 1 or less."""
    first, second = slopes.clamp(min=SMALLEST_SLOPE)
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

    Five numbers are learned: two slopes and two knots of xi (see `shrink`), which are projected
    before use, and the step constant; all layers share them. Every entry of W goes its own way
    and 0 stays 0, so it is enough to pass the entries that are not 0.

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
        """Slopes and knots as they are used."""
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
        [value] the different entries of W, and how often each occurs.
    """
    optimizer = torch.optim.Adam(
        network.parameters(), lr=learning_rate, betas=BETAS, weight_decay=weight_decay
    )
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=CUT, patience=PATIENCE, min_lr=LOWEST_RATE
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
    links = same_class_links(y_encoded)
    fused = sparse.csr_array(mean - mean.multiply(links) + links)
    fused.eliminate_zeros()
    fused.sort_indices()
    return fused


class DSRLClassifier(MultiViewClassifier):
    """Threshold the mean graph of all views by a learned function, and smooth the labels over it.

    Deep sparse regularizer learning (DSRL). W is the mean of the views' graphs, with a weight of 1
    between labeled samples of the same class. A network of ten proximal gradient steps with a
    learned piecewise linear threshold is trained for

        minimize  1/2 ||Z - W||_F^2   over the five numbers that make Z from W

    and the labels are P = (I + D - Z)^-1 Y with the row sums D of Z and the known labels Y.

    The first knot of the threshold and the step constant start at 1, and each falls by about the
    learning rate an epoch. Links weaker than their product are cut: `n_epochs` decides how sparse
    Z becomes. With heat kernel weights, at most 1, everything but the links of known labels is
    cut at first, links below 0.3 after ten epochs and below 0.2 after fifteen. The authors choose
    5 to 15 by data set; 10, their most frequent, is the default for all. Too few epochs leave
    samples without a path to any label (`n_unreached_`): they get the class shares of the labeled
    samples.

    Parameters
    ----------
    n_epochs
        Steps of training; links weaker than about (1 - n_epochs x learning_rate)^2 are cut.
    n_layers
        Unrolled proximal gradient steps.
    learning_rate, weight_decay
        Of Adam.
    n_neighbors
        Neighbors in each view's graph; all others where there are fewer. A view given as a graph
        is taken as it is; its weights should be at most 1, like those of the heat kernel.
    scaling
        See `fit_scaler`; one word, or one for each view.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.
    random_state
        Seed of the samples that set the width of the heat kernel, drawn beyond 3,000 samples.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], P scaled to probabilities
    slopes_, knots_ : [2], of the learned threshold (see `shrink`)
    step_ : float, learned step constant
    sparse_graph_ : CSR, Z
    objective_ : [epoch], the loss
    n_iter_ : int, number of epochs
    n_unreached_ : int, samples that no label reaches over Z

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 2.0, -2.0)[:, None]
    >>> views = {"sound": centers * [1, 1, -1] + rng.normal(size=(40, 3)),
    ...          "shape": centers * [1, -1] + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = DSRLClassifier().fit(views, labels)
    >>> float((model.transduction_ == truth).mean()), model.n_unreached_
    (1.0, 0)
    """

    card = MethodCard(
        name="dsrl",
        title="DSRL",
        paper="Wang, Chen, Du, Lin: Learning deep sparse regularizers with applications to "
        "multi-view clustering and semi-supervised classification. IEEE TPAMI",
        year=2022,
        cost="m^2 d for the graphs; m V k + l^2 an epoch",
    )
    takes_graphs = True

    def __init__(
        self,
        *,
        n_epochs: int = 10,
        n_layers: int = 10,
        learning_rate: float = 0.05,
        weight_decay: float = 0.15,
        n_neighbors: int = 10,
        scaling: Scaling = "rows",
        device: str = "auto",
        verbose: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_epochs = n_epochs
        self.n_layers = n_layers
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        for name in ("n_epochs", "n_layers", "n_neighbors"):
            check_whole_number(name, getattr(self, name), at_least=1)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("weight_decay", self.weight_decay, at_least=0)
        scaling_by_view(self.scaling, views)
        pick_device(self.device)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        check_links_fit(y_encoded, 6, self.card.title)
        graphs = heat_graphs(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors,
            seed=draw_seed(self.random_state),
        )
        self.sparse_graph_ = self._sparsify(fused_graph(graphs, y_encoded))
        known = one_hot(y_encoded, len(self.classes_))
        roughness = laplacian(self.sparse_graph_)
        evidence = far_smoothed_labels(roughness, roughness.diagonal(), known)
        self.label_distributions_ = normalize_rows(evidence, class_frequencies(y_encoded))
        self.n_unreached_ = int(np.sum(evidence.max(axis=1) <= 0))

    def _sparsify(self, graph: sparse.csr_array) -> sparse.csr_array:
        """Learn the threshold, and apply it to the graph."""
        device = pick_device(self.device)
        # Equal entries end equal: each value is passed once, with the number of its entries.
        values, places, counts = np.unique(graph.data, return_inverse=True, return_counts=True)
        weights = torch.from_numpy(values).to(device)
        network = SparseRegularizer(self.n_layers).to(device)
        shown = epoch_progress(self.n_epochs) if self.verbose else nullcontext()
        with shown as on_epoch:
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
        if not np.all(shrunk >= 0):  # NaN, too
            raise InputError(
                "training diverged: the learned graph has weights below 0 or beyond all bounds. "
                f"Lower learning_rate; got {self.learning_rate}."
            )
        self.slopes_, self.knots_ = slopes.numpy(force=True).copy(), knots.numpy(force=True).copy()
        self.step_ = network.step.item()
        sparser = sparse.csr_array((shrunk[places], graph.indices, graph.indptr), graph.shape)
        sparser.eliminate_zeros()
        return sparser
