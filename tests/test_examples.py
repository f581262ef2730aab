"""Every example runs as it stands and stays short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
WITH_DATA = ("documents", "given_graphs", "images", "node_selection_in_pyg", "omics")
LIBRARY_OF = {"node_selection_in_pyg": "torch_geometric", "omics": "mudata"}
# What other libraries say of versions to come.
THEIRS = (
    "ignore:`torch.jit.script` is deprecated:DeprecationWarning",
    "ignore:From 0.4 .update() will not pull:FutureWarning",
)

for_each_example = pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.data if path.stem in WITH_DATA else ())
        for path in EXAMPLES
    ],
)


@for_each_example
def test_example_runs(example, tmp_path):
    if example.stem in LIBRARY_OF:
        pytest.importorskip(LIBRARY_OF[example.stem])
    filters = [part for one in ("error", *THEIRS) for part in ("-W", one)]
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    run = subprocess.run(
        [sys.executable, *filters, example],
        cwd=here,
        env=os.environ | {"TMPDIR": str(scratch)},  # PyTorch Geometric leaves its templates there
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert not list(here.iterdir()), "an example leaves nothing where it is run"


@for_each_example
def test_example_is_under_40_lines(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
