"""A worker: errors become outcomes, and a process serves several trials."""

from manyview.experiments.limits import Limits
from manyview.experiments.trial import Trial
from manyview.experiments.worker import Worker, attempt


def test_user_error_becomes_the_outcome(shapes):
    trial = Trial(str(shapes), "mgcn-dns", {"node_selection__tau": -1.0}, 0.2)
    outcome = attempt(trial, None, None)
    assert outcome == {"status": "failed", "reason": "tau must be above 0; got -1.0."}


def test_internal_error_becomes_the_outcome_with_its_place(shapes, monkeypatch):
    def fail(*_):
        raise RuntimeError("our mistake")

    monkeypatch.setattr("manyview.experiments.worker.run_trial", fail)
    outcome = attempt(Trial(str(shapes), "knn"), None, None)
    assert outcome["status"] == "failed"
    assert outcome["reason"].startswith("RuntimeError: our mistake (test_worker.py, line ")


def test_worker_runs_one_trial_after_the_other(shapes, tmp_path):
    worker = Worker(None, tmp_path / "cache", Limits())
    try:
        outcomes = [worker.run(Trial(str(shapes), "knn", seed=seed)) for seed in (0, 1)]
    finally:
        worker.stop()
    assert [outcome["status"] for outcome in outcomes] == ["done", "done"]
