import pytest

from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS, find_method


def test_method_is_found_by_its_name():
    assert find_method("mgcn-dns") is MGCNDNSClassifier


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
