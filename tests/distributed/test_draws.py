import numpy as np
import pytest
import torch

from manyview.distributed import draws
from manyview.distributed.draws import uniform_rows


@pytest.mark.parametrize(
    "owners", [[0, 0, 0, 0, 1, 1, 1], [1, 3, 1, 1, 3, 3, 1, 1, 3]], ids=["blocks", "scattered"]
)
def test_processes_draw_the_numbers_that_one_process_draws(ranks, owners):
    owners = np.array(owners)
    generator = torch.Generator().manual_seed(0)
    whole = torch.rand(len(owners), 3, generator=generator).numpy()
    following = torch.rand(1, generator=generator).item()
    for rank, (rows, number) in enumerate(ranks.run("draw", owners.max() + 1, owners, 3)):
        assert np.array_equal(rows, whole[owners == rank])
        assert number == following


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
@pytest.mark.parametrize("chunk", [1, 3, 7, 1000])
def test_numbers_are_drawn_in_chunks_without_a_change(monkeypatch, shape, chunk):
    places = torch.tensor([0, 5, 6, 7, 19])
    whole = torch.rand((20, *shape), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(draws, "CHUNK", chunk)
    drawn = uniform_rows(
        torch.empty(5, *shape), torch.Generator().manual_seed(0), places, len(whole)
    )
    assert torch.equal(drawn, whole[places])
