"""MGCNDNSClassifier: several views in, labels out, by scikit-learn's rules."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MethodCard
from manyview.callbacks.tasks import FitTasks
from manyview.data.checksums import views_checksum
from manyview.data.labels import class_weights
from manyview.data.network_input import InputScaling
from manyview.data.scaling import Scaling, ViewScaler
from manyview.data.views import MultiView
from manyview.estimators.calibration import Calibration, InterruptedFitError, calibrate_or_warn
from manyview.estimators.constraints import check_parameters
from manyview.estimators.fit_memory import check_fit_memory
from manyview.estimators.mixins import EmbeddingClassifier
from manyview.estimators.warm_start import ENOUGH, LearnedWeights, fixed_settings, weights_of
from manyview.graphs.knn_graph import is_approximate
from manyview.graphs.prepare import pick_n_neighbors
from manyview.graphs.scaling_choice import AUTO, USUAL
from manyview.layers.fusion import mixing_weights, view_importance
from manyview.layers.node_selection import NodeSelection
from manyview.network.inductive import Attachment, FeatureAnchor, GraphAnchor, SelectionRule, attach
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs, build_network
from manyview.network.prepared import Ground, shared_ground, tell_recalls
from manyview.network.training import TrainingCurve, Watch, pick_device, train_on_codes
from manyview.numerics import softmax
from manyview.self_training.loop import Round, Taught, Teaching, Turn
from manyview.validation import draw_seed


class MGCNDNSClassifier(EmbeddingClassifier):
    """Label all samples of a multi-view data set from a few known labels.

    Multi-view graph convolutional network with differentiable node selection (MGCN-DNS).

    Parameters
    ----------
    recipe
        "few-labels" lets the answers of a linear classifier teach a network and those of that
        network the next, cleaned by the neighbours' answers, the classes' expected shares and the
        agreement in each view (see `manyview.self_training.pseudo_labels`). All networks but the
        last are plain, without graph learning and node selection. "paper" trains one network on
        the labels alone, as the paper does.
    max_rounds
        Networks taught so, one after the other; fewer where answers have settled. 0 is as "paper".
    class_shares
        What tells the networks how large the classes are: "labels", where they have each class in
        about its share of all samples, as drawing class by class gives them, and where the graphs
        do not speak against it; "answers", where labels were picked in another way, as those of a
        warm start are always taken to be.
    joint_graph
        Whether the networks that teach have one graph more: each sample's nearest in all views
        together. The last network, which answers, has those of the views, as in the paper.
    linear_teacher
        Whether a linear classifier of features spread over the graphs teaches the first network;
        otherwise that is a plain network more.
    n_neighbors
        Neighbours k in each view's graph; "auto" takes 10 to 20, the more the fewer samples are
        labeled, and less where classes are small (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each. "auto" takes "standard" for views whose neighbours
        the other views then confirm more often, and "unit" for the others; no label is looked at
        (see `choose_scalings`). By the paper's recipe it is "unit".
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    min_common_neighbors
        Edges whose ends share fewer neighbours are removed.
    neighbor_search
        "exact" compares all pairs of samples; "approximate" finds most neighbours of very many
        samples (needs `pip install 'manyview[scale]'`), how many is in `neighbor_recall_`; "auto"
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
    calibration
        None leaves the probabilities as the network gives them; "temperature" hides some labels,
        fits without them, and scales the logits so that the hidden ones are likeliest. Answers
        stay the same.
    calibration_folds
        Number of such fits, each as long as the fit itself: one hides a third of the labels,
        three hide each label once. "auto" takes one, and three where that would hide fewer than
        30 labels.
    device
        "auto" takes a GPU where there is one.
    max_memory
        GB that a fit may use; "auto" is what is free. A fit that needs more is refused before
        it starts.
    warm_start
        Whether a second `fit` on the same samples goes on from the learned weights and graphs,
        for when labels were added: about a third of the epochs, and answers as good. "auto" then
        keeps the k of the first fit. Classes may be added too.
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
    training_curve_ : loss and accuracy on the labeled samples by epoch, of the last network
    rounds_ : list of `Round`, one for each network that was taught
    temperature_ : float, what logits are divided by; 1 by the paper's recipe without calibration
    calibration_ : the held-out labels and their logits, None without calibration
    given_codes_ : [sample], class number of the label it came with, -1 without one
    n_neighbors_ : int, the k that was used
    scaling_ : dict of view -> the scaling that was used
    neighbor_recall_ : dict of view -> share of the true neighbours found; 1 if searched exactly
    learned_weights_ : what a warm start goes on from, None without `warm_start`
    is_labeled_ : [sample], whether its label was given
    embedding_ : [sample, hidden], what the last convolution gets
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
        Calibration,
        FeatureAnchor,
        GraphAnchor,
        InputScaling,
        LearnedWeights,
        Round,
        SelectionRule,
        TrainingCurve,
        ViewScaler,
    )

    takes_missing_views = True
    learned_weights_: LearnedWeights | None = None
    _watch: Watch | None = None
    # What models saved before these existed have.
    temperature_: float = 1.0
    calibration_: Calibration | None = None
    rounds_: list[Round] = []  # noqa: RUF012
    _kept_ground: dict[Any, Any] | None = None  # of the last fit with a warm start

    def __init__(
        self,
        *,
        recipe: str = "few-labels",
        max_rounds: int = 2,
        class_shares: str = "labels",
        joint_graph: bool = True,
        linear_teacher: bool = True,
        n_neighbors: int | str = "auto",
        metric: str = "cosine",
        scaling: Scaling = "auto",
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
        calibration: str | None = None,
        calibration_folds: int | str = "auto",
        device: str = "auto",
        max_memory: float | str = "auto",
        warm_start: bool = False,
        verbose: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.recipe = recipe
        self.max_rounds = max_rounds
        self.class_shares = class_shares
        self.joint_graph = joint_graph
        self.linear_teacher = linear_teacher
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
        self.calibration = calibration
        self.calibration_folds = calibration_folds
        self.device = device
        self.max_memory = max_memory
        self.warm_start = warm_start
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

    def _check_parameters(self, views: MultiView) -> None:
        check_parameters(self.get_params(deep=False), views)

    def _learn(self, views: MultiView, codes: np.ndarray) -> None:
        device = pick_device(self.device)
        generator = torch.Generator(device=device).manual_seed(draw_seed(self.random_state))
        earlier, checksum = self._earlier(views)
        self.n_neighbors_ = (
            pick_n_neighbors(self.n_neighbors, codes, len(self.classes_))
            if earlier is None
            else earlier.n_neighbors
        )
        check_fit_memory(
            views,
            self.card.title,
            self.max_memory,
            verbose=self.verbose,
            n_neighbors=self.n_neighbors_,
            n_classes=len(self.classes_),
            hidden=self.hidden,
            n_layers=self.n_layers,
            graph_learning=self.graph_learning,
            joint_graph=self._has_joint_graph(),
        )
        ground = self._ground(views, generator)
        inputs = ground.inputs
        taught = self._fit_in_rounds(
            ground, codes, generator, earlier=earlier, watch=self._watch, tasks=self._tasks
        )
        network, self.training_curve_, self.rounds_ = taught.network, taught.curve, taught.rounds
        if not taught.is_whole:  # a teacher, which may have learned on the joint graph, too
            network.fusion = network.fusion.of_first(len(ground.view_graphs))
        self.temperature_ = taught.temperature
        self._calibrate(ground, codes, generator)
        self._learn_from(network, inputs)
        self.learned_weights_ = None
        if self.warm_start and taught.is_whole:
            self.learned_weights_ = LearnedWeights(
                checksum,
                self._fixed_settings(),
                self.n_neighbors_,
                self.classes_,
                weights_of(network),
            )
        self.attachment_ = attach(
            ground.prepared,
            views.positions,
            network,
            inputs,
            input_scaling=ground.input_scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
        )

    def _earlier(self, views: MultiView) -> tuple[LearnedWeights | None, str]:
        """Return what a warm start goes on from, None for nothing, and the views' checksum."""
        if not self.warm_start:
            self._kept_ground = self.learned_weights_ = None
            return None, ""
        checksum = self.all_samples_ or views_checksum(views)
        earlier = self.learned_weights_
        if earlier is not None:
            earlier.check(checksum, self._fixed_settings())
        if earlier is None or self._kept_ground is None:
            self._kept_ground = {}
        return earlier, checksum

    def _ground(self, views: MultiView, generator: torch.Generator) -> Ground:
        """Lay the ground of the fit, or take it from an earlier one; set what it tells."""
        settings: dict[str, Any] = {
            "scaling": self._scaling(),
            "n_neighbors": self.n_neighbors_,
            "metric": self.metric,
            "symmetry": self.symmetry,
            "min_common_neighbors": self.min_common_neighbors,
            "search": self.neighbor_search,
            "cache_dir": self.cache_dir,
            "joint": self._has_joint_graph(),
        }
        if is_approximate(self.neighbor_search, len(views)):
            settings["seed"] = generator.initial_seed()
        shared = self._kept_ground if self._shared is None else self._shared
        ground = shared_ground(shared, views, generator.device, **settings)
        self.view_graphs_, self.neighbor_recall_ = ground.view_graphs, ground.prepared.recalls
        self.scaling_ = ground.prepared.scalings
        if self.verbose:
            tell_recalls(self.neighbor_recall_)
        return ground

    def _fixed_settings(self) -> dict[str, Any]:
        """Return what learned weights belong to; another recipe may scale otherwise."""
        return fixed_settings({**self.get_params(deep=False), "scaling": self._scaling()})

    def _scaling(self) -> Scaling:
        return self.scaling if self._has_rounds() or self.scaling != AUTO else USUAL

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_kept_ground", None)  # laid again where it is needed
        return state

    def _max_epochs(self) -> int:
        if not self._has_rounds():
            return self.max_epochs
        return self.max_epochs * (self.max_rounds + (not self.linear_teacher))

    def _fit_in_rounds(
        self,
        ground: Ground,
        codes: np.ndarray,
        generator: torch.Generator,
        *,
        earlier: LearnedWeights | None = None,
        **told: Any,
    ) -> Taught[MGCNDNS]:
        """Train by the recipe; set nothing."""
        teaching = Teaching(
            ground,
            codes,
            len(self.classes_),
            self._class_weights(codes),
            max_rounds=self.max_rounds if self._has_rounds() else 0,
            class_shares=self.class_shares,
            linear_teacher=self.linear_teacher,
            is_warm=earlier is not None,
        )

        def fit_network(
            inputs: NetworkInputs, own: torch.Generator, turn: Turn[MGCNDNS]
        ) -> tuple[MGCNDNS, TrainingCurve]:
            return self._fit_network(inputs, codes, own, turn, earlier=earlier, **told)

        return teaching.run(generator, fit_network)

    @property
    def n_networks_(self) -> int:
        """Number of networks that were trained one after the other, up to the one that answers."""
        return len(self.rounds_) + (not (self.rounds_ and self.linear_teacher))

    def _has_rounds(self) -> bool:
        return self.recipe != "paper" and self.max_rounds > 0

    def _has_joint_graph(self) -> bool:
        return self.joint_graph and self._has_rounds()

    def _class_weights(self, codes: np.ndarray) -> np.ndarray | None:
        return class_weights(self.class_weight, self.classes_, codes)

    def _fit_network(
        self,
        inputs: NetworkInputs,
        codes: np.ndarray,
        generator: torch.Generator,
        turn: Turn[MGCNDNS],
        *,
        earlier: LearnedWeights | None = None,
        watch: Watch | None = None,
        tasks: FitTasks | None = None,
    ) -> tuple[MGCNDNS, TrainingCurve]:
        """Train the network whose turn it is on class numbers, -1 where unknown; set nothing.

        Weights are drawn from the generator's seed, dropout from the generator. What is learned
        goes on from `earlier`, where it is given; otherwise a network that only teaches goes on
        from its teacher. `watch` gets the answers of every epoch, and `tasks` tells the callbacks.
        """
        network = self._build(inputs, generator, turn)
        if earlier is not None:
            earlier.start(network, network.layers()[-1].weight, self.classes_)
        elif turn.teacher is not None and not turn.is_last:
            network.convolutions.load_state_dict(turn.teacher.convolutions.state_dict())
        curve = train_on_codes(
            network,
            inputs,
            codes,
            generator=generator,
            watch=watch,
            tasks=tasks,
            enough=None if earlier is None else ENOUGH,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            max_epochs=self.max_epochs,
            tol=self.tol,
            class_weight=self._class_weights(codes),
            lesson=turn.lesson,
            kept_teacher=turn.teacher is not None,
            verbose=self.verbose,
        )
        return network, curve

    def _build(
        self, inputs: NetworkInputs, generator: torch.Generator, turn: Turn[MGCNDNS]
    ) -> MGCNDNS:
        """Make the network, with weights drawn from the generator's seed.

        One that only teaches is plain: it leaves the fused graph as it is.
        """
        n_graphs = inputs.view_weights.shape[1]
        return build_network(
            inputs,
            n_classes=len(self.classes_),
            graph_learning=self.graph_learning if turn.is_last else None,
            rank=self.rank,
            gamma=self.gamma,
            node_selection=self.node_selection if turn.is_last else None,
            n_selected=self.n_selected or self.n_neighbors_,
            tau=self.tau,
            initial_threshold=self.initial_threshold,
            rank_axis=self.rank_axis,
            ranking=self.ranking,
            hidden=self.hidden,
            n_layers=self.n_layers,
            dropout=self.dropout,
            seed=generator.initial_seed(),
            view_shares=None if turn.lesson is None else turn.lesson.shares_of(n_graphs),
        ).to(generator.device)

    def _calibrate(self, ground: Ground, codes: np.ndarray, generator: torch.Generator) -> None:
        """Correct the temperature, by fits on the same graphs that do not see all labels."""
        self.calibration_ = None
        if self.calibration is None:
            return
        seed = generator.initial_seed()

        def logits_of(shown: np.ndarray, fold: int) -> np.ndarray:
            own = torch.Generator(device=generator.device).manual_seed(seed + 1 + fold)
            with catch_warnings():
                simplefilter("ignore", ConvergenceWarning)  # said of the calibration as a whole
                taught = self._fit_in_rounds(ground, shown, own)
            if taught.curve.stopped == "interrupted":
                raise InterruptedFitError
            with torch.no_grad():
                logits = taught.network(*ground.inputs).cpu().numpy()
                return np.asarray(logits) / taught.temperature

        found = calibrate_or_warn(
            codes,
            self.calibration_folds,
            np.random.default_rng(seed),
            logits_of,
            was_interrupted=self.training_curve_.stopped == "interrupted",
        )
        if found is not None:
            self.calibration_ = found
            self.temperature_ *= found.temperature

    def _label_new(self, views: MultiView) -> np.ndarray:
        return softmax(self.attachment_.logits(views) / self.temperature_)

    @torch.no_grad()
    def _learn_from(self, network: MGCNDNS, inputs: NetworkInputs) -> None:
        """Set the learned attributes from one pass without dropout."""
        support, view_weights, features, center = inputs
        graphs = network.graphs(support, view_weights)
        logits = network.convolve(support, graphs.selected, features, center)
        self.label_distributions_ = softmax(logits.cpu().numpy() / self.temperature_)
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
