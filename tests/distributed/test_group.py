import pytest

from manyview.distributed import group as module
from manyview.distributed.group import TIMEOUT, process_group
from manyview.distributed.world import ALONE, World, use_world
from manyview.errors import ProcessError


@pytest.fixture
def started_as_second_of_two(monkeypatch, tmp_path):
    """The environment that `launch` gives one of two processes, and calls of torch's functions."""
    meeting = f"file://{tmp_path / 'store'}"
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "MANYVIEW_RENDEZVOUS": meeting}.items():
        monkeypatch.setenv(name, value)
    return meeting


def test_a_process_that_was_started_alone_joins_no_group():
    with process_group() as world:
        assert world == ALONE
    with use_world(World(1, 3)), process_group() as world:
        assert world == World(1, 3)


def test_a_process_joins_the_group_of_its_environment_and_leaves_it(
    started_as_second_of_two, monkeypatch
):
    calls = []
    monkeypatch.setattr(
        module.dist, "init_process_group", lambda *names, **given: calls.append((names, given))
    )
    monkeypatch.setattr(module.dist, "destroy_process_group", lambda: calls.append("left"))
    with pytest.raises(KeyError), process_group():
        raise KeyError
    given = {"rank": 1, "world_size": 2, "timeout": TIMEOUT}
    assert calls == [(("gloo",), {"init_method": started_as_second_of_two, **given}), "left"]


def test_processes_that_do_not_meet_are_one_sentence(started_as_second_of_two, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("[/x/socket.cc:12] Connection refused. Try again\nat frame 1")

    monkeypatch.setattr(module.dist, "init_process_group", fail)
    with pytest.raises(ProcessError) as failure, process_group():
        pass
    assert str(failure.value) == (
        "the processes of this fit did not find each other. Check that all of them were started, "
        "and that their machines can connect to each other. The connection reports: Connection "
        "refused."
    )
