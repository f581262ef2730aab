import pytest

from manyview.base.parameters import ParameterGroup
from manyview.baselines.knn import KNNClassifier
from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import NeighborGraph, NodeSelectionConfig
from manyview.runs.settings import flat_params, parse_params


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("False", False),
        ("none", None),
        ("None", None),
        ("auto", "auto"),
        ("low-rank", "low-rank"),
        ("'none'", "none"),
        ('"a b"', "a b"),
        ("a=b", "a=b"),
        ("[1, 2]", [1, 2]),
        ("[unit, none, 'tfidf']", ["unit", None, "tfidf"]),
        ("{shape = 'unit', color = 'none'}", {"shape": "unit", "color": "none"}),
        ("{0 = 1.5, 2 = 1}", {0: 1.5, 2: 1}),
    ],
)
def test_value_is_read_as_what_it_looks_like(text, value):
    parsed = parse_params([f"name={text}"])["name"]
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("text", ["gamma", "gamma=", "=3", "", " = "])
def test_parameter_without_name_or_value_is_refused(text):
    with pytest.raises(InputError) as error:
        parse_params([text])
    assert str(error.value) == f"-p must be written as -p name=value; got {text!r}."


def test_parameter_given_twice_is_refused():
    with pytest.raises(InputError, match="-p gamma is given twice: 1 and '2'"):
        parse_params(["gamma=1", "gamma=2"])


def test_unknown_parameter_is_refused_with_the_nearest_and_all_others(quick):
    with pytest.raises(InputError) as error:
        quick(params={"n_neighbor": 3}).check()
    assert str(error.value).startswith(
        "ManyviewClassifier has no parameter 'n_neighbor'. Did you mean 'n_neighbors'? It has: "
    )
    assert error.value.parameter == "n_neighbor"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "forest"}, r"No method is named 'forest'\."),
        ({"protocol": "stratify"}, "protocol must be one of .* Did you mean 'stratified'"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"label_ratio": 0.0}, "label_ratio must be above 0 and at most 1; got 0.0"),
        ({"label_ratio": 2.0}, "label_ratio must be above 0 and at most 1; got 2.0"),
        ({"label_ratio": float("nan")}, "label_ratio must be above 0 and at most 1; got nan"),
    ],
)
def test_wrong_setting_is_refused(quick, changes, message):
    with pytest.raises(InputError, match=message):
        quick(**changes).check()


def test_seed_is_the_methods_unless_it_has_its_own(quick):
    assert quick(seed=7).build_model(verbose=False).random_state == 7
    model = quick(seed=7, params={"random_state": 1, "hidden": 8}).build_model(verbose=True)
    assert (model.random_state, model.estimator.hidden, model.verbose) == (1, 8, True)


@pytest.mark.parametrize(
    "model",
    [
        ManyviewClassifier(),
        ManyviewClassifier(MGCNDNSClassifier(graph=NeighborGraph(n_neighbors=3)), verbose=True),
        MGCNDNSClassifier(node_selection=NodeSelectionConfig(tau=0.3)),
        KNNClassifier(),
    ],
)
def test_flat_params_are_plain_values_of_what_decides_a_fit(model):
    params = flat_params(model)
    assert not any(isinstance(value, ParameterGroup) for value in params.values())
    assert not {"verbose", "estimator", "graph", "node_selection", "calibration"} & params.keys()
    replaced = {"graph", "scaling", "missing", "class_weight", "calibration", "warm_start",
                "device", "verbose", "random_state"}  # fmt: skip
    inner = {path.split("__")[1] for path in params if path.startswith("estimator__")}
    assert not inner & replaced
    again = type(model)().set_params(**params)
    assert flat_params(again) == params


def test_later_parameter_overrides_the_same_one_by_another_name(quick):
    params = {"estimator__hidden": 4, "hidden": 8}  # as from --params and then -p
    assert quick(params=params).build_model(verbose=False).estimator.hidden == 8


@pytest.mark.parametrize("name", ["calibration", "calibration__n_folds"])
def test_manyview_is_calibrated_already_and_the_papers_method_on_request(quick, name):
    with pytest.raises(InputError, match="probabilities are calibrated by cross-fitting already"):
        quick(params={name: 1}).check()
    quick(method="mgcn-dns", params={name: 1}).check()


def test_flat_params_have_one_path_per_parameter():
    params = flat_params(ManyviewClassifier().set_params(graph__metric="euclidean"))
    assert params["graph__metric"] == "euclidean"
    assert params["estimator__node_selection__form"] == "differentiable"
    assert flat_params(MGCNDNSClassifier())["calibration__form"] is None
    assert params["scaling"] == "auto"
    assert flat_params(KNNClassifier()) == KNNClassifier().get_params()
