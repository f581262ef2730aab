"""The study of parts changes what it says, and puts it back."""

from functools import partial

import lesson_parts

from manyview import lessons


class Digits:
    """A small part of the digits."""

    def __init__(self):
        from manyview import load_dataset

        data = load_dataset("digits")
        self.views, self.labels = data.views[:120], data.labels[:120]


def test_every_part_can_be_left_out_and_is_put_back(monkeypatch):
    monkeypatch.setattr(lesson_parts, "RATIO", 0.2)
    quick = partial(lesson_parts.MGCNDNSClassifier, max_epochs=40)
    monkeypatch.setattr(lesson_parts, "MGCNDNSClassifier", quick)
    before = {name: getattr(lessons, name) for name in vars(lessons) if name.isupper()}
    data = Digits()
    found = {part: lesson_parts.run(data, part, 0) for part in lesson_parts.PARTS}
    assert found["all rounds"]["n_rounds"] == 0
    assert found["second round"]["n_rounds"] == 1
    assert len({one["accuracy"] for one in found.values()}) > 3
    assert {name: getattr(lessons, name) for name in before} == before
    assert lessons.assortativity.__module__ == "manyview.self_training.pseudo_labels"


def test_parts_of_the_table_are_those_of_the_study(tmp_path, monkeypatch):
    file = tmp_path / "parts.jsonl"
    file.write_text(
        "".join(
            f'{{"dataset": "digits", "part": "{part}", "seed": 0, "accuracy": 0.5}}\n'
            for part in lesson_parts.PARTS
        )
    )
    monkeypatch.setattr(lesson_parts, "RECORDS", file)
    lines = lesson_parts.table().splitlines()
    assert lines[0] == "| left out | digits (n = 1) | mean |"
    assert lines[2] == "| nothing | 50.0 | 50.0 |"
    assert len(lines) == 2 + len(lesson_parts.PARTS)
