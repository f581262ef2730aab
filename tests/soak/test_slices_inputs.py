"""A slice of the fuzzing of inputs and models; `make soak` runs the whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("module", "n_cases"), [("fuzz_inputs", 40), ("fuzz_models", 25)])
def test_a_slice_holds(tmp_path, module, n_cases):
    for library in ("h5py", "pandas", "pyarrow", "anndata", "mudata"):
        pytest.importorskip(library)
    words = ["--cases", n_cases, "--workers", 2, "--keep", tmp_path / "kept"]
    run = subprocess.run(
        [sys.executable, "-m", f"tests.soak.{module}", *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{n_cases} cases" in run.stdout
    assert run.stdout.strip().endswith("violations: 0")
