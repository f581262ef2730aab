"""PerView: scikit-learn transformers on views, alone and in pipelines."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import TrainingConfig
from manyview.integrations.per_view import PerView


@pytest.fixture
def model():
    return MGCNDNSClassifier(max_epochs=20, random_state=0, training=TrainingConfig(tol=0))


def test_each_view_is_transformed_by_a_copy_of_its_own(tiny_views):
    step = PerView(StandardScaler())
    result = step.fit_transform(tiny_views.views)
    for name, view in tiny_views.views.items():
        np.testing.assert_allclose(result[name], StandardScaler().fit_transform(view))
    assert not hasattr(step.transformer, "mean_")


def test_samples_that_lack_a_view_are_not_seen_and_still_lack_it(tiny_views):
    present = np.arange(60) % 3 > 0
    views = MultiView(tiny_views.views, present={"shape": present})
    result = PerView(StandardScaler()).fit_transform(views)
    np.testing.assert_array_equal(result.present, views.present)
    wanted = StandardScaler().fit_transform(tiny_views.views["shape"][present])
    np.testing.assert_allclose(result["shape"][present], wanted)


def test_sparse_views_with_missing_samples_stay_in_place(rng):
    dense = rng.random((6, 4)) * (rng.random((6, 4)) < 0.6)
    present = np.array([True, False, True, True, False, True])
    views = MultiView(
        {"words": sparse.csr_array(dense), "other": np.eye(6)}, present={"words": present}
    )
    double = FunctionTransformer(lambda values: values * 2)
    result = PerView({"words": double}).fit_transform(views)
    np.testing.assert_allclose(result["words"].toarray()[present], 2 * dense[present])
    assert not result["words"].toarray()[~present].any()
    svd = PerView({"words": TruncatedSVD(2, random_state=0)}).fit(views)
    nobody = MultiView({"words": dense[:2], "other": np.eye(6)[:2]}, present={"words": [False] * 2})
    assert svd.transform(nobody)["words"].shape == (2, 2)
    assert not svd.transform(nobody).present[:, 0].any()


def test_single_unknown_values_can_be_filled(tiny_views):
    shape = tiny_views.views["shape"].copy()
    shape[0, 0] = np.nan
    result = PerView(SimpleImputer()).fit_transform({"shape": shape})
    assert result["shape"][0, 0] == pytest.approx(np.nanmean(shape[:, 0]))


def test_graphs_and_unnamed_views_pass(rng):
    views = MultiView({"a": rng.random((5, 3)), "b": np.eye(5), "g": np.eye(5)}, graphs="g")
    result = PerView({"a": PCA(2)}).fit_transform(views)
    assert result["a"].shape == (5, 2)
    assert result["b"] is views["b"]
    assert PerView(StandardScaler()).fit_transform(views)["g"] is views["g"]
    assert result.graph_names == {"g"}


def test_supervised_transformers_learn_from_the_labeled_alone(tiny_views):
    step = PerView(SelectKBest(k=2), with_labels=True).fit(
        tiny_views.views, tiny_views.known_labels
    )
    known = tiny_views.known_labels != -1
    for name, view in tiny_views.views.items():
        wanted = SelectKBest(k=2).fit(view[known], tiny_views.known_labels[known])
        np.testing.assert_allclose(step.transformers_[name].scores_, wanted.scores_)


def test_columns_are_named_and_found_in_any_order(rng):
    values = rng.random((5, 2))
    views = MultiView({"a": values}, columns={"a": ["x", "y"]})
    step = PerView(StandardScaler()).fit(views)
    result = step.transform(views)
    assert result.columns["a"] == ("x", "y")
    turned = MultiView({"a": values[:, ::-1]}, columns={"a": ["y", "x"]})
    np.testing.assert_array_equal(step.transform(turned)["a"], result["a"])
    assert PerView(PCA(1)).fit_transform(views).columns["a"] == ("pca0",)


def test_parameters_of_a_dict_are_those_of_its_transformers():
    step = PerView({"rna": PCA(3), "prot": StandardScaler()})
    assert step.get_params()["rna__n_components"] == 3
    copy = clone(step).set_params(rna__n_components=5)
    assert copy.transformer["rna"].n_components == 5
    assert step.transformer["rna"].n_components == 3
    replaced = copy.set_params(prot=PCA(1))
    assert replaced.transformer["prot"].n_components == 1
    with pytest.raises(InputError, match=r"parameter of PerView.*'rn'.*Did you mean 'rna'"):
        step.set_params(rn__n_components=2)


def test_a_method_at_the_end_of_a_pipeline_is_cross_validated(tiny_views, model):
    views = MultiView(tiny_views.views)
    pipe = make_pipeline(PerView(StandardScaler()), model)
    scores = cross_val_score(pipe, views, tiny_views.labels, cv=3)
    assert scores.mean() > 0.9


@pytest.mark.parametrize(
    ("transformer", "parameter"),
    [
        (PCA(3), "perview__transformer__n_components"),
        ({"shape": PCA(3)}, "perview__shape__n_components"),
    ],
)
def test_grid_search_reaches_the_transformers(tiny_views, model, transformer, parameter):
    pipe = make_pipeline(PerView(transformer), model)
    search = GridSearchCV(pipe, {parameter: [1, 4]}, cv=3)
    search.fit(MultiView(tiny_views.views), tiny_views.labels)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    best = search.best_estimator_[0].transformers_["shape"]
    assert best.n_components == search.best_params_[parameter]


def test_all_samples_stay_in_the_graph_behind_a_transformer(tiny_views, model):
    samples = TransductiveViews(tiny_views.views)
    pipe = make_pipeline(PerView(StandardScaler()), model)
    cv = LabelHidingSplit(n_splits=2, random_state=0)
    scores = cross_val_score(pipe, samples, tiny_views.labels, cv=cv)
    assert scores.mean() > 0.9


def test_unknown_and_other_views_are_refused(tiny_views):
    with pytest.raises(InputError, match=r"a view of PerView must be one of 'shape', 'color'"):
        PerView({"shap": PCA(1)}).fit(tiny_views.views)
    step = PerView(StandardScaler()).fit(tiny_views.views)
    with pytest.raises(InputError, match=r"views must be those of the fit \(shape, color\)"):
        step.transform({"shape": tiny_views.views["shape"]})
    with pytest.raises(InputError, match="got 3 labels for 60 samples"):
        step.set_params(with_labels=True).fit(tiny_views.views, [1, 2, 3])
