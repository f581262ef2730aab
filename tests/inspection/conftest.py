"""A fitted model for all displays, and figures that are closed after each test."""

import pytest
from models import manyview

pytest.importorskip("matplotlib", reason="needs the extra plot to draw")


@pytest.fixture(autouse=True)
def _closed_figures():
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def model(shared_views):
    """The default classifier on the tiny views: 12 of 60 labels."""
    model = manyview(max_epochs=10, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


@pytest.fixture(scope="session")
def plain(shared_views):
    """A method without graphs, networks, view weights or audit."""
    from manyview import METHODS

    return METHODS["svm"]().fit(shared_views.views, shared_views.known_labels)
