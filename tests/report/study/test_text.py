"""Progress of a study, as text and as a document."""

import pytest

from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study
from manyview.report.study.text import record_line, status_document, status_text


@pytest.fixture
def empty(tmp_path):
    """The quick study without any data file and without any record."""
    study = Study.open(load_plan("quick"), tmp_path, str(tmp_path / "no data here"))
    study.store.open()
    return study


def test_trials_without_data_are_counted_separately(empty):
    text = " ".join(status_text(empty, 100).split())
    assert (
        "0 of 90 trials are done, 60 need data that is not available; 0 s of computing so far."
        in text
    )
    assert "Left 30 trials; with one process 30 trials of unknown length." in text
    assert "bbcsports: Data set 'bbcsports' needs the file BBCsports.mat" in text


def test_document_has_the_same_counts(empty):
    document = status_document(empty)
    assert (document["n_trials"], document["n_absent"], document["n_open"]) == (90, 60, 30)
    assert set(document["skipped"]) == {"bbcsports", "3sources"}


def test_a_record_is_one_line():
    record = {
        "dataset": "digits",
        "method": "mgcn-dns",
        "params": {"tau": 0.5},
        "label_ratio": 0.05,
        "protocol": "random",
        "seed": 3,
        "status": "done",
        "accuracy": 0.987,
        "seconds": 12.3,
    }
    assert record_line(record) == "digits mgcn-dns (tau=0.5) 5% seed 3 random: 98.7% in 12 s"
    failed = record | {"status": "out of time", "reason": "it took more than 1 minutes"}
    assert record_line(failed).endswith(": out of time, it took more than 1 minutes")
