"""The label audit finds changed labels, protects classes, and is silent where it cannot know."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels
from manyview.estimators.manyview import ManyviewClassifier
from manyview.label_audit.audit import N_PROTECTED, are_harder, audit_labels


def made(rng, n_labels, n_classes, n_wrong, spread=0.3, n_columns=6):
    """Return features, true classes and labels of which the first are wrong."""
    centers = rng.normal(size=(n_classes, n_columns))
    truth = np.arange(n_labels) % n_classes
    features = centers[truth] + spread * rng.normal(size=(n_labels, n_columns))
    y = truth.copy()
    y[:n_wrong] = (truth[:n_wrong] + rng.integers(1, n_classes, size=n_wrong)) % n_classes
    return features, truth, y


def test_changed_labels_come_first_with_the_right_suggestion():
    features, truth, y = made(np.random.default_rng(0), 200, 5, 30)
    found = audit_labels(features, np.arange(1000, 1200), y)
    assert found.is_conclusive
    assert found.is_suspicious[:30].mean() > 0.9
    assert (found.samples[found.is_suspicious] < 1030).mean() > 0.9
    assert (found.suggested[:30] == truth[:30]).mean() > 0.95
    assert (found.ranked[:25] < 30).all()
    low, high = found.wrong_interval
    assert low < 0.15 < high


def test_right_labels_are_not_doubted():
    features, _, y = made(np.random.default_rng(1), 200, 5, 0)
    found = audit_labels(features, np.arange(200), y)
    assert not found.is_suspicious.any()
    assert found.is_trusted.all()


def test_labels_that_features_do_not_explain_are_not_doubted():
    """Wrong predictions look like wrong labels; these are only wrong predictions."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        found = audit_labels(rng.normal(size=(80, 5)), np.arange(80), rng.integers(4, size=80))
        assert found.is_trusted.all()
        assert not found.is_conclusive


def test_few_labels_per_class_are_not_doubted():
    features, _, y = made(np.random.default_rng(3), 20, 5, 3)
    found = audit_labels(features, np.arange(20), y)
    assert not found.is_conclusive
    np.testing.assert_array_equal(found.wrong, 0)


def test_labels_of_harder_samples_than_the_others_are_not_doubted():
    """Hard samples are predicted wrongly, whatever their labels: they were picked."""
    features, _, y = made(np.random.default_rng(0), 200, 5, 30)
    fair, _, _ = made(np.random.default_rng(0), 230, 5, 0)
    assert audit_labels(features, np.arange(200), y, lambda: fair[30:]).is_conclusive
    easy = 2 * fair[30:]  # farther from the borders of the classes
    found = audit_labels(features, np.arange(200), y, lambda: easy)
    assert not found.is_conclusive
    assert found.is_trusted.all()


def test_unlabeled_samples_are_asked_for_only_where_labels_would_be_doubted():
    def refuse():
        raise AssertionError("nothing is doubted")

    features, _, y = made(np.random.default_rng(1), 200, 5, 0)
    audit_labels(features, np.arange(200), y, refuse)


def test_labels_drawn_at_random_are_not_harder_though_some_are_wrong():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(100):
        features, _, y = made(rng, 300, 4, 30)
        rows = rng.permutation(300)
        shown, others = rows[:100], rows[100:]
        found.append(are_harder(features[shown], y[shown], features[others]))
    assert np.mean(found) <= 0.02
    assert not are_harder(features, y, features[:0])


def test_each_class_keeps_two_labels_even_if_most_are_wrong():
    rng = np.random.default_rng(4)
    features, truth, y = made(rng, 120, 3, 0, spread=0.1)
    y[truth == 2] = 0
    y[:6] = 2  # the only labels of class 2, nearly all of them wrong
    found = audit_labels(features, np.arange(120), y)
    assert (found.is_trusted & (y == 2)).sum() >= N_PROTECTED


def test_order_of_labels_does_not_matter():
    rng = np.random.default_rng(5)
    features, _, y = made(rng, 90, 3, 12)
    found = audit_labels(features, np.arange(90), y)
    rows = rng.permutation(90)
    moved = audit_labels(features[rows], rows, y[rows])
    np.testing.assert_allclose(moved.wrong, found.wrong[rows], atol=1e-6)
    np.testing.assert_array_equal(moved.is_trusted, found.is_trusted[rows])


@pytest.fixture(scope="module")
def noisy_digits():
    data = load_dataset("digits")
    labels = hide_labels(data.labels, 0.1, random_state=0)
    rows = np.flatnonzero(labels >= 0)
    rng = np.random.default_rng(0)
    changed = rng.choice(rows, 50, replace=False)
    noisy = labels.copy()
    noisy[changed] = (labels[changed] + rng.integers(1, 10, size=50)) % 10
    return data, labels, noisy, changed


def accuracy(model, data, labels):
    return (model.transduction_ == data.labels)[labels < 0].mean()


def test_leaving_doubted_labels_out_recovers_most_of_the_loss(noisy_digits):
    data, labels, noisy, changed = noisy_digits
    clean = ManyviewClassifier(random_state=0).fit(data.views, labels)
    reported = ManyviewClassifier(label_audit="report", random_state=0).fit(data.views, noisy)
    left_out = ManyviewClassifier(random_state=0).fit(data.views, noisy)
    found = left_out.label_issues_
    doubted = found.samples[found.is_suspicious]
    assert np.isin(doubted, changed).mean() > 0.85
    assert np.isin(changed, doubted).mean() > 0.85
    scores = [accuracy(one, data, labels) for one in (clean, reported, left_out)]
    assert scores[1] < scores[0] - 0.08
    assert scores[2] > scores[0] - 0.05
    np.testing.assert_array_equal(reported.label_issues_.wrong, found.wrong)
    np.testing.assert_array_equal(left_out.y_ >= 0, noisy >= 0)


def test_report_and_no_audit_give_the_same_predictions(noisy_digits):
    data, _, noisy, _ = noisy_digits
    few = data.views[np.arange(300)]
    first, second = (
        ManyviewClassifier(label_audit=mode, random_state=0).fit(few, noisy[:300])
        for mode in ("report", None)
    )
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    assert second.label_issues_ is None


def test_audit_of_a_model_file_is_checked(noisy_digits, tmp_path):
    data, _, noisy, _ = noisy_digits
    model = ManyviewClassifier(random_state=0).fit(data.views[np.arange(200)], noisy[:200])
    model.save(tmp_path)
    again = ManyviewClassifier.load(tmp_path)
    np.testing.assert_array_equal(again.label_issues_.wrong, model.label_issues_.wrong)
    good = model.label_issues_
    for broken in (
        replace(good, samples=good.samples + 200),
        replace(good, wrong=good.wrong + 2),
        replace(good, suggested=good.suggested[:-1]),
        replace(good, y_encoded=good.y_encoded - 20),
    ):
        model.label_issues_ = broken
        with pytest.raises(ValueError, match="label_issues_"):
            model.check_learned()


def test_issues_are_one_line_of_text_and_a_table_in_notebooks():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    features = np.eye(3)[truth] + 0.1 * rng.normal(size=(60, 3))
    given = truth.copy()
    given[[0, 30]] = [1, 0]
    issues = audit_labels(features, np.arange(60), given)
    assert repr(issues).startswith("LabelIssues(60 labels, 2 probably wrong; estimated rate of")
    markup = issues._repr_html_()
    assert markup.count('<th scope="row" class="number">') == 2
    calm = audit_labels(features, np.arange(60), truth)
    assert repr(calm) == "LabelIssues(60 labels, no reason to doubt them)"
    assert "<table" not in calm._repr_html_()
