"""What all tests share: a generator, tiny planted views, and the rule for real data."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import numpy as np
import pytest

# The same examples in every run, however slow the machine.
hypothesis.settings.register_profile("manyview", deadline=None, derandomize=True)
hypothesis.settings.load_profile("manyview")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("data") is None:
        return
    folder = os.environ.get("MANYVIEW_DATA")
    if not folder:
        pytest.skip("needs the real data sets; MANYVIEW_DATA, which names their folder, is not set")
    if not Path(folder).is_dir():
        pytest.skip(f"needs the real data sets; MANYVIEW_DATA={folder} is not a folder")


@pytest.fixture(scope="session")
def ranks(tmp_path_factory):
    """Four processes of one gloo group (see `rank_pool`), started for the first test that asks."""
    from rank_pool import RankPool

    pool = RankPool(tmp_path_factory.mktemp("ranks"))
    yield pool
    pool.close()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass(frozen=True)
class TinyViews:
    """60 samples of 3 classes in 2 views; `known_labels` has 4 a class, the rest -1."""

    views: dict[str, np.ndarray]
    labels: np.ndarray
    known_labels: np.ndarray


def draw_tiny_views(rng: np.random.Generator) -> TinyViews:
    labels = np.repeat([0, 1, 2], 20)
    views = {
        name: 3 * rng.normal(size=(3, width))[labels] + rng.normal(size=(60, width))
        for name, width in {"shape": 5, "color": 8}.items()
    }
    known_labels = np.where(np.arange(60) % 20 < 4, labels, -1)
    order = rng.permutation(60)
    return TinyViews(
        {name: view[order] for name, view in views.items()}, labels[order], known_labels[order]
    )


@pytest.fixture
def tiny_views(rng: np.random.Generator) -> TinyViews:
    return draw_tiny_views(rng)


@pytest.fixture(scope="session")
def shared_views() -> TinyViews:
    """The tiny views again, for a model that several tests read and none changes."""
    return draw_tiny_views(np.random.default_rng(0))


@pytest.fixture
def shapes(tmp_path, tiny_views):
    """A file of 60 samples of 3 classes in 2 views, all labels known."""
    file = tmp_path / "shapes.npz"
    np.savez(file, **tiny_views.views, y=tiny_views.labels)
    return file


@pytest.fixture
def unlabeled_cohort(tiny_views):
    """The tiny views as MuData: 60 samples named p0 to p59, the last five lack `color`."""
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    pd = pytest.importorskip("pandas")
    names = [f"p{number}" for number in range(60)]
    parts = {}
    for name, view in tiny_views.views.items():
        n_rows = 55 if name == "color" else 60
        parts[name] = anndata.AnnData(
            view[:n_rows],
            obs=pd.DataFrame(index=names[:n_rows]),
            var=pd.DataFrame(index=[f"{name}{number}" for number in range(view.shape[1])]),
        )
    return mudata.MuData(parts)


@pytest.fixture
def manyview(capsys):
    """Run a command; returns its exit code, output and errors."""
    from manyview.cli.app import main

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation as a site, built as `make docs` does."""
    pytest.importorskip("mkdocs", reason="needs the extra docs to build the documentation")
    folder = tmp_path_factory.mktemp("docs") / "site"
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    return folder


@pytest.fixture
def notebook(monkeypatch):
    """A notebook without ipywidgets; returns what is displayed, each output with its updates."""
    import builtins
    from types import ModuleType

    shown = []

    class Handle:
        def __init__(self, first):
            self.states = [(repr(first), first._repr_html_())]
            shown.append(self.states)

        def update(self, state):
            self.states.append((repr(state), state._repr_html_()))

    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    module.display = lambda first, display_id: Handle(first)
    package.display = module
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    return shown
