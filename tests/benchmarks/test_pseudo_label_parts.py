"""The study of parts switches off one part at a time."""

import pseudo_label_parts
from compared import ALONE, make
from sklearn.base import clone

from manyview.data.catalog.load import load_dataset
from manyview.estimators.manyview import ManyviewClassifier


class Digits:
    """A small part of the digits."""

    def __init__(self):
        data = load_dataset("digits")
        self.views, self.labels = data.views[:120], data.labels[:120]


def test_every_part_can_be_left_out(monkeypatch):
    monkeypatch.setattr(pseudo_label_parts, "LABEL_RATIO", 0.2)
    make_without = pseudo_label_parts.model_without

    def quick(part, seed):
        model = make_without(part, seed)
        path = "estimator__" * isinstance(model, ManyviewClassifier) + "max_epochs"
        return clone(model).set_params(**{path: 40})

    monkeypatch.setattr(pseudo_label_parts, "model_without", quick)
    data = Digits()
    found = {part: pseudo_label_parts.run(data, part, 0) for part in pseudo_label_parts.PARTS}
    assert found["self-training"]["n_stages"] == 0
    assert found["second stage"]["n_stages"] == 1
    assert len({one["accuracy"] for one in found.values()}) > 3


def test_leaving_out_one_part_leaves_the_others_at_their_defaults():
    default = make(ALONE, 0).get_params()
    for part, params in pseudo_label_parts.PARTS.items():
        if params is not None and "estimator" not in params:
            changed = pseudo_label_parts.model_without(part, 0).get_params()
            other = {path for path in default if repr(changed[path]) != repr(default[path])}
            groups = {path.split("__")[0] for path in params if "__" in path}
            forms = {f"{path}__form" for path in params}
            assert other - groups - forms == set(params), part


def test_modules_in_every_stage_are_those_of_the_last_network():
    data = Digits()
    labels = data.labels.copy()
    labels[30:] = -1
    built = []

    class Recorded(pseudo_label_parts.ModulesInEveryStage):
        def _build(self, stage, *sizes):
            network = super()._build(stage, *sizes)
            built.append((network.graph_learning, network.node_selection))
            return network

    model = make(ALONE, 0, estimator=Recorded(max_epochs=5)).fit(data.views, labels)
    assert len(built) == model.n_networks_ == 2
    assert all(module is not None for modules in built for module in modules)


def test_parts_of_the_table_are_those_of_the_study(tmp_path, monkeypatch):
    file = tmp_path / "parts.jsonl"
    file.write_text(
        "".join(
            f'{{"dataset": "digits", "part": "{part}", "seed": 0, "accuracy": 0.5}}\n'
            for part in pseudo_label_parts.PARTS
        )
    )
    monkeypatch.setattr(pseudo_label_parts, "RECORDS", file)
    lines = pseudo_label_parts.parts_table().splitlines()
    assert lines[0] == "| left out | digits (n = 1) | mean |"
    assert lines[2] == "| nothing | 50.0 | 50.0 |"
    assert len(lines) == 2 + len(pseudo_label_parts.PARTS)
