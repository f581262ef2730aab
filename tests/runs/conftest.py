"""Settings that fit tiny data fast."""

import pytest

from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


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
