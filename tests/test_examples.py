"""Every example runs as it stands and stays short."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))

for_each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


@for_each_example
def test_example_runs(example, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@for_each_example
def test_example_is_under_40_lines(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
