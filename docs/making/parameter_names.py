"""Write the names of all methods and parameters that the shell completes.

Run it after a method or a parameter was added or renamed:

    .venv/bin/python docs/making/parameter_names.py
"""

import json
from pathlib import Path

from manyview.base.parameters import parameter_path
from manyview.errors import InputError
from manyview.methods import BUILT_IN, METHODS

FILE = Path(__file__).parents[2] / "src" / "manyview" / "cli" / "parameters.json"
NOT_SET = ("random_state", "verbose")  # options of the command line set them


def parameter_names() -> dict[str, dict[str, str]]:
    """Return the path of each parameter by the shortest name that means it, by method."""
    return {method: _names(METHODS[method]()) for method in BUILT_IN}


def _names(model: object) -> dict[str, str]:
    names = {}
    for path in model.get_params():
        for name in (path.split("__")[-1], path):
            try:
                is_meant = parameter_path(model, name) == path
            except InputError:  # several parameters have this name, or the method does not use it
                continue
            if is_meant and name not in NOT_SET:
                names[name] = path
                break
    return dict(sorted(names.items()))


if __name__ == "__main__":
    FILE.write_text(json.dumps(parameter_names(), indent=1) + "\n", encoding="utf-8")
