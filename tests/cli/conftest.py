"""Files and commands for tests of the command line."""

import csv

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test works in its own folder, on a terminal of 100 columns, without real data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    return tmp_path


@pytest.fixture
def refused(manyview):
    """Run a command that must end with 2 and one line; returns that line."""

    def run(*arguments):
        code, out, err = manyview(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        return err[len("Error: ") : -1]

    return run


@pytest.fixture
def shapes(shapes, here):
    """The name of the tiny file, which is in the current folder."""
    return shapes.name


@pytest.fixture
def tables(here, tiny_views):
    """Two folders of tables: `old`, where a few samples have a label, and `new`, without."""
    animals = np.array(["cow", "hen", "pig"])[tiny_views.labels]
    for folder, rows in {"old": range(50), "new": range(50, 60)}.items():
        (here / folder).mkdir()
        for name, view in tiny_views.views.items():
            order = rows if name == "shape" else reversed(rows)
            with (here / folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", *[f"{name}{column}" for column in range(view.shape[1])]])
                writer.writerows([f"s{row}", *view[row]] for row in order)
    with (here / "animals.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "animal"])
        known = tiny_views.known_labels >= 0
        writer.writerows([f"s{row}", animals[row] if known[row] else ""] for row in range(50))
    return animals
