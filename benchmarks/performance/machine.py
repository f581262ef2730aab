"""The machine and the code of a measurement."""

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import manyview
from performance.isolated import N_THREADS

PACKAGES = ("manyview", "torch", "numpy", "scipy", "scikit-learn", "torch-geometric", "pynndescent")


def describe_machine() -> dict[str, object]:
    """Describe the processor, its cores and memory, and the versions that affect speed."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "threads": N_THREADS,
        "memory_gb": round(memory, 1),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES if _version(name)},
    }


def code_checksum() -> str:
    """Return a checksum of the package's source files, to recognize measurements of other code."""
    digest = hashlib.sha256()
    package = Path(manyview.__file__).parent
    for module in sorted(package.rglob("*.py")):
        digest.update(str(module.relative_to(package)).encode() + module.read_bytes())
    return digest.hexdigest()[:12]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
