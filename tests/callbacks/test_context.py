"""The context of a fit: an observer gets the predictions of every epoch within its block."""

import numpy as np
import pytest
from models import mgcn_dns

from manyview.callbacks.context import (
    check_epochs,
    current_check,
    current_observer,
    observe_epochs,
)


def test_an_observer_gets_the_predictions_of_every_epoch_within_the_block(tiny_views):
    seen = []
    model = mgcn_dns(max_epochs=3, random_state=0)
    with observe_epochs(seen.append):
        observed = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    assert current_observer() is None
    alone = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    assert [len(predictions) for predictions in seen] == [60, 60, 60]
    assert set(np.concatenate(seen)) <= {0, 1, 2}
    np.testing.assert_array_equal(observed, alone)


def test_the_inner_of_two_observers_counts():
    def first(predictions): ...
    def second(predictions): ...

    with observe_epochs(first):
        with observe_epochs(second):
            assert current_observer() is second
        assert current_observer() is first


def test_a_check_is_called_after_every_epoch_and_may_end_the_fit(tiny_views):
    model, called = mgcn_dns(max_epochs=3, random_state=0), []
    with check_epochs(lambda: called.append(1)):
        checked = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    assert current_check() is None
    assert len(called) == 3

    def end():
        raise KeyError

    with check_epochs(end), pytest.raises(KeyError):
        model.fit(tiny_views.views, tiny_views.known_labels)
    np.testing.assert_array_equal(model.label_distributions_, checked)
    alone = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    np.testing.assert_array_equal(checked, alone)
