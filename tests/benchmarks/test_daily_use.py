"""The page of the studies for daily use: what it writes about synthetic records, few or many."""

import daily_tables
import daily_use
import pytest
import robustness
import robustness_text
from compared import OWN
from formatting import cell
from paired_gains import above, chosen, gains


def fit(dataset, series, fraction, seed, accuracy, **more):
    return {
        "dataset": dataset, "series": series, "fraction": fraction, "seed": seed,
        "accuracy": accuracy,
    } | more  # fmt: skip


def test_gains_count_what_both_have_and_each_data_set_once():
    of = [fit("a", "x", 0.0, seed, 0.5) for seed in (0, 1)] + [fit("b", "x", 0.0, 0, 0.9)]
    over = [fit("a", "y", 0.0, seed, 0.4) for seed in (1, 2)] + [fit("c", "y", 0.0, 0, 0.1)]
    assert gains(of, over) == {"a": pytest.approx(10.0)}


def test_gains_follow_the_order_of_the_records():
    records = [fit(name, "x", 0.0, 0, 0.5) for name in ("b", "a", "c")]
    assert list(gains(records, records[::-1])) == ["b", "a", "c"]


@pytest.mark.parametrize(("points", "text"), [(1.26, "1.3 points above x"), (-2, "2.0 points b")])
def test_points_below_are_written_so(points, text):
    assert above(points, "x").startswith(text)


@pytest.fixture
def gaps():
    """Keeping wins by 10 points on `a`, and loses by 4 with half gone on `b`."""
    return [
        fit(name, series, fraction, seed, accuracy)
        for seed in (0, 1)
        for name, series, fraction, accuracy in [
            ("a", "kept", 0.0, 0.9), ("a", "kept", 0.5, 0.8), ("a", "mean", 0.5, 0.7),
            ("b", "kept", 0.0, 0.9), ("b", "kept", 0.5, 0.7), ("b", "mean", 0.5, 0.74),
        ]
    ]  # fmt: skip


def test_missing_views_give_the_average_the_losses_and_the_cost(gaps):
    text = robustness_text.missing_views(gaps)
    assert "With 50% of the pairs removed" in text
    assert "3.0 points above filling in means (2 data sets)" in text
    assert "filling in means is better on b with 50% removed (4.0 points)" in text
    assert "15.0 points below that on complete data" in text
    assert "dropping" not in text  # has no records


def test_missing_views_without_losses(gaps):
    text = robustness_text.missing_views(chosen(gaps, dataset="a"))
    assert "not behind the other ways" in text
    assert "is better on" not in text


def test_missing_views_compare_nothing_with_one_way_alone(gaps):
    assert "yet" in robustness_text.missing_views(chosen(gaps, series="kept"))


@pytest.fixture
def noisy():
    """Our default is first on `a`, SSGCN on `b`; KNN has `a` alone."""
    percents = {
        ("a", OWN): (90, 80), ("a", "ssgcn"): (90, 75), ("a", "knn"): (80, 40),
        ("b", OWN): (90, 60), ("b", "ssgcn"): (90, 65),
    }  # fmt: skip
    return [
        fit(name, series, fraction, 0, percent / 100, noise_importance=0.2 * fraction)
        for (name, series), pair in percents.items()
        for fraction, percent in zip((0.0, 1.0), pair, strict=True)
    ]


def test_methods_are_compared_with_the_losses_of_the_default(noisy):
    text = robustness_text.methods(noisy, robustness_text.wrong_labels)
    assert "With 100% of the labels wrong, manyview is the best" in text
    assert "on 1 of 2 data sets, and behind on b (SSGCN is 5.0 points above it)" in text


def test_changes_are_of_the_data_sets_that_the_default_has(noisy):
    text = robustness_text.methods(noisy, robustness_text.noise_added)
    assert "over 2 data sets: manyview -20.0; SSGCN -20.0." in text


def test_methods_wait_for_the_default(noisy):
    others = [one for one in noisy if one["series"] != OWN]
    assert "nothing is compared" in robustness_text.methods(others, str)


def test_weight_of_noise_is_that_where_half_the_views_are_noise(noisy):
    text = robustness_text.noise_weight(noisy)
    assert "the learned weights give them 20% (manyview)" in text
    assert robustness_text.noise_weight([]) == ""


def split(seed, stopped, default, tuned, **more):
    return {
        "dataset": "a", "label_ratio": 0.1, "forced": False, "seed": seed, "stopped": stopped,
        "n_trials": 8, "is_default": default == tuned,
        "default_accuracy": default, "tuned_accuracy": tuned,
    } | more  # fmt: skip


def test_tuning_gives_what_other_settings_gained_and_lost():
    records = [split(0, "weak", 0.8, 0.8), split(1, "done", 0.8, 0.86), split(2, "done", 0.8, 0.78)]
    text = daily_tables.tuning_summary(records)
    assert "In 1 of 3 splits there were too few labels" in text
    assert "In the other 2 it tried 8 settings and kept the defaults in 0." in text
    assert "by +2.0 points on average: better in 1, worse in 1, -2.0 at worst" in text
    assert daily_tables.tuning_table(records, 3).splitlines()[-1] == (
        "| a | 10% | 80.0 (0.0) | 81.3 (4.2) | +1.3 | 1 of 3 |"
    )


def test_tuning_that_kept_all_defaults_gained_nothing():
    text = daily_tables.tuning_summary([split(0, "done", 0.8, 0.8)])
    assert text.endswith("neither gained nor lost accuracy yet.")


def test_forced_tuning_has_a_row_of_its_own():
    records = [split(0, "weak", 0.8, 0.8), split(0, "done", 0.8, 0.7, forced=True)]
    rows = daily_tables.tuning_table(records, 1).splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["10%", "10%, forced"]


def test_labeling_compares_rounds_after_the_first_and_fits_from_scratch():
    records = [
        {
            "dataset": "a", "strategy": strategy, "seed": 0, "round": number,
            "accuracy": accuracy, "n_epochs": 20, "cpu_seconds": 1.0,
            "cold": {"accuracy": accuracy - 0.01, "n_epochs": 80, "cpu_seconds": 2.0},
        }
        for strategy, accuracies in {"random": (0.5, 0.6), "coverage": (0.5, 0.65)}.items()
        for number, accuracy in enumerate(accuracies)
    ]  # fmt: skip
    text = daily_tables.labeling_summary(records)
    assert "chosen by coverage change accuracy by +5.0 points" in text
    assert "uncertainty" not in text
    assert "takes 0.25 of the epochs and 0.50 of the processor time" in text
    assert "differs by +1.0 points on average over 1 data set" in text
    rows = daily_tables.labeling_table(records, 1).splitlines()[2:]
    assert rows == ["| a | random | 50.0 | 60.0 |  |  |  |  |", "| a | coverage | 50.0 | 65.0 |"
                    "  |  |  |  |"]  # fmt: skip


@pytest.mark.parametrize(
    ("done", "text"),
    [
        ([], "None of 4 planned fits has run: a, b."),
        ([("a", 0)], "Of 4 planned fits, 1 have run (a 1 of 2); none yet on b."),
        ([("a", 0), ("c", 0)], "(a 1 of 2); none yet on b, and 1 outside the plan."),
        ([(name, seed) for name in "ab" for seed in (0, 1)], "All 4 planned fits have run: a, b."),
    ],
)
def test_progress_gives_what_has_run_and_what_not(done, text):
    records = [{"dataset": name, "seed": seed} for name, seed in done]
    found = daily_use.progress(records, ("seed",), ["a", "b"], [(0,), (1,)], "fits")
    assert found.endswith(text)


def test_study_without_records_has_no_table_and_no_figure(monkeypatch):
    monkeypatch.setattr(daily_use, "read", lambda file: [])
    page = daily_use.page()
    assert page.count("None of ") == 6
    assert "![" not in page
    assert "| data set |" not in page
    assert all(study.draw() is None for study in daily_use.ROBUSTNESS.values())


def test_cell_with_fewer_seeds_shows_how_many():
    assert cell([80.0, 82.0], 2) == "81.0 (1.4)"
    assert cell([80.0, 82.0], 3) == "81.0 (1.4), n = 2"
    assert cell(None, 3) == ""


def test_figure_names_a_series_that_the_first_data_set_lacks(noisy):
    drawn = robustness.figure(
        [one for one in noisy if (one["dataset"], one["series"]) != ("a", "ssgcn")],
        (OWN, "plain", "ssgcn", "knn"), (0.0, 1.0), x_name="noise", own=OWN,
    )  # fmt: skip
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == [OWN, "ssgcn", "knn"]
