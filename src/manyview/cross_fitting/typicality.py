"""How typical labeled samples are of the unlabeled ones: weights for estimates.

Labels that were picked, say by `propose` or in the browser, are those of hard samples: fits that
do not see them are less sure of them than of the unlabeled samples. Weights make up for it:

    w_i = p(c_i | unlabeled) / p(c_i | labeled),      c_i  how sure a held-out fit is of sample i

the ratio of two densities of sureness, by logistic regression of which of the two a sample is.
Where a test does not tell the two apart, as for labels drawn at random, all weights are 1.
"""

import numpy as np
from scipy import stats

MAX_P_VALUE = 1e-3  # of the test that labeled and unlabeled samples are equally sure
CERTAIN = 1e-4  # probabilities are clipped to this distance from 0 and 1
PENALTY = 1.0  # of the regression's squared weight, for sureness of unit variance


def typicality_weights(labeled: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
    """Return how much each label counts in an estimate for the unlabeled samples: [label].

    Weights sum to the number of equally weighted labels that would say as much (Kish's effective
    sample size), so that an interval is as wide as it has to be.

    Shapes
    ------
    labeled : [label], probability of the class that a fit without the label predicts
    unlabeled : [sample], the same of unlabeled samples

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure, unsure = rng.uniform(0.8, 1, size=500), rng.uniform(0.4, 0.9, size=40)
    >>> float(typicality_weights(sure[:40], sure).sum())
    40.0
    >>> bool(typicality_weights(unsure, sure).sum() < 40)
    True
    """
    n_labels = len(labeled)
    weights = np.ones(n_labels)
    if not n_labels or not len(unlabeled):
        return weights
    one, other = _log_odds(labeled), _log_odds(unlabeled)
    if stats.mannwhitneyu(one, other).pvalue >= MAX_P_VALUE:
        return weights
    from sklearn.linear_model import LogisticRegression

    both = np.concatenate([one, other])
    scaled = ((both - both.mean()) / both.std())[:, None]
    is_unlabeled = np.arange(len(both)) >= n_labels
    counted = np.where(is_unlabeled, n_labels / len(other), 1.0)
    model = LogisticRegression(C=1 / PENALTY).fit(scaled, is_unlabeled, sample_weight=counted)
    weights = np.exp(model.decision_function(scaled[:n_labels]))
    return np.asarray(weights * (weights.sum() / (weights @ weights)))


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    clipped = np.clip(probabilities.astype(np.float64), CERTAIN, 1 - CERTAIN)
    return np.asarray(np.log(clipped / (1 - clipped)))
