"""Functions that tests run in the processes of a `RankPool`; the first argument is their world."""

import time
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from killed_fits import Killed, fit_in_parts, killed_after
from recording_callbacks import Recorder
from shared_problems import Problem, Trained, solve
from torch import Tensor

from manyview.cli.app import main
from manyview.data.views import MultiView
from manyview.distributed import slow_process
from manyview.distributed import world as world_module
from manyview.distributed.blocks import Blocks
from manyview.distributed.draws import uniform_rows
from manyview.distributed.exchange import (
    ExchangePlan,
    compute_by_blocks,
    exchange_rows,
    gather_rows,
    sum_gradients,
    sum_over,
)
from manyview.distributed.slow_process import SlowProcess
from manyview.distributed.world import World, use_world
from manyview.errors import InputError, ProcessError
from manyview.graphs import approximate, inverted_file, neighbors
from manyview.graphs.cached_neighbors import cached_neighbors
from manyview.graphs.sharding import shard_support
from manyview.graphs.support import GraphSupport
from manyview.layers.node_selection import NodeSelection
from manyview.layers.propagation import diffuse_rows
from manyview.layers.sparse_product import propagate
from manyview.network.prepared import prepare_inputs
from manyview.network.resume import checkpoints
from manyview.self_training import label_propagation
from manyview.self_training.pseudo_labels import PseudoLabeler
from manyview.system.config import config_context


def who_am_i(world: World) -> tuple[int, int]:
    return world.rank, world.size


def add_and_join(world: World, by_rank: list[np.ndarray]) -> dict[str, Any]:
    own = torch.from_numpy(by_rank[world.rank])
    counts = [len(rows) for rows in by_rank]
    first = own.sum(dim=0)
    return {
        "sum": world.sum(first).numpy(),
        "max": world.max(first).numpy(),
        "first": world.broadcast(first).numpy(),
        "joined": world.gather_rows(own, counts).numpy(),
        "squares": compute_by_blocks(world, 7, lambda rows: np.arange(7)[rows] ** 2),
        "texts": world.gather_objects(f"of {world.rank}"),
    }


def compare(world: World, by_rank: list[str]) -> str:
    try:
        world.check_equal("the views", by_rank[world.rank], "Give all the same.")
    except InputError as error:
        return str(error)
    return ""


def compute_in_first(world: World, seconds: float, fails: bool) -> tuple[str, int]:
    """Return what the first process computed, or why it did not, and the pulses it sent."""
    signals: list[int] = []
    signal = World._signal

    def counted(self: World, state: int) -> int:
        signals.append(signal(self, state))
        return signals[-1]

    def compute() -> str:
        assert world.rank == 0
        time.sleep(seconds)
        if fails:
            raise ValueError("no memory")
        return "of 0"

    with patch.object(world_module, "PULSE_SECONDS", 0.05), patch.object(World, "_signal", counted):
        try:
            return world.from_first(compute), len(signals)
        except (ProcessError, ValueError) as error:
            return str(error), len(signals)


def search(
    world: World, features: Any, settings: dict[str, Any], patched: dict[str, Any], folder: Any
) -> Any:
    """Search neighbors with small blocks, and with other numbers of threads in each process."""
    torch.set_num_threads(1 + world.rank % 2)
    own = None if folder is None else f"{folder}/{world.rank}"
    try:
        with (
            patch.object(neighbors, "BLOCK_BYTES", 8 * 50 * features.shape[0]),
            patch.object(neighbors, "POINT_BYTES", patched.get("point_bytes", 2**28)),
            patch.object(inverted_file, "MULTIPLIED_ROWS", 64),
            patch.object(approximate, "has_faiss", lambda: patched.get("has_faiss", True)),
            patch.object(approximate, "_candidates", _nearest_points),
            config_context(cache_dir=own),
        ):
            return cached_neighbors(features, world=world, **settings)
    finally:
        torch.set_num_threads(1)


def _nearest_points(points: Any, n_searched: int, metric: str, seed: int) -> np.ndarray:
    """All that pynndescent could find at best."""
    found = neighbors.nearest_neighbors(points, n_neighbors=n_searched - 1, metric=metric)
    return np.column_stack([np.arange(points.shape[0]), found.indices])


def prepare(world: World, views: dict[str, Any], search: str) -> dict[str, Any]:
    """Build all graphs of a fit, with other numbers of threads in each process."""
    torch.set_num_threads(1 + world.rank % 2)
    try:
        with (
            patch.object(neighbors, "BLOCK_BYTES", 8 * 70 * len(next(iter(views.values())))),
            patch.object(inverted_file, "MULTIPLIED_ROWS", 64),
        ):
            prepared = prepare_inputs(
                MultiView(views),
                torch.device("cpu"),
                early_fusion=True,
                scaling="auto",
                n_neighbors=6,
                metric="cosine",
                search=search,
                world=world,
            )
    finally:
        torch.set_num_threads(1)
    return {
        "graphs": prepared.graphs,
        "recalls": prepared.views.recalls,
        "scalings": prepared.views.scalings,
    }


def complete(
    world: World, bounds: tuple[int, ...], rows: np.ndarray, needed: list[list[int]], weights: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Complete the own block; return it, and the gradient of the sum of squares times weights."""
    blocks = Blocks(bounds)
    own = _parameter(rows[blocks.slice_of(world.rank)])
    plan = ExchangePlan.of(world, blocks, torch.tensor(needed[world.rank], dtype=torch.long))
    completed = exchange_rows(plan, own)
    (completed**2 * torch.from_numpy(weights[world.rank])).sum().backward()
    return completed.detach().numpy(), own.grad.numpy()


def join_with_gradient(
    world: World, bounds: tuple[int, ...], rows: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Join all blocks; each process weighs the squares of all rows by weights of its own."""
    blocks = Blocks(bounds)
    own = _parameter(rows[blocks.slice_of(world.rank)])
    joined = gather_rows(world, blocks, own)
    (joined**2 * torch.from_numpy(weights[world.rank])).sum().backward()
    return joined.detach().numpy(), own.grad.numpy()


def add_with_gradient(
    world: World, values: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add values of all processes, and the gradients of a parameter that all hold."""
    own = _parameter(values[world.rank])
    held = _parameter(np.ones(3))
    total = sum_over(world, own)
    (total**2 * torch.from_numpy(weights[world.rank]) * held.sum()).sum().backward()
    sum_gradients(world, [held])
    return total.detach().numpy(), own.grad.numpy(), held.grad.numpy()


def draw(world: World, owners: np.ndarray, width: int) -> tuple[np.ndarray, float]:
    """Draw the own rows, and then the next number of the generator."""
    places, generator = np.flatnonzero(owners == world.rank), torch.Generator().manual_seed(0)
    like = torch.empty(len(places), width)
    rows = uniform_rows(like, generator, torch.from_numpy(places), len(owners))
    return rows.numpy(), torch.rand(1, generator=generator).item()


def make_pseudo_labels(
    world: World, predictions: np.ndarray, y_encoded: np.ndarray, graphs: list[Any]
) -> Any:
    return PseudoLabeler()(
        predictions, y_encoded, graphs[:1], early_fusion_graph=graphs[1], world=world
    )


def propagate_shared(
    world: World, predictions: np.ndarray, y_encoded: np.ndarray, graphs: list[Any]
) -> np.ndarray:
    own = [graph[label_propagation.own_rows(graph.shape[0], world)] for graph in graphs]
    return label_propagation.propagate(predictions, y_encoded, own, np.ones(1), world=world)


def diffuse_shared(
    world: World, graph: Any, features: np.ndarray, center: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Diffuse features over a graph, each process some of them."""
    support = GraphSupport.from_graphs([graph])
    weights = support.weights_of(graph).double()
    diffused = diffuse_rows(
        support,
        weights,
        torch.from_numpy(features),
        torch.from_numpy(center),
        torch.from_numpy(rows),
        n_steps=3,
        alpha=0.1,
        world=world,
    )
    return diffused.numpy()


def _parameter(values: np.ndarray) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def solve_shared(world: World, problem: Problem) -> Trained:
    return solve(problem, world)


def fit_shared(world: World, model: Any, views: dict[str, np.ndarray], labels: Any) -> Any:
    """Fit a copy of a classifier, and return it."""
    with use_world(world):
        return model.fit(views, labels)


def fit_shared_twice(world: World, model: Any, views: dict[str, np.ndarray], labels: Any) -> Any:
    with use_world(world):
        return model.fit(views, labels).fit(views, labels)


def fit_shared_in_parts(
    world: World, model: Any, views: Any, labels: Any, folder: Path, parts: list[int]
) -> tuple[Any, int]:
    """Fit with breaks after so many checkpoints each; return the model, and how often it broke."""
    with use_world(world), redirect_stderr(StringIO()):
        return fit_in_parts(model, views, labels, folder, parts)


def kill_shared(
    world: World, model: Any, views: Any, labels: Any, folder: Path, n_writes: int
) -> None:
    """End a fit in all processes when it has written its progress so many times."""
    with use_world(world), suppress(Killed), killed_after(n_writes), checkpoints(folder, every=0):
        model.fit(views, labels)


def fit_with_checkpoints_in_one(world: World, model: Any, views: Any, labels: Any) -> str:
    """Return why a fit is refused that keeps its progress in the first process alone."""
    opened = checkpoints("progress") if world.rank == 0 else nullcontext()
    try:
        with use_world(world), opened:
            model.fit(views, labels)
    except InputError as error:
        return str(error)
    return ""


def wait_for_slow(world: World, rank: int) -> str:
    """Let one process sleep in twenty epochs; return what is shown."""
    with (
        redirect_stderr(StringIO()) as text,
        patch.object(slow_process, "SECONDS", 0.3),
    ):
        slow = SlowProcess()
        for _ in range(60):
            time.sleep(0.02 if world.rank == rank else 0.001)
            world.sum(torch.ones(3))
            slow.end_epoch(world)
    return text.getvalue()


def refusal_of_fit(
    world: World, model: Any, views: dict[str, np.ndarray], labels: np.ndarray, changed: str
) -> str:
    """Return why a fit is refused that differs in the last process, or has callbacks."""
    if changed == "callbacks":
        model.set_callbacks(Recorder())
    elif world.rank == world.size - 1:
        if changed == "views":
            views = {name: view + (name == "shape") for name, view in views.items()}
        elif changed == "labels":
            labels = np.where(np.arange(len(labels)) == labels.argmax(), -1, labels)
        else:
            model.set_params(training__dropout=0.25)
    try:
        fit_shared(world, model, views, labels)
    except InputError as error:
        return str(error)
    return ""


def run_command(world: World, arguments: list[str]) -> tuple[int, str]:
    """Run a command in each process; return its exit code and all that it prints."""
    with use_world(world), redirect_stdout(StringIO()) as text, redirect_stderr(text):
        try:
            main(arguments)
        except SystemExit as end:
            return end.code or 0, text.getvalue()


def part_of_support(world: World, problem: Problem) -> dict[str, np.ndarray]:
    """Return the part of a support that each process holds, in places of the whole one."""
    partition = problem.partition()
    part, pairs = shard_support(problem.inputs().support, world, partition)
    shard = part.shard
    own, places = shard.own, partition.places[shard.nodes]
    starts = part.row_starts[own.start : own.stop + 1].long()
    return {
        "places": shard.places.numpy(),
        "known": places.numpy(),
        "samples": shard.samples.numpy(),
        "row_lengths": starts.diff().numpy(),
        "columns": places[part.columns[starts[0] : starts[-1]].long()].numpy(),
        "lower": places[part.upper_rows.long()].numpy(),
        "higher": places[part.upper_columns.long()].numpy(),
        "pairs": pairs.numpy(),
        "received_pairs": shard.with_shared_pairs(shard.pairs).numpy(),
        "joined_pairs": shard.by_pair(shard.pairs).numpy(),
    }


def run_layers(
    world: World, problem: Problem, graph: np.ndarray, hidden: np.ndarray, weights: np.ndarray
) -> dict[str, np.ndarray]:
    """Propagate and select on a divided support, or a whole one; return values and gradients."""
    support, pairs = problem.inputs().support, slice(None)
    if world.is_shared:
        support, pairs = shard_support(support, world, problem.partition())
    shard = support.shard
    own = slice(None) if shard is None else shard.samples
    weights_of_pairs = _parameter(graph[pairs])
    features = _parameter(hidden[own])
    selection = NodeSelection(0.5, 0.05).double()
    selected = selection(support, weights_of_pairs)
    product = propagate(support, selected, features)
    (product * torch.from_numpy(weights)[own]).sum().backward()
    return {
        "product": product.detach().numpy(),
        "confidence": selection.confidence(support, weights_of_pairs).detach().numpy(),
        "samples": np.arange(len(hidden)) if shard is None else shard.samples.numpy(),
        "pairs": np.arange(len(graph)) if shard is None else pairs.numpy(),
        "for_hidden": features.grad.numpy(),
        "for_graph": weights_of_pairs.grad.numpy(),
        "for_threshold": selection.raw_threshold.grad.numpy(),
    }
