"""Scores of classes made into probabilities whose largest is the score's largest."""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Turn each row of logits into probabilities.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def share_out(evidence: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """Scale each row of evidence, none of it negative, to a sum of 1.

    A sample that no evidence reaches, a row of zeros, gets the `fallback`: the shares of the
    classes among the labeled samples.

    Examples
    --------
    >>> share_out(np.array([[3.0, 1.0], [0.0, 0.0]]), fallback=np.array([0.4, 0.6]))
    array([[0.75, 0.25],
           [0.4 , 0.6 ]])
    """
    evidence = np.maximum(evidence, 0.0)
    totals = evidence.sum(axis=1, keepdims=True)
    # Dividing by the largest first keeps rows of tiny numbers from vanishing.
    scaled = evidence / np.maximum(evidence.max(axis=1, keepdims=True), np.finfo(float).tiny)
    shares = scaled / np.maximum(scaled.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.where(totals > 0, shares, fallback))
