"""Data that tests of several solvers use."""

import numpy as np
import pytest


@pytest.fixture
def table(rng):
    """90 rows of 3 classes in 7 columns; some values are missing, one column is constant."""
    labels = np.arange(90) % 3
    values = rng.normal(size=(90, 7)) + labels[:, None] * (np.arange(7) < 4)
    values[rng.random((90, 7)) < 0.1] = np.nan
    values[:, 6] = 2.0
    return values.astype(np.float32), labels
