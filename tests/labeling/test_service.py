"""The service: acts of a person, the worker behind them, and what the page is shown."""

from dataclasses import replace

import numpy as np
import pytest
from waiting import until

from manyview.errors import InputError
from manyview.labeling.queue import AGAIN, Queue
from manyview.labeling.showing import empty_state
from manyview.labeling.worker import Worker


@pytest.fixture
def labeling(open_tiny):
    return open_tiny()


@pytest.fixture
def service(labeling):
    return labeling.service


def label_some(service, tiny_views, rows):
    for row in rows:
        service.label([row], str(tiny_views.labels[row]), window="w", source="key", seen=[None])
    until(lambda: service.learned.number == service.session.number)


def test_a_person_labels_what_is_asked_and_the_model_learns(open_tiny, tiny_views):
    service = open_tiny(worker=Worker).service  # a process of its own, as for a person
    for _ in range(9):
        row = service.next_row("w")
        service.label([row], str(tiny_views.labels[row]), window="w", source="key", seen=[None])
    until(lambda: service.learned.number == service.session.number)
    state = service.state()
    assert (state["n_labeled"], state["n_left"]) == (9, 51)
    assert state["measured"]["accuracy"] > 0.7
    assert sum(one["n_all"] for one in state["classes"]) == 60
    shown = service.show(service.next_row("w"), "w")
    assert shown["prediction"] in ("0", "1", "2")
    assert sum(one["p"] for one in shown["probabilities"]) == pytest.approx(1, abs=1e-4)
    assert shown["neighbors"]
    assert [view["name"] for view in shown["views"]] == ["shape", "color"]


def test_no_sample_is_shown_before_the_first_ones_are_chosen(service):
    learned, service.learned = service.learned, empty_state(service.n_samples)
    assert service.is_waiting
    assert service.next_row("w") is None
    service.status = "failed"  # a person can still label without a model
    assert service.next_row("w") == 0
    service.learned, service.status = learned, "idle"
    service.shown.clear()
    assert service.next_row("w") == learned.queue.rows[0]


def test_two_windows_are_shown_different_samples(service):
    first = service.next_row("a")
    assert service.next_row("b") != first
    assert service.next_row("a") == first


def test_skipped_samples_come_back_at_the_end(service):
    row = service.next_row("w")
    service.skip(row, "w")
    assert service.next_row("w") != row
    others = [one for one in range(60) if one != row]
    service.label(others, "0", window="w", source="lasso")
    assert service.next_row("w") == row
    service.label([row], "0", window="w", source="key")
    assert service.next_row("w") is None


def test_a_class_or_a_region_can_be_asked_for(service, tiny_views):
    with pytest.raises(InputError, match="No sample is predicted as '1' yet"):
        service.focus("w", None, "1")
    label_some(service, tiny_views, [int(np.argmax(tiny_views.labels == n)) for n in range(3)])
    service.focus("w", None, "1")
    assert service.prediction(service.next_row("w")) == "1"
    service.focus("w", [50, 51], None)
    assert service.next_row("w") in (50, 51)
    service.label([50, 51], "0", window="w", source="lasso")
    assert service.next_row("w") not in (50, 51)


def test_undo_names_the_samples(service):
    service.label([3, 4], "0", window="w", source="lasso")
    assert service.undo("w") == {"kind": "label", "rows": [3, 4], "name": None}
    service.add_class("new", "w")
    assert service.undo("w") == {"kind": "class", "rows": [], "name": "new"}


def test_a_wrong_label_gets_a_second_look(service, tiny_views):
    order = np.argsort(tiny_views.labels, kind="stable").reshape(3, 20)[:, :12].ravel()
    wrong = int(order[0])
    label_some(service, tiny_views, order.tolist())
    service.label([wrong], "2", window="w", source="key")
    until(lambda: service.learned.number == service.session.number)
    (doubt,) = service.doubts()
    assert (doubt["row"], doubt["given"], doubt["suggested"]) == (wrong, "2", "0")
    assert service.state()["n_doubts"] == 1
    service.keep(wrong, "w")
    assert service.doubts() == []
    service.undo("w")
    assert len(service.doubts()) == 1


def test_the_queue_asks_again_about_a_contradicted_label_until_it_is_answered(service, tiny_views):
    order = np.argsort(tiny_views.labels, kind="stable").reshape(3, 20)[:, :5].ravel()
    kept, changed = (int(row) for row in order[:2])
    label_some(service, tiny_views, order[2:].tolist())
    service.label([kept, changed], "2", window="w", source="lasso")
    until(lambda: service.learned.number == service.session.number)
    assert set(service.rows_again()) == {kept, changed}
    service.learned = replace(service.learned, queue=Queue(
        np.array([kept, changed]), np.full(2, AGAIN), service.learned.queue.gains))  # fmt: skip
    assert service.next_row("w") == kept
    assert service.next_row("v") == changed
    shown = service.show(kept, "w")
    assert (shown["reason"], shown["given"]) == ("again", "2")
    service.keep(kept, "w")
    assert service.show(kept, "w")["reason"] is None
    service.label([changed], "0", window="v", source="second look", seen=["2"])
    assert service.rows_again() == []
    assert (service.task().checked, service.task().n_changed) == ((kept, changed), 1)
    assert service.next_row("w") not in (kept, changed)
    service.undo("w")
    assert service.rows_again() == [kept]
    service.skip(kept, "w")
    assert service.rows_again() == []
    service.label(np.flatnonzero(service.is_open()).tolist(), "0", window="w", source="lasso")
    assert service.next_row("w") is None


def test_sure_predictions_are_shown_as_a_batch(service, tiny_views):
    label_some(service, tiny_views, range(0, 60, 2))
    learned = service.learned
    column = learned.classes.index("1")
    found = [one["row"] for one in service.grid("1")]
    wanted = np.flatnonzero(learned.probabilities[:, column] >= 0.9)
    assert set(found) == {row for row in wanted.tolist() if row % 2}


def test_the_map_holds_all_samples(service, tiny_views):
    label_some(service, tiny_views, [0, 1, 2])
    service.skip(5, "w")
    content = service.map_content()
    assert np.frombuffer(content, np.int32, 1)[0] == 60
    assert len(content) == 4 + 60 * 12
    flags = np.frombuffer(content, np.uint8)[-60:]
    assert flags[[0, 1, 2, 5, 6]].tolist() == [1, 1, 1, 2, 0]


def test_rows_that_do_not_exist_are_refused(service):
    for rows in ([60], [-1], [], ["1"], [1.5]):
        with pytest.raises(InputError, match="rows must"):
            service.label(rows, "0", window="w", source="key")
    assert service.session.labels == {}


def test_labels_csv_follows_and_edits_come_in(labeling, service):
    file = labeling.folder / "labels.csv"
    service.label([3], "0", window="w", source="key")
    until(lambda: file.exists() and "p3,0,key" in file.read_text())
    file.write_text("sample_id,label\np3,1\np9,2\n")
    until(lambda: service.session.labels == {"p3": "1", "p9": "2"})
    until(lambda: service.learned.number == service.session.number)


def test_the_end_leaves_a_run_and_the_next_session_continues(open_tiny, labeling, tiny_views):
    label_some(labeling.service, tiny_views, range(0, 60, 4))
    run = labeling.close()
    assert run.n_labeled == 15
    assert run.scores.n_scored == 45
    names = {file.name for file in labeling.folder.iterdir()}
    assert {"labels.csv", "run.json", "predictions.csv", "model.safetensors"} <= names
    again = open_tiny()
    assert len(again.service.session.labels) == 15
    assert again.service.learned.classes == ("0", "1", "2")
    again.service.label([1], "2", window="w", source="key")
    assert again.close().n_labeled == 16


def test_too_few_labels_leave_the_labels_alone(labeling):
    labeling.service.label([1], "2", window="w", source="key")
    assert labeling.close() is None
    assert (labeling.folder / "labels.csv").read_text().endswith("p1,2,key\n")
    assert not (labeling.folder / "run.json").exists()


def test_a_worker_that_is_killed_is_reported_and_labels_are_kept(open_tiny):
    import os
    import signal

    service = open_tiny(worker=Worker).service
    os.kill(service.worker.pid, signal.SIGKILL)
    until(lambda: service.status == "failed")
    service.label([3], "0", window="w", source="key")
    assert service.session.labels == {"p3": "0"}
    assert "has ended" in service.state()["message"]
