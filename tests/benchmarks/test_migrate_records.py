"""Old records get their new names and keys once; numbers stay."""

import json
import shutil

import migrate_records
import pytest
from migrate_records import migrate, migrate_study, migrate_trials
from rich.console import Console

from manyview.errors import DataFileError
from manyview.experiments.records import read_line, with_checksum
from manyview.experiments.trial import Trial

CONTENT = "c" * 64


def old(method="mgcn-dns", params=None, **more):
    head = {"dataset": "digits", "method": method, "params": params or {}, "key": "old"}
    return head | {
        "label_ratio": 0.1, "protocol": "stratified", "seed": 0, "status": "done",
        "answers": "abc", "accuracy": 0.9,
    } | more  # fmt: skip


def one_of(record, checksum=CONTENT):
    (found,) = migrate_trials([record], lambda dataset: checksum)
    return found


@pytest.mark.parametrize(
    ("params", "method", "renamed"),
    [
        ({}, "manyview", {}),
        ({"recipe": "few-labels"}, "manyview", {}),
        ({"recipe": "paper"}, "mgcn-dns", {}),
        ({"recipe": "paper", "tau": 0.3}, "mgcn-dns", {"node_selection__tau": 0.3}),
        ({"recipe": "paper", "n_neighbors": 5}, "mgcn-dns", {"graph__n_neighbors": 5}),
        ({"recipe": "paper", "tol": 0.0}, "mgcn-dns", {"training__tol": 0.0}),
        ({"graph_learning": None}, "manyview", {"estimator__graph_learning": None}),
        ({"linear_teacher": False}, "manyview", {"initial_teacher": "network"}),
        ({"joint_graph": False}, "manyview", {"early_fusion": False}),
        ({"class_shares": "answers"}, "manyview", {"pseudo_labeler__class_prior": "predictions"}),
    ],
)
def test_one_estimator_with_recipes_becomes_two(params, method, renamed):
    if method == "manyview":
        renamed = renamed | {"graph_epochs": None, "cross_fit": False, "label_audit": None}
    found = one_of(old(params=params))
    assert (found["method"], found["params"]) == (method, renamed)
    assert found["key"] == Trial("digits", method, renamed, 0.1).key(CONTENT)
    assert found["predictions"] == "abc"
    assert found["accuracy"] == 0.9


def test_baselines_keep_their_parameters_and_the_memory_limit_leaves_the_key():
    assert one_of(old("knn", {"n_neighbors": 5}))["params"] == {"n_neighbors": 5}
    found = one_of(old("hlr-m2vs", {"max_memory": 6.0}))
    assert (found["params"], found["max_memory"]) == ({}, 6.0)
    assert found["key"] == Trial("digits", "hlr-m2vs", {}, 0.1).key(CONTENT)


def test_failed_record_before_an_old_one_is_old():
    failed = {k: v for k, v in old().items() if k != "answers"} | {"status": "failed"}
    first, second = migrate_trials([failed, old(seed=1)], lambda dataset: CONTENT)
    assert first["method"] == second["method"] == "manyview"


def test_new_records_stay_and_the_newer_of_two_equal_ones_is_kept():
    new = one_of(old(params={"recipe": "paper"}))
    assert one_of(new) == new
    both = [old(accuracy=0.1), old(params={"recipe": "few-labels"}, accuracy=0.2)]
    (kept,) = migrate_trials(both, lambda dataset: CONTENT)
    assert kept["accuracy"] == 0.2


ALONE = {"cross_fit": False, "label_audit": None}


@pytest.mark.parametrize(("version", "params"), [(1, {"graph_epochs": None} | ALONE), (2, ALONE)])
def test_records_of_earlier_defaults_say_what_they_computed(version, params):
    head = {k: v for k, v in old("manyview").items() if k != "answers"} | {"predictions": "abc"}
    trial = Trial("digits", "manyview", {}, 0.1)
    found = one_of(head | {"key": trial.key(CONTENT, method_version=version)})
    assert found["params"] == params
    assert found["key"] == Trial("digits", "manyview", params, 0.1).key(CONTENT)
    assert one_of(found) == found
    current = head | {"key": trial.key(CONTENT)}
    assert one_of(current) == current


def test_record_of_unknown_data_is_left_alone():
    assert one_of(old(), None) == old()


def test_series_of_a_study_are_renamed_once():
    record = {"dataset": "a", "series": "paper", "share": 0.5, "ratio": 0.1, "accuracy": 0.7}
    new = {"dataset": "a", "series": "mgcn-dns", "fraction": 0.5, "label_ratio": 0.1}
    assert migrate_study(record) == new | {"accuracy": 0.7}
    assert migrate_study(migrate_study(record)) == migrate_study(record)


def test_stored_results_are_migrated(tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(migrate_records.RESULTS, folder)
    migrate(folder, Console(quiet=True))
    for path in migrate_records.RESULTS.rglob("*.json*"):
        assert (folder / path.relative_to(migrate_records.RESULTS)).read_text() == path.read_text()


def test_every_stored_record_has_its_checksum():
    for path in migrate_records.RESULTS.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            assert read_line(line)[1]


def test_damaged_record_stops_the_migration(tmp_path):
    line = json.dumps(with_checksum({"part": "class shares", "ratio": 0.01}))
    (tmp_path / "parts.jsonl").write_text(f"{line}\n{line.replace('0.01', '0.02')}\n")
    before = (tmp_path / "parts.jsonl").read_text()
    with pytest.raises(DataFileError, match=r"Line 2 of .* is damaged: its checksum is wrong\."):
        migrate(tmp_path, Console(quiet=True))
    assert (tmp_path / "parts.jsonl").read_text() == before


def test_old_files_get_their_new_names(tmp_path):
    (tmp_path / "lesson_parts.jsonl").write_text(
        json.dumps({"part": "class shares", "ratio": 0.01, "n_rounds": 2}) + "\n"
    )
    costs = {"seconds": {"a": {"mgcn-dns": 1, "paper": 2, "plain-taught": 3}}}
    (tmp_path / "recipe_costs.json").write_text(json.dumps(costs))
    for _ in range(2):
        migrate(tmp_path, Console(quiet=True))
    record, is_checked = read_line((tmp_path / "pseudo_label_parts.jsonl").read_text())
    assert record == {"part": "class prior", "label_ratio": 0.01, "n_stages": 2}
    assert is_checked
    (seconds,) = json.loads((tmp_path / "training_costs.json").read_text())["seconds"].values()
    assert seconds == {"manyview": 1, "mgcn-dns": 2, "plain-self-trained": 3}
    assert len(list(tmp_path.iterdir())) == 2
