"""KNN: a vote among the nearest labeled samples."""

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._concat import JoinedViews, few_labels_a_class, join_views
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN
from manyview.data.scaling import Scaling, ViewScaler, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.validation import check_choice, check_whole_number

MOST_VOTERS = 5


class KNNClassifier(MultiViewClassifier):
    """Give each sample the class of most of its nearest labeled samples. k-nearest neighbors.

    The scaled views stand side by side, the distance is Euclidean, every neighbor has one
    vote, and a tie goes to the first class of `classes_`. Unlabeled samples teach it nothing.
    A labeled sample is its own nearest neighbor, and the others may outvote it.

    Parameters
    ----------
    n_neighbors
        Number of voters; "auto" takes 5, or fewer where classes have fewer labels (see
        `choose_n_voters`). Where fewer samples are labeled, all of them vote.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each. "none" is what the paper seems to have done.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], shares of the votes
    n_neighbors_ : int, the number of voters
    labeled_features_, labeled_codes_ : the voters, scaled, and their class numbers

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> KNNClassifier().fit(views, ["low", None, "high", None]).transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="knn",
        title="KNN",
        paper="Cover, Hart: Nearest neighbor pattern classification. IEEE Transactions on "
        "Information Theory",
        year=1967,
        cost="l x m x d",
    )
    record_types = (JoinedViews, ViewScaler)
    takes_graphs = False

    def __init__(
        self,
        *,
        n_neighbors: int | str = "auto",
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_n_voters(self.n_neighbors)
        scaling_by_view(self.scaling, views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.joined_, table = join_views(views, self.scaling)
        is_labeled = y_encoded != UNKNOWN
        self.labeled_features_, self.labeled_codes_ = table[is_labeled], y_encoded[is_labeled]
        self.n_neighbors_ = n_voters(self.n_neighbors, is_labeled.sum(), len(self.classes_))
        self.label_distributions_ = self._votes(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._votes(self.joined_(views))

    def _votes(self, table: View) -> np.ndarray:
        return vote_shares(
            table,
            self.labeled_features_,
            self.labeled_codes_,
            n_neighbors=self.n_neighbors_,
            n_classes=len(self.classes_),
        )


def vote_shares(
    queries: View,
    voters: View,
    voter_codes: np.ndarray,
    *,
    n_neighbors: int,
    n_classes: int,
) -> np.ndarray:
    """Share of each class among the nearest voters of each query: [query, class].

    Examples
    --------
    >>> voters, y_encoded = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> vote_shares(np.array([[0.2]]), voters, y_encoded, n_neighbors=2, n_classes=2)
    array([[0.5, 0.5]])
    """
    # Neighbors do not depend on the unit of length, and squares of tiny ones would vanish.
    values = voters.data if isinstance(voters, sparse.csr_array) else voters
    factor = 1.0 / (float(np.abs(values).max(initial=0.0)) or 1.0)
    vote = KNeighborsClassifier(n_neighbors=n_neighbors, algorithm="brute")
    with few_labels_a_class():
        vote.fit(voters.astype(np.float64) * factor, voter_codes)
    shares = np.zeros((queries.shape[0], n_classes))
    shares[:, vote.classes_] = vote.predict_proba(queries.astype(np.float64) * factor)
    return shares


def choose_n_voters(n_labeled: int, n_classes: int) -> int:
    """Choose an odd number of voters, at most 5 and at most a class's mean number of labels.

    A class cannot win a vote among more neighbors than it has labels, and with an even
    number two classes tie: with two voters every disagreement would go to the first class.

    Examples
    --------
    >>> [choose_n_voters(n_labeled, 10) for n_labeled in (10, 20, 30, 200)]
    [1, 1, 3, 5]
    """
    most = max(1, min(MOST_VOTERS, n_labeled // n_classes))
    return most - 1 if most % 2 == 0 else most


def n_voters(n_neighbors: int | str, n_labeled: int, n_classes: int) -> int:
    """Resolve `n_neighbors`: as chosen when "auto", as given else, but never above all."""
    if n_neighbors == "auto":
        return choose_n_voters(int(n_labeled), n_classes)
    return min(int(n_neighbors), int(n_labeled))


def check_n_voters(n_neighbors: object) -> None:
    """Refuse a number of voters that is neither "auto" nor at least 1."""
    if isinstance(n_neighbors, str):
        check_choice("n_neighbors", n_neighbors, ("auto",))
    else:
        check_whole_number("n_neighbors", n_neighbors, at_least=1)
