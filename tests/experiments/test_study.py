"""A study: its shards."""

import pytest

from manyview.errors import InputError
from manyview.experiments.study import Shard


@pytest.mark.parametrize("text", ["3/2", "0/2", "x", "1", "1/0"])
def test_wrong_shards_are_refused(text):
    with pytest.raises(InputError, match="shard"):
        Shard.parse(text)


def test_shards_cover_all_trials_without_overlap(open_study):
    study = open_study()
    parts = [set(study.pending(shard=Shard(number, 3))) for number in (1, 2, 3)]
    assert set.union(*parts) == set(study.keys)
    assert sum(map(len, parts)) == len(study.keys)
