"""No module of the package can unpickle: it would run whatever code a file holds."""

import ast
from pathlib import Path

import manyview

PACKAGE = Path(manyview.__file__).parent
FORBIDDEN = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def imported_by(module):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def calls_in(module):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func), {word.arg: word.value for word in node.keywords}


def test_no_module_imports_a_pickle_library():
    found = {
        (module.name, name)
        for module in PACKAGE.rglob("*.py")
        for name in imported_by(module)
        if name.split(".")[0] in FORBIDDEN
    }
    assert not found


def test_arrays_are_loaded_without_pickles():
    for module in PACKAGE.rglob("*.py"):
        for name, words in calls_in(module):
            assert name not in ("torch.load", "pd.read_pickle", "pandas.read_pickle"), module
            if name == "np.load":
                assert ast.literal_eval(words["allow_pickle"]) is False, module
