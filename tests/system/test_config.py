"""Settings of the process: changed for a block or for good, and checked when set."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from manyview.errors import InputError
from manyview.system.config import Config, config_context, get_config, set_config


@pytest.fixture
def restored_config():
    yield
    set_config(cache_dir=None, max_memory="auto", cache_after=0)


def test_context_changes_settings_for_the_block_only(tmp_path):
    with config_context(cache_dir=tmp_path):
        with config_context(max_memory=3):
            assert get_config() == Config(tmp_path, 3)
        assert get_config() == Config(tmp_path, "auto")
    assert get_config() == Config()


def test_context_ends_with_an_error():
    with pytest.raises(RuntimeError), config_context(max_memory=3):
        raise RuntimeError
    assert get_config() == Config()


@pytest.mark.usefixtures("restored_config")
def test_set_config_holds_in_every_thread_and_a_context_overrides_it():
    set_config(max_memory=5)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(get_config).result().max_memory == 5
    with config_context(max_memory=6):
        assert get_config().max_memory == 6
    assert get_config().max_memory == 5


@pytest.mark.parametrize("wrong", [0, -1.0, "much", None, float("nan")])
def test_memory_limit_must_be_a_number_above_zero_or_auto(wrong):
    with pytest.raises(InputError, match="max_memory") as error, config_context(max_memory=wrong):
        pass
    assert repr(wrong) in str(error.value)


def test_seconds_of_a_cached_search_are_a_number_of_at_least_zero():
    with config_context(cache_after=60):
        assert get_config() == Config(cache_after=60)
    with pytest.raises(InputError, match=r"cache_after \(seconds\) must be at least 0; got -1"):
        config_context(cache_after=-1).__enter__()


def test_cache_must_be_a_folder(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("")
    for wrong, message in ((3, "got 3"), (file, "is a file")):
        with pytest.raises(InputError, match=message), config_context(cache_dir=wrong):
            pass
    with config_context(cache_dir=tmp_path / "new"):
        assert get_config().cache_dir == tmp_path / "new"
