"""An archive of one labeled view."""

import numpy as np
import pytest


@pytest.fixture
def archive(tmp_path, rng):
    np.savez(tmp_path / "shapes.npz", view1=rng.random((4, 3)), y=[1, 2, 1, 2])
    return tmp_path / "shapes.npz"
