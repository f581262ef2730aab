"""Rows that one process needs of others, with gradients that go back the same way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from manyview.distributed.blocks import Blocks, even_blocks
from manyview.distributed.world import World


@dataclass(frozen=True)
class ExchangePlan:
    """Which rows a process sends and receives whenever its block is completed.

    Attributes
    ----------
    world
        The processes.
    sent
        [sent row] rows of the own block, those for the first process first.
    n_sent, n_received
        [process] number of rows for and from each.
    """

    world: World
    sent: Tensor
    n_sent: tuple[int, ...]
    n_received: tuple[int, ...]

    @classmethod
    def of(cls, world: World, blocks: Blocks, needed: Tensor) -> "ExchangePlan":
        """Make the plan; collective.

        Parameters
        ----------
        blocks
            Of all rows.
        needed
            Numbers of rows of other blocks, ascending.
        """
        n_received = torch.bincount(blocks.owners(needed), minlength=world.size).tolist()
        plan = cls.by_key(world, n_received, needed.long().cpu())
        return replace(plan, sent=plan.sent - blocks.bounds[world.rank])

    @classmethod
    def by_key(
        cls, world: World, n_received: Sequence[int], needed: Tensor, own: Tensor | None = None
    ) -> "ExchangePlan":
        """Make the plan where rows have keys, by which their process finds them; collective.

        Parameters
        ----------
        n_received
            [process] number of rows that are needed from each.
        needed
            Keys of these rows, those of the first process first.
        own
            Keys of the own rows, ascending; by default their numbers.
        """
        ones = [1] * world.size
        n_sent = world.exchange(torch.tensor(n_received), ones, ones).tolist()
        sent = world.exchange(needed, n_received, n_sent)
        if own is not None:
            sent = torch.searchsorted(own, sent)
        return cls(world, sent, tuple(n_sent), tuple(n_received))

    @property
    def n_below(self) -> int:
        """Number of rows that come from processes before this one."""
        return sum(self.n_received[: self.world.rank])

    @property
    def n_needed(self) -> int:
        """Number of rows that come from other processes."""
        return sum(self.n_received)

    def to(self, device: torch.device | str) -> "ExchangePlan":
        """Move to a device."""
        return replace(self, sent=self.sent.to(device))


def exchange_rows(plan: ExchangePlan, rows: Tensor) -> Tensor:
    """Complete the rows of the own block by those that other processes hold; collective.

    The gradient of a received row is sent to the process that holds it, and added there.

    Shapes
    ------
    rows : [own row, ...]
    returns : [row, ...], in the order of their numbers: before the own block, its rows, after it
    """
    if not plan.world.is_shared:
        return rows
    completed: Tensor = _ExchangeRows.apply(plan, rows)  # type: ignore[no-untyped-call]
    return completed


def gather_rows(world: World, blocks: Blocks, rows: Tensor) -> Tensor:
    """Join the blocks of all processes, with gradients from all of them; collective.

    Shapes
    ------
    rows : [own row, ...]
    returns : [row, ...]
    """
    if not world.is_shared:
        return rows
    gathered: Tensor = _GatherRows.apply(world, blocks, rows)  # type: ignore[no-untyped-call]
    return gathered


def compute_by_blocks(
    world: World, n_rows: int, compute: Callable[[slice], np.ndarray]
) -> np.ndarray:
    """Compute one block of rows in each process, and join them; collective.

    Every row must depend on its own number alone.

    Examples
    --------
    >>> compute_by_blocks(World(), 3, lambda rows: np.arange(9).reshape(3, 3)[rows].sum(axis=1))
    array([ 3, 12, 21])
    """
    blocks = even_blocks(n_rows, world.size)
    own = torch.from_numpy(compute(blocks.slice_of(world.rank)))
    return np.asarray(world.gather_rows(own, blocks.counts))


def sum_over(world: World, values: Tensor) -> Tensor:
    """Add values over all processes, with gradients from all of them; collective.

    Every process may use the sum. What each computes from it has a gradient, and the values of
    each process get the sum of these gradients.
    """
    if not world.is_shared:
        return values
    total: Tensor = _SumOver.apply(world, values)  # type: ignore[no-untyped-call]
    return total


def sum_gradients(world: World, parameters: Sequence[Tensor]) -> None:
    """Add the gradients of parameters that all processes hold; collective, one message."""
    if not world.is_shared:
        return
    held = [one for one in parameters if one.grad is not None]
    gradients = [one.grad for one in held if one.grad is not None]
    if not gradients:
        return
    total = world.sum(torch.cat([gradient.reshape(-1) for gradient in gradients]))
    ends = list(accumulate(gradient.numel() for gradient in gradients))
    for one, gradient, end in zip(held, gradients, ends, strict=True):
        one.grad = total[end - gradient.numel() : end].view_as(gradient)


class _ExchangeRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plan: ExchangePlan, rows: Tensor) -> Tensor:
        ctx.plan, ctx.n_own = plan, len(rows)
        sent = rows.index_select(0, plan.sent)
        received = plan.world.exchange(sent, plan.n_sent, plan.n_received)
        return torch.cat([received[: plan.n_below], rows, received[plan.n_below :]])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (gradient,), plan = gradients, ctx.plan
        own = slice(plan.n_below, plan.n_below + ctx.n_own)
        of_others = torch.cat([gradient[: own.start], gradient[own.stop :]])
        returned = plan.world.exchange(of_others, plan.n_received, plan.n_sent)
        return None, gradient[own].clone().index_add_(0, plan.sent, returned)


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: World, blocks: Blocks, rows: Tensor) -> Tensor:
        ctx.world, ctx.own = world, blocks.slice_of(world.rank)
        return world.gather_rows(rows, blocks.counts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.world.sum(gradients[0])[ctx.own]


class _SumOver(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: World, values: Tensor) -> Tensor:
        ctx.world = world
        return world.sum(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.world.sum(gradients[0])
