"""How the time of an epoch splits into the blocks of the network, forward and backward.

Forward, a block is the call of its module, or of `convolve` with its activation and dropout.
Backward, autograd numbers its nodes in the order in which the forward pass makes them, so the
numbers before and after a call delimit the nodes of the block; the time of a node runs from its
start to the start of the next one. A step of torch's optimizers has hooks, one of the classifier's
own is wrapped. Everything else (the loss, the mean of the weights, the curve) is the
rest.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

from torch import nn
from torch.autograd import _get_sequence_nr as next_node_number
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from manyview.network.adam import Adam

FUSION, LEARNING, SELECTION = "fusion", "graph learning", "node selection"
CONVOLUTION, OPTIMIZER, REST = "convolution", "optimizer", "rest"
BLOCKS = (FUSION, LEARNING, SELECTION, CONVOLUTION, OPTIMIZER, REST)


class BlockClock:
    """Seconds of each block in every epoch of a training."""

    def __init__(self, network: Any) -> None:
        self.epochs: list[dict[str, float]] = []
        self._seconds: dict[str, float] = defaultdict(float)
        self._began: float | None = None  # the epoch
        self._since = 0.0  # the current node or block
        self._block = REST  # of the node that runs
        self._nodes: list[tuple[int, int, str]] = []  # first and last number of a block's nodes
        self._node_hooks: list[Any] = []
        self._block_of_parameter: dict[int, str] = {}
        self._hooks = [
            network.register_forward_pre_hook(self._begin_epoch),
            network.register_forward_hook(self._watch_backward),
            register_optimizer_step_pre_hook(self._begin_step),
            register_optimizer_step_post_hook(self._end_step),
        ]
        self._patch = mock.patch.object(Adam, "step", self._timed_step(Adam.step))
        self._patch.start()
        modules = {
            FUSION: network.fusion,
            LEARNING: network.graph_learning,
            SELECTION: network.node_selection,
            CONVOLUTION: network.convolutions,
        }
        for block, module in modules.items():
            if module is not None:
                self._block_of_parameter |= {id(one): block for one in module.parameters()}
                if block != CONVOLUTION:
                    module.forward = self._timed(block, module.forward)
        network.convolve = self._timed(CONVOLUTION, network.convolve)
        self._watched = [network, *filter(None, modules.values())]

    def stop(self) -> dict[str, float]:
        """Return the fraction of each block, from medians over all epochs but the first."""
        self._end_epoch()
        self._patch.stop()
        for hook in self._hooks:
            hook.remove()
        for module in self._watched:
            module.__dict__.pop("forward", None)
            module.__dict__.pop("convolve", None)
        medians = {block: median(epoch[block] for epoch in self.epochs[1:]) for block in BLOCKS}
        return {block: seconds / sum(medians.values()) for block, seconds in medians.items()}

    def _timed(self, block: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **settings: Any) -> Any:
            start, first = time.perf_counter(), next_node_number()
            result = function(*arguments, **settings)
            self._seconds[block] += time.perf_counter() - start
            self._nodes.append((first, next_node_number(), block))
            return result

        return timed

    def _timed_step(self, step: Callable[[Adam], None]) -> Callable[[Adam], None]:
        def timed(optimizer: Adam) -> None:
            self._begin_step()
            step(optimizer)
            self._end_step()

        return timed

    def _watch_backward(self, network: nn.Module, inputs: Any, logits: Any) -> None:
        open_nodes, seen = [logits.grad_fn], set()
        while open_nodes:
            node = open_nodes.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            open_nodes += [before for before, _ in node.next_functions]
            begin = partial(self._next, self._block_of(node))
            self._node_hooks.append(node.register_prehook(begin))

    def _block_of(self, node: Any) -> str:
        if hasattr(node, "variable"):  # adds up the gradient of a parameter
            return self._block_of_parameter.get(id(node.variable), REST)
        number = node._sequence_nr()
        return next((name for first, end, name in self._nodes if first <= number < end), REST)

    def _next(self, block: str, *_: Any) -> None:
        now = time.perf_counter()
        if self._since:
            self._seconds[self._block] += now - self._since
        self._since, self._block = now, block

    def _begin_step(self, *_: Any) -> None:
        self._next(OPTIMIZER)

    def _end_step(self, *_: Any) -> None:
        self._next(REST)
        self._since = 0.0

    def _begin_epoch(self, *_: Any) -> None:
        self._end_epoch()
        self._began = time.perf_counter()

    def _end_epoch(self) -> None:
        if self._began is not None:
            whole = time.perf_counter() - self._began
            known = {block: self._seconds[block] for block in BLOCKS if block != REST}
            self.epochs.append(known | {REST: whole - sum(known.values())})
        self._began = None
        self._since = 0.0
        for hook in self._node_hooks:  # nodes of parameters outlive their epoch
            hook.remove()
        self._node_hooks.clear()
        self._seconds.clear()
        self._nodes.clear()
