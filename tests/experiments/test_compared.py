import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manyview.data.io.reading import ReadOptions
from manyview.errors import DataFileError, InputError
from manyview.experiments.compared import plan_comparison
from manyview.experiments.study import Study
from manyview.experiments.trial import Trial, checksum_of
from manyview.experiments.worker import attempt
from manyview.methods import METHODS
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


@pytest.fixture
def settings(shapes):
    return RunSettings(DataSource((str(shapes),)), label_ratio=0.2)


@pytest.fixture
def few_labels(tmp_path, tiny_views):
    """Settings of a file where 12 of 60 samples have a label, four per class."""
    np.savez(tmp_path / "few.npz", **tiny_views.views, y=tiny_views.known_labels)
    return RunSettings(DataSource((str(tmp_path / "few.npz"),)))


def test_every_method_gets_the_same_splits(settings):
    compared = plan_comparison(replace(settings, seed=4), ["knn", "svm"], 3)
    trials = [trial for cell in compared.plan.cells().values() for trial in cell]
    assert [(one.method, one.seed) for one in trials] == [
        *(("knn", seed) for seed in (4, 5, 6)),
        *(("svm", seed) for seed in (4, 5, 6)),
    ]
    assert {one.label_ratio for one in trials} == {0.2}
    assert (compared.n_known, compared.n_kept, compared.n_hidden) == (60, 12, 48)
    assert compared.is_census


def test_without_a_ratio_a_fifth_of_the_known_labels_is_hidden(few_labels):
    compared = plan_comparison(few_labels, ["knn"], 2)
    assert (compared.n_samples, compared.n_known) == (60, 12)
    assert (compared.n_kept, compared.n_hidden) == (9, 3)
    assert not compared.is_census
    assert not plan_comparison(replace(few_labels, label_ratio=0.5), ["knn"], 2).is_census


def test_only_known_labels_are_hidden_and_scored(few_labels, tiny_views):
    """The labels of samples without one are in the file of the truth, and never used."""
    compared = plan_comparison(few_labels, ["knn"], 2)
    ((trial, _),) = compared.plan.cells().values()
    outcome = attempt(trial, None, None)
    assert outcome["n_labeled"] == 9
    assert outcome["accuracy"] * 3 == pytest.approx(round(outcome["accuracy"] * 3), abs=1e-5)


def test_no_method_named_compares_all(settings):
    compared = plan_comparison(settings, [], 2)
    assert [entry.name for entry in compared.plan.entries] == list(METHODS)


def test_catalog_shares_its_records_with_plans(shapes):
    compared = plan_comparison(RunSettings(DataSource(("digits",)), label_ratio=0.1), ["knn"], 2)
    assert compared.plan.sources == {}
    assert compared.folder == Path("compare/digits")
    study = Study.open(compared.plan, Path("unused"))
    assert Trial("digits", "knn", {}, 0.1).key(checksum_of("digits")) in study.keys


@pytest.mark.parametrize(
    ("changes", "methods", "n_splits", "message"),
    [
        ({}, ["knn", "kn"], 2, r"No method is named 'kn'\. Did you mean 'knn'\?"),
        ({}, ["knn", "svm", "knn"], 2, "methods must differ; 'knn' is there twice"),
        ({}, ["knn"], 1, "splits must be a whole number of at least 2; got 1"),
        ({"label_ratio": 1.0}, ["knn"], 2, "label_ratio must be below 1"),
        ({"label_ratio": 1.5}, ["knn"], 2, "label_ratio must be above 0 and at most 1"),
        ({"protocol": "x"}, ["knn"], 2, "protocol must be one of"),
        ({"params": {"tau": 1.0}}, ["knn"], 2, "KNNClassifier has no parameter 'tau'"),
    ],
)
def test_mistakes_are_found_before_any_fit(settings, changes, methods, n_splits, message):
    with pytest.raises(InputError, match=message):
        plan_comparison(replace(settings, **changes), methods, n_splits)


def test_data_that_cannot_be_read_are_refused(settings, tmp_path, tiny_views):
    with pytest.raises(DataFileError, match="There is no file or folder"):
        plan_comparison(replace(settings, source=DataSource(("none.npz",))), ["knn"], 2)
    np.savez(tmp_path / "bare.npz", **tiny_views.views)
    bare = DataSource((str(tmp_path / "bare.npz"),))
    with pytest.raises(InputError, match="bare has no labels"):
        plan_comparison(replace(settings, source=bare), ["knn"], 2)


def test_too_few_labels_to_hide_any_are_refused(few_labels, tmp_path, tiny_views):
    labels = np.full(60, -1)
    for label in range(3):
        labels[np.flatnonzero(tiny_views.labels == label)[:2]] = label
    np.savez(tmp_path / "six.npz", **tiny_views.views, y=labels)
    six = replace(few_labels, source=DataSource((str(tmp_path / "six.npz"),)))
    with pytest.raises(InputError, match="six has 6 known labels, and none of them can be hidden"):
        plan_comparison(six, ["knn"], 2)
    assert plan_comparison(replace(six, label_ratio=0.5), ["knn"], 2).n_hidden == 3


def test_trial_reads_its_source_with_all_options(tmp_path, tiny_views):
    for name, view in tiny_views.views.items():
        rows = [f"s{row}," + ",".join(map(str, values)) for row, values in enumerate(view)]
        head = "key," + ",".join(f"c{number}" for number in range(view.shape[1]))
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
    lines = [f"s{row},{label}" for row, label in enumerate(tiny_views.labels)]
    (tmp_path / "y.csv").write_text("\n".join(["key,class", *lines]) + "\n")
    names = tuple(str(tmp_path / f"{name}.csv") for name in tiny_views.views)
    source = DataSource(
        names, str(tmp_path / "y.csv"), options=ReadOptions(id_column="key", label_column="class")
    )
    trial = Trial("mine", "knn", {}, 0.2, source=source)
    again = Trial.from_description(json.loads(json.dumps(trial.describe())))
    assert again == trial
    outcome = attempt(again, None, None)
    assert (outcome["status"], outcome["n_labeled"]) == ("done", 12)


def test_key_follows_content_and_options_and_not_names(tmp_path, shapes):
    source = DataSource((str(shapes),))
    moved = tmp_path / "moved.npz"
    moved.write_bytes(shapes.read_bytes())
    plain = Trial(str(shapes), "knn")
    key = plain.key(checksum_of(source))
    for one in (source, DataSource((str(moved),))):
        assert Trial("x", "knn", source=one).key(checksum_of(one)) == key
    other = replace(source, options=ReadOptions(labels_key="y"))
    assert Trial("x", "knn", source=other).key(checksum_of(other)) != key
    labels = tmp_path / "y.csv"
    labels.write_text("1\n2\n")
    with_labels = replace(source, labels=str(labels))
    before = checksum_of(with_labels)
    assert before != checksum_of(source)
    labels.write_text("1\n3\n4\n")
    assert checksum_of(with_labels) != before
