"""The page on performance shows the stored measurements, and nothing else."""

import tomllib
from pathlib import Path

import pytest
from performance import page, plots, ranking, scale, tables, whole_job
from performance.epoch import TUTORIAL
from performance.formats import NOT_YET
from performance.growth import exponent

from manyview.data.catalog.load import find_card

TRIAL_ROWS = Path(__file__).parent / "performance_rows"  # small, of a busy machine


@pytest.fixture
def trial_rows(monkeypatch):
    monkeypatch.setattr(tables, "FOLDER", TRIAL_ROWS)
    return tables.figure_rows()


def test_page_shows_the_measurements():
    path = page.DOCS / "performance.md"
    assert path.read_text() == page.page(), "run: python benchmarks/run.py page"


def test_the_page_on_scale_shows_the_measurements():
    path = page.DOCS / "how-far.md"
    assert path.read_text() == page.how_far(), "run: python benchmarks/run.py page"


def test_the_page_on_scale_has_every_table_once_all_is_measured(trial_rows):
    text = page.how_far()
    assert NOT_YET not in text
    assert "| 60,000 | 10 |" in text  # with a scratch folder
    assert "| 100,000,000 | 64 |" in text  # on paper


def test_predicted_epochs_follow_the_formula(trial_rows):
    base, needed = scale._largest_alone(), scale.needed_fraction()
    assert 0 < needed < 1.5
    epochs = [scale.predicted(base, needed, 10**7, n, "learned") for n in (1, 8)]
    per_sample = base["epoch"]["median"] / base["request"]["n_samples"]
    assert epochs[0] == pytest.approx(per_sample * 10**7 / scale.CORES)
    sent = needed * 10**7 * (1 - 1 / 8) * scale.ROW_BYTES["learned"] / scale.BANDWIDTH
    assert epochs[1] == pytest.approx(epochs[0] / 8 + sent)


def test_readme_says_what_was_measured():
    def row(name, n_samples):
        (found,) = (r for r in tables.rows_of(name) if r["request"]["n_samples"] == n_samples)
        return found

    epoch, dense, million = row("epoch", 10_000), row("dense", 10_000), row("growth", 1_000_000)
    of_medians = {form: found["of_medians"] for form, found in epoch["ratio"].items()}
    minutes, gb = million["seconds"]["whole"] / 60, million["peak_mb"] / 1024
    readme = " ".join((page.DOCS.parent / "README.md").read_text().split())
    ours, theirs = (
        tables.whole_job_median(10_000, method, "cpu_seconds", 1)
        for method in ("manyview", whole_job.PYG)
    )
    for said in (
        f"the default's network takes {ours / theirs:.2f} of the CPU time of neighbor graphs and",
        f"an epoch of the paper's network costs {of_medians[TUTORIAL]:.2f} of one of PyG's",
        f"{of_medians[epoch['fastest']]:.2f} of its fastest form on a CPU",
        f"dense form of the paper takes {dense['times_faster']:.0f} times as long",
        f"A million samples in three views were fitted in {minutes:.0f} minutes and {gb:.1f} GB on",
    ):
        assert said in readme
    assert (million["status"], len(million["recall"])) == ("done", 3)


def test_figures_show_the_stored_rows():
    shown = {
        page.DOCS / f"performance-{name}.svg": rows for name, rows in tables.figure_rows().items()
    }
    assert set(page.DOCS.glob("performance-*.svg")) == set(shown)
    for path, rows in shown.items():
        assert plots.description(rows) in path.read_text(), "run: python benchmarks/run.py page"


def test_page_has_every_section_once_all_is_measured(trial_rows):
    text = page.page()
    assert tables.NOT_YET not in text
    for name in trial_rows:
        assert f"(performance-{name}.svg)" in text
    for said in ("no data", "1.00 [0.90 to 1.10]", "(its fastest)", "`manyview --help`"):
        assert said in text
    assert "1.21 s / 2.62 s (0.46)" in text  # a first fit of 200 samples, now and before
    assert "cosine; pynndescent's defaults | 25.2 s | 30.7 s | 0.82 | 96.7% |" in text
    assert "Fitted exponents from 1,000 to 3,000 samples" in text


def test_every_line_of_a_table_has_a_cell_for_every_head(trial_rows):
    blocks = [block for block in page.page().split("\n\n") if block.startswith("|")]
    assert blocks
    for block in blocks:
        assert len({line.count(" | ") for line in block.splitlines()}) == 1, block


def test_figures_of_the_same_rows_are_the_same(trial_rows):
    first, second = page.figures(), page.figures()
    assert len(first) == len(trial_rows) == 3
    assert first == second


def test_fractions_of_the_blocks_make_a_whole_epoch(trial_rows):
    for row in trial_rows["blocks"]:
        fractions = row["blocks"].values()
        assert min(fractions) >= 0
        assert sum(fractions) == pytest.approx(1)


def test_exponent_is_the_power_that_was_put_in():
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3 * size**1.15 for size in sizes]) == pytest.approx(1.15)


def test_plan_of_the_ranking_compares_fast_with_exact_on_known_data():
    plan = tomllib.loads(ranking.PLAN.read_text())
    assert [find_card(name).name for name in plan["datasets"]] == plan["datasets"]
    assert {name: entry["params"] for name, entry in plan["methods"].items()} == {
        "exact": {"ranking": "exact"},
        "fast": {"ranking": "fast"},
    }
