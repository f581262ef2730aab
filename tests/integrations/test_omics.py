"""Results of a model written into a MuData or AnnData."""

import numpy as np
import pytest

from manyview.data.catalog.load import load_dataset
from manyview.data.io.readers import read_views
from manyview.data.splits import hide_labels
from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import TrainingConfig
from manyview.integrations.omics import annotate
from manyview.methods import METHODS

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning")

KINDS = np.array(["ill", "old", "well"])


@pytest.fixture
def cohort(unlabeled_cohort, tiny_views):
    """60 samples: the last five lack `color`, twelve have a kind."""
    known = tiny_views.known_labels
    unlabeled_cohort.obs["kind"] = np.where(known == -1, None, KINDS[known])
    return unlabeled_cohort


@pytest.fixture
def model(cohort):
    return MGCNDNSClassifier(max_epochs=30, random_state=0, training=TrainingConfig(tol=0)).fit(
        cohort, cohort.obs["kind"]
    )


def test_results_survive_the_file(cohort, model, tiny_views, tmp_path):
    annotate(cohort, model)
    cohort.write(tmp_path / "out.h5mu")
    back = mudata.read_h5mu(tmp_path / "out.h5mu")
    labels = back.obs["manyview_label"]
    assert labels.dtype.categories.tolist() == ["ill", "old", "well"]
    np.testing.assert_array_equal(labels.to_numpy(dtype=object), model.transduction_)
    assert (labels.to_numpy(dtype=object) == KINDS[tiny_views.labels]).mean() > 0.9
    np.testing.assert_array_equal(back.obs["manyview_labeled"], tiny_views.known_labels != -1)
    np.testing.assert_allclose(back.obs["manyview_confidence"], model.node_confidence_)
    np.testing.assert_allclose(
        back.obs["manyview_probability"], model.label_distributions_.max(axis=1)
    )
    np.testing.assert_allclose(back.obsm["manyview_probabilities"], model.label_distributions_)
    np.testing.assert_allclose(back.obsm["manyview_embedding"], model.embedding_)
    np.testing.assert_allclose(
        back.obsp["manyview_graph"].toarray(), model.selected_graph_.toarray()
    )
    assert back.uns["manyview"]["classes"].tolist() == ["ill", "old", "well"]
    assert back.uns["manyview"]["views"].tolist() == ["shape", "color"]
    np.testing.assert_allclose(back.uns["manyview"]["view_importance"], model.view_importance_)


def test_predictions_below_a_probability_are_blank(cohort, model):
    largest = model.label_distributions_.max(axis=1)
    limit = float(np.median(largest))
    annotate(cohort, model, min_probability=limit, prefix="confident")
    np.testing.assert_array_equal(cohort.obs["confident_label"].isna(), largest < limit)
    assert "manyview_label" not in cohort.obs


def test_results_can_be_written_twice_and_into_an_anndata(tiny_views):
    alone = anndata.AnnData(tiny_views.views["shape"])
    model = METHODS["knn"]().fit(alone, tiny_views.known_labels)
    for _ in range(2):
        annotate(alone, model)
    assert alone.obs["manyview_label"].tolist() == model.transduction_.tolist()
    assert "manyview_graph" not in alone.obsp
    assert "manyview_confidence" not in alone.obs


def test_observations_that_were_not_fitted_stay_blank(cohort, tiny_views):
    data = read_views(cohort, views_key="color", label_column="kind")
    assert "5 of 60 observations have none of these views; they are left out." in data.notes
    assert len(data.views) == 55
    model = MGCNDNSClassifier(max_epochs=10, random_state=0, training=TrainingConfig(tol=0)).fit(
        data.views, data.labels
    )
    annotate(cohort, model, sample_ids=data.sample_ids)
    fitted = np.isin(cohort.obs_names, data.sample_ids)
    assert fitted.sum() == 55
    labels = cohort.obs["manyview_label"]
    assert labels[~fitted].isna().all()
    assert labels[data.sample_ids].tolist() == model.transduction_.tolist()
    assert np.isnan(cohort.obsm["manyview_embedding"][~fitted]).all()
    graph = cohort.obsp["manyview_graph"].toarray()
    assert not graph[~fitted].any()
    order = [list(cohort.obs_names).index(name) for name in data.sample_ids]
    np.testing.assert_allclose(graph[np.ix_(order, order)], model.selected_graph_.toarray())
    with pytest.raises(InputError, match=r"must name the 55 fitted samples; got 2 names"):
        annotate(cohort, model, sample_ids=["p1", "p2"])
    with pytest.raises(InputError, match=r"55 of 55 are not among them"):
        annotate(cohort, model, sample_ids=[f"q{number}" for number in range(55)])


@pytest.mark.data
def test_patients_who_lack_omics_are_labeled_and_annotated():
    data = load_dataset("rosmap")
    rng = np.random.default_rng(0)
    lacks = np.where(rng.random(351) < 0.3, rng.integers(3, size=351), -1)
    patients = np.array([f"patient{number}" for number in range(351)])
    parts = {}
    for number, name in enumerate(data.views.names):
        has = lacks != number
        columns = pd.DataFrame(index=[f"{name}{column}" for column in range(200)])
        patients_here = pd.DataFrame(index=patients[has])
        parts[name] = anndata.AnnData(data.views[name][has], patients_here, columns)
    cohort = mudata.MuData(parts)
    truth = pd.Series(data.labels, index=patients)[cohort.obs_names].to_numpy()
    labels = hide_labels(truth, keep=0.3, random_state=0)
    model = ManyviewClassifier(scaling="standard", random_state=0).fit(cohort, labels)
    annotate(cohort, model)
    hidden = labels == -1
    found = cohort.obs["manyview_label"].to_numpy()
    assert (found == truth)[hidden].mean() > 0.65
    incomplete = np.isin(cohort.obs_names, patients[lacks >= 0])
    assert incomplete.sum() == 90
    assert (found == truth)[hidden & incomplete].mean() > 0.55


def test_other_data_are_refused(cohort, model):
    with pytest.raises(InputError, match="must be a MuData or an AnnData; got dict"):
        annotate({}, model)
    with pytest.raises(InputError, match=r"fitted on 60, the data has 10\. Pass sample_ids="):
        annotate(cohort[:10], model)
