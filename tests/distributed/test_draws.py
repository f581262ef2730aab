import numpy as np
import pytest
import torch

from manyview.distributed import draws
from manyview.distributed.draws import uniform_rows


@pytest.mark.parametrize("bounds", [(0, 4, 7), (0, 0, 5, 5, 9)])
def test_blocks_draw_the_numbers_that_one_process_draws(ranks, bounds):
    generator = torch.Generator().manual_seed(0)
    whole = torch.rand(bounds[-1], 3, generator=generator).numpy()
    following = torch.rand(1, generator=generator).item()
    results = ranks.run("draw", len(bounds) - 1, bounds, 3)
    assert np.array_equal(np.concatenate([rows for rows, _ in results]), whole)
    assert [number for _, number in results] == [following] * len(results)


def test_numbers_of_other_blocks_are_forgotten_in_chunks_without_a_change(monkeypatch):
    from manyview.distributed.blocks import Blocks

    blocks, like = Blocks((0, 5, 8, 20)), torch.empty(3, 2)
    whole = uniform_rows(like, torch.Generator().manual_seed(0), blocks, 1)
    monkeypatch.setattr(draws, "CHUNK", 3)
    in_chunks = uniform_rows(like, torch.Generator().manual_seed(0), blocks, 1)
    assert torch.equal(in_chunks, whole)
