"""The page in a notebook: a frame, and labels as arrays."""

import numpy as np
import pytest
from waiting import until

import manyview
from manyview.errors import InputError

FAST = {"max_epochs": 5, "max_iter": 1}


def test_a_notebook_shows_the_page_and_reads_the_labels(tiny_views, tmp_path):
    labels = np.where(np.arange(60) < 2, tiny_views.labels, -1)
    page = manyview.label(tiny_views.views, labels, classes=["0", "1", "2"], out=tmp_path / "run",
                          **FAST)  # fmt: skip
    service = page._labeling.service
    try:
        assert page.address.replace("&", "&amp;") in page._repr_html_()
        assert page.labels.tolist() == labels.tolist()
        for row in range(2, 30):
            service.label([row], str(tiny_views.labels[row]), window="w", source="key")
        until(lambda: service.learned.number == service.session.number)
        assert page.labels[:30].tolist() == tiny_views.labels[:30].tolist()
        assert (page.predictions == tiny_views.labels).mean() > 0.7
    finally:
        run = page.close()
    assert run.n_labeled == 30
    assert (tmp_path / "run" / "report.html").exists()
    with pytest.raises(InputError, match="closed already"):
        page.close()


def test_wrong_labels_and_names_are_refused(tiny_views, tmp_path):
    with pytest.raises(InputError, match="one label per sample; got 3 for 60"):
        manyview.label(tiny_views.views, [1, 2, 3], out=tmp_path / "run")
    with pytest.raises(InputError, match="one name per sample, each once"):
        manyview.label(tiny_views.views, sample_ids=["a"] * 60, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
