"""Machines that are network namespaces of this one, connected by a switch; torchrun starts a fit.

with machines(4) as four:
    started = four.start(["fit", "digits", "--out", out])
    four.kill(2)
    results = four.wait(started)
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shared_runs import shell_environment

PORT = 29400


class NotAllowedError(Exception):
    """This system does not let us make network namespaces."""


@dataclass(frozen=True)
class Machine:
    """A network namespace, its network card and its address."""

    name: str
    card: str
    address: str

    def processes(self):
        """Return the ids of the processes on this machine."""
        return [int(word) for word in ip("netns", "pids", self.name).split()]


@dataclass(frozen=True)
class Machines:
    """Machines that run one fit together."""

    members: list[Machine]

    def start(self, arguments, n_processes=1):
        """Start `manyview` on every machine, in some processes on each."""
        meeting, launched = self.members[0].address, []
        for number, machine in enumerate(self.members):
            launcher = [
                *("--nnodes", str(len(self.members)), "--nproc-per-node", str(n_processes)),
                *("--local-addr", machine.address, "--rdzv-id", "fit", "--rdzv-backend", "c10d"),
                *("--rdzv-endpoint", f"{meeting}:{PORT}"),
                *("--rdzv-conf", f"is_host={int(number == 0)}"),
            ]
            command = [sys.executable, "-m", "torch.distributed.run", *launcher, "-m", "manyview"]
            launched.append(
                subprocess.Popen(
                    ["ip", "netns", "exec", machine.name, *command, *map(str, arguments)],
                    env=shell_environment() | {"GLOO_SOCKET_IFNAME": machine.card},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        return launched

    def kill(self, number):
        """End all processes of a machine at once, as if it lost its power."""
        for process in self.members[number].processes():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue

    @staticmethod
    def wait(launched, seconds=300):
        """Wait for all machines; return the exit code, the output and the errors of each."""
        texts = [one.communicate(timeout=seconds) for one in launched]
        return [(one.returncode, *text) for one, text in zip(launched, texts, strict=True)]


def ip(*words):
    """Run the command ip; return what it prints."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAllowedError(f"network namespaces are not allowed here: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def machines(n_machines):
    """Make machines, and remove them with all their processes at the end."""
    if shutil.which("ip") is None or not Path("/proc").exists():
        raise NotAllowedError("needs the command ip")
    switch = f"mv{os.getpid()}s"
    members = [
        Machine(f"mv{os.getpid()}m{number}", f"v{os.getpid()}m{number}", f"10.99.25.{number + 1}")
        for number in range(n_machines)
    ]
    made = []
    try:
        for name in (switch, *(one.name for one in members)):
            ip("netns", "add", name)
            made.append(name)
        ip(*f"-n {switch} link add switch type bridge".split())
        ip(*f"-n {switch} link set switch up".split())
        for number, one in enumerate(members):
            port = f"port{number}"
            cable = f"link add {one.card} netns {one.name} type veth peer name {port}"
            ip(*f"{cable} netns {switch}".split())
            ip(*f"-n {switch} link set {port} master switch up".split())
            ip(*f"-n {one.name} addr add {one.address}/24 dev {one.card}".split())
            ip(*f"-n {one.name} link set {one.card} up".split())
            ip(*f"-n {one.name} link set lo up".split())
        yield Machines(members)
    finally:
        for name in made:
            if name != switch:
                Machines([one for one in members if one.name == name]).kill(0)
            ip("netns", "del", name)
