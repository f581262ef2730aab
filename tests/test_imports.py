"""Heavy libraries are imported when they are needed, not before."""

import pickle
import subprocess
import sys

import pytest
from sklearn.base import clone

import manyview

HEAVY = ("torch", "sklearn", "scipy", "numpy", "pandas", "matplotlib", "numba")


def heavy_after(code):
    told = f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_the_package_alone_imports_nothing_heavy():
    assert heavy_after("import manyview; dir(manyview)") == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["fit", "--help"],
        ["bench", "--help"],
        ["--version"],
        ["datasets"],
        ["datasets", "mnist", "--json"],
    ],
)
def test_help_and_the_catalog_import_nothing_heavy(arguments):
    code = (
        "from manyview.cli.app import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert heavy_after(code) == "[]"


def test_the_classifier_does_not_import_the_approximate_search():
    loaded = heavy_after("import manyview; manyview.MGCNDNSClassifier")
    assert "torch" in loaded
    assert "numba" not in loaded
    assert "matplotlib" not in loaded


def test_a_lazily_named_class_is_the_class_for_pickle_and_clone():
    model = manyview.MGCNDNSClassifier(hidden=8)
    assert pickle.loads(pickle.dumps(model)).hidden == 8
    assert type(clone(model)) is manyview.MGCNDNSClassifier
    assert manyview.MGCNDNSClassifier is manyview.MGCNDNSClassifier


def test_finding_the_default_method_imports_no_other():
    code = "from manyview.methods import find_method; find_method('manyview')"
    told = f"{code}\nimport sys\nprint([n for n in sys.modules if n.startswith('sklearn.neigh')])"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
