"""Model files: what goes in comes out, and nothing in them is ever run."""

import hashlib
import json
import os
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import safetensors.numpy
import torch
from scipy import sparse

from manyview.base.persistence import load_tree, save_tree
from manyview.data.views import MultiView
from manyview.errors import DataFileError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import GraphLearningConfig, NeighborGraph
from manyview.methods import METHODS


@dataclass(frozen=True)
class Point:
    x: np.ndarray
    name: str


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif sparse.issparse(one):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    elif isinstance(one, Point):
        assert_same(one.x, other.x)
        assert one.name == other.name
    else:
        assert one == other


def test_tree_comes_back_as_it_was(tmp_path):
    tree = {
        "numbers": np.arange(6.0).reshape(2, 3),
        "integers": np.array([1, -1]),
        "booleans": np.array([True, False]),
        "texts": np.array(["a", "bc"]),
        "objects": np.array(["a", None, 3], dtype=object),
        "sparse": sparse.csr_array(np.eye(3)),
        "record": Point(np.zeros(2, dtype=np.float32), "zero"),
        "plain": {"list": [1, 2.5, None, True, "é"], "empty": {}},
    }
    save_tree(tmp_path, "shapes", tree)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.json", "model.safetensors"]
    assert_same(load_tree(tmp_path, "shapes", (Point,)), tree)


def test_record_that_is_not_expected_is_never_built(tmp_path):
    save_tree(tmp_path, "shapes", {"record": Point(np.zeros(2), "zero")})
    with pytest.raises(DataFileError, match="damaged: KeyError 'Point'"):
        load_tree(tmp_path, "shapes", ())


@pytest.fixture
def saved(tmp_path, tiny_views):
    model = MGCNDNSClassifier(max_epochs=5, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels).save(tmp_path / "model")
    return model


LABELS = {
    "integers": lambda labels: labels,
    "texts": lambda labels: np.where(labels < 0, None, np.array(["a", "b", "ü"])[labels]),
    "booleans": lambda labels: np.where(labels < 0, None, (labels > 0).astype(object)),
}


@pytest.mark.parametrize("kind", LABELS)
def test_loaded_model_predicts_as_the_saved_one(tmp_path, tiny_views, kind):
    labels = LABELS[kind](tiny_views.known_labels)
    model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(tiny_views.views, labels)
    model.save(tmp_path)
    loaded = MGCNDNSClassifier.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.transduction_.tolist() == model.transduction_.tolist()
    assert loaded.training_curve_ == model.training_curve_
    new = {name: view[:7] + 0.1 for name, view in tiny_views.views.items()}
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded.predict(new).tolist() == model.predict(new).tolist()


@pytest.mark.parametrize(
    "params",
    [
        {"node_selection": None, "graph_learning": None},
        {"node_selection": "top-k", "n_layers": 3},
        {"scaling": {"shape": "standard", "color": "none"}, "class_weight": "balanced"},
    ],
    ids=["plain", "top-k", "scaling by view"],
)
def test_every_variant_survives_saving(tmp_path, tiny_views, params):
    model = MGCNDNSClassifier(max_epochs=5, random_state=0, **params)
    model.fit(tiny_views.views, tiny_views.known_labels).save(tmp_path)
    loaded = MGCNDNSClassifier.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(
        loaded.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )


def test_sparse_views_and_given_graphs_survive_saving(tmp_path, tiny_views, rng):
    graph = sparse.csr_array(np.triu(rng.random((60, 60)) < 0.1, 1).astype(float))
    views = {"words": sparse.csr_array(np.abs(tiny_views.views["color"])), "links": graph}
    data = MultiView(views, graphs=["links"])
    model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(data, tiny_views.known_labels)
    model.save(tmp_path)
    loaded = MGCNDNSClassifier.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(data[:9]), model.predict_proba(data[:9]))


def test_loading_unpickles_nothing(tmp_path, saved, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a pickle was opened")

    for module, name in [(pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")]:
        monkeypatch.setattr(module, name, refuse)
    monkeypatch.setattr(torch, "load", refuse)
    monkeypatch.setattr(np, "load", refuse)
    assert MGCNDNSClassifier.load(tmp_path / "model").classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.999])
@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_truncated_file_is_refused(tmp_path, saved, name, keep):
    file = tmp_path / "model" / name
    content = file.read_bytes()
    file.write_bytes(content[: int(keep * len(content)) if keep < 1 else keep])
    with pytest.raises(DataFileError, match=r"cut short\. Fit the model again\."):
        MGCNDNSClassifier.load(tmp_path / "model")


def test_altered_tensors_are_refused(tmp_path, saved):
    file = tmp_path / "model" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataFileError) as error:
        MGCNDNSClassifier.load(tmp_path / "model")
    assert str(error.value) == (
        f"{file} is not the file that was saved with model.json: it was changed or cut short. "
        "Fit the model again."
    )


def change(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.parametrize("version", [2, 4])
def test_a_model_of_another_format_version_is_refused_in_one_sentence(tmp_path, saved, version):
    file = tmp_path / "model" / "model.json"
    change(file, format_version=version, manyview="9.1")
    with pytest.raises(DataFileError) as error:
        MGCNDNSClassifier.load(tmp_path / "model")
    assert str(error.value) == (
        f"{file} has format version {version}; this manyview reads version 3. Fit the model "
        "again, or use the manyview that wrote it (9.1)."
    )


def test_an_estimator_with_an_inner_estimator_comes_back(tmp_path, tiny_views):
    inner = MGCNDNSClassifier(max_epochs=3, graph_learning=GraphLearningConfig(rank=4))
    model = ManyviewClassifier(inner, graph=NeighborGraph(n_neighbors=5), random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels).save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    assert type(loaded.estimator) is MGCNDNSClassifier
    assert loaded.estimator.graph_learning == GraphLearningConfig(rank=4)
    assert loaded.graph == NeighborGraph(n_neighbors=5)
    np.testing.assert_array_equal(
        loaded.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )


def test_altered_values_are_refused(tmp_path, saved):
    file = tmp_path / "model" / "model.json"
    document = json.loads(file.read_text())
    learned = dict(dict(document["model"]["dict"])["learned"]["dict"])
    temperature = learned["temperature_"]
    file.write_text(file.read_text().replace('"temperature_",\n', '"temperature_", ', 1))
    loaded = MGCNDNSClassifier.load(tmp_path / "model")  # only the layout changed
    assert loaded.temperature_ == temperature
    altered = json.dumps(document).replace(
        f'["temperature_", {temperature}]', '["temperature_", 0.01]'
    )
    assert altered != json.dumps(document)
    file.write_text(altered)
    with pytest.raises(DataFileError) as error:
        MGCNDNSClassifier.load(tmp_path / "model")
    assert str(error.value) == (
        f"{file} is damaged: it was changed after it was saved. Fit the model again."
    )


def test_model_of_another_kind_is_refused(tmp_path, saved):
    with pytest.raises(DataFileError, match=r"holds a model of mgcn-dns, not knn\."):
        METHODS["knn"].load(tmp_path / "model")


def test_a_model_without_its_checksum_is_refused(tmp_path, saved):
    file = tmp_path / "model" / "model.json"
    document = json.loads(file.read_text())
    del document["model_sha256"]
    file.write_text(json.dumps(document))
    with pytest.raises(DataFileError, match="it was changed after it was saved"):
        MGCNDNSClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", '"text"', "null"])
def test_other_json_is_no_model(tmp_path, saved, content):
    file = tmp_path / "model" / "model.json"
    file.write_text(content)
    with pytest.raises(DataFileError, match=r"model\.json is not a manyview model\."):
        MGCNDNSClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    "model",
    [{"array": "nowhere"}, {"record": "Popen", "fields": {}}, {}, 3, {"dict": {"a": {"csr": {}}}}],
)
def test_damaged_tree_is_refused(tmp_path, saved, model):
    file = tmp_path / "model" / "model.json"
    change(file, model=model)
    with pytest.raises(DataFileError, match=r"model\.json is damaged: it was changed"):
        MGCNDNSClassifier.load(tmp_path / "model")
    change(
        file, model_sha256=hashlib.sha256(json.dumps(model, sort_keys=True).encode()).hexdigest()
    )
    with pytest.raises(DataFileError, match=r"model\.json is damaged: "):
        MGCNDNSClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_missing_file_is_named(tmp_path, saved, name):
    (tmp_path / "model" / name).unlink()
    with pytest.raises(DataFileError, match=rf"There is no model in .*model: {name} is missing\."):
        MGCNDNSClassifier.load(tmp_path / "model")


def sign(folder):
    """Compute the checksums of a changed model anew."""
    document = json.loads((folder / "model.json").read_text())
    packed = json.dumps(document["model"], sort_keys=True).encode()
    tensors = (folder / "model.safetensors").read_bytes()
    change(
        folder / "model.json",
        model_sha256=hashlib.sha256(packed).hexdigest(),
        tensors_sha256=hashlib.sha256(tensors).hexdigest(),
    )


def with_array(folder, ending, edit):
    """Edit the first array whose name ends so, and sign the model."""
    file = folder / "model.safetensors"
    arrays = safetensors.numpy.load(file.read_bytes())
    name = next(name for name in sorted(arrays) if name.endswith(ending))
    arrays[name] = np.ascontiguousarray(edit(np.array(arrays[name])))
    file.write_bytes(safetensors.numpy.save(arrays))
    sign(folder)


def first_set(value):
    def edit(array):
        array.reshape(-1)[0] = value
        return array

    return edit


@pytest.mark.parametrize(
    ("ending", "edit", "words"),
    [
        ("graphs_/0/indices", first_set(10**6), "column indices must be from 0 to 59; got 1000000"),
        ("graphs_/0/indptr", first_set(5), "pointer"),
        ("selected_graph_/indices", first_set(-3), "column indices must be from 0 to 59; got -3"),
        ("view_graphs_/0/data", first_set(np.nan), "view_graphs_/0/data must hold finite numbers"),
        ("node_confidence", first_set(np.nan), "node_confidence must hold finite numbers"),
        ("node_confidence", lambda array: array[:5], "IndexError"),
        ("learned/y_", first_set(7), "y_ must hold numbers from -1 to 2"),
        ("label_distributions_", first_set(9.0), "must hold probabilities"),
        ("label_distributions_", lambda array: array[:5], "transduction_ must have 5 labels"),
        ("factor", lambda array: array[:1], "dimension"),
        ("features", lambda array: array[:5], "60 degrees for the features of 5"),
        ("weights/0", lambda array: array + 3e38, "gives no probabilities"),
    ],
)
def test_a_changed_array_is_refused_even_if_signed_anew(tmp_path, saved, ending, edit, words):
    with_array(tmp_path / "model", ending, edit)
    with pytest.raises(DataFileError, match=rf"model\.json is damaged: .*{words}"):
        MGCNDNSClassifier.load(tmp_path / "model")


def test_other_weights_signed_anew_are_another_model(tmp_path, saved, tiny_views):
    with_array(tmp_path / "model", "weights/0", lambda array: array * 1.5)
    loaded = MGCNDNSClassifier.load(tmp_path / "model")
    assert np.isfinite(loaded.predict_proba(tiny_views.views)).all()


def learned_part(document, part):
    return dict(document["model"]["dict"])[part]["dict"]


@pytest.mark.parametrize(
    ("part", "name", "value", "words"),
    [
        ("learned", "__class__", 3, "'__class__' is not the name of a learned attribute"),
        ("learned", "predict", 3, "'predict' is not the name of a learned attribute"),
        ("learned", "embedding_", 3, "'embedding_' is not learned"),
        ("learned", "view_names_", ["shape", "shape"], "view_names_ must name the views"),
        ("learned", "temperature_", 0.0, "gives no probabilities"),
        ("learned", "n_original_", "many", "numbers of features and samples must be whole"),
        ("learned", "view_graphs_", None, "NoneType"),
        ("params", "max_epochs", -4, "max_epochs"),
        ("learned", "columns_", {"dict": [["shape", ["a"]]]}, "columns_ must name the columns"),
    ],
)
def test_a_changed_value_is_refused_even_if_signed_anew(tmp_path, saved, part, name, value, words):
    file = tmp_path / "model" / "model.json"
    document = json.loads(file.read_text())
    pairs = learned_part(document, part)
    pairs[:] = [pair for pair in pairs if pair[0] != name] + [[name, value]]
    file.write_text(json.dumps(document))
    sign(tmp_path / "model")
    with pytest.raises(DataFileError, match=rf"model\.json is damaged: .*{words}"):
        MGCNDNSClassifier.load(tmp_path / "model")


def test_a_tree_deeper_than_the_stack_is_refused(tmp_path, saved):
    (tmp_path / "model" / "model.json").write_text("[" * 200_000)
    with pytest.raises(DataFileError, match="damaged or cut short"):
        MGCNDNSClassifier.load(tmp_path / "model")


def test_a_pipe_in_place_of_a_model_is_refused(tmp_path, saved):
    (tmp_path / "model" / "model.json").unlink()
    os.mkfifo(tmp_path / "model" / "model.json")
    with pytest.raises(DataFileError, match="must be a file; got a pipe"):
        MGCNDNSClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_classes_may_be_dates(tmp_path, tiny_views, unit):
    days = np.array(["2020-01-01", "2020-02-29", "2021-12-31"], dtype=f"datetime64[{unit}]")
    model = METHODS["knn"]().fit(tiny_views.views, days[tiny_views.labels])
    model.save(tmp_path)
    loaded = METHODS["knn"].load(tmp_path)
    assert loaded.classes_.dtype == days.dtype
    np.testing.assert_array_equal(loaded.classes_, days)
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def two_models():
    rng = np.random.default_rng(0)
    views, labels = {"a": rng.normal(size=(30, 4))}, np.arange(30) % 3
    return [METHODS["knn"](n_neighbors=k).fit(views, labels) for k in (3, 4)]


def kill_at(monkeypatch, number):
    """Let the next save end before its write of this number."""
    from manyview.base import persistence

    whole, n_writes = persistence.write_whole, []

    def write(path, content):
        n_writes.append(path)
        if len(n_writes) > number:
            raise Killed
        whole(path, content)

    monkeypatch.setattr(persistence, "write_whole", write)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("has_links", [True, False])
def test_save_over_a_model_that_is_cut_short_leaves_the_old_one(
    two_models, tmp_path, monkeypatch, number, has_links
):
    old, new = two_models
    old.save(tmp_path)
    if not has_links:

        def no_link(*_):
            raise OSError("no links here")

        monkeypatch.setattr(os, "link", no_link)
    with monkeypatch.context() as patch:
        kill_at(patch, number)
        with pytest.raises(Killed):
            new.save(tmp_path)
    assert type(old).load(tmp_path).n_neighbors == 3
    new.save(tmp_path)  # again, and to the end
    assert type(old).load(tmp_path).n_neighbors == 4
    assert sorted(one.name for one in tmp_path.iterdir()) == ["model.json", "model.safetensors"]


def test_save_over_a_model_keeps_mode_and_link(two_models, tmp_path):
    old, new = two_models
    old.save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    file.rename(tmp_path / "elsewhere.safetensors")
    file.symlink_to(tmp_path / "elsewhere.safetensors")
    file.chmod(0o600)
    new.save(tmp_path / "model")
    assert file.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600
    assert type(old).load(tmp_path / "model").n_neighbors == 4


def test_model_that_is_replaced_while_it_is_read_is_read_again(two_models, tmp_path, monkeypatch):
    from manyview.base import persistence

    old, new = two_models
    old.save(tmp_path)
    read, is_replaced = persistence._read_bytes, []

    def read_slowly(path):
        content = read(path)
        if path.name == "model.json" and not is_replaced:
            is_replaced.append(True)
            new.save(tmp_path)
        return content

    monkeypatch.setattr(persistence, "_read_bytes", read_slowly)
    assert type(old).load(tmp_path).n_neighbors == 4


def test_checksum_in_the_json_names_no_other_file(two_models, tmp_path):
    two_models[0].save(tmp_path / "model")
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    document["tensors_sha256"] = "x/../../other"
    (tmp_path / "model" / "model-x").mkdir()
    (tmp_path / "model" / "model.json").write_text(json.dumps(document))
    with pytest.raises(DataFileError, match="not the file that was saved with"):
        type(two_models[0]).load(tmp_path / "model")
    two_models[0].save(tmp_path / "model")
    assert [one.name for one in tmp_path.iterdir()] == ["model"]
