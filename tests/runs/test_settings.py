import pytest

from manyview.errors import InputError
from manyview.runs.settings import parse_params


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
    assert str(error.value) == f"a parameter must be written as name=value; got {text!r}."


def test_parameter_given_twice_is_refused():
    with pytest.raises(InputError, match="parameter 'gamma' is given twice: 1 and '2'"):
        parse_params(["gamma=1", "gamma=2"])


def test_unknown_parameter_is_refused_with_the_nearest_and_all_others(quick):
    with pytest.raises(InputError) as error:
        quick(params={"n_neighbors": 3}).check()
    assert str(error.value).startswith(
        "mgcn-dns has no parameter 'n_neighbors'. Did you mean 'n_neighbors'? It has: cache_dir, "
    )


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
    assert (model.random_state, model.hidden, model.verbose) == (1, 8, True)
