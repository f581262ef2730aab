"""A campaign sees every way in which a case can break a promise."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = """
import os, sys, time
from pathlib import Path
import numpy as np
from manyview.errors import InputError
from tests.soak.campaign import Limits, Violation, run_campaign

def case(rng, folder):
    number = int(folder.parent.name)
    (folder / "input.txt").write_text(str(rng.integers(1000)))
    if number == 0: return "read"
    if number == 1: raise InputError("no")
    if number == 2: os.abort()
    if number == 3: time.sleep(30)
    if number == 4: raise KeyError("x")
    if number == 5: np.ones(2**25)
    if number == 6: raise Violation("code run", "canary")
    if number == 7: os._exit(0)

summary = run_campaign(
    "demo", case, range(8), limits=Limits(seconds=6, memory_gb=0.1), n_workers=2,
    keep=Path(sys.argv[1]), batch=int(sys.argv[2]),
)
print(summary.line)
"""


@pytest.mark.parametrize("batch", ["1", "3"])
def test_a_campaign_counts_what_its_cases_do_and_keeps_those_that_fail(tmp_path, batch):
    run = subprocess.run(
        [sys.executable, "-c", CASES, tmp_path, batch], cwd=ROOT, capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout.split(" s: ")[1].strip() == (
        "1 read, 1 refused; violations: 1 code run, 2 crash, 1 foreign exception, 1 hang, 1 memory"
    )
    assert sorted(kept.name for kept in tmp_path.iterdir()) == ["2", "3", "4", "5", "6", "7"]
    assert (tmp_path / "2" / "violation.txt").read_text() == "crash\nended by SIGABRT"
    assert "KeyError: 'x'" in (tmp_path / "4" / "violation.txt").read_text()
    assert (tmp_path / "6" / "case" / "input.txt").exists()


STOPPED = """
import sys, time
from tests.soak.campaign import main

def case(rng, folder):
    time.sleep(float(sys.argv[1]))
    return "slept"

print("ready", flush=True)
code = main("demo", case, arguments=["--cases", "500", "--workers", "2", "--seed", "3"])
sys.exit(max(code, main("again", case, arguments=[])))
"""


@pytest.mark.parametrize(("seconds", "n_interrupts"), [(0.5, 1), (60, 2)])
def test_ctrl_c_ends_a_campaign_with_its_summary(tmp_path, seconds, n_interrupts):
    command = [sys.executable, "-c", STOPPED, str(seconds)]
    path = {"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | path, stdout=pipe, stderr=pipe, text=True
    ) as campaign:
        campaign.stdout.readline()
        wait_for(lambda: list(tmp_path.glob("manyview-soak-*/*/case")))
        for _ in range(n_interrupts):
            campaign.send_signal(signal.SIGINT)
            time.sleep(0.2)
        out, err = campaign.communicate(timeout=30)
    assert (campaign.returncode, err) == (130, "")
    assert out.startswith("demo: seed 3, ")
    assert out.endswith("; violations: 0 (stopped by SIGINT)\n")
    assert out.count("\n") == 1  # the campaign after it has not begun
    assert list(tmp_path.iterdir()) == []


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
