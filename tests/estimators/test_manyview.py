"""ManyviewClassifier: its stages, what they learn from, and what an interrupt leaves."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from interrupts import TRAIN_NETWORK, train_interrupted
from sklearn.exceptions import ConvergenceWarning

from manyview import ManyviewClassifier, MGCNDNSClassifier, PseudoLabeler, hide_labels, load_dataset
from manyview.errors import InputError
from manyview.network.shared_training import NetworkPart
from manyview.network.training import train_network
from manyview.self_training import loop


def fit(views, labels, **parameters):
    inner = MGCNDNSClassifier(max_epochs=parameters.pop("max_epochs", 15))
    return ManyviewClassifier(inner, **({"random_state": 0} | parameters)).fit(views, labels)


def same(one, other):
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


def test_the_default_has_stages_and_the_papers_method_has_none(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels)
    assert 1 <= len(model.stages_) <= 2
    assert all(0 <= one.changed <= 1 and one.n_epochs > 0 for one in model.stages_)
    assert model.stages_[-1].agreement.shape == (2,)
    paper = MGCNDNSClassifier(random_state=0, max_epochs=5)
    assert paper.fit(tiny_views.views, tiny_views.known_labels).stages_ == ()


def test_a_small_fit_uses_one_thread_in_all_steps_that_learn(tiny_views, monkeypatch):
    """Beside another process two threads wait for each other in every short operation."""
    used = []
    for place, step in ((loop, "linear_probabilities"), (NetworkPart, "logits")):
        function = getattr(place, step)

        def watched(*arguments, function=function):
            used.append(torch.get_num_threads())
            return function(*arguments)

        monkeypatch.setattr(place, step, watched)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        fit(tiny_views.views, tiny_views.known_labels)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert used
    assert {*used} == {1}


def test_no_iterations_are_the_papers_method(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    paper = MGCNDNSClassifier(random_state=0, max_epochs=15).fit(*given)
    same(fit(*given, max_iter=0, scaling="unit", cross_fit=False), paper)


def test_the_same_seed_gives_the_same_stages(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    one, other = fit(*given), fit(*given)
    same(one, other)
    assert [r.changed for r in one.stages_] == [r.changed for r in other.stages_]


def test_where_every_label_is_known_there_are_no_stages(tiny_views):
    model = fit(tiny_views.views, tiny_views.labels)
    assert model.stages_ == ()
    assert np.isfinite(model.label_distributions_).all()


def watch_training(monkeypatch):
    """Collect every network that is trained, its initial weights and its soft targets."""
    trained = []

    def train_and_collect(network, *args, **kwargs):
        start = [weight.detach().clone() for weight in network.convolutions.parameters()]
        curve = train_network(network, *args, **kwargs)
        trained.append((network, start, kwargs["soft_targets"]))
        return curve

    monkeypatch.setattr(TRAIN_NETWORK, train_and_collect)
    return trained


def test_teachers_are_plain_and_continue_from_the_one_before(tiny_views, monkeypatch):
    trained = watch_training(monkeypatch)
    given = tiny_views.views, tiny_views.known_labels
    fit(*given, initial_teacher="network", graph_epochs=None, cross_fit=False)
    (first, *_), (second, second_start, _), (last, last_start, _) = trained
    for teacher in (first, second):
        assert teacher.graph_learning is None
        assert teacher.node_selection is None
    assert last.graph_learning is not None
    assert last.node_selection is not None
    learned = list(first.convolutions.parameters())
    assert all(torch.equal(*both) for both in zip(learned, second_start, strict=True))
    learned = list(second.convolutions.parameters())
    assert not any(torch.equal(*both) for both in zip(learned, last_start, strict=True))


def test_a_linear_classifier_takes_the_place_of_the_first_network(tiny_views, monkeypatch):
    trained = watch_training(monkeypatch)
    model = fit(tiny_views.views, tiny_views.known_labels, graph_epochs=None, cross_fit=False)
    (teacher, _, soft_targets), (last, *_) = trained
    assert model.n_networks_ == len(model.stages_) == 2
    assert soft_targets is not None
    assert teacher.graph_learning is None
    assert last.graph_learning is not None
    assert len(teacher.fusion.logits) == 3  # two views, and both together
    assert len(last.fusion.logits) == 2


def test_the_graph_is_fixed_until_the_weights_have_converged(tiny_views, monkeypatch):
    trained = watch_training(monkeypatch)
    model = fit(tiny_views.views, tiny_views.known_labels, graph_epochs=4, cross_fit=False)
    (teacher, *_), (fixed, start, _), (last, last_start, _) = trained
    assert [type(one).__name__ for one in (teacher, fixed)] == ["FixedGraphNetwork"] * 2
    assert fixed.convolutions is last.convolutions
    assert not any(torch.equal(*both) for both in zip(start, last_start, strict=True))
    assert model.training_curve_.n_epochs == model.stages_[-1].n_epochs == 15
    assert not (model.edge_gates_.data == model.edge_gates_.data[0]).all()


def test_a_graph_that_is_learned_last_leaves_the_curve_converged(tiny_views):
    model = ManyviewClassifier(random_state=0).fit(tiny_views.views, tiny_views.known_labels)
    assert model.training_curve_.stopped == "converged"
    paper = model.get_params()["estimator"] or MGCNDNSClassifier()
    assert 15 < model.training_curve_.n_epochs < paper.max_epochs


def test_without_epochs_for_it_the_graph_stays_as_it_starts(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels, graph_epochs=0)
    assert model.training_curve_.n_epochs == 15
    assert len(np.unique(model.edge_gates_.data)) == 2  # of edges, and of loops
    assert np.isfinite(model.label_distributions_).all()


def test_ctrl_c_while_the_graph_is_learned_keeps_the_teacher(tiny_views, monkeypatch):
    def interrupt(network, *args, **kwargs):
        curve = train_network(network, *args, **kwargs)
        is_learned = type(network).__name__ == "MGCNDNS"
        return replace(curve, stopped="interrupted") if is_learned else curve

    monkeypatch.setattr(TRAIN_NETWORK, interrupt)
    model = fit(tiny_views.views, tiny_views.known_labels)
    assert len(model.stages_) == 1
    assert model.training_curve_.stopped == "interrupted"


@pytest.mark.parametrize("early_fusion", [True, False])
def test_the_fitted_model_has_the_graphs_of_the_views_alone(tiny_views, early_fusion):
    model = fit(tiny_views.views, tiny_views.known_labels, early_fusion=early_fusion)
    assert model.mixing_weights_.shape == (2, 2)
    assert len(model.view_graphs_) == 2


def test_a_noise_view_gets_a_small_weight(tiny_views, rng):
    noisy = {**tiny_views.views, "noise": rng.normal(size=(60, 10))}
    model = fit(noisy, tiny_views.known_labels, max_epochs=40)
    paper = MGCNDNSClassifier(random_state=0, max_epochs=40).fit(noisy, tiny_views.known_labels)
    place = model.view_names_.index("noise")
    assert model.view_importance_[place] < 0.5 * paper.view_importance_[place]
    assert model.stages_[-1].agreement.argmin() == place


def test_self_training_gains_on_digits_with_few_labels():
    """On both splits; a fit that learned nothing from pseudo-labels would gain nothing."""
    data = load_dataset("digits")
    for seed in range(2):
        labels = hide_labels(data.labels, keep=0.01, random_state=seed)
        hidden = labels != data.labels
        paper = MGCNDNSClassifier(random_state=0, max_epochs=60).fit(data.views, labels)
        model = fit(data.views, labels, max_epochs=60)
        right = [(one.transduction_ == data.labels)[hidden].mean() for one in (paper, model)]
        assert right[1] > right[0]


def test_new_samples_and_reasons_come_from_the_final_network(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels, max_epochs=40)
    assert (model.predict(tiny_views.views) == model.transduction_).mean() > 0.9
    why = model.explain(3)
    parts = [why.itself, *why.neighbors, *why.tables]
    assert sum(part.margin for part in parts) == pytest.approx(why.margin, abs=1e-9)


def test_stages_are_saved(tiny_views, tmp_path):
    model = fit(tiny_views.views, tiny_views.known_labels)
    model.save(tmp_path / "model")
    again = ManyviewClassifier.load(tmp_path / "model")
    assert [one.n_epochs for one in again.stages_] == [one.n_epochs for one in model.stages_]
    np.testing.assert_array_equal(again.stages_[0].agreement, model.stages_[0].agreement)
    assert again.n_networks_ == model.n_networks_


def interrupt_stage(number, monkeypatch):
    """Raise KeyboardInterrupt in the third epoch of a stage."""
    train_stage = MGCNDNSClassifier.train_stage

    def train_and_interrupt(self, stage, **settings):
        with monkeypatch.context() as patch:
            if stage.number == number:
                patch.setattr(TRAIN_NETWORK, train_interrupted)
            return train_stage(self, stage, **settings)

    monkeypatch.setattr(MGCNDNSClassifier, "train_stage", train_and_interrupt)


def test_ctrl_c_in_a_stage_keeps_the_network_before(tiny_views, monkeypatch):
    given = tiny_views.views, tiny_views.known_labels
    interrupt_stage(1, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the network of the stage before is kept"):
        model = fit(*given, early_fusion=False, scaling="unit", initial_teacher="network")
    assert model.stages_ == ()
    assert model.n_networks_ == 1
    assert model.training_curve_.stopped == "interrupted"
    assert model.edge_gates_ is None
    monkeypatch.undo()
    plain = MGCNDNSClassifier(
        random_state=0, max_epochs=15, graph_learning=None, node_selection=None
    )
    same(model, plain.fit(*given))


def test_a_teacher_left_by_an_interrupt_does_without_the_early_fusion_graph(
    tiny_views, monkeypatch
):
    interrupt_stage(2, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the network of the stage before is kept"):
        model = fit(tiny_views.views, tiny_views.known_labels)
    assert len(model.stages_) == 1
    assert model.mixing_weights_.shape == (2, 2)
    assert model.view_importance_.sum() == pytest.approx(1.0)
    assert model.score(tiny_views.views, tiny_views.labels) > 0.9


def test_ctrl_c_in_the_first_network_keeps_it(tiny_views, monkeypatch):
    interrupt_stage(1, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="the weights of the lowest loss so far are kept"):
        model = fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_networks_ == len(model.stages_) == 1
    assert model.training_curve_.stopped == "interrupted"
    assert model.edge_gates_ is None
    assert model.temperature_ > 1


def test_a_warm_start_does_not_continue_from_a_teacher(tiny_views, monkeypatch):
    """A fit interrupted before its final network leaves no weights to continue from."""
    given = tiny_views.views, tiny_views.known_labels

    def interrupt(network, *args, **kwargs):
        curve = train_network(network, *args, **kwargs)
        return replace(curve, stopped="interrupted")

    monkeypatch.setattr(TRAIN_NETWORK, interrupt)
    model = fit(*given, warm_start=True)
    assert model.learned_weights_ is None
    monkeypatch.undo()
    same(model.fit(*given), fit(*given))


def test_epochs_of_all_stages_are_tasks_of_the_callbacks(tiny_views):
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
    model = ManyviewClassifier(MGCNDNSClassifier(max_epochs=4), random_state=0)
    model.set_callbacks(count).fit(tiny_views.views, tiny_views.known_labels)
    assert count.epochs == sum(one.n_epochs for one in model.stages_)


def test_class_weights_reach_every_stage(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    plain, weighted = fit(*given), fit(*given, class_weight={0: 50.0, 1: 1.0, 2: 1.0})
    means = [model.label_distributions_[:, 0].mean() for model in (plain, weighted)]
    assert means[1] > means[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_iter": -1}, r"max_iter must be a whole number of at least 0; got -1"),
        ({"max_iter": 1.5}, r"max_iter must be a whole number"),
        ({"initial_teacher": "liner"}, r"initial_teacher must be one of .* Did you mean 'linear'"),
        ({"early_fusion": "yes"}, r"early_fusion must be one of True, False"),
        (
            {"pseudo_labeler": PseudoLabeler(class_prior="sizes")},
            r"class_prior must be one of 'labels', 'predictions'",
        ),
    ],
)
def test_wrong_parameters_are_refused(tiny_views, parameters, message):
    with pytest.raises(InputError, match=message):
        fit(tiny_views.views, tiny_views.known_labels, **parameters)
