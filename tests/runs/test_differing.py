import json
from dataclasses import replace

import numpy as np
import pytest

from manyview.errors import DataFileError
from manyview.runs.differing import diff_runs
from manyview.runs.fitting import fit_run
from manyview.runs.sources import DataSource


@pytest.fixture
def two(quick, tmp_path):
    """Fit twice, with a difference."""

    def make(first=None, **second):
        one = fit_run(quick(**(first or {}), out=tmp_path / "one"))
        other = fit_run(quick(**{"out": tmp_path / "other", **second}))
        return one.folder, other.folder

    return make


def rows_of(folder):
    lines = (folder / "predictions.csv").read_text().splitlines()
    return [line.split(",") for line in lines]


def test_a_run_does_not_differ_from_itself(two):
    first, second = two()
    found = diff_runs(first, second)
    assert found.settings == ()
    assert found.changed == ()
    assert (found.n_common, found.n_only_first, found.n_only_second) == (60, 0, 0)
    assert found.is_same_data


def test_settings_and_parameters_that_differ_are_named_once(two):
    found = diff_runs(*two(params={"max_epochs": 7, "tau": 0.5}, seed=1))
    settings = {one.name: (one.first, one.second) for one in found.settings}
    assert settings == {
        "seed": (0, 1),
        "-p estimator__max_epochs": (5, 7),
        "-p estimator__node_selection__tau": (
            settings["-p estimator__node_selection__tau"][0],
            0.5,
        ),
    }


def test_predictions_that_differ_are_those_of_the_files(two, tmp_path, tiny_views):
    swapped = np.where(tiny_views.labels == 2, 0, tiny_views.labels)
    np.savez(tmp_path / "swapped.npz", **tiny_views.views, y=swapped)
    source = DataSource((str(tmp_path / "swapped.npz"),))
    first, second = two(method="knn", params={}, seed=3, source=source)
    ours, theirs = ({row[0]: row for row in rows_of(one)[1:]} for one in (first, second))
    expected = [name for name in ours if ours[name][1] != theirs[name][1]]
    found = diff_runs(first, second)
    assert 10 <= len(expected) <= 30  # the 20 samples of a class
    assert [one.sample_id for one in found.changed] == expected
    one = found.changed[0]
    assert [one.first, one.first_probability] == ours[expected[0]][1:3]
    assert [one.second, one.second_probability] == theirs[expected[0]][1:3]
    assert {one.name for one in found.settings} >= {"method", "seed"}
    assert not any(one.name.startswith("-p ") for one in found.settings)
    document = json.loads(json.dumps(found.document()))
    assert document["n_changed"] == len(expected) == len(document["changed"])


def test_order_of_the_rows_does_not_matter(two):
    first, second = two()
    head, *rows = rows_of(second)
    lines = [",".join(row) for row in (head, *reversed(rows))]
    (second / "predictions.csv").write_text("\n".join(lines) + "\n")
    assert diff_runs(first, second).changed == ()


def test_only_common_samples_are_compared(two, tmp_path, tiny_views):
    part = {name: view[10:] for name, view in tiny_views.views.items()}
    np.savez(tmp_path / "part.npz", **part, y=tiny_views.labels[10:])
    first, second = two(source=DataSource((str(tmp_path / "part.npz"),)))
    found = diff_runs(first, second)
    assert (found.n_common, found.n_only_first, found.n_only_second) == (50, 10, 0)
    assert not found.is_same_data
    assert "data content" in {one.name for one in found.settings}


def test_runs_of_other_samples_are_refused_by_name(two):
    first, second = two()
    text = (second / "predictions.csv").read_text().splitlines()
    renamed = [text[0], *(f"x{line}" for line in text[1:])]
    (second / "predictions.csv").write_text("\n".join(renamed) + "\n")
    with pytest.raises(DataFileError, match=r"no sample in common, by sample_id: '.*, and 'x"):
        diff_runs(first, second)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "has no column 'sample_id'"),
        ("sample_id,probability\n", "has no column 'label'"),
        (b"\xff\xfe", "is not a table"),
        (None, "cannot be read: No such file"),
    ],
)
def test_table_that_is_not_as_written_is_named(two, content, words):
    first, second = two()
    file = second / "predictions.csv"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataFileError, match=rf"other/predictions\.csv.*{words}"):
        diff_runs(first, second)


def test_listed_facts_of_both_runs_are_there(two):
    found = diff_runs(*two(method="knn", params={}))
    assert (found.first.method, found.second.method) == ("manyview", "knn")
    assert found.first.accuracy is not None
    assert replace(found.first, written="") != found.second
