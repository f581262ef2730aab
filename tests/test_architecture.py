"""Every room imports only from rooms below it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "manyview"

FLOORS = [  # top to bottom; rooms on one floor do not see each other
    {"cli"},
    {"bench", "run_verbs", "tuning_verbs"},
    {"options"},
    {"report"},
    {"tuning"},
    {"experiments"},
    {"runs"},
    {"methods"},
    {"classifier", "baselines"},
    {"embedding"},
    {"explainable"},
    {"new_reasons"},
    {"explainer"},
    {"contract"},
    {"model_file"},
    {"fitted_pass", "teaching"},
    {"new_samples", "ground", "warm_start", "parameter_rules", "rounds", "linear_walks"},
    {"training"},
    {"callbacks", "kept_weights"},
    {"network", "attachment"},
    {"layers", "anchors"},
    {"graphs", "fit_memory", "per_view", "annotating", "pyg"},
    {"data"},
    {"memory", "calibration"},
    {
        "terminal",
        "reasons",
        "lessons",
        "distributions",
        "simplex",
        "parameters",
        "progress",
        "files",
    },
    {"errors"},
]
FLOOR_OF = {room: depth for depth, rooms in enumerate(FLOORS) for room in rooms}


def room_of(module: Path) -> str:
    room = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "cli" if room == "__main__" else room


def rooms_imported_by(module: Path) -> set[str]:
    """Rooms the module names in an import, at its top or inside a function."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}: use absolute imports"
            if node.module == "manyview":
                names |= {f"manyview.{alias.name}" for alias in node.names}
            else:
                names.add(node.module)
        elif isinstance(node, ast.Import):
            assert "manyview" not in {alias.name for alias in node.names}, (
                f"{module.name}: import the room, not the package"
            )
            names |= {alias.name for alias in node.names}
    parts = [name.split(".") for name in names]
    return {p[1] for p in parts if p[0] == "manyview"}


@pytest.mark.parametrize(
    "module",
    [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_module_imports_only_from_lower_floors(module):
    room = room_of(module)
    assert room in FLOOR_OF, f"{room} has no floor: add it to FLOORS"
    imported = rooms_imported_by(module) - {room}
    nowhere = imported - FLOOR_OF.keys()
    assert not nowhere, f"{module.name}: import {sorted(nowhere)} from their rooms, not the package"
    too_high = {other for other in imported if FLOOR_OF[other] <= FLOOR_OF[room]}
    assert not too_high, f"{module.name} may not import {sorted(too_high)}"
