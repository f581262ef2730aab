"""Tables of mixed columns from the command line: what is read as what, overrides, new rows."""

import csv
import json
from pathlib import Path

import pytest

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins"
FIT = ["-p", "max_epochs=5", "-p", "max_iter=1"]


def write(file, rows):
    file.parent.mkdir(exist_ok=True)
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    """40 patients in a table of mixed columns and one of numbers; labels of every third."""
    monkeypatch.setenv("COLUMNS", "200")
    for folder, rows in {"hospital": range(40), "new": range(40, 46)}.items():
        write(
            tmp_path / folder / "clinic.csv",
            [
                ["patient", "age", "ward", "zip", "seen"],
                *(
                    [
                        f"p{n}",
                        20 + n,
                        "north" if n % 2 else "south",
                        f"0{n % 3}",
                        f"0{1 + n % 9}.03.2021",
                    ]
                    for n in rows
                ),
            ],
        )
        write(
            tmp_path / folder / "lab.csv",
            [["patient", "iron", "salt"], *([f"p{n}", n % 2 + n / 99, n % 2] for n in rows)],
        )
    write(
        tmp_path / "known.csv",
        [["patient", "outcome"], *([f"p{n}", "good" if n % 2 else "bad"] for n in range(0, 40, 3))],
    )
    return tmp_path


def fit(*arguments):
    return ("fit", "hospital", "--labels", "known.csv", "--out", "run", *FIT, *arguments)


def test_a_fit_says_what_it_read_as_what(hospital, manyview):
    code, printed, _ = manyview(*fit())
    assert code == 0
    assert "View clinic: 2 numbers (age, zip), 1 category (ward), 1 date (seen)." in printed
    assert "View lab" not in printed  # numbers alone need no word


def test_a_table_of_numbers_is_encoded_like_the_mixed_one(hospital, manyview):
    """Units do not matter: iron in other units gives the same labels of new patients."""
    labels = []
    for unit in (1, 1000):
        for folder, rows in {"hospital": range(40), "new": range(40, 46)}.items():
            lab = ([f"p{n}", unit * (n % 2 + n / 99), 2000 + n % 2] for n in rows)
            write(hospital / folder / "lab.csv", [["patient", "iron", "year"], *lab])
        code, _, _ = manyview(*fit("--out", f"run{unit}"))
        assert code == 0
        tree = json.loads((hospital / f"run{unit}" / "run.json").read_text())
        assert tree["training"]["scaling"] == {"clinic": "unit", "lab": "unit"}
        assert tree["training"]["scaling_advice"] == []
        code, out, _ = manyview("predict", f"run{unit}", "new", "--json")
        assert code == 0
        labels.append([one["label"] for one in json.loads(out)["predictions"]])
    assert labels[0] == labels[1]


def test_columns_override_what_is_found(hospital, manyview):
    code, printed, _ = manyview(*fit("--columns", "zip=category", "--columns", "ward=text"))
    assert code == 0
    assert "View clinic: 1 number (age), 1 category (zip), 1 date (seen), 1 text (ward)." in printed


def test_new_rows_are_read_as_those_of_the_fit(hospital, manyview):
    assert manyview(*fit("--columns", "zip=category"))[0] == 0
    write(
        hospital / "new" / "clinic.csv",
        [
            ["patient", "age", "ward", "zip", "seen"],
            ["p40", 60, "west", "01", "01.03.2021"],
            ["p41", 61, "west", "02", "02.03.2021"],
        ],
    )
    write(hospital / "new" / "lab.csv", [["patient", "iron", "salt"], ["p40", 0, 0], ["p41", 1, 1]])
    code, out, err = manyview("predict", "run", "new", "--json")
    assert code == 0
    assert len(json.loads(out)["predictions"]) == 2
    assert "column 'ward': 2 of 2 samples have a category that the fit did not see ('west')" in (
        out + err
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("ward=word", "--columns must give each column a kind (number, category, boolean, date, "
         "text); got 'word' for 'ward'."),
        ("wart=text", "has no column 'wart'; it has 'patient', 'age', 'ward', 'zip', 'seen', "
         "'iron' and 'salt'. Did you mean 'ward'?"),
        ("ward", "--columns must be given as NAME=KIND, such as zip=category; got 'ward'."),
        ("ward=number", "column 'ward' must hold numbers; 40 of 40 cells do not, the first is "
         "'south' (row 0)."),
    ],
)  # fmt: skip
def test_wrong_overrides_are_refused(hospital, refused, columns, message):
    assert message in refused(*fit("--columns", columns))
    assert not (hospital / "run").exists()


def test_a_stray_text_among_numbers_is_refused_by_sample(hospital, refused):
    rows = [["patient", "crp"], *([f"p{n}", "<5" if n == 7 else n + 0.5] for n in range(40))]
    write(hospital / "hospital" / "crp.csv", rows)
    assert refused(*fit()) == (
        "crp.csv: column 'crp' holds numbers except in 1 of 40 cells, the first is '<5' (sample "
        "'p7'). Correct or empty these cells, or read it as text with --columns 'crp=text'."
    )


def test_the_penguins_of_the_tour(manyview, refused):
    fit_penguins = ("fit", str(PENGUINS), "--out", "run", *FIT)
    assert "view 'blood' has blank cells in 1 of 300 rows" in refused(*fit_penguins)
    assert manyview(*fit_penguins, "--missing", "impute")[0] == 0
    code, printed, _ = manyview("predict", "run", str(PENGUINS / "new"))
    assert code == 0
    assert printed.count("\n") == 45  # a line per new penguin, and the head
