"""Text of a tuning: the next command, and the line of a trial."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from manyview.data.io.reading import ReadOptions
from manyview.report.tuning_text import next_command, step_line
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource
from manyview.tuning.journal import Candidate
from manyview.tuning.search import Step


def test_next_command_repeats_what_decides_the_labels_and_the_method():
    source = DataSource(
        ("my data.mat",),
        ["y.csv", "z.csv"],
        None,
        ReadOptions(views_key=["X1", "X2"], samples_in="rows"),
    )
    settings = RunSettings(source, method="knn", label_ratio=0.1, protocol="random", seed=3)
    tuned = SimpleNamespace(settings=settings, folder=Path("tuning/a b"))
    words = shlex.split(next_command(tuned))
    assert words[:3] == ["manyview", "fit", "my data.mat"]
    pairs = set(zip(words[3::2], words[4::2], strict=True))
    assert pairs == {
        ("--labels", "y.csv"), ("--labels", "z.csv"), ("--views-key", "X1"), ("--views-key", "X2"),
        ("--samples-in", "rows"), ("--label-ratio", "0.1"), ("--protocol", "random"),
        ("--seed", "3"), ("--method", "knn"), ("--params", "tuning/a b/tuning.json"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("trial", "left", "text"),
    [
        (
            Candidate(0, "search", {}, (0.5, 1.0), 2.0),
            600,
            "defaults: 0.7500 (2 s, about 10 min left)",
        ),
        (
            Candidate(3, "search", {}, (), 1.0, "no"),
            60,
            "candidate 3: failed: no (1 s, about 60 s left)",
        ),
        (
            Candidate(3, "confirmation", {}, (1.0,), 1.0),
            0,
            "candidate 3 again, on new folds: 1.0000 (1 s)",
        ),
    ],
)
def test_step_line_shows_score_and_time(trial, left, text):
    assert step_line(Step(trial, 1, 5, left)) == text
