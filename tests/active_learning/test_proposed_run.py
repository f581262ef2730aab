"""`manyview propose`: what it prints, writes and refuses."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, shapes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def run(manyview):
    options = ("--label-ratio", "0.1", "-p", "max_epochs=3", "--no-report", "--out", "run")
    assert manyview("fit", "shapes.npz", *options)[0] == 0
    return "run"


def test_propose_names_samples_and_writes_a_table_to_fill_in(manyview, here, run, tiny_views):
    code, out, _ = manyview("propose", run, "-n", "5", "--out", "next.csv")
    rows = list(csv.DictReader((here / "next.csv").read_text().splitlines()))
    assert code == 0
    assert len(rows) == 5
    assert all(row["sample_id"] in out and row["label"] == "" for row in rows)
    predictions = csv.DictReader((here / "run" / "predictions.csv").read_text().splitlines())
    known = {row["sample_id"] for row in predictions if row["known"] == "yes"}
    assert not known & {row["sample_id"] for row in rows}
    document = json.loads(manyview("propose", run, "-n", "5", "--json")[1])
    assert [one["sample_id"] for one in document["samples"]] == [row["sample_id"] for row in rows]


def test_propose_refuses_too_many_samples_and_folders_without_a_run(manyview, here, run):
    code, out, err = manyview("propose", run, "-n", "999")
    assert (code, out) == (2, "")
    assert "-n must be at most the number of unlabeled samples, 54; got 999" in err
    assert "There is no run nowhere" in manyview("propose", "nowhere")[2]


def test_sorted_predictions_do_not_change_the_proposal(manyview, here, run):
    before = manyview("propose", run, "-n", "5")
    file = here / "run" / "predictions.csv"
    header, *rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join([header, *sorted(rows, key=lambda row: row.split(",")[2])]))
    assert manyview("propose", run, "-n", "5") == before


def test_propose_says_what_it_wrote(manyview, here, run):
    code, out, err = manyview("propose", run, "-n", "5", "--out", "next one.csv")
    assert (code, err) == (0, "")
    assert out.endswith("""\

File        next one.csv
            fill in the column label, add the labels to those of the data, and fit again
""")
    out = manyview("propose", run, "-n", "6", "--out", "next one.csv")[1]
    assert "File        next one.csv (in place of one without labels)\n" in out
    assert len((here / "next one.csv").read_text().splitlines()) == 7
    document = json.loads(manyview("propose", run, "--out", "next one.csv", "--json")[1])
    assert document["file"] == "next one.csv"
    assert "file" not in json.loads(manyview("propose", run, "--json")[1])


@pytest.mark.parametrize("n_filled", [1, 3])
def test_labels_that_a_person_filled_in_are_never_replaced(manyview, here, run, n_filled):
    manyview("propose", run, "-n", "5", "--out", "next.csv")
    header, *rows = (here / "next.csv").read_text().splitlines()
    filled = [row + "hen" * (number < n_filled) for number, row in enumerate(rows)]
    text = "\n".join([header, *filled]) + "\n"
    (here / "next.csv").write_text(text)
    code, out, err = manyview("propose", run, "-n", "5", "--out", "next.csv")
    assert (code, out) == (2, "")
    what, use = ("1 label", "it") if n_filled == 1 else ("3 labels", "them")
    assert err == (
        f"Error: next.csv has {what} filled in and stays as it is. Use {use} with `manyview fit "
        "DATA --labels next.csv`, or name another file with --out.\n"
    )
    assert (here / "next.csv").read_text() == text


@pytest.mark.parametrize(
    "content",
    ["notes of mine\n", "sample_id;label\n1;hen\n", "sample_id,label,why\n1,,x\n", "a\x00b"],
)
def test_files_of_others_are_never_replaced(manyview, here, run, content):
    (here / "next.csv").write_text(content)
    code, out, err = manyview("propose", run, "--out", "next.csv")
    assert (code, out) == (2, "")
    assert err == (
        "Error: next.csv exists and is not a table that `manyview propose` wrote. It stays as it "
        "is; name another file with --out.\n"
    )
    assert (here / "next.csv").read_text() == content


def test_labels_filled_in_during_the_proposal_are_kept(manyview, here, run, monkeypatch):
    from manyview.active_learning import proposed_run

    manyview("propose", run, "-n", "5", "--out", "next.csv")
    propose = proposed_run.propose_labels

    def meanwhile(*args, **kwargs):
        (here / "next.csv").write_text("sample_id,label\n3,hen\n")
        return propose(*args, **kwargs)

    monkeypatch.setattr(proposed_run, "propose_labels", meanwhile)
    assert manyview("propose", run, "-n", "5", "--out", "next.csv")[0] == 2
    assert (here / "next.csv").read_text() == "sample_id,label\n3,hen\n"


def test_an_empty_file_is_filled(manyview, here, run):
    (here / "next.csv").touch()
    assert manyview("propose", run, "-n", "5", "--out", "next.csv")[0] == 0
    assert len((here / "next.csv").read_text().splitlines()) == 6


def test_propose_takes_strings_as_labels(manyview, here, tiny_views):
    names = np.array(["hen", "cow", "pig"])[tiny_views.labels]
    np.savez(here / "farm.npz", **tiny_views.views, y=names)
    options = ("--method", "knn", "--label-ratio", "0.2", "--no-report", "--out", "farm")
    assert manyview("fit", "farm.npz", *options)[0] == 0
    out = manyview("propose", "farm", "-n", "2", "--strategy", "uncertainty")[1]
    assert any(name in out for name in ("hen", "cow", "pig"))


def write_tables(folder, tiny_views, names):
    folder.mkdir()
    for view, values in tiny_views.views.items():
        rows = [",".join([name, *map(str, row)]) for name, row in zip(names, values, strict=True)]
        header = ",".join(["patient", *(f"{view}{n}" for n in range(values.shape[1]))])
        (folder / f"{view}.csv").write_text("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize("where", ["mine.csv", "tables/labels.csv"])
def test_the_table_to_fill_in_has_the_columns_of_the_own_labels_and_merges_with_it(
    manyview, here, tiny_views, where
):
    names = [f"p{number}" for number in range(60)]
    write_tables(here / "tables", tiny_views, names)
    known = [n for n in range(60) if tiny_views.known_labels[n] >= 0]
    lines = [f"{names[n]},kind{tiny_views.labels[n]},a note" for n in known]
    (here / where).write_text("\n".join(["patient,diagnosis,note", *lines]) + "\n")
    fit = ["fit", "tables", "--label-column", "diagnosis", "-p", "max_epochs=3", "--no-report"]
    own = ["--labels", where]
    code, _, err = manyview(*fit, *(own if where == "mine.csv" else ()), "--out", "run")
    assert code == 0, err
    code, out, _ = manyview("propose", "run", "-n", "3", "--out", "next.csv")
    assert code == 0
    assert "fill in the column diagnosis" in out
    header, *rows = (here / "next.csv").read_text().splitlines()
    assert header == "patient,diagnosis"
    filled = [f"{row}kind{tiny_views.labels[names.index(row.rstrip(','))]}" for row in rows]
    (here / "next.csv").write_text("\n".join([header, *filled]) + "\n")
    both = [*own, "--labels", "next.csv"]
    assert manyview(*fit, *both, "--out", "second")[0] == 0
    record = json.loads((here / "second" / "run.json").read_text())
    assert record["split"]["n_labeled"] == len(known) + 3
    name = names[known[0]]
    (here / "next.csv").write_text(f"{header}\n{name},kind9\n")
    code, _, err = manyview(*fit, *both, "--out", "third")
    assert code == 2
    assert f"sample '{name}' has label" in err
    assert "'kind9' in next.csv" in err
