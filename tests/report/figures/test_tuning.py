from types import SimpleNamespace

import pytest

from manyview.report.figures.tuning import importance_svg, tuning_files
from manyview.tuning.journal import Candidate


@pytest.fixture
def tuning():
    candidates = [
        Candidate(number, "search", {"tau": tau, "metric": metric}, (0.5 + tau / 10, 0.6), 1.0)
        for number, (tau, metric) in enumerate([(0.5, "cosine"), (1.0, "cosine"), (1.0, "l2")])
    ]
    return SimpleNamespace(
        importance_={"tau": 0.75, "metric": 0.25},
        candidates_=candidates,
        default_params_={"tau": 0.5, "metric": "cosine"},
        best_params_={"tau": 1.0, "metric": "l2"},
        is_default=False,
        scoring="accuracy",
    )


def test_figure_is_svg_and_the_same_every_time(tuning):
    drawn = importance_svg(tuning)
    assert drawn.count("<svg") == 1
    assert drawn == importance_svg(tuning)


def test_tuning_without_importance_has_no_figure(tuning):
    assert list(tuning_files(tuning)) == ["importance.svg"]
    tuning.importance_ = {}
    assert tuning_files(tuning) == {}
