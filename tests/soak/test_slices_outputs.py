"""A few cases of the campaigns on what commands write; `make soak` runs them at length."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLICES = """
import sys
from tests.soak import leaks, outputs, pages
from tests.soak.campaign import main
from tests.soak.commands import preload

preload()
leaks.N_FITS = 3
for campaign, n_cases in ((outputs, 2), (pages, 1), (leaks, 1)):
    name = campaign.__name__.rpartition(".")[2]
    options = ["--cases", str(n_cases), "--workers", "2", "--keep", sys.argv[1]]
    main(name, campaign.case, prepare=campaign.prepare, arguments=options)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
def test_a_slice_of_each_campaign_holds(tmp_path):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-c", SLICES, tmp_path],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["outputs", "pages", "leaks"], ended
    assert all(line.endswith("; violations: 0") for line in lines), lines
    assert ended.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
def test_every_campaign_is_found():
    command = [sys.executable, "-m", "tests.soak", "nothing"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    listed = ended.stderr.rpartition("choose from ")[2].strip().split(", ")
    assert {"outputs", "pages", "leaks"} <= set(listed)
    assert not {"campaign", "commands", "__main__"} & set(listed)
