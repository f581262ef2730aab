"""The documentation as a site: it builds strictly, asks nobody for anything, and is complete."""

import ast
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import manyview

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MAKING = DOCS / "making"
OUTSIDE = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\ssrc=["']?(?:https?:)?//
    |<link\b[^>]*\shref=["']?(?:https?:)?//
    |url\(["']?(?:https?:)?//
    |@import""",
    re.VERBOSE,
)


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """The module that draws, the fit it draws from, and the folder it drew into."""
    folder = tmp_path_factory.mktemp("pictures")
    sys.path.insert(0, str(MAKING))
    try:
        spec = importlib.util.spec_from_file_location("pictures", MAKING / "method_pictures.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["pictures"] = module  # where dataclasses look for their types
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(MAKING))
    module.main(folder)
    return module, module.small_fit(), folder


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://unpkg.com/x"></script>',
        '<link rel="preconnect" href="//fonts.gstatic.com">',
        '<img alt="" src=http://example.org/x.png>',
        "<style>a { background: url(https://example.org/x) }</style>",
    ],
)
def test_what_is_fetched_from_outside_is_recognized(markup):
    assert OUTSIDE.search(markup)
    assert not OUTSIDE.search('<a href="https://example.org">there</a> <img src="a.png">')


def test_no_page_fetches_anything_from_outside(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in [*pages, *site.glob("assets/*.css"), *site.rglob("main*.css")]:
        assert not OUTSIDE.search(page.read_text(encoding="utf-8")), page


def test_every_page_is_built_and_the_tools_are_not(site):
    pages = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")}
    built = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert built == pages | {Path("404")}
    assert not (site / "making").exists()


def test_formulas_are_mathml(site):
    page = (site / "method.html").read_text(encoding="utf-8")
    assert page.count("<math") > text_of("method.md").count("```math") > 5
    assert "\\frac" not in page


def test_commands_tell_their_options(site):
    page = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert "--abstain-below" in page
    assert "--help -->" not in page


def test_reference_has_exactly_the_public_names():
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    named = re.findall(r"^::: manyview\.(\w+)$", pages, re.MULTILINE)
    assert sorted(named) == sorted(manyview.__all__)


@pytest.mark.parametrize(
    "owner",
    [
        manyview.ManyviewClassifier,
        manyview.MGCNDNSClassifier,
        manyview.NeighborGraph,
        manyview.GraphLearningConfig,
        manyview.NodeSelectionConfig,
        manyview.TrainingConfig,
        manyview.CalibrationConfig,
        manyview.PseudoLabeler,
    ],
)
def test_reference_shows_every_parameter(owner, site):
    page = (site / "reference" / "classifier.html").read_text(encoding="utf-8")
    for name in owner().get_params(deep=False):
        assert f"<code>{name}</code>" in page, name


def test_reference_says_what_an_attribute_holds_as_a_sentence(site):
    page = (site / "reference" / "classifier.html").read_text(encoding="utf-8")
    assert "</b> – [sample], a label for every fitted sample" in page
    for path in (site / "reference").glob("*.html"):
        assert not re.search(
            r'–\s*<div class="doc-md-description">\s*</div>', path.read_text(encoding="utf-8")
        ), path


def test_support_lists_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = re.findall(r"^\| `([\w-]+)` \|", text_of("support.md"), re.MULTILINE)
    assert sorted([*listed, "dev"]) == sorted(project["optional-dependencies"])


def test_support_names_the_versions_of_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    low, high = re.findall(r"3\.(\d+)", project["requires-python"])
    assert f"Python 3.{low} to 3.{int(high) - 1}" in text_of("support.md")


def test_stored_pictures_are_those_the_script_draws(pictures):
    module, _, folder = pictures
    stored = {path.name for path in module.FOLDER.iterdir()}
    assert {path.name for path in folder.iterdir()} == stored
    assert stored == {f"{name}.svg" for name in module.PICTURES}
    shown = set(re.findall(r"figures/method/([\w-]+\.svg)", text_of("method.md")))
    assert shown | {"overview.svg", "overview-narrow.svg"} == stored


@pytest.mark.parametrize("name", ["views", "given", "graph-pixels", "graph-fourier"])
def test_pictures_of_what_is_not_learned_have_the_same_parts(name, pictures):
    """Numbers may differ by rounding; places come from the learned graph."""
    module, _, folder = pictures
    drawn, stored = (ElementTree.parse(f / f"{name}.svg") for f in (folder, module.FOLDER))
    tags = [[part.tag for part in tree.iter()] for tree in (drawn, stored)]
    assert tags[0] == tags[1]


def test_pictures_show_what_the_classifier_computed(pictures):
    _, fit, _ = pictures
    np.testing.assert_allclose(fit.confidence, fit.model.node_confidence_, atol=1e-4)


def test_page_of_the_method_says_how_its_pictures_were_fitted(pictures):
    _, fit, _ = pictures
    page = text_of("method.md")
    assert f"{len(fit.truth)} handwritten digits" in page
    assert f"threshold starts at {fit.model.node_selection.initial_threshold}" in page


def test_selection_removes_some_edges_and_keeps_most(pictures):
    module, fit, _ = pictures
    before = (module.off_diagonal(fit.model.refined_graph_) > 0).sum()
    after = (module.off_diagonal(fit.model.selected_graph_) > 0).sum()
    assert before / 2 < after < before


def test_screenshots_of_reports_are_those_the_pages_show_in_light_and_dark():
    stored = {path.name for path in (DOCS / "figures").glob("report-*.png")}
    pages = text_of("tutorial.md") + text_of("howto/report.md")
    shown = re.findall(r"figures/(report-[\w-]+-(light|dark)\.png)#only-(light|dark)\)", pages)
    assert all(theme == only for _, theme, only in shown)
    assert stored == {name for name, _, _ in shown}
    script = ast.parse((MAKING / "report_shots.py").read_text())
    shots, themes = (
        ast.literal_eval(one.value)
        for one in script.body
        if isinstance(one, ast.Assign) and getattr(one.targets[0], "id", "") in ("SHOTS", "THEMES")
    )
    drawn = ((name, part, theme) for name in shots for part in shots[name] for theme in themes)
    assert stored == {f"report-{name}-{part}-{theme}.png" for name, part, theme in drawn}
    assert set(shots) == {"digits", "penguins"}


def test_screenshots_of_a_notebook_are_shown_in_light_and_dark():
    stored = {path.name for path in (DOCS / "figures").glob("notebook-*.png")}
    page = text_of("howto/notebook.md")
    shown = re.findall(r"figures/(notebook-\w+-(light|dark)\.png)#only-(light|dark)\)", page)
    assert all(theme == only for _, theme, only in shown)
    assert stored == {name for name, _, _ in shown}
    parts = {name.rsplit("-", 1)[0] for name in stored}
    assert stored == {f"{part}-{theme}.png" for part in parts for theme in ("light", "dark")}
    assert {"notebook-model", "notebook-views", "notebook-explanation", "notebook-report"} == parts


def test_pictures_of_the_gallery_are_what_its_blocks_draw(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot to draw")
    page = tmp_path / "page.md"
    lines = [">>> import matplotlib.pyplot as plt", ">>> _ = plt.subplots(figsize=(2, 1))"]
    fence = "```python"
    page.write_text(
        f"{fence}\n>>> n = 2\n```\n\n"
        + "\n".join([f'{fence} {{ data-figure="mine" }}', *lines, ">>> assert n == 2", "```"])
        + "\n"
    )
    spec = importlib.util.spec_from_file_location("gallery", MAKING / "gallery_pictures.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
        written = module.main(tmp_path / "drawn", [page])
    finally:
        sys.path[:] = before
    assert [path.name for path in written] == ["mine-light.png", "mine-dark.png"]
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == [
        "mine-dark.png", "mine-light.png",
    ]  # fmt: skip
    first, second = (path.read_bytes() for path in written)
    assert first != second
    assert first.startswith(b"\x89PNG")
