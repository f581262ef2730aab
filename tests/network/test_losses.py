"""Losses by their sums, and parts of them that add up to the whole."""

import pytest
import torch

from manyview.network.losses import distillation_loss, labeled_cross_entropy


def test_loss_is_the_mean_over_labeled_samples_of_eq_19():
    logits = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 2, 1, 1])
    probabilities = torch.softmax(logits, dim=1)
    expected = 0.0
    for i in range(4):
        for j in range(3):
            expected -= float(labels[i] == j) * torch.log(probabilities[i, j])
    torch.testing.assert_close(labeled_cross_entropy(logits, labels), expected / 4)


def test_loss_uses_class_weights():
    logits = torch.zeros(2, 2)
    weight = torch.tensor([1.0, 0.0])
    wrong = logits + torch.tensor([[0.0, 0.0], [5.0, -5.0]])
    torch.testing.assert_close(
        labeled_cross_entropy(wrong, torch.tensor([0, 1]), weight),
        labeled_cross_entropy(logits, torch.tensor([0, 1]), weight),
    )


@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 1.0, 3.0])])
def test_parts_of_the_loss_add_up_to_the_loss_of_all_labels(weight):
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 2, 1, 1, 0])
    total = torch.tensor(5.0) if weight is None else weight[labels].sum()
    parts = [
        labeled_cross_entropy(logits[rows], labels[rows], weight, total)
        for rows in (slice(0, 2), slice(2, 2), slice(2, 5))
    ]
    torch.testing.assert_close(sum(parts), labeled_cross_entropy(logits, labels, weight))
    assert parts[1] == 0


def test_parts_of_the_divergence_add_up_to_that_of_all_samples():
    generator = torch.Generator().manual_seed(0)
    logits, targets = (torch.randn(5, 3, generator=generator) for _ in range(2))
    targets, weights = targets.softmax(dim=1), torch.rand(5, generator=generator)
    parts = [
        distillation_loss(logits[rows], targets[rows], weights[rows], total_weight=weights.sum())
        for rows in (slice(0, 0), slice(0, 3), slice(3, 5))
    ]
    torch.testing.assert_close(sum(parts), distillation_loss(logits, targets, weights))
