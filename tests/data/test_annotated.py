"""MuData and AnnData as views, joined on the names of observations."""

import numpy as np
import pytest
from scipy import sparse

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
