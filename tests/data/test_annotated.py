"""MuData and AnnData as views, joined on the names of observations."""

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.knn import KNNClassifier
from manyview.data.io.readers import read_views
from manyview.data.views import MultiView, check_views
from manyview.errors import InputError

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

# mudata 0.3 warns about its next version.
pytestmark = pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning")

NAMES = [f"p{number}" for number in range(6)]
RNA, PROTEIN = np.arange(15.0).reshape(5, 3), np.arange(8.0).reshape(4, 2) + 1
DIAGNOSES = ["ill", "well", None, "ill", "well", None]


def make_mudata(parts):
    return mudata.MuData(parts)


def make_anndata(matrix, names, **more):
    columns = pd.DataFrame(index=[f"{matrix.shape[1]}g{n}" for n in range(matrix.shape[1])])
    return anndata.AnnData(matrix, obs=pd.DataFrame(index=list(names)), var=columns, **more)


@pytest.fixture
def cohort():
    """p5 lacks rna, p0 and p1 lack protein, whose rows come in another order."""
    rna = make_anndata(RNA, NAMES[:5], layers={"counts": RNA.astype(np.int32)})
    rna.obsm["X_pca"] = RNA[:, :2] * 10
    rna.obsp["distances"] = sparse.csr_matrix(np.eye(5, k=1))
    protein = make_anndata(sparse.csr_matrix(PROTEIN), NAMES[5:1:-1])
    whole = make_mudata({"rna": rna, "protein": protein})
    whole.obs["diagnosis"] = pd.Series(DIAGNOSES, index=NAMES, dtype=object)
    return whole


def test_observations_absent_from_a_part_lack_its_view(cohort):
    views = check_views(MultiView(cohort))
    assert views.names == ("rna", "protein")
    ids = list(cohort.obs_names)
    assert views.present[ids.index("p5")].tolist() == [False, True]
    for name in ("p0", "p1"):
        assert views.present[ids.index(name)].tolist() == [True, False]
    for row, name in enumerate(ids):
        if name != "p5":
            np.testing.assert_array_equal(views["rna"][row], RNA[NAMES.index(name)])
        if name not in ("p0", "p1"):
            np.testing.assert_array_equal(
                views["protein"][[row]].toarray()[0], PROTEIN[5 - NAMES.index(name)]
            )
    assert views.columns["rna"] == ("3g0", "3g1", "3g2")


def test_views_key_names_layers_embeddings_and_graphs(cohort):
    data = read_views(
        cohort,
        views_key=["rna/layers/counts", "rna/obsm/X_pca", "protein"],
        graphs_key="rna/obsp/distances",
    )
    assert data.views.names == (
        "rna/layers/counts", "rna/obsm/X_pca", "protein", "rna/obsp/distances",
    )  # fmt: skip
    assert data.views.graph_names == {"rna/obsp/distances"}
    order = [data.sample_ids.tolist().index(name) for name in NAMES]
    views = data.views[order]
    np.testing.assert_array_equal(views["rna/layers/counts"][:5], RNA)
    np.testing.assert_array_equal(views["rna/obsm/X_pca"][:5], RNA[:, :2] * 10)
    graph = data.views["rna/obsp/distances"].toarray()[np.ix_(order, order)]
    np.testing.assert_array_equal(graph[:5, :5], np.eye(5, k=1))
    assert not graph[5].any()
    assert not graph[:, 5].any()


def test_anndata_is_one_view_or_several_places(tmp_path):
    alone = make_anndata(RNA, NAMES[:5])
    alone.obsm["X_pca"] = RNA[:, :2]
    alone.obs["label"] = [1, 2, 1, 2, -1]
    assert MultiView(alone).names == ("X",)
    alone.write_h5ad(tmp_path / "a.h5ad")
    data = read_views(tmp_path / "a.h5ad", views_key=["X", "obsm/X_pca"])
    assert data.labels.tolist() == [1, 2, 1, 2, -1]
    np.testing.assert_array_equal(data.views["obsm/X_pca"], RNA[:, :2])


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pd.Categorical(["a", None, "b", "a", "b", "a"]), ["a", None, "b", "a", "b", "a"]),
        (pd.array([1, None, 2, 1, 2, 1], dtype="Int64"), [1, -1, 2, 1, 2, 1]),
        ([True, False, True, True, False, True], [True, False, True, True, False, True]),
    ],
)
def test_label_columns_of_any_kind(cohort, values, labels):
    cohort.obs["kind"] = pd.Series(values, index=NAMES)
    data = read_views(cohort, label_column="kind")
    label_of = dict(zip(data.sample_ids, data.labels.tolist(), strict=True))
    assert [label_of[name] for name in NAMES] == labels


def test_label_column_of_a_part(cohort):
    cohort.mod["rna"].obs["stage"] = ["a", "b", "a", "b", "a"]
    data = read_views(cohort, label_column="stage")
    label_of = dict(zip(data.sample_ids, data.labels, strict=True))
    assert label_of["p1"] == "b"
    assert label_of["p5"] is None
    cohort.mod["protein"].obs["stage"] = ["a", "b", "a", "b"]
    with pytest.raises(
        InputError, match=r"column 'stage' in 2 modalities.*label_column='rna:stage'"
    ):
        read_views(cohort, label_column="stage")
    data = read_views(cohort, label_column="protein:stage")
    assert dict(zip(data.sample_ids, data.labels, strict=True))["p5"] == "a"


def test_disjoint_observations_are_refused():
    parts = {"rna": make_anndata(RNA, NAMES[:5]), "protein": make_anndata(PROTEIN, "wxyz")}
    whole = make_mudata(parts)
    with pytest.raises(InputError) as caught:
        MultiView(whole)
    assert str(caught.value).startswith(
        "view 'rna' of MuData has no observation in common with the others: it has 'p0', view "
    )


def test_unknown_place_is_refused_with_those_there(cohort):
    with pytest.raises(InputError, match=r"nothing at 'rna/obsm/X_umap'.*Did you mean 'rna/obsm"):
        read_views(cohort, views_key="rna/obsm/X_umap")
    with pytest.raises(
        InputError, match=r"rna/obsp/distances.* Pass one of these as graphs_key=\.$"
    ):
        read_views(cohort, graphs_key="obsp/none")


def test_dict_of_anndata_is_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"view 'rna' must be .* got an AnnData.*MuData"):
        MultiView({"rna": make_anndata(RNA, NAMES[:5])})


def make_batch(names, *, parts=("rna", "protein"), labels=None, seed=0):
    """Two modalities of the same observations, the labels in .obs of each."""
    rng = np.random.default_rng(seed)
    names = list(names)
    labels = labels or ["ill" if number % 2 else "well" for number in range(len(names))]
    is_ill = np.array(labels) == "ill"
    made = {}
    for part in parts:
        width = {"rna": 4, "protein": 3}[part]
        center = np.where(is_ill, 4.0, -4.0)[:, None]
        made[part] = make_anndata(rng.normal(size=(len(names), width)) + center, names)
        made[part].obs["label"] = labels
    return mudata.MuData(made)


def numbered(letter, n=20):
    return [f"{letter}{number}" for number in range(n)]


@pytest.fixture(params=[True, False], ids=["pulled", "not pulled"])
def pulling(request):
    """Columns of .obs are copied to the MuData (mudata 0.3) or not (mudata 0.4)."""
    with mudata.set_options(pull_on_update=request.param):
        yield


CONCATENATED = {
    "mudata.concat": lambda one, two: mudata.concat([one, two]),
    "mudata.concat with keys": lambda one, two: mudata.concat(
        {"x": one, "y": two}, label="batch", index_unique="-"
    ),
    "modalities": lambda one, two: mudata.MuData(
        {name: anndata.concat([part, two.mod[name]]) for name, part in one.mod.items()}
    ),
}


@pytest.mark.filterwarnings("ignore:The default value of 'ignore'")  # of pandas, in concat
@pytest.mark.usefixtures("pulling")
@pytest.mark.parametrize("how", CONCATENATED)
def test_concatenated_mudata_is_read_with_the_labels_of_its_parts(how, tmp_path):
    one, two = make_batch(numbered("a")), make_batch(numbered("b"), seed=1)
    whole = CONCATENATED[how](one, two)
    whole.write(tmp_path / "whole.h5mu")
    for source in (whole, tmp_path / "whole.h5mu"):
        data = read_views(source)
        assert set(data.views.names) == {"rna", "protein"}
        assert data.views.present.all()
        values = np.vstack([one["rna"].X, two["rna"].X])
        np.testing.assert_array_equal(data.views["rna"], values)
        assert data.labels.tolist() == ["well", "ill"] * 20
        assert read_views(source, label_column="rna:label").labels.tolist() == data.labels.tolist()


@pytest.mark.usefixtures("pulling")
def test_concatenated_mudata_can_be_fitted_predicted_and_scored():
    whole = mudata.concat([make_batch(numbered("a")), make_batch(numbered("b"), seed=1)])
    labels = whole["rna"].obs["label"]
    model = KNNClassifier(n_neighbors=3).fit(whole, labels)
    assert model.sample_ids_.tolist() == numbered("a") + numbered("b")
    new = mudata.concat([make_batch(numbered("c"), seed=2), make_batch(numbered("d"), seed=3)])
    truth = new["protein"].obs["label"]
    assert model.predict(new).tolist() == truth.tolist()
    assert model.score(new, truth[::-1]) == 1.0


def test_part_of_one_batch_is_missing_in_the_other():
    one, two = make_batch(numbered("a")), make_batch(numbered("b"), parts=["rna"])
    parts = {"rna": anndata.concat([one["rna"], two["rna"]]), "protein": one["protein"]}
    data = read_views(make_mudata(parts))
    assert data.views.present.sum(axis=0).tolist() == [40, 20]
    label_of = dict(zip(data.sample_ids, data.labels, strict=True))
    assert [label_of[name] for name in ("a1", "b0", "b1")] == ["ill", "well", "ill"]


def test_labels_that_differ_between_parts_are_refused_by_name():
    one, two = make_batch(numbered("a", 4)), make_batch(numbered("b", 4))
    whole = mudata.concat([one, two])
    whole["protein"].obs["label"] = ["well", "ill", "well", "ill", "well", "ill", "well", "well"]
    with pytest.raises(InputError, match=r"in 2 modalities, with other labels for 1 .*'b3'"):
        read_views(whole)
    assert read_views(whole, label_column="protein:label").labels[-1] == "well"


@pytest.mark.filterwarnings("ignore:.*(Duplicated obs_names|(is|are) not unique)")
@pytest.mark.usefixtures("pulling")
@pytest.mark.parametrize(
    "use", [MultiView, read_views, lambda data: read_views(data, views_key="rna")]
)
def test_repeated_names_of_two_batches_are_refused_with_the_way_out(use):
    whole = mudata.concat([make_batch(numbered("a")), make_batch(numbered("a"), seed=1)])
    with pytest.raises(InputError) as caught:
        use(whole)
    assert str(caught.value) == (
        "MuData has 20 name(s) in .obs_names more than once: a0, a1, a2, a3, a4 and 15 more. Every "
        "observation must have a name of its own: concatenate with index_unique='-', in "
        "mudata.concat or anndata.concat, or call obs_names_make_unique() on every AnnData and "
        "then update() on the MuData."
    )
    for part in whole.mod.values():
        part.obs_names_make_unique()
    whole.update()
    assert len(MultiView(whole)) == 40


@pytest.mark.filterwarnings("ignore:.*are not unique")
def test_repeated_names_of_anndata_are_refused():
    twice = anndata.concat([make_anndata(RNA, NAMES[:5]), make_anndata(RNA, NAMES[:5])])
    with pytest.raises(InputError, match=r"AnnData has 5 name\(s\) in \.obs_names more than once"):
        MultiView(twice)
