import pytest

from manyview.errors import InputError
from manyview.runs.settings import RunSettings
from manyview.runs.shared import check_processes, take_part
from manyview.runs.sources import DataSource


@pytest.fixture
def torchrun_of_two(monkeypatch):
    """The environment that torchrun gives one of two processes."""
    for name, value in {
        "RANK": "1",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": "29500",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("method", ["manyview", "mgcn-dns"])
def test_networks_are_trained_in_any_number_of_processes(method):
    check_processes(1, method)
    check_processes(5, method)


def test_methods_that_train_in_one_process_refuse_several():
    check_processes(1, "svm")
    with pytest.raises(
        InputError, match="must be 1 for the method svm, which trains in one; got 2"
    ):
        check_processes(2, "svm")


def test_methods_that_train_in_one_process_refuse_torchrun(torchrun_of_two):
    with pytest.raises(InputError, match="manyview and mgcn-dns can share a fit"):
        check_processes(1, "svm")


def test_another_number_of_processes_than_that_of_torchrun_is_refused(torchrun_of_two):
    check_processes(2, "manyview")
    with pytest.raises(
        InputError, match="left out where torchrun starts them; got 3 in a job of 2"
    ):
        check_processes(3, "manyview")


@pytest.mark.parametrize("wrong", [0, -1])
def test_fewer_than_one_process_are_refused(wrong):
    with pytest.raises(InputError, match="a whole number of at least 1"):
        check_processes(wrong, "manyview")


def test_a_process_that_takes_part_writes_nothing(shapes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.rglob("*"))
    settings = RunSettings(
        DataSource((str(shapes),)), method="mgcn-dns", params={"max_epochs": 2}, label_ratio=0.2
    )
    take_part(settings)
    assert set(tmp_path.rglob("*")) == before
