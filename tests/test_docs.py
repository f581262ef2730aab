"""Every block of the documentation runs and prints what the page shows.

Blocks of a page share their names and one folder, and run from top to bottom:

- a block with a `title` is a file of that name;
- a block fenced as `python` is a session, `>>>` and its output;
- in a block fenced as `console`, each `$ manyview` command is run, `$ cat` shows a file,
  `$ pip install` must name extras that exist and `$ make` a target;
- a block with `data-needs` is left out where the data set's file is not in MANYVIEW_DATA, one
  with `data-import` where that module is not installed;
- a block with `data-figure` must draw a figure, and the page must show its pictures.

`...` stands for anything, and see `NearOutput` for numbers.
"""

import doctest
import io
import re
import shlex
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest
from page_blocks import FLAGS, Block, NearOutput, blocks, commands

from manyview.cli.app import main
from manyview.data.catalog.load import load_dataset
from manyview.errors import DataFileError
from manyview.methods import METHODS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

WIDTH = 84  # characters a block shows without scrolling

for_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))


class Reader:
    """Runs the blocks of a page in the current folder, and reports differences."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, object] = {}
        self.report: list[str] = []

    def follow(self, block: Block) -> None:
        if not have_data(block.attributes.get("data-needs")):
            return
        if not have_module(block.attributes.get("data-import")):
            return
        if "title" in block.attributes:
            file = Path(block.attributes["title"])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self.play(block)
            self.close_figures(block)
        elif block.language == "console":
            for command, expected in commands(block.text):
                self.run(block, command, expected)
        else:
            assert not re.search(r"^(\$|>>>) ", block.text, re.MULTILINE), (
                f"{self.page.name}, line {block.line + 1}: fence it as console or python"
            )

    def play(self, block: Block) -> None:
        where = f"{self.page.name}, line {block.line + 1}"
        assert block.text.startswith(">>> "), f"{where}: neither a session nor a file with a title"
        parser = doctest.DocTestParser()
        session = parser.get_doctest(
            block.text, self.names, self.page.stem, str(self.page), block.line
        )
        runner = doctest.DocTestRunner(NearOutput(), optionflags=FLAGS)
        runner.run(session, out=self.report.append, clear_globs=False)
        self.names = session.globs

    def close_figures(self, block: Block) -> None:
        """Close what the block has drawn, which must be a figure where it says so."""
        plt = sys.modules.get("matplotlib.pyplot")
        numbers = [] if plt is None else plt.get_fignums()
        if plt is not None:
            plt.close("all")
        name = block.attributes.get("data-figure")
        if name is None:
            return
        if not numbers:
            self.report.append(f"line {block.line + 1}: no figure {name} was drawn\n")
        text = self.page.read_text(encoding="utf-8")
        for theme in ("light", "dark"):
            picture = f"../figures/gallery/{name}-{theme}.png"
            assert f"({picture}#only-{theme})" in text, f"{self.page.name} does not show {picture}"
            assert (self.page.parent / picture).is_file(), f"{picture}: see gallery_pictures.py"

    def run(self, block: Block, command: str, expected: str) -> None:
        words = shlex.split(command, comments=True)
        if words[0] == "manyview":
            got, code = output_of(words[1:])
        elif words[0] == "cat":
            got, code = Path(words[1]).read_text(encoding="utf-8"), 0
        elif words[:2] == ["pip", "install"]:
            for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", command))):
                assert extra in EXTRAS, f"{command}: there is no such extra"
            return
        else:
            assert words[0] == "make", f"{self.page.name}: nothing knows how to run {command!r}"
            assert set(words[1:]) <= set(TARGETS), f"{command}: there is no such target"
            return
        shows_error = expected.startswith("Error: ")
        if code != (2 if shows_error else 0):
            self.report.append(f"$ {command}\nended with {code}:\n{got}\n")
        elif expected.strip() and not NearOutput().check_output(expected, got, FLAGS):
            example = doctest.Example(command, expected)
            difference = NearOutput().output_difference(example, got, FLAGS)
            self.report.append(f"line {block.line + 1}: $ {command}\n{difference}\n")


def have_data(name: str | None) -> bool:
    if name is None:
        return True
    try:
        load_dataset(name)
    except DataFileError:
        return False
    return True


def have_module(name: str | None) -> bool:
    return name is None or find_spec(name) is not None


def output_of(arguments: list[str]) -> tuple[str, int]:
    """Return the output of a command and its exit code."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), pytest.raises(SystemExit) as end:
        main(arguments)
    return out.getvalue(), end.value.code or 0


@for_each_page
def test_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "MPLBACKEND": "agg"}.items():
        monkeypatch.setenv(name, value)
    methods, modules = dict(METHODS), set(sys.modules)
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # pages are followed in a clone
    reader = Reader(page)
    try:
        for block in blocks(page.read_text(encoding="utf-8")):
            reader.follow(block)
    finally:  # forget the methods and modules that the page wrote
        METHODS.clear()
        METHODS.update(methods)
        for name in set(sys.modules) - modules:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None)):
                del sys.modules[name]
    assert not reader.report, "".join(reader.report)


@for_each_page
def test_blocks_are_no_wider_than_a_page(page):
    for block in blocks(page.read_text(encoding="utf-8")):
        for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
            is_code = block.language != "math"
            assert not is_code or len(line) <= WIDTH, f"{page.name}, line {number}: {len(line)}"


@pytest.mark.parametrize(
    ("shown", "got", "agree"),
    [
        ("88% of 1,758", "84% of 1,758", True),
        ("88% of 1,758", "80% of 1,758", False),
        ("88% of 1,758", "88% of 1,759", False),
        ("(3, 0.91)", "(3, 0.95)", True),
        ("(3, 0.91)", "(4, 0.91)", False),
        ("[0.5 ... 12.5%]", "[0.52 and more 14%]", True),
        ("[0.5 ... 12.5%]", "[0.52 and more 40%]", False),
        ("a\nb", "a b", True),
    ],
)
def test_numbers_may_be_a_little_off(shown, got, agree):
    assert NearOutput().check_output(shown, got, FLAGS) is agree
