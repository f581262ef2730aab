"""Two machines, each a network namespace of this one: torchrun lets their processes meet."""

import os
import shutil
import subprocess
import sys

import pytest
from shared_runs import assert_equal_runs, shell_environment

pytestmark = pytest.mark.slow
OPTIONS = ("--label-ratio", "0.2", "-p", "hidden=8", "-p", "max_epochs=40")
PORT = 29400


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def machines():
    """Two namespaces with a cable between them: name -> its network card and address."""
    if shutil.which("ip") is None:
        pytest.skip("needs the command ip")
    names = [f"mv{os.getpid()}{letter}" for letter in "ab"]
    try:
        for name in names:
            made = ip("netns", "add", name)
            if made.returncode:
                pytest.skip(f"network namespaces are not allowed here: {made.stderr.strip()}")
        one, other = names
        commands = [f"link add v{one} netns {one} type veth peer name v{other} netns {other}"]
        for number, name in enumerate(names, start=1):
            commands += [
                f"-n {name} addr add 10.99.25.{number}/24 dev v{name}",
                f"-n {name} link set v{name} up",
                f"-n {name} link set lo up",
            ]
        for command in commands:
            done = ip(*command.split())
            if done.returncode:
                pytest.skip(f"network namespaces are not allowed here: {done.stderr.strip()}")
        yield {name: (f"v{name}", f"10.99.25.{n}") for n, name in enumerate(names, start=1)}
    finally:
        for name in names:
            ip("netns", "del", name)


def test_two_machines_write_the_run_of_one_process(manyview, shapes, machines, tmp_path):
    assert manyview("fit", shapes, *OPTIONS, "--out", tmp_path / "one")[0] == 0
    arguments = ["fit", str(shapes), *OPTIONS, "--out", str(tmp_path / "two")]
    (_, meeting), *_ = machines.values()
    started = []
    for number, (name, (card, address)) in enumerate(machines.items()):
        launcher = [
            *("--nnodes", "2", "--nproc-per-node", "2", "--local-addr", address),
            *("--rdzv-id", "fit", "--rdzv-backend", "c10d"),
            *("--rdzv-endpoint", f"{meeting}:{PORT}", "--rdzv-conf", f"is_host={int(number == 0)}"),
        ]
        started.append(
            subprocess.Popen(
                [
                    *("ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run"),
                    *(*launcher, "-m", "manyview", *arguments),
                ],
                env=shell_environment() | {"GLOO_SOCKET_IFNAME": card},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    results = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0], results
    assert sum(out.count("Result ") for out, _ in results) == 1
    assert_equal_runs(tmp_path / "one", tmp_path / "two")
