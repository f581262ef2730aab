"""KNN: a vote among the nearest labeled samples."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from manyview.baselines.bases.baseline import AUTO_OR_POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.concatenated import ConcatenatedViewsClassifier, many_classes_allowed
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView, View
from manyview.validation import Constraint

MAX_VOTERS = 5


@dataclass(kw_only=True, eq=False, repr=False)
class KNNClassifier(ConcatenatedViewsClassifier):
    """Assign each sample the majority class of its nearest labeled samples. k-nearest neighbors.

    Distances are Euclidean on the concatenated scaled views, every neighbor has one vote, and
    a tie goes to the first class of `classes_`. Unlabeled samples are not used in training. A
    labeled sample is its own nearest neighbor, and the others may outvote it.

    Parameters
    ----------
    n_neighbors
        Number of voters; "auto" takes 5, or fewer where classes have fewer labels (see
        `choose_n_voters`). Where fewer samples are labeled, all of them vote.
    scaling
        See `Baseline`. The paper seems to have used "none".
    random_state
        Unused: nothing is drawn.

    Attributes
    ----------
    label_distributions_ : [sample, class], fractions of the votes
    n_neighbors_ : int, the number of voters
    labeled_features_, labeled_y_ : scaled features and class numbers of the voters

    Examples
    --------
    >>> model = KNNClassifier(n_neighbors=1).fit([[0.0], [2.0], [8.0]], ["low", None, "high"])
    >>> model.predict([[1.0], [9.0]]).tolist()
    ['low', 'high']
    """

    n_neighbors: int | str = "auto"

    card = CARDS["knn"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {"n_neighbors": AUTO_OR_POSITIVE_INT}

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        table = self._concatenate(views)
        is_labeled = y_encoded != UNKNOWN
        self.labeled_features_, self.labeled_y_ = table[is_labeled], y_encoded[is_labeled]
        self.n_neighbors_ = n_voters(self.n_neighbors, is_labeled.sum(), len(self.classes_))
        self.label_distributions_ = self._votes(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._votes(self.concatenator_(views))

    def _votes(self, table: View) -> np.ndarray:
        voters, n_classes = self.labeled_features_, len(self.classes_)
        return vote_fractions(table, voters, self.labeled_y_, self.n_neighbors_, n_classes)


def vote_fractions(
    queries: View, voters: View, voter_y: np.ndarray, n_neighbors: int, n_classes: int
) -> np.ndarray:
    """Return the fraction of each class among the nearest voters: [query, class].

    Examples
    --------
    >>> voters, y_encoded = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> vote_fractions(np.array([[0.2]]), voters, y_encoded, 2, 2)
    array([[0.5, 0.5]])
    """
    # Rescaling keeps the neighbors the same and the squares of tiny features above 0.
    values = voters.data if isinstance(voters, sparse.csr_array) else voters
    factor = 1.0 / (float(np.abs(values).max(initial=0.0)) or 1.0)
    vote = KNeighborsClassifier(n_neighbors=n_neighbors, algorithm="brute")
    with many_classes_allowed():
        vote.fit(voters.astype(np.float64) * factor, voter_y)
    fractions = np.zeros((queries.shape[0], n_classes))
    fractions[:, vote.classes_] = vote.predict_proba(queries.astype(np.float64) * factor)
    return fractions


def choose_n_voters(n_labeled: int, n_classes: int) -> int:
    """Choose an odd number of voters, at most 5 and at most the mean number of labels per class.

    A class cannot win a vote among more neighbors than it has labels, and an even number
    allows ties: with two voters every disagreement would go to the first class.

    Examples
    --------
    >>> [choose_n_voters(n_labeled, 10) for n_labeled in (10, 20, 30, 200)]
    [1, 1, 3, 5]
    """
    most = max(1, min(MAX_VOTERS, n_labeled // n_classes))
    return most - 1 if most % 2 == 0 else most


def n_voters(n_neighbors: int | str, n_labeled: int, n_classes: int) -> int:
    """Resolve "auto" by `choose_n_voters`, and limit a number to the number of labels."""
    if n_neighbors == "auto":
        return choose_n_voters(int(n_labeled), n_classes)
    return min(int(n_neighbors), int(n_labeled))
