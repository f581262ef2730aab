"""The page of promises: every promise names a campaign or test that exists."""

import re
from pathlib import Path

import promises

from tests.soak.__main__ import campaigns

ROOT = Path(__file__).parents[2]


def test_every_promise_names_what_is_behind_it():
    rows = [row for row in promises.TEMPLATE.read_text().splitlines() if row.startswith("| ")]
    known = set(promises.CAMPAIGNS)
    promised = [row for row in rows if "behind it" not in row]
    assert len(promised) > 20
    for row in promised:
        named = re.findall(r"`([^`]+)`", row.rstrip(" |").rpartition("|")[2])
        assert named, row
        for name in named:
            assert name in known or (ROOT / name).is_file(), row


def test_every_campaign_is_on_the_page():
    assert {name.partition(" ")[0] for name in promises.CAMPAIGNS} == set(campaigns())


def test_last_record_of_a_range_of_cases_counts(monkeypatch):
    head = {"campaign": "outputs", "seed": 1, "first": 0, "code": "abc"}
    lines = [
        head | {"cases": 9, "violations": {"lost": 1}, "counts": {"kills": 7}},
        head | {"cases": 10, "violations": {}, "counts": {"kills": 8}},
        head | {"first": 10, "cases": 5, "violations": {}, "counts": {"kills": 4}},
    ]
    monkeypatch.setattr(promises, "read", lambda file: lines)
    assert promises.n_cases("outputs") == 15
    assert promises.n_kills() == 12
    row = promises.campaign_table().splitlines()[-1]
    assert row.startswith("| `outputs` | a command killed")
    assert "12 kills | 15 | 0 | 1 | `abc` |" in row


def test_campaigns_on_the_page_broke_no_promise():
    assert all(record["violations"] == {} for record in promises.newest())
