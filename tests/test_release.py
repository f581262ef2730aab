"""What a user installs: wheel, sdist and metadata; how to cite it; changelog, CI and pins."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "manyview"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEVER_PACKED = re.compile(r"(^|/)(\.git|\.venv|__pycache__|results/(cache|running|lock))(/|$)")


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Build both, without the network."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    (file,) = dist.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


@pytest.fixture(scope="module")
def sdist(dist):
    (file,) = dist.glob("*.tar.gz")
    return file


def test_wheel_holds_the_package_and_nothing_else(wheel):
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert packed == {path.relative_to(PACKAGE.parent).as_posix() for path in files}
    suffixes = {Path(name).suffix for name in packed} - {".j2"}
    assert suffixes == {".py", ".typed", ".toml", ".css", ".js", ".json"}
    assert "manyview/py.typed" in packed


def test_wheel_is_small(wheel):
    assert sum(file.compress_size for file in wheel.infolist()) < 1_000_000


def test_wheel_says_what_pyproject_says(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["Requires-Python"] == "<3.15,>=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]
    assert any(name.endswith("/licenses/LICENSE") for name in wheel.namelist())
    (scripts,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert "manyview = manyview.__main__:run" in wheel.read(scripts).decode()


def test_classifiers_name_every_python_that_is_allowed():
    named = re.findall(r":: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    lowest, above = re.findall(r"3\.(\d+)", PROJECT["requires-python"])
    assert [int(minor) for minor in named] == list(range(int(lowest), int(above)))


def test_workflow_tests_every_python_that_is_allowed():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    named = re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert matrix["python"] == named
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_workflow_runs_on_windows_what_make_check_runs():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    commands = [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    steps = {step.get("name"): step for step in workflow["jobs"]["test"]["steps"]}
    assert steps["Check (Windows)"]["run"].splitlines() == commands
    assert len(commands) == 5


def test_templates_of_issues_are_forms():
    for name in ("bug", "feature"):
        form = yaml.safe_load(
            (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8")
        )
        assert {"name", "description", "body"} <= set(form)
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids))
        assert all(part["attributes"]["label"] for part in form["body"])


def test_every_tool_is_pinned():
    pinned = {
        re.split("[=; ]", line)[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    }
    wanted = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    names = {re.split(r"[\[><=,]", one)[0].lower() for one in [*wanted, *PROJECT["dependencies"]]}
    assert names - {"manyview"} <= pinned


def test_sdist_can_be_tested_and_holds_no_caches(sdist):
    with tarfile.open(sdist) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    kept = ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "constraints.txt", "Makefile")
    assert set(kept) <= set(names)
    assert {f"tests/{path.name}" for path in (ROOT / "tests").glob("*.py")} <= set(names)
    assert not [name for name in names if NEVER_PACKED.search(name)]
    assert sdist.stat().st_size < 10_000_000


def test_citation_names_the_software_and_the_paper():
    """The required keys of the Citation File Format 1.2.0, and values that agree with ours."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert paper["type"] == "article"
    assert paper["doi"].startswith("10.")
    assert all(set(author) == {"family-names", "given-names"} for author in paper["authors"])


def test_changelog_has_a_section_for_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", changelog, flags=re.MULTILINE)
    assert PROJECT["version"] in dict(heads) or heads[0] == ("Unreleased", "")
    assert all(date for head, date in heads if head != "Unreleased")
