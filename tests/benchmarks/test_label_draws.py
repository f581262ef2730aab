"""The study of label draws draws as described, and shows what it found."""

import json

import label_draws
import numpy as np
import pytest
from compared import make

from manyview import load_dataset


def test_draws_are_what_they_are_called():
    labels = np.repeat([0, 1, 2], [300, 60, 240])
    counts = {
        draw: np.bincount(labels[mark(labels, 0)], minlength=3).tolist()
        for draw, mark in label_draws.DRAWS.items()
        if draw != label_draws.PROPOSED
    }
    assert counts["in proportion"] == [15, 3, 12]
    assert counts["the same number of each"] == [10, 10, 10]
    assert sum(counts["at random"]) == 30
    assert counts["at random"] != counts["in proportion"]


class Few:
    """A small part of the digits."""

    data = load_dataset("digits")
    views, labels = data.views[:240], data.labels[:240]


def test_proposals_start_from_one_label_per_class_and_end_at_the_ratio():
    is_drawn = label_draws.draw_proposed(Few, 0)
    assert is_drawn.sum() == round(label_draws.LABEL_RATIO * 240)
    assert set(Few.labels[is_drawn].tolist()) == set(range(10))
    np.testing.assert_array_equal(is_drawn, label_draws.draw_proposed(Few, 0))


def test_forms_are_fitted_with_the_labels_drawn():
    one, again = (label_draws.run(Few, "in proportion", "plain", seed) for seed in (0, 0))
    assert one == again
    assert 0.3 < one["accuracy"] < 1


def test_table_compares_seeds_that_all_have(tmp_path, monkeypatch):
    file = tmp_path / "draws.jsonl"
    monkeypatch.setattr(label_draws, "RECORDS", file)
    assert label_draws.draws_table() == label_draws.sentence() == label_draws.NOTHING
    lines = [
        f'{{"dataset": "digits", "draw": "{draw}", "form": {form}, "seed": {seed}, '
        f'"accuracy": {0.5 + 0.1 * seed}}}\n'
        for seed in range(2)
        for draw in label_draws.DRAWS
        for form in map(json.dumps, label_draws.FORMS)
    ]
    file.write_text("".join(lines[:-1]))
    shown = label_draws.draws_table().splitlines()
    assert shown[0] == "| labels drawn |  | digits (n = 1) | mean |"
    assert shown[2] == "| in proportion | manyview | 50.0 | 50.0 |"
    file.write_text("".join(lines))
    assert (
        label_draws.draws_table().splitlines()[2]
        == "| in proportion | manyview | 55.0 (7.1) | 55.0 |"
    )
    assert len(shown) == 2 + 12


def test_sentence_gives_the_winner(tmp_path, monkeypatch):
    percents = {("at random", "manyview"): 60, ("the same number of each", "plain"): 61.5}
    file = tmp_path / "draws.jsonl"
    monkeypatch.setattr(label_draws, "RECORDS", file)
    records = [
        {"dataset": "digits", "draw": draw, "form": form, "seed": 0}
        | {"accuracy": percents.get((draw, form), 62) / 100}
        for draw, form in label_draws.EVERY
    ]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert label_draws.sentence() == (
        "With 5% of the samples drawn at random, the default loses 2.0 points against a plain GCN; "
        "with the same number of labels per class it gains 0.5, with labels that it proposed "
        "itself it gains 0.0 (mean of 1 data sets)."
    )


@pytest.mark.parametrize("form", label_draws.FORMS)
def test_every_form_can_be_made(form):
    series, params = label_draws.FORMS[form]
    made = make(series, 0, **params).get_params()
    assert params.items() <= made.items()
