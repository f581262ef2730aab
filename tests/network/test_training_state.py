"""The file of a training's state: read as it was written, or refused."""

import pytest
import torch

from manyview.network.training_state import Saved, checksum_of


def test_numbers_that_were_changed_are_refused(tmp_path):
    saved = Saved({"a": torch.ones(3)}, {"loss": [1.0, float("inf")]}, "start")
    saved.write(tmp_path / "one")
    again = Saved.read(tmp_path / "one")
    assert torch.equal(again.tensors["a"], saved.tensors["a"])
    assert (again.numbers, again.start) == (saved.numbers, saved.start)
    content = (tmp_path / "one").read_bytes()
    (tmp_path / "one").write_bytes(content.replace(b"[1.0, ", b"[2.0, "))
    with pytest.raises(ValueError, match="checksum"):
        Saved.read(tmp_path / "one")


def test_a_file_that_is_no_state_is_refused(tmp_path):
    (tmp_path / "one").write_bytes(b"text")
    with pytest.raises(ValueError, match="header"):
        Saved.read(tmp_path / "one")
    with pytest.raises(ValueError, match="No such file"):
        Saved.read(tmp_path / "missing")


def test_the_checksum_knows_types_shapes_and_content():
    ones = torch.ones(4)
    others = (torch.zeros(4), torch.ones(2, 2), torch.ones(4, dtype=torch.float64), "ones", None)
    assert checksum_of([ones]) == checksum_of([ones.clone()])
    assert len({checksum_of([one]) for one in (ones, *others)}) == 6
