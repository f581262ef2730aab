"""Common parts of all baselines: parameters, constraints and a convergence warning."""

from dataclasses import dataclass
from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MultiViewClassifier
from manyview.data.scaling import Scaling, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import warn_user
from manyview.graphs.prepare import check_n_neighbors
from manyview.validation import Choice, Constraint, Number, OrChoice, RandomState, WholeNumber

# Constraints that several methods declare.
POSITIVE_INT = WholeNumber(at_least=1)
POSITIVE = Number(above=0)
NON_NEGATIVE = Number(at_least=0)
FLAG = Choice((True, False))
AUTO_OR_POSITIVE_INT = OrChoice(("auto",), POSITIVE_INT)
ITERATIONS: dict[str, Constraint] = {"max_iter": POSITIVE_INT, "tol": NON_NEGATIVE}
TRAINING: dict[str, Constraint] = {
    "learning_rate": POSITIVE,
    "weight_decay": NON_NEGATIVE,
    "verbose": FLAG,
}


@dataclass(kw_only=True, eq=False, repr=False)
class Baseline(MultiViewClassifier):
    """Base of all baselines.

    A baseline is a dataclass: its fields are its parameters, and the generated constructor
    stores them, as scikit-learn asks.

    Parameters
    ----------
    scaling
        "unit", "standard", "columns", "rank", "rows", "tfidf" or "none" (see `fit_scaler`): one
        word for all views, or a list or a dict by name with one word per view.
    missing
        "error" refuses single NaNs; "impute" fills them with the mean of their column in the fit.
    random_state
        Seed; the same seed gives the same result. Methods that draw nothing ignore it.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], the label of every fitted sample
    label_distributions_ : [sample, class], the class probabilities of every fitted sample
    """

    scaling: Scaling = "unit"
    missing: str = "error"
    random_state: RandomState = None

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        scaling_by_view(self.scaling, views)

    def _warn_not_converged(self, max_iter: int) -> None:
        warn_user(
            f"{self.card.title} did not converge in max_iter={max_iter} iterations; raise "
            "max_iter or tol.",
            ConvergenceWarning,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborBaseline(Baseline):
    """Base of the iterative methods that take fewer neighbors than there are samples."""

    n_neighbors: int
    max_iter: int
    tol: float

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "n_neighbors": POSITIVE_INT,
        **ITERATIONS,
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_n_neighbors(self.n_neighbors, len(views), auto=False)
