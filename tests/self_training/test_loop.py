"""Rounds: networks whose predictions teach the next."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from manyview import hide_labels, load_dataset
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.network.training import TrainingCurve, train_network
from manyview.self_training.loop import StageRecord, train_in_rounds
from manyview.self_training.pseudo_labels import PseudoLabels, make_pseudo_labels


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
    same(fit(*given, max_iter=0), fit(*given, recipe="paper"))


def test_same_seed_gives_the_same_rounds(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    one, other = fit(*given), fit(*given)
    same(one, other)
    assert [r.changed for r in one.rounds_] == [r.changed for r in other.rounds_]


def test_where_every_label_is_known_nothing_is_taught(tiny_views):
    model = fit(tiny_views.views, tiny_views.labels)
    assert model.rounds_ == []
    assert np.isfinite(model.label_distributions_).all()


def curve_of(stopped="converged"):
    return TrainingCurve([1.0], [1.0], stopped)


def take_turns(max_iter, predictions, curves=None):
    """Rounds of networks that are their own numbers; return what came, and the turns there were."""
    turns = []

    def fit(turn):
        turns.append(turn)
        return turn.number, curve_of() if curves is None else curves[turn.number]

    def lesson_of(probabilities):
        return PseudoLabels(probabilities, np.ones(len(probabilities)), np.ones(1), np.ones(1))

    return train_in_rounds(fit, lambda number, _: predictions[number], lesson_of, max_iter), turns


SURE = np.tile([0.9, 0.1], (100, 1))


def test_each_network_is_taught_by_the_one_before():
    predictions = [SURE, SURE[:, ::-1], SURE, SURE[:, ::-1]]
    taught, turns = take_turns(3, predictions)
    assert [turn.teacher for turn in turns] == [None, 0, 1, 2]
    assert [turn.is_last for turn in turns] == [False, False, False, True]
    assert turns[0].lesson is None
    assert all(turn.lesson.targets is predictions[turn.number - 1] for turn in turns[1:])
    assert (taught.network, taught.is_whole) == (3, True)
    assert [one.changed for one in taught.rounds] == [1, 1, 1]


def test_predictions_that_have_settled_teach_the_last_network():
    taught, turns = take_turns(5, [SURE] * 6)
    assert [turn.is_last for turn in turns] == [False, False, True]
    assert len(taught.rounds) == 2


def test_without_rounds_the_first_network_is_the_last():
    taught, turns = take_turns(0, [SURE])
    assert [turn.is_last for turn in turns] == [True]
    assert (taught.rounds, taught.is_whole) == ([], True)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_was_done_before_the_user_ended_it_is_kept(at):
    curves = [curve_of("interrupted" if number == at else "converged") for number in range(3)]
    taught, turns = take_turns(2, [SURE] * 3, curves)
    assert len(turns) == at + 1
    assert taught.network == max(at - 1, 0)
    assert taught.curve.stopped == "interrupted"
    assert not taught.is_whole


def test_teachers_are_plain_and_go_on_from_their_own(tiny_views, monkeypatch):
    trained = []

    def train_and_keep(network, *args, **kwargs):
        start = [weight.detach().clone() for weight in network.convolutions.parameters()]
        curve = train_network(network, *args, **kwargs)
        trained.append((network, start))
        return curve

    monkeypatch.setattr("manyview.estimators.mgcn_dns.train_network", train_and_keep)
    fit(tiny_views.views, tiny_views.known_labels, linear_teacher=False)
    (first, _), (second, second_start), (last, last_start) = trained
    for teacher in (first, second):
        assert teacher.graph_learning is None
        assert teacher.node_selection is None
    assert last.graph_learning is not None
    assert last.node_selection is not None
    learned = list(first.convolutions.parameters())
    assert all(torch.equal(*both) for both in zip(learned, second_start, strict=True))
    learned = list(second.convolutions.parameters())
    assert not any(torch.equal(*both) for both in zip(learned, last_start, strict=True))


def test_a_linear_classifier_stands_for_the_first_network(tiny_views, monkeypatch):
    trained = []

    def train_and_keep(network, *args, **kwargs):
        trained.append((network, kwargs["lesson"]))
        return train_network(network, *args, **kwargs)

    monkeypatch.setattr("manyview.estimators.mgcn_dns.train_network", train_and_keep)
    model = fit(tiny_views.views, tiny_views.known_labels)
    (teacher, first_lesson), (last, _) = trained
    assert model.n_networks_ == len(model.rounds_) == 2
    assert first_lesson is not None
    assert teacher.graph_learning is None
    assert last.graph_learning is not None
    assert len(teacher.fusion.logits) == 3  # two views, and both together
    assert len(last.fusion.logits) == 2


@pytest.mark.parametrize("early_fusion_graph", [True, False])
def test_the_joint_graph_is_the_teachers_alone(tiny_views, early_fusion_graph):
    model = fit(tiny_views.views, tiny_views.known_labels, early_fusion_graph=early_fusion_graph)
    assert model.mixing_weights_.shape == (2, 2)
    assert len(model.view_graphs_) == 2
    assert set(model.inductive_state_.indexes) == {"shape", "color"}


def test_first_predictions_teach_where_they_are_given():
    turns, first = [], np.tile([0.2, 0.8], (100, 1))

    def train(turn):
        turns.append(turn)
        return turn.number, curve_of("converged")

    def lesson_of(probabilities):
        return PseudoLabels(probabilities, np.ones(len(probabilities)), np.ones(1), np.ones(1))

    taught = train_in_rounds(train, lambda *_: SURE, lesson_of, 2, lambda: first)
    assert [turn.number for turn in turns] == [1, 2]
    assert turns[0].teacher is None
    np.testing.assert_array_equal(turns[0].lesson.targets, first)
    assert taught.network == 2
    assert len(taught.rounds) == 2
    turns.clear()
    assert train_in_rounds(train, lambda *_: SURE, lesson_of, 0, lambda: first).rounds == []
    assert turns[0].lesson is None


def test_settled_is_a_share_of_changed_predictions():
    lesson = PseudoLabels(np.zeros((0, 2)), np.zeros(0), np.ones(1), np.ones(1))
    before = np.tile([0.9, 0.1], (1000, 1))
    after = before.copy()
    after[:4] = after[:4, ::-1]
    assert StageRecord.between(before, after, lesson, 3).has_settled
    after[4:20] = after[4:20, ::-1]
    found = StageRecord.between(before, after, lesson, 3)
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


def test_predictions_of_later_samples_come_from_the_last_network(tiny_views):
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


def interrupt_in(number, monkeypatch):
    """Have Ctrl-C come in the third epoch of a turn."""
    build = MGCNDNSClassifier._build

    def build_and_interrupt(self, inputs, generator, turn):
        network = build(self, inputs, generator, turn)
        if turn.number == number:
            forward, epochs = network.forward, []

            def interrupt(*args, **kwargs):
                epochs.append(1)
                if len(epochs) == 3:
                    raise KeyboardInterrupt
                return forward(*args, **kwargs)

            network.forward = interrupt
        return network

    monkeypatch.setattr(MGCNDNSClassifier, "_build", build_and_interrupt)


def test_ctrl_c_in_a_round_keeps_the_network_that_was_done(tiny_views, monkeypatch):
    given = tiny_views.views, tiny_views.known_labels
    interrupt_in(1, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the network that taught this one is kept"):
        model = fit(*given, early_fusion_graph=False, scaling="unit", linear_teacher=False)
    assert model.rounds_ == []
    assert model.n_networks_ == 1
    assert model.training_curve_.stopped == "interrupted"
    assert model.edge_gates_ is None
    monkeypatch.undo()
    same(model, fit(*given, recipe="paper", graph_learning=None, node_selection=None))


def test_a_teacher_that_has_to_prediction_does_without_the_joint_graph(tiny_views, monkeypatch):
    interrupt_in(2, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the network that taught this one is kept"):
        model = fit(tiny_views.views, tiny_views.known_labels)
    assert len(model.rounds_) == 1
    assert model.mixing_weights_.shape == (2, 2)
    assert model.view_importance_.sum() == pytest.approx(1.0)
    assert model.score(tiny_views.views, tiny_views.labels) > 0.9


def test_ctrl_c_in_the_first_network_keeps_it(tiny_views, monkeypatch):
    interrupt_in(1, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the weights of the lowest loss so far are kept"):
        model = fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_networks_ == len(model.rounds_) == 1
    assert model.training_curve_.stopped == "interrupted"
    assert model.edge_gates_ is None
    assert model.temperature_ > 1


def test_a_warm_start_goes_on_from_no_teacher(tiny_views, monkeypatch):
    """A fit that the user ended before its last network has nothing to go on from."""
    given = tiny_views.views, tiny_views.known_labels

    def interrupt(network, *args, **kwargs):
        curve = train_network(network, *args, **kwargs)
        return replace(curve, stopped="interrupted")

    monkeypatch.setattr("manyview.estimators.mgcn_dns.train_network", interrupt)
    model = fit(*given, warm_start=True)
    assert model.learned_weights_ is None
    monkeypatch.undo()
    same(model.fit(*given), fit(*given))


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
    assert count.epochs == sum(one.n_epochs for one in model.rounds_)


def test_class_weights_reach_every_round(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    plain, weighed = fit(*given), fit(*given, class_weight={0: 50.0, 1: 1.0, 2: 1.0})
    shares = [model.label_distributions_[:, 0].mean() for model in (plain, weighed)]
    assert shares[1] > shares[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"recipe": "papers"}, r"recipe must be one of 'few-labels', 'paper'; got 'papers'.*paper"),
        ({"max_iter": -1}, r"max_iter must be a whole number of at least 0; got -1"),
        ({"max_iter": 1.5}, r"max_iter must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused(tiny_views, parameters, message):
    with pytest.raises(InputError, match=message):
        fit(tiny_views.views, tiny_views.known_labels, **parameters)


def test_labels_added_later_tell_no_shares(tiny_views, monkeypatch):
    given = tiny_views.views, tiny_views.known_labels
    asked = []

    def prepare_and_keep(*args, class_shares, **kwargs):
        asked.append(class_shares)
        return make_pseudo_labels(*args, class_shares=class_shares, **kwargs)

    monkeypatch.setattr("manyview.self_training.loop.make_pseudo_labels", prepare_and_keep)
    model = fit(*given, warm_start=True)
    model.fit(*given)
    fit(*given, class_shares="predictions", max_iter=1)
    assert asked == ["labels", "labels", "predictions", "predictions"]
    with pytest.raises(InputError, match="class_shares must be one of 'labels', 'predictions'"):
        fit(*given, class_shares="sizes")
