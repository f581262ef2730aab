"""MGCNDNSClassifier: several views in, labels out, by scikit-learn's rules."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from manyview.contract import MethodCard, MultiViewClassifier
from manyview.data.inputs import InputScaling, fit_input
from manyview.data.labels import class_weights
from manyview.data.scaled_views import Scaling, scaling_by_view
from manyview.data.scaling import ViewScaler
from manyview.data.views import MultiView
from manyview.distributions import softmax
from manyview.errors import check_choice
from manyview.fit_memory import memory_of_fit
from manyview.graphs.cached_neighbors import check_cache_dir
from manyview.graphs.knn_graph import check_search
from manyview.graphs.view_graphs import check_n_neighbors, pick_n_neighbors, prepare_views
from manyview.layers.fusion import mixing_weights, view_importance
from manyview.layers.node_selection import NodeSelection
from manyview.memory import check_max_memory, check_memory
from manyview.network import MGCNDNS, NetworkInputs, build_network, network_inputs
from manyview.new_samples import (
    Attachment,
    FeatureAnchor,
    GraphAnchor,
    SelectionRule,
    attach,
)
from manyview.parameters import check_number, check_whole_number, draw_seed
from manyview.progress import tell
from manyview.training import TrainingCurve, Watch, pick_device, train_on_codes


class MGCNDNSClassifier(MultiViewClassifier):
    """Label all samples of a multi-view data set from a few known labels.

    Multi-view graph convolutional network with differentiable node selection (MGCN-DNS).

    Parameters
    ----------
    n_neighbors
        Neighbours k in each view's graph; "auto" takes 10 to 20, the more the fewer samples are
        labeled, and less where classes are small (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    min_common_neighbors
        Edges whose ends share fewer neighbours are removed.
    neighbor_search
        "exact" compares all pairs of samples; "approximate" finds most neighbours of very many
        samples (needs `pip install manyview[scale]`), how many is in `neighbor_recall_`; "auto"
        is exact up to 30,000 samples.
    missing
        "error" refuses single NaNs; "impute" fills them with the mean of their column. A row that
        is NaN throughout is a sample that lacks the view: it is left out of that view.
    cache_dir
        A folder to keep neighbours in: later fits on the same views take them from there.
    graph_learning
        "edge" learns one gate an edge, "low-rank" two factors of `rank` columns, "full" the
        paper's m x m factors, None no gates.
    rank
        Columns of the factors of "low-rank".
    node_selection
        "differentiable", "top-k" (keeps `n_selected` edges a sample, without a gradient), or
        None.
    n_selected
        Edges a sample keeps under "top-k"; None takes the number of neighbours.
    rank_axis
        "rows", or "as-printed" to take Eq. (12) literally (see `docs/departures.md`).
    ranking
        How node selection ranks: "exact" computes every rank, "fast" a few that stand for all,
        with an error below 1e-4 of the confidence; "auto" takes the faster.
    gamma
        How fast a gate saturates.
    tau
        Softness of the ranking in node selection.
    initial_threshold
        Where the learned threshold of node selection starts, between 0 and 1.
    hidden
        Width of the hidden layers.
    n_layers
        Number of graph convolutions.
    dropout
        Share of the hidden features dropped while training.
    learning_rate, weight_decay
        Of Adam.
    max_epochs
        Training stops here at the latest.
    tol
        Training stops when ten epochs lower the mean loss by less than this.
    class_weight
        None, "balanced", or a dict of class -> weight.
    device
        "auto" takes a GPU where there is one.
    max_memory
        GB that a fit may use; "auto" is what is free. A fit that needs more is refused before
        it starts.
    verbose
        Whether to show progress on the error stream.
    random_state
        Seed; the same seed gives the same result.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    view_importance_ : [view], share of each view; sums to 1
    mixing_weights_ : [view, view], share of each view (column) in each mixture (row)
    view_graphs_ : list of CSR, each view's renormalised graph
    fused_graph_, refined_graph_, selected_graph_ : CSR, the graph after each stage
    edge_gates_ : CSR, learned gate of each edge, None without graph learning
    node_confidence_ : [sample], None without differentiable selection
    threshold_ : float, None without differentiable selection
    training_curve_ : loss and accuracy on the labeled samples by epoch
    n_neighbors_ : int, the k that was used
    neighbor_recall_ : dict of view -> share of the true neighbours found; 1 if searched exactly
    view_names_, n_features_in_, n_features_by_view_

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 1.0, -1.0)[:, None]
    >>> views = {"sound": centers + rng.normal(size=(40, 3)),
    ...          "shape": centers * [1, -1] + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = MGCNDNSClassifier(random_state=0).fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    card = MethodCard(
        name="mgcn-dns",
        title="MGCN-DNS",
        paper="Chen, Fu, Xiao, Wang, Plant, Guo: Multi-view graph convolutional networks with "
        "differentiable node selection. TKDD",
        year=2023,
        cost="edges x hidden an epoch; m log m for the ranking",
    )
    record_types = (
        Attachment,
        FeatureAnchor,
        GraphAnchor,
        InputScaling,
        SelectionRule,
        TrainingCurve,
        ViewScaler,
    )

    takes_missing_views = True
    _watch: Watch | None = None

    def __init__(
        self,
        *,
        n_neighbors: int | str = "auto",
        metric: str = "cosine",
        scaling: Scaling = "unit",
        symmetry: str = "union",
        min_common_neighbors: int = 0,
        neighbor_search: str = "auto",
        missing: str = "error",
        cache_dir: str | Path | None = None,
        graph_learning: str | None = "edge",
        rank: int = 16,
        node_selection: str | None = "differentiable",
        n_selected: int | None = None,
        rank_axis: str = "rows",
        ranking: str = "auto",
        gamma: float = 1.0,
        tau: float = 1.0,
        initial_threshold: float = 0.007,
        hidden: int = 64,
        n_layers: int = 2,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 0.0,
        max_epochs: int = 200,
        tol: float = 2e-3,
        class_weight: str | Mapping[Any, float] | None = None,
        device: str = "auto",
        max_memory: float | str = "auto",
        verbose: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scaling = scaling
        self.symmetry = symmetry
        self.min_common_neighbors = min_common_neighbors
        self.neighbor_search = neighbor_search
        self.missing = missing
        self.cache_dir = cache_dir
        self.graph_learning = graph_learning
        self.rank = rank
        self.node_selection = node_selection
        self.n_selected = n_selected
        self.rank_axis = rank_axis
        self.ranking = ranking
        self.gamma = gamma
        self.tau = tau
        self.initial_threshold = initial_threshold
        self.hidden = hidden
        self.n_layers = n_layers
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.tol = tol
        self.class_weight = class_weight
        self.device = device
        self.max_memory = max_memory
        self.verbose = verbose
        self.random_state = random_state

    @contextmanager
    def watch_answers(self, watch: Callable[[np.ndarray], None]) -> Iterator[None]:
        """Hand out every sample's label after each epoch of a `fit` in this block."""
        self._watch = lambda codes: watch(self.classes_[codes])
        try:
            yield
        finally:
            self._watch = None

    def _learn(self, views: MultiView, codes: np.ndarray) -> None:
        device = pick_device(self.device)
        generator = torch.Generator(device=device).manual_seed(draw_seed(self.random_state))
        self.n_neighbors_ = pick_n_neighbors(self.n_neighbors, codes, len(self.classes_))
        self._check_memory(views)
        prepared = prepare_views(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
            symmetry=self.symmetry,
            min_common_neighbors=self.min_common_neighbors,
            search=self.neighbor_search,
            seed=generator.initial_seed(),
            cache_dir=self.cache_dir,
        )
        self.neighbor_recall_ = prepared.recalls
        if self.verbose and min(prepared.recalls.values(), default=1.0) < 1:
            found = ", ".join(f"{share:.1%} in {name}" for name, share in prepared.recalls.items())
            tell(f"true neighbours found: {found}")
        self.view_graphs_ = prepared.renormalized()
        features = list(prepared.features.values())
        present = prepared.present_features()
        input_scaling = fit_input(features, present) if features else None
        inputs = network_inputs(self.view_graphs_, features, input_scaling, device, present)
        network = build_network(
            inputs,
            n_classes=len(self.classes_),
            graph_learning=self.graph_learning,
            rank=self.rank,
            gamma=self.gamma,
            node_selection=self.node_selection,
            n_selected=self.n_selected or self.n_neighbors_,
            tau=self.tau,
            initial_threshold=self.initial_threshold,
            rank_axis=self.rank_axis,
            ranking=self.ranking,
            hidden=self.hidden,
            n_layers=self.n_layers,
            dropout=self.dropout,
            seed=generator.initial_seed(),
        ).to(device)
        self.training_curve_ = train_on_codes(
            network,
            inputs,
            codes,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            max_epochs=self.max_epochs,
            tol=self.tol,
            class_weight=class_weights(self.class_weight, self.classes_, codes),
            generator=generator,
            verbose=self.verbose,
            watch=self._watch,
        )
        self._learn_from(network, inputs)
        self.attachment_ = attach(
            prepared,
            views.positions,
            network,
            inputs,
            input_scaling=input_scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
        )

    def _label_new(self, views: MultiView) -> np.ndarray:
        return softmax(self.attachment_.logits(views))

    def _check_parameters(self, views: MultiView) -> None:
        check_n_neighbors(self.n_neighbors, len(views))
        check_choice("metric", self.metric, ("cosine", "euclidean"))
        scaling_by_view(self.scaling, views)
        check_choice("symmetry", self.symmetry, ("union", "mutual"))
        check_search(self.neighbor_search, len(views))
        check_cache_dir(self.cache_dir)
        check_max_memory(self.max_memory)
        check_choice("graph_learning", self.graph_learning, ("edge", "low-rank", "full", None))
        check_choice("node_selection", self.node_selection, ("differentiable", "top-k", None))
        check_choice("rank_axis", self.rank_axis, ("rows", "as-printed"))
        check_choice("ranking", self.ranking, ("auto", "exact", "fast"))
        check_whole_number("min_common_neighbors", self.min_common_neighbors, at_least=0)
        if self.n_selected is not None:
            check_whole_number("n_selected", self.n_selected, at_least=1)
        for name in ("rank", "hidden", "n_layers", "max_epochs"):
            check_whole_number(name, getattr(self, name), at_least=1)
        for name in ("gamma", "tau", "learning_rate"):
            check_number(name, getattr(self, name), above=0)
        for name in ("weight_decay", "tol"):
            check_number(name, getattr(self, name), at_least=0)
        check_number("initial_threshold", self.initial_threshold, above=0, below=1)
        check_number("dropout", self.dropout, at_least=0, below=1)

    def _check_memory(self, views: MultiView) -> None:
        """Say how much memory the fit will need, and refuse it where there is less."""
        needed = memory_of_fit(
            views,
            n_neighbors=self.n_neighbors_,
            n_classes=len(self.classes_),
            hidden=self.hidden,
            n_layers=self.n_layers,
            graph_learning=self.graph_learning,
        )
        what = f"{self.card.title} on {len(views):,} samples in {views.n_views} views"
        if self.verbose:
            tell(f"{what} needs about {needed:.1f} GB of memory beside the data")
        way_out = "Lower n_neighbors or hidden"
        if self.graph_learning == "full":
            way_out = "Use graph_learning='edge'"
        check_memory(needed, self.max_memory, what, way_out)

    @torch.no_grad()
    def _learn_from(self, network: MGCNDNS, inputs: NetworkInputs) -> None:
        """Set the learned attributes from one pass without dropout."""
        support, view_weights, features, center = inputs
        graphs = network.graphs(support, view_weights)
        logits = network.convolve(support, graphs.selected, features, center)[-1]
        self.label_distributions_ = softmax(logits.cpu().numpy())
        mixing = mixing_weights(network.fusion.logits)
        self.mixing_weights_ = mixing.cpu().numpy()
        self.view_importance_ = view_importance(mixing).cpu().numpy()
        self.fused_graph_ = support.matrix_of(graphs.fused)
        self.refined_graph_ = support.matrix_of(graphs.refined)
        self.selected_graph_ = support.matrix_of(graphs.selected)
        self.edge_gates_ = self.node_confidence_ = self.threshold_ = None
        if network.graph_learning is not None:
            self.edge_gates_ = support.matrix_of(network.graph_learning.gates(support))
        if isinstance(network.node_selection, NodeSelection):
            confidence = network.node_selection.confidence(support, graphs.refined)
            self.node_confidence_ = confidence.cpu().numpy()
            self.threshold_ = network.node_selection.threshold.item()
