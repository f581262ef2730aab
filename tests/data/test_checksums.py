"""Checksums: equal content is equal, whatever holds it; any other content is not."""

import numpy as np
import pandas as pd
from scipy import sparse

from manyview.data.checksums import labels_checksum, views_checksum
from manyview.data.views import MultiView


def test_views_of_the_same_content_have_the_same_checksum(tiny_views):
    frames = {name: pd.DataFrame(view) for name, view in tiny_views.views.items()}
    turned = {name: np.asfortranarray(view) for name, view in tiny_views.views.items()}
    one = views_checksum(MultiView(tiny_views.views))
    assert one == views_checksum(MultiView(frames)) == views_checksum(MultiView(turned))


def test_any_change_of_views_changes_their_checksum(tiny_views):
    views = tiny_views.views
    altered = {**views, "shape": views["shape"].copy()}
    altered["shape"][7, 3] += 1e-9
    others = [
        altered,
        {"form": views["shape"], "color": views["color"]},
        {"shape": views["shape"]},
        {name: view[::-1] for name, view in views.items()},
        {**views, "shape": sparse.csr_array(views["shape"])},
    ]
    sums = {views_checksum(MultiView(one)) for one in [views, *others]}
    assert len(sums) == 1 + len(others)


def test_labels_differ_by_class_and_by_which_are_known():
    labels = np.array([1, 2, -1])
    assert labels_checksum(labels) == labels_checksum([1.0, 2.0, np.nan])
    assert labels_checksum(["a", None]) != labels_checksum(["a", "None"])
    assert len({labels_checksum(one) for one in ([1, 2, -1], [1, -1, 2], [1, 1, -1])}) == 3
