"""Settings of the process: for a block, for the rest, and refused where wrong."""

import pytest

from manyview.errors import InputError
from manyview.system.config import config_context, get_config, set_config


def test_a_block_changes_settings_and_restores_them(tmp_path):
    before = get_config()
    with config_context(max_memory=2.0):
        with config_context(cache_dir=tmp_path):
            assert get_config().max_memory == 2.0
            assert get_config().cache_dir == tmp_path
        assert get_config().cache_dir is None
    assert get_config() == before


def test_an_error_restores_settings():
    with pytest.raises(RuntimeError), config_context(max_memory=2.0):
        raise RuntimeError
    assert get_config().max_memory == "auto"


def test_settings_of_the_process_stay(tmp_path):
    set_config(cache_dir=tmp_path, max_memory=3)
    try:
        assert (get_config().cache_dir, get_config().max_memory) == (tmp_path, 3)
    finally:
        set_config(cache_dir=None, max_memory="auto")
    assert get_config().cache_dir is None


@pytest.mark.parametrize("wrong", [0, -1, "much", True])
def test_a_wrong_limit_is_refused(wrong):
    with pytest.raises(InputError, match=r"max_memory \(GB, or 'auto'\) must be"):
        set_config(max_memory=wrong)


def test_a_cache_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cache_dir must be a folder; .* is a file"):
        set_config(cache_dir=tmp_path / "file")
    with pytest.raises(InputError, match="cache_dir must be a folder or None; got 5"):
        set_config(cache_dir=5)
