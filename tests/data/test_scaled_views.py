"""Each view scaled its own way, and new samples as the fitted ones."""

import numpy as np
import pytest

from manyview.data.scaling import fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import InputError


def test_scaling_is_one_word_a_list_or_a_dict(tiny_views):
    views = MultiView(tiny_views.views)
    assert scaling_by_view("rows", views) == {"shape": "rows", "color": "rows"}
    assert scaling_by_view(["unit", "none"], views) == {"shape": "unit", "color": "none"}
    assert scaling_by_view({"color": "standard"}, views) == {"shape": "unit", "color": "standard"}


def test_nothing_is_none_as_the_command_line_reads_it(tiny_views):
    views = MultiView(tiny_views.views)
    assert scaling_by_view(None, views) == {"shape": "none", "color": "none"}
    assert scaling_by_view({"shape": None}, views) == {"shape": "none", "color": "unit"}


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ("unti", "Did you mean 'unit'"),
        (["unit"], "one for each of the 2 feature views; got 1"),
        ({"color": "unit"}, "Did you mean 'color'"),
    ],
)
def test_wrong_scaling_is_refused(tiny_views, scaling, message):
    with pytest.raises(InputError, match=message):
        scaling_by_view(scaling, MultiView(tiny_views.views))


def test_new_samples_are_scaled_as_the_fitted_ones(tiny_views):
    views = MultiView(tiny_views.views)
    scalers = fit_scalers(views, "standard")
    whole = scale_views(views, scalers)
    part = scale_views(views[:7], scalers)
    for name in views.names:
        np.testing.assert_array_equal(part[name], whole[name][:7])
