"""The journal: a stopped tuning continues, and other folders are refused."""

import pytest

from manyview.errors import InputError
from manyview.tuning import folds as folds_module


def interrupt(*_):
    raise KeyboardInterrupt


def test_stopped_tuning_continues_as_if_it_had_not_been_stopped(quick, tmp_path, findings):
    whole = quick(n_candidates=7)
    quick(n_candidates=3, folder=tmp_path / "study")
    steps = []
    again = quick(n_candidates=7, folder=tmp_path / "study", on_step=steps.append)
    assert findings(again) == findings(whole)
    assert [step.n_done for step in steps][:4] == [4, 5, 6, 7]
    assert findings(
        quick(n_candidates=7, folder=tmp_path / "study", random_state=None)
    ) == findings(whole)


def test_half_a_line_left_by_a_crash_does_no_harm(quick, tmp_path, findings):
    quick(n_candidates=3, folder=tmp_path)
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"key": "search-0003", "num')
    assert findings(quick(n_candidates=5, folder=tmp_path)) == findings(quick(n_candidates=5))


def test_ctrl_c_ends_the_search_and_keeps_what_was_found(quick, monkeypatch, tmp_path, findings):
    quick(n_candidates=2, folder=tmp_path)
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    tuning = quick(folder=tmp_path)
    assert tuning.stopped_ == "interrupted"
    assert len(tuning.candidates_) == 2
    assert len(tuning.best_estimator_.transduction_) == 60
    monkeypatch.undo()
    assert findings(quick(folder=tmp_path)) == findings(quick())


def test_damaged_candidate_is_scored_again_and_only_that(quick, tmp_path, findings):
    whole = quick(n_candidates=6, folder=tmp_path)
    file = tmp_path / "records.jsonl"
    for number in (0, 2):
        lines = file.read_bytes().splitlines(keepends=True)
        lines[number] = lines[number].replace(b"search", b"searcH")
        file.write_bytes(b"".join(lines))
        steps = []
        again = quick(n_candidates=6, folder=tmp_path, on_step=steps.append)
        assert findings(again) == findings(whole)
        assert len(steps) == 1
        assert (whole.n_damaged_, again.n_damaged_) == (0, 1)


def test_tuning_killed_before_its_first_file_starts_again(quick, tmp_path, findings):
    """A crash may leave what the store makes at first, and the file that was being written."""
    for name in ("running", "runners"):
        (tmp_path / "study" / name).mkdir(parents=True)
    for name in ("lock", ".study.json.17.tmp", "running/tuning", "runners/" + "a" * 32):
        (tmp_path / "study" / name).write_text("")
    assert findings(quick(folder=tmp_path / "study")) == findings(quick())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "records.jsonl").write_text("not of a tuning")
    with pytest.raises(InputError, match="is not empty and holds no tuning"):
        quick(folder=tmp_path / "other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"random_state": 1}, "another random_state"),
        ({"space": {"n_neighbors": [1, 2]}}, "another space"),
        ({"method": "svm", "space": {"penalty": [1.0]}}, "another method"),
        ({"scoring": "macro_f1"}, "another scoring"),
    ],
)
def test_folder_of_another_tuning_is_refused(quick, tmp_path, changes, message):
    quick(n_candidates=1, folder=tmp_path)
    with pytest.raises(InputError, match=f"holds another tuning: it has .*{message}"):
        quick(n_candidates=1, folder=tmp_path, **changes)


def test_folder_of_other_labels_or_of_something_else_is_refused(quick, tmp_path, tiny_views):
    quick(n_candidates=1, folder=tmp_path / "one")
    with pytest.raises(InputError, match="other labels"):
        quick(n_candidates=1, folder=tmp_path / "one", labels=tiny_views.labels)
    with pytest.raises(InputError, match="is not empty and holds no tuning"):
        quick(n_candidates=1, folder=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        quick(n_candidates=1, folder=tmp_path / "file")


def test_folder_in_use_is_refused(quick, tmp_path):
    def second(step):
        with pytest.raises(InputError, match="in use by another process"):
            quick(folder=tmp_path)

    assert quick(n_candidates=1, folder=tmp_path, on_step=second).stopped_ == "done"
