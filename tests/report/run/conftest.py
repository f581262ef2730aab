import pytest
from pages import fit_nasty


@pytest.fixture(scope="package")
def fitted():
    """Return data, labels and a model of MGCN-DNS, with names that try to break out of markup."""
    return fit_nasty(max_epochs=30)
