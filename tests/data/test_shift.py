"""Shift tests: batch effects and wrong units are found; other classes and random parts are not."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

from manyview import hide_labels, load_dataset
from manyview.baselines.knn import KNNClassifier
from manyview.data.fitted_range import fit_ranges
from manyview.data.shift import _p_value as p_value_of
from manyview.data.shift import shift_report, warn_of_shift
from manyview.data.views import MultiView
from manyview.errors import DataWarning

WAY_OUT = (
    " Check units and batch effects, or fit again with the new samples among the others, "
    "labeled -1."
)


def messages(views, classes, ranges):
    """Return the warnings about new samples."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        warn_of_shift(views, classes, ranges)
    return [str(warning.message) for warning in caught]


def draw(rng, n_samples, centers, widths=(12, 5)):
    """Samples of classes around the centers, in two views, and a tenth of wrong predictions."""
    classes = rng.integers(len(centers), size=n_samples)
    values = centers[classes] + rng.normal(size=(n_samples, sum(widths)))
    wrong = rng.random(n_samples) < 0.1
    predicted = np.where(wrong, rng.integers(len(centers), size=n_samples), classes)
    views = {"genes": values[:, : widths[0]], "blood": values[:, widths[0] :]}
    return views, classes, predicted


@pytest.fixture
def centers(rng):
    return 1.5 * rng.normal(size=(4, 17))


@pytest.fixture
def fitted(rng, centers):
    """Views and ranges of 300 samples of 4 classes."""
    views, _, predicted = draw(rng, 300, centers)
    return views, fit_ranges(MultiView(views), predicted, 4)


@pytest.mark.parametrize("n_fit", [20, 100, 1000])
@pytest.mark.parametrize("n_new", [1, 10, 50, 400])
def test_samples_of_the_same_kind_raise_fewer_than_one_alarm_in_a_hundred(n_fit, n_new):
    n_alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        centers = 1.5 * rng.normal(size=(4, 17))
        views, _, predicted = draw(rng, n_fit, centers)
        ranges = fit_ranges(MultiView(views), predicted, 4)
        new, _, predicted = draw(rng, n_new, centers)
        n_alarms += bool(messages(MultiView(new), predicted, ranges))
    assert n_alarms < 1


def test_one_class_alone_is_no_shift():
    n_alarms = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        centers = 1.5 * rng.normal(size=(4, 17))
        views, _, predicted = draw(rng, 300, centers)
        ranges = fit_ranges(MultiView(views), predicted, 4)
        new, classes, predicted = draw(rng, 400, centers)
        for number in range(4):
            own = classes == number
            n_alarms += bool(messages(MultiView(new)[own], predicted[own], ranges))
    assert n_alarms == 0


def test_heavy_tails_and_rare_words_raise_no_alarm():
    n_alarms = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        rates = 1 / np.arange(2, 800)
        words = sparse.csr_array(rng.poisson(rates * rng.lognormal(size=(400, 1))))
        bytes_sent = rng.lognormal(sigma=3, size=(400, 6))
        views = MultiView({"words": words, "bytes": bytes_sent})
        classes = np.zeros(400, dtype=int)
        ranges = fit_ranges(views[:250], classes[:250], 1)
        n_alarms += bool(messages(views[250:], classes[250:], ranges))
    assert n_alarms == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_batch_effect_of_one_standard_deviation_is_found_in_fifty_samples(sign):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        centers = 1.5 * rng.normal(size=(4, 17))
        views, _, predicted = draw(rng, 300, centers)
        ranges = fit_ranges(MultiView(views), predicted, 4)
        new, _, predicted = draw(rng, 50, centers)
        new["genes"] += sign * views["genes"].std(axis=0)
        (found,) = messages(MultiView(new), predicted, ranges)
        assert found.startswith("view 'genes' of the new samples is unlike the fit: ")
        assert f"samples are {'above' if sign > 0 else 'below'} " in found


def test_warning_names_columns_and_the_way_out(rng, centers, fitted):
    _, ranges = fitted
    new, _, predicted = draw(rng, 50, centers)
    new["blood"] += 3
    columns = {"blood": ["iron", "zinc", "sodium", "sugar", "iodine"]}
    (found,) = messages(MultiView(new, columns=columns), predicted, ranges)
    first = shift_report(MultiView(new, columns=columns), predicted, ranges)[0]
    assert first.view == "blood"
    assert first.side == "above"
    assert found.startswith(
        "view 'blood' of the new samples is unlike the fit: 5 of 5 columns are shifted, most of "
        f"all {first.column!r}, "
    )
    assert (
        f"({first.fraction:.0%} of 50 samples are above {first.threshold:.4g} in the first, and "
        f"{first.expected:.0%} were expected)." + WAY_OUT
    ) in found


def test_single_column_outside_its_range_is_found_among_many(rng, centers, fitted):
    views, ranges = fitted
    new, _, predicted = draw(rng, 50, centers)
    new["genes"][:, 7] = views["genes"][:, 7].max() + 0.1
    fitted_range = f"fitted {views['genes'][:, 7].min():.4g} to {views['genes'][:, 7].max():.4g}"
    assert messages(MultiView(new), predicted, ranges) == [
        "view 'genes' of the new samples is unlike the fit: 50 of 50 samples are outside the "
        f"fitted range of column 7 ({fitted_range})." + WAY_OUT
    ]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("value", [9e5, -9e5])
def test_single_sample_far_outside_is_found(rng, centers, fitted, is_sparse, value):
    _, ranges = fitted
    new, _, predicted = draw(rng, 5, centers)
    new["genes"][3, 7] = value
    if is_sparse:
        new["genes"] = sparse.csr_array(new["genes"])
    (found,) = messages(MultiView(new), predicted, ranges)
    assert found.startswith(
        "view 'genes' of the new samples is unlike the fit: 1 of 5 samples is far outside the "
        f"fitted range of column 7 ({value:.4g}, fitted "
    )
    assert messages(MultiView(new)[[0, 1, 2, 4]], predicted[[0, 1, 2, 4]], ranges) == []


def test_numbers_of_a_mixed_table_are_compared_without_its_categories(rng):
    def table(n_samples, shift):
        colors = np.eye(4)[rng.integers(4, size=n_samples)]
        return MultiView({"mixed": np.hstack([rng.normal(size=(n_samples, 2)) + shift, colors])})

    ranges = fit_ranges(table(200, 0), np.zeros(200, dtype=int), 1)
    everyone = np.zeros(50, dtype=int)
    assert messages(table(50, 0), everyone, ranges) == []
    (found,) = messages(table(50, 1.2), everyone, ranges)
    assert "2 of 6 columns are shifted" in found


def test_missing_views_are_not_compared(rng, centers, fitted):
    _, ranges = fitted
    new, _, predicted = draw(rng, 50, centers)
    new["genes"] += 5
    new["genes"][:10], new["blood"][10:] = np.nan, np.nan
    (found,) = messages(MultiView(new), predicted, ranges)
    assert "of 40 samples are above" in found
    new["genes"][:], new["blood"][:] = np.nan, 0.0
    assert messages(MultiView(new), predicted, ranges) == []
    assert {shift.view for shift in shift_report(MultiView(new), predicted, ranges)} == {"blood"}


def test_report_lists_every_column_the_most_unusual_first(rng, centers, fitted):
    _, ranges = fitted
    new, _, predicted = draw(rng, 50, centers)
    new["genes"][:, 3] += 4
    report = shift_report(MultiView(new), predicted, ranges)
    assert len(report) == 17
    assert (report[0].view, report[0].column, report[0].side) == ("genes", 3, "above")
    assert report[0].p_value < 1e-6
    assert [shift.p_value for shift in report[1:]] == sorted(s.p_value for s in report[1:])
    assert report[0].fraction - report[0].expected > 0.2


@pytest.mark.parametrize(("n_fit", "n_new"), [(5, 50), (60, 20), (500, 50)])
def test_probability_of_a_small_p_value_is_smaller_still(n_fit, n_new):
    """Exactly, over all pairs of counts, for any fraction beyond a threshold."""
    of_new, of_fit = np.arange(n_new + 1)[:, None], np.arange(n_fit + 1)
    p_values = p_value_of(of_new / n_new, n_new, of_fit / n_fit, n_fit)
    for fraction in (0.001, 0.01, 0.1, 0.25, 0.5, 0.9):
        chances = binom.pmf(of_new, n_new, fraction) * binom.pmf(of_fit, n_fit, fraction)
        for level in (0.05, 0.01, 0.001, 1e-5):
            assert chances[p_values <= level].sum() <= level


REAL = ["digits", "bbcsports", "3sources", "rosmap", "scene-15", "reuters-1200"]


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_data_warn_of_batch_effects_only(name):
    data = load_dataset(name)
    views, truth = data.views, np.asarray(data.labels)
    n_fit = int(0.7 * len(views))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(views))
        fit, new = order[:n_fit], order[n_fit:]
        model = KNNClassifier().fit(views[fit], hide_labels(truth[fit], 0.2, random_state=seed))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for rows in (new, new[:50], new[:1], fit):
                model.predict(views[rows])
            for label in np.unique(truth):
                model.predict(views[new[truth[new] == label]])
        shifted = {}
        for view_name, view in views.items():
            dense = view.toarray() if sparse.issparse(view) else view
            shifted[view_name] = dense[new[:50]] + dense[fit].std(axis=0)
        with pytest.warns(DataWarning, match="is unlike the fit: .* Check units and batch"):
            model.predict(shifted)
