import numpy as np

from manyview.baselines.mvar import MVARClassifier


def test_labeled_samples_keep_their_labels(tiny_views, rng):
    labels = np.where(tiny_views.known_labels >= 0, rng.integers(3, size=60), -1)
    model = MVARClassifier().fit(tiny_views.views, labels)
    np.testing.assert_array_equal(
        model.label_distributions_[labels >= 0], np.eye(3)[labels[labels >= 0]]
    )


def test_new_samples_get_the_weighted_sum_of_the_regressions(tiny_views):
    model = MVARClassifier(scaling="none", power=3.0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    scores = sum(
        alpha**3.0 * (view @ both[:-1] + both[-1])
        for alpha, view, both in zip(
            model.view_weights_, tiny_views.views.values(), model.coefficients_, strict=True
        )
    )
    np.testing.assert_array_equal(model.predict(tiny_views.views), scores.argmax(axis=1))


def test_a_view_of_noise_weighs_less(tiny_views, rng):
    views = {"real": tiny_views.views["color"], "noise": rng.normal(size=(60, 8))}
    model = MVARClassifier().fit(views, tiny_views.known_labels)
    assert model.view_weights_[0] > 0.7


def test_reaching_max_iter_is_no_warning(tiny_views):
    model = MVARClassifier(max_iter=3, tol=0).fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_iter_ == 3
