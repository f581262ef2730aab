"""The losses of a training: cross-entropy on labels, Eq. (19), and divergence from soft targets."""

import torch
from torch import Tensor, nn


def labeled_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    class_weight: Tensor | None = None,
    total_weight: Tensor | None = None,
) -> Tensor:
    """Mean cross-entropy of the labeled samples: L, Eq. (19).

    The paper sums. The mean differs by a constant factor, which Adam ignores, and makes the
    convergence tolerance independent of the number of labels.

    Shapes
    ------
    logits : [labeled sample, class]
    labels : [labeled sample], class numbers
    class_weight : [class]
    total_weight : scalar, the weight of all labels where these are some of them
    """
    if total_weight is None:
        return nn.functional.cross_entropy(logits, labels, weight=class_weight)
    total = nn.functional.cross_entropy(logits, labels, weight=class_weight, reduction="sum")
    return total / total_weight


def distillation_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    target_terms: Tensor | None = None,
    total_weight: Tensor | None = None,
) -> Tensor:
    """Weighted mean Kullback-Leibler divergence of the predictions from soft targets.

        sum_i w_i sum_c t_ic log(t_ic / p_ic) / sum_i w_i

    Shapes
    ------
    logits, targets : [sample, class]
    weights : [sample]
    target_terms : [sample, class], t log t if already computed
    total_weight : scalar, the weight of all samples where these are some of them
    """
    if target_terms is None:
        target_terms = torch.xlogy(targets, targets)
    divergence = target_terms - targets * logits.log_softmax(dim=1)
    total_weight = weights.sum() if total_weight is None else total_weight
    return weights @ divergence.sum(dim=1) / total_weight
