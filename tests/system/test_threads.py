"""Threads: one for few samples, and restored afterwards."""

import pytest
import torch

from manyview.system.threads import ONE_THREAD_BELOW, threads_for


@pytest.mark.parametrize(
    ("n_samples", "n_threads"), [(ONE_THREAD_BELOW - 1, 1), (ONE_THREAD_BELOW, 2)]
)
def test_few_samples_get_one_thread_and_the_number_is_restored(n_samples, n_threads):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threads_for(n_samples):
            assert torch.get_num_threads() == n_threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
