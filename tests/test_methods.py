"""Methods by name, and methods of others."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from manyview import MethodCard, MultiViewClassifier, methods, register_method
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS, find_method


def test_method_is_found_by_its_name():
    assert find_method("mgcn-dns") is MGCNDNSClassifier
    assert find_method("manyview").__name__ == "ManyviewClassifier"


def test_every_built_in_method_has_the_name_of_its_card():
    assert [method.card.name for method in METHODS.values()] == list(METHODS)


def test_names_are_listed_and_checked_without_importing_the_methods():
    registry = methods.MethodRegistry({"knn": "no_such_module:KNN"})
    assert list(registry) == ["knn"]
    assert "knn" in registry
    assert len(registry) == 1
    with pytest.raises(ModuleNotFoundError):
        registry["knn"]


class MostFrequent(MultiViewClassifier):
    """Gives every sample the most frequent label."""

    card = MethodCard("most-frequent", "Most frequent", "none", 2026, "nothing")

    def __init__(self, *, random_state=None):
        self.random_state = random_state

    def _fit(self, views, y_encoded, context):
        counts = np.bincount(y_encoded[y_encoded >= 0], minlength=len(self.classes_))
        self.label_distributions_ = np.tile(counts / counts.sum(), (len(views), 1))


@pytest.fixture
def restored_methods(monkeypatch):
    monkeypatch.setattr(methods, "METHODS", METHODS)
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


@pytest.mark.usefixtures("restored_methods")
def test_a_method_of_ones_own_is_registered_and_found(tiny_views):
    assert register_method(MostFrequent) is MostFrequent
    model = find_method("most-frequent")().fit(tiny_views.views, tiny_views.known_labels)
    assert len(set(model.transduction_)) == 1
    assert model.fit_summary().n_networks == 1


@pytest.mark.usefixtures("restored_methods")
def test_a_taken_name_and_what_is_no_method_are_refused():
    class Taken(MostFrequent):
        card = MethodCard("knn", "KNN", "none", 2026, "nothing")

    class Nameless(MultiViewClassifier):
        pass

    with pytest.raises(InputError, match="the name 'knn' is taken by KNNClassifier"):
        register_method(Taken)
    with pytest.raises(InputError, match="a method must be a child of MultiViewClassifier; got"):
        register_method(dict)
    with pytest.raises(InputError, match="Nameless must have a MethodCard"):
        register_method(Nameless)


@pytest.mark.usefixtures("restored_methods")
def test_methods_of_installed_packages_are_registered(monkeypatch):
    entries = [
        EntryPoint("most-frequent", f"{__name__}:MostFrequent", "manyview.methods"),
        EntryPoint("broken", "no_such_package:Method", "manyview.methods"),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda entry: _load(entry))
    monkeypatch.setattr(methods, "entry_points", lambda group: entries)
    with pytest.warns(UserWarning, match="the method 'broken' of the entry point no_such_package"):
        methods._register_installed()
    assert find_method("most-frequent") is MostFrequent


def _load(entry):
    if entry.name == "broken":
        raise ModuleNotFoundError("No module named 'no_such_package'")
    return MostFrequent


def test_unknown_method_is_refused_with_the_nearest_and_all_others():
    with pytest.raises(InputError) as error:
        find_method("mgcn-dsn")
    assert str(error.value) == (
        "No method is named 'mgcn-dsn'. Did you mean 'mgcn-dns'? The methods are: "
        f"{', '.join(METHODS)}."
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_named_in_lower_case_and_has_defaults(name):
    assert name == name.lower()
    assert "random_state" in METHODS[name]().get_params()
