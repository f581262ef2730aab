"""Plans on tiny data."""

import numpy as np
import pytest

from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study

PLAN = """
title = "Tiny"
datasets = ["{data}"]
label_ratios = [0.2]
seeds = [0, 1]

[methods.knn]
[methods.svm]
"""


@pytest.fixture
def write_plan(tmp_path, shapes):
    """Write a plan file; the word {data} in it is the tiny data's path."""

    def write(text=PLAN, name="tiny"):
        file = tmp_path / f"{name}.toml"
        file.write_text(text.replace("{data}", str(shapes)))
        return file

    return write


@pytest.fixture
def open_study(tmp_path, write_plan):
    """Open a study over the tiny data, with a store that can be written."""

    def open_(text=PLAN, store="store"):
        study = Study.open(load_plan(str(write_plan(text))), tmp_path / store)
        study.store.open()
        return study

    return open_


@pytest.fixture
def dataset(tiny_views):
    """The tiny views as a data set."""
    names = np.arange(60).astype(str)
    return Dataset("tiny", MultiView(tiny_views.views), tiny_views.labels, names, (), "abc")
