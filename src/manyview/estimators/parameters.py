"""Groups of parameters of the classifiers: the graphs, the paper's modules, training, calibration.

Each is a small object that stores its parameters; `graph=NeighborGraph(metric="euclidean")` and
`set_params(graph__metric="euclidean")` are the same.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from manyview.base.parameters import ParameterGroup
from manyview.data.views import MultiView
from manyview.graphs.knn_graph import check_search
from manyview.graphs.prepare import check_n_neighbors
from manyview.validation import Choice, Constraint, Number, OrChoice, WholeNumber


@dataclass(kw_only=True, repr=False)
class NeighborGraph(ParameterGroup):
    """How the neighbor graph of each view is built.

    Parameters
    ----------
    n_neighbors
        Neighbors k of each sample; "auto" takes 10 to 20, the more the fewer samples are
        labeled, and less where classes are small (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    min_common_neighbors
        Edges whose ends share fewer neighbors are removed.
    search
        "exact" compares all pairs of samples; "approximate" finds most neighbors of very many
        samples (needs `pip install 'manyview[scale]'`), the fraction found is in
        `neighbor_recall_`; "auto" is exact up to 30,000 samples.
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "metric": Choice(("cosine", "euclidean")),
        "symmetry": Choice(("union", "mutual")),
        "min_common_neighbors": WholeNumber(at_least=0),
    }

    n_neighbors: int | str = "auto"
    metric: str = "cosine"
    symmetry: str = "union"
    min_common_neighbors: int = 0
    search: str = "auto"

    def check_for(self, views: MultiView, prefix: str = "graph") -> None:
        """Refuse parameters that break a rule, or do not fit the number of samples."""
        check_n_neighbors(self.n_neighbors, len(views))
        check_search(self.search, len(views))
        self.check(prefix)

    def settings(self, n_neighbors: int) -> dict[str, Any]:
        """Return the settings of `prepare_views`, with the k that was chosen."""
        return {**self.get_params(deep=False), "n_neighbors": n_neighbors}


@dataclass(kw_only=True, repr=False)
class GraphLearningConfig(ParameterGroup):
    """How edges of the fused graph are weighed, Eq. (8).

    Parameters
    ----------
    form
        "edge" learns one gate per edge, "low-rank" two factors of `rank` columns, "full" the
        paper's m x m factors; None learns no gates.
    rank
        Columns of the factors of "low-rank".
    gamma
        How fast a gate saturates.
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "form": Choice(("edge", "low-rank", "full", None)),
        "rank": WholeNumber(at_least=1),
        "gamma": Number(above=0),
    }

    form: str | None = "edge"
    rank: int = 16
    gamma: float = 1.0


@dataclass(kw_only=True, repr=False)
class NodeSelectionConfig(ParameterGroup):
    """How edges of low-ranking samples are removed, Eq. (9)-(16).

    Parameters
    ----------
    form
        "differentiable"; "top-k", which keeps `n_selected` edges per sample, without a gradient;
        or None, which keeps all.
    n_selected
        Edges per sample that "top-k" keeps; None takes the number of neighbors.
    tau
        Temperature of the soft ranking.
    initial_threshold
        Where the learned threshold starts, between 0 and 1.
    rank_axis
        "rows", or "as-printed" to take Eq. (12) literally (see `docs/departures.md`).
    ranking
        "exact" computes every rank, "fast" a few and interpolates, with an error below 1e-4 of
        the confidence; "auto" takes the faster.
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "form": Choice(("differentiable", "top-k", None)),
        "n_selected": OrChoice((None,), WholeNumber(at_least=1)),
        "tau": Number(above=0),
        "initial_threshold": Number(above=0, below=1),
        "rank_axis": Choice(("rows", "as-printed")),
        "ranking": Choice(("auto", "exact", "fast")),
    }

    form: str | None = "differentiable"
    n_selected: int | None = None
    tau: float = 1.0
    initial_threshold: float = 0.007
    rank_axis: str = "rows"
    ranking: str = "auto"


@dataclass(kw_only=True, repr=False)
class TrainingConfig(ParameterGroup):
    """Input, regularization and stopping of the training.

    Parameters
    ----------
    center_input
        Whether each view's mean row is subtracted from the network's input, and each view scaled
        to a mean row length of 1.
    dropout
        Fraction of the hidden features dropped while training.
    weight_decay
        Of Adam.
    tol
        Training stops when ten epochs lower the mean loss by less than this; None trains for
        `max_epochs`.
    averaged_epochs
        The fitted weights are the mean over about this many last epochs; 1 takes the last ones.
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "center_input": Choice((True, False)),
        "dropout": Number(at_least=0, below=1),
        "weight_decay": Number(at_least=0),
        "tol": OrChoice((None,), Number(at_least=0)),
        "averaged_epochs": WholeNumber(at_least=1),
    }

    center_input: bool = True
    dropout: float = 0.5
    weight_decay: float = 0.0
    tol: float | None = 2e-3
    averaged_epochs: int = 10


@dataclass(kw_only=True, repr=False)
class CalibrationConfig(ParameterGroup):
    """How probabilities are calibrated on held-out labels.

    Parameters
    ----------
    form
        "temperature" hides some labels, fits without them, and scales the logits so that the
        hidden ones are likeliest; no prediction changes. None leaves the probabilities as the
        network gives them.
    n_folds
        Number of such fits, each as long as the fit itself: one hides a third of the labels,
        three hide each label once. "auto" takes one, and three where that would hide fewer than
        30 labels.
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "form": Choice(("temperature", None)),
        "n_folds": OrChoice(("auto",), WholeNumber(at_least=1)),
    }

    form: str | None = "temperature"
    n_folds: int | str = "auto"
