import numpy as np
import pytest
import torch

from manyview.distributed import world as module
from manyview.distributed.world import ALONE, World, use_world, world
from manyview.errors import InputError


def test_world_outside_of_a_process_group_is_this_process_alone():
    assert world() == ALONE
    assert not world().is_shared


def test_world_of_a_block_counts_within_the_block_only():
    with use_world(World(1, 3)):
        assert (world().rank, world().size) == (1, 3)
    assert world() == ALONE


def test_world_of_one_returns_what_it_is_given():
    values = torch.arange(6.0).reshape(3, 2)
    for same in (
        ALONE.sum(values),
        ALONE.max(values),
        ALONE.broadcast(values),
        ALONE.gather_rows(values, [3]),
        ALONE.exchange(values, [3], [3]),
    ):
        assert same is values
    assert ALONE.gather_objects("text") == ["text"]
    assert ALONE.from_first(lambda: values) is values
    ALONE.check_equal("the views", "text", "Give all the same.")


@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_process_gets_sums_maxima_and_rows_of_all(ranks, rng, size):
    assert ranks.run("who_am_i", size) == [(rank, size) for rank in range(size)]
    by_rank = [rng.normal(size=(count, 2)) for count in (2, 0, 3, 1)[:size]]
    sums = np.array([rows.sum(axis=0) for rows in by_rank])
    for result in ranks.run("add_and_join", size, by_rank):
        assert np.allclose(result["sum"], sums.sum(axis=0))
        assert np.array_equal(result["max"], sums.max(axis=0))
        assert np.array_equal(result["first"], sums[0])
        assert np.array_equal(result["joined"], np.concatenate(by_rank))
        assert np.array_equal(result["squares"], np.arange(7) ** 2)
        assert result["texts"] == [f"of {rank}" for rank in range(size)]


@pytest.mark.parametrize("size", [2, 3])
def test_the_first_process_computes_for_all_and_shows_that_it_is_busy(ranks, size):
    for result, n_signals in ranks.run("compute_in_first", size, 0.3, False):
        assert result == "of 0"
        assert n_signals > 2


def test_a_failure_of_the_first_process_ends_the_others(ranks):
    first, *others = (reason for reason, _ in ranks.run("compute_in_first", 3, 0.0, True))
    assert first == "no memory"
    assert all(other.startswith("the first process of this fit has failed") for other in others)


def test_what_differs_between_processes_is_refused_in_all_of_them(ranks):
    assert ranks.run("compare", 3, ["a", "a", "a"]) == ["", "", ""]
    refused = (
        "the views must be the same in all 4 processes of the fit; those of process 1, 3 differ "
        "from those of process 0. Give all the same."
    )
    assert ranks.run("compare", 4, ["a", "b", "a", "c"]) == [refused] * 4


@pytest.mark.parametrize("backends", ["cpu:gloo,cuda:gloo", "cpu:gloo,cuda:nccl", "cpu:mpi"])
def test_backends_that_exchange_arrays_of_the_processor_are_taken(monkeypatch, backends):
    monkeypatch.setattr(module.dist, "get_backend_config", lambda group: backends)
    World(0, 2).check_backend()


def test_a_backend_for_gpus_alone_is_refused(monkeypatch):
    monkeypatch.setattr(module.dist, "get_backend_config", lambda group: "cuda:nccl")
    with pytest.raises(InputError, match="its backend is cuda:nccl"):
        World(0, 2).check_backend()
    ALONE.check_backend()
