"""Rounds: networks whose answers teach the next."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview import hide_labels, load_dataset
from manyview.classifier import MGCNDNSClassifier
from manyview.errors import InputError
from manyview.lessons import Lesson
from manyview.rounds import Round


def fit(views, labels, **parameters):
    settings = {"random_state": 0, "max_epochs": 15} | parameters
    return MGCNDNSClassifier(**settings).fit(views, labels)


def same(one, other):
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


def test_default_has_rounds_and_the_paper_has_none(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels)
    assert 1 <= len(model.rounds_) <= 2
    assert all(0 <= one.changed <= 1 and one.n_epochs > 0 for one in model.rounds_)
    assert model.rounds_[-1].agreement.shape == (2,)
    paper = fit(tiny_views.views, tiny_views.known_labels, recipe="paper")
    assert paper.rounds_ == []


def test_no_rounds_is_the_papers_recipe(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    same(fit(*given, max_rounds=0), fit(*given, recipe="paper"))


def test_same_seed_gives_the_same_rounds(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    one, other = fit(*given), fit(*given)
    same(one, other)
    assert [r.changed for r in one.rounds_] == [r.changed for r in other.rounds_]


def test_where_every_label_is_known_nothing_is_taught(tiny_views):
    model = fit(tiny_views.views, tiny_views.labels)
    assert model.rounds_ == []
    assert np.isfinite(model.label_distributions_).all()


def test_rounds_end_when_answers_have_settled(tiny_views, monkeypatch):
    monkeypatch.setattr(Round, "has_settled", property(lambda _: True))
    model = fit(tiny_views.views, tiny_views.known_labels, max_rounds=5)
    assert len(model.rounds_) == 1


def test_settled_is_a_share_of_changed_answers():
    lesson = Lesson(np.zeros((0, 2)), np.zeros(0), np.ones(1), np.ones(1))
    before = np.tile([0.9, 0.1], (1000, 1))
    after = before.copy()
    after[:4] = after[:4, ::-1]
    assert Round.between(before, after, lesson, 3).has_settled
    after[4:20] = after[4:20, ::-1]
    found = Round.between(before, after, lesson, 3)
    assert found.changed == pytest.approx(0.02)
    assert not found.has_settled


def test_a_view_of_noise_is_weighed_down(tiny_views, rng):
    noisy = {**tiny_views.views, "noise": rng.normal(size=(60, 10))}
    model = fit(noisy, tiny_views.known_labels, max_epochs=40)
    paper = fit(noisy, tiny_views.known_labels, max_epochs=40, recipe="paper")
    place = model.view_names_.index("noise")
    assert model.view_importance_[place] < 0.5 * paper.view_importance_[place]
    assert model.rounds_[-1].agreement.argmin() == place


def test_few_labels_gain_on_digits():
    """Two of two splits: a fit that taught nothing would be no better than the paper's."""
    data = load_dataset("digits")
    for seed in range(2):
        labels = hide_labels(data.labels, keep=0.01, random_state=seed)
        hidden = labels != data.labels
        right = [
            (fit(data.views, labels, max_epochs=60, recipe=recipe).transduction_ == data.labels)
            for recipe in ("paper", "few-labels")
        ]
        assert right[1][hidden].mean() > right[0][hidden].mean()


def test_answers_of_later_samples_come_from_the_last_network(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels, max_epochs=40)
    assert (model.predict(tiny_views.views) == model.transduction_).mean() > 0.9
    why = model.explain(3)
    parts = [why.itself, *why.neighbors]
    assert sum(part.margin for part in parts) == pytest.approx(why.margin, abs=1e-9)


def test_rounds_are_saved(tiny_views, tmp_path):
    model = fit(tiny_views.views, tiny_views.known_labels)
    model.save(tmp_path / "model")
    again = MGCNDNSClassifier.load(tmp_path / "model")
    assert [one.n_epochs for one in again.rounds_] == [one.n_epochs for one in model.rounds_]
    np.testing.assert_array_equal(again.rounds_[0].agreement, model.rounds_[0].agreement)


def test_ctrl_c_in_a_round_keeps_the_network_that_was_done(tiny_views, monkeypatch):
    given = tiny_views.views, tiny_views.known_labels
    build = MGCNDNSClassifier._build

    def build_and_interrupt(self, inputs, generator, lesson=None):
        network = build(self, inputs, generator, lesson)
        if lesson is not None:
            forward, epochs = network.forward, []

            def interrupt(*args, **kwargs):
                epochs.append(1)
                if len(epochs) == 3:
                    raise KeyboardInterrupt
                return forward(*args, **kwargs)

            network.forward = interrupt
        return network

    monkeypatch.setattr(MGCNDNSClassifier, "_build", build_and_interrupt)
    with pytest.warns(ConvergenceWarning, match="the network that taught this one is kept"):
        model = fit(*given)
    assert model.rounds_ == []
    assert model.training_curve_.stopped == "interrupted"
    monkeypatch.undo()
    same(model, fit(*given, recipe="paper"))


def test_epochs_of_all_rounds_are_tasks_of_the_callbacks(tiny_views):
    class Count:
        epochs = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.epochs += context.task_name == "epoch"

    count = Count()
    model = MGCNDNSClassifier(random_state=0, max_epochs=4).set_callbacks(count)
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert count.epochs == 4 + sum(one.n_epochs for one in model.rounds_)


def test_class_weights_reach_every_round(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    plain, weighed = fit(*given), fit(*given, class_weight={0: 50.0, 1: 1.0, 2: 1.0})
    shares = [model.label_distributions_[:, 0].mean() for model in (plain, weighed)]
    assert shares[1] > shares[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"recipe": "papers"}, r"recipe must be one of 'few-labels', 'paper'; got 'papers'.*paper"),
        ({"max_rounds": -1}, r"max_rounds must be a whole number of at least 0; got -1"),
        ({"max_rounds": 1.5}, r"max_rounds must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused(tiny_views, parameters, message):
    with pytest.raises(InputError, match=message):
        fit(tiny_views.views, tiny_views.known_labels, **parameters)
