"""Tiny data as files, and settings that fit them fast."""

import numpy as np
import pytest

from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


@pytest.fixture
def shapes(tmp_path, tiny_views):
    """A file of 60 samples of 3 classes in 2 views, all labels known."""
    file = tmp_path / "shapes.npz"
    np.savez(file, **tiny_views.views, y=tiny_views.labels)
    return file


@pytest.fixture
def quick(tmp_path, shapes):
    """Make settings for five epochs on the tiny file, into the folder `run`."""

    def make(**changes):
        defaults = {
            "source": DataSource((str(shapes),)),
            "params": {"max_epochs": 5},
            "label_ratio": 0.2,
            "out": tmp_path / "run",
        }
        return RunSettings(**(defaults | changes))

    return make
