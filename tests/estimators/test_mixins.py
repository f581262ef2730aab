"""The embedding: hidden features of fitted and of new samples, and the frames they come in."""

import io
from copy import copy

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from models import mgcn_dns
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyview.data.cross_validation import TransductiveViews
from manyview.data.views import MultiView
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.integrations.per_view import PerView


@pytest.fixture(scope="module")
def model(shared_views):
    model = mgcn_dns(max_epochs=20, hidden=7, random_state=0, tol=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def test_embedding_carries_the_predictions_of_the_fit(model):
    hidden = model.embedding_
    assert hidden.shape == (60, 7)
    assert hidden.dtype == np.float32
    logits = (
        model.selected_graph_ @ (hidden @ model.inductive_state_.weights[-1]) / model.temperature_
    )
    probabilities = torch.softmax(torch.from_numpy(logits), dim=1).numpy()
    np.testing.assert_allclose(probabilities, model.label_distributions_, atol=1e-4)


def test_messages_of_new_samples_come_from_their_embedding(model, tiny_views):
    hidden = model.transform(tiny_views.views)
    outputs = model.inductive_state_.outputs(MultiView(tiny_views.views))
    np.testing.assert_allclose(hidden, np.maximum(outputs[0], 0), rtol=1e-6)
    assert (hidden >= 0).all()


def test_one_convolution_has_its_logits_for_an_embedding(tiny_views):
    model = mgcn_dns(max_epochs=5, n_layers=1, random_state=0, tol=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    logits = model.inductive_state_.logits(MultiView(tiny_views.views))
    np.testing.assert_allclose(model.transform(tiny_views.views), logits, rtol=1e-6)
    assert len(model.get_feature_names_out()) == 3 == model.embedding_.shape[1]


def test_rows_of_transductive_views_are_fitted_samples(tiny_views, model):
    samples = TransductiveViews(tiny_views.views)
    fitted = clone(model).fit(samples, tiny_views.known_labels)
    np.testing.assert_array_equal(fitted.transform(samples[[3, 5]]), fitted.embedding_[[3, 5]])


def test_set_output_gives_frames(model, tiny_views):
    plain = model.transform(tiny_views.views)
    model = copy(model)
    frame = model.set_output(transform="pandas").transform(tiny_views.views)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns[0] == "mgcndnsclassifier0"
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    pl = pytest.importorskip("polars")
    frame = model.set_output(transform="polars").transform(tiny_views.views)
    assert isinstance(frame, pl.DataFrame)
    np.testing.assert_array_equal(frame.to_numpy(), plain)


def test_set_output_reaches_the_end_of_a_pipeline(model, tiny_views):
    pipe = make_pipeline(PerView(StandardScaler()), clone(model), PCA(2))
    frame = pipe.set_output(transform="pandas").fit_transform(
        MultiView(tiny_views.views), tiny_views.known_labels
    )
    assert list(frame.columns) == ["pca0", "pca1"]
    assert len(frame) == 60


def test_unfitted_model_has_no_embedding(tiny_views):
    with pytest.raises(NotFittedError):
        MGCNDNSClassifier().transform(tiny_views.views)


def test_joblib_keeps_predictions_and_embedding(model, tiny_views):
    kept = io.BytesIO()
    joblib.dump(model, kept)
    kept.seek(0)
    again = joblib.load(kept)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    np.testing.assert_array_equal(
        again.transform(tiny_views.views), model.transform(tiny_views.views)
    )


def test_saved_model_has_the_same_embedding(model, tmp_path):
    model.save(tmp_path)
    np.testing.assert_array_equal(MGCNDNSClassifier.load(tmp_path).embedding_, model.embedding_)
