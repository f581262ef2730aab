"""The study of mixed tables: what its sentences call ahead, level and behind."""

import mixed_tables


def test_gains_name_where_the_raw_table_is_ahead_level_and_behind():
    raw = {0: 80.0, 1: 82.0, 2: 81.0}
    found = {
        ("a", "raw"): raw,
        ("a", "by-hand"): {0: 70.0, 1: 71.0, 2: 72.0},
        ("a", "forest"): {0: 81.0, 1: 81.0, 2: 81.0},
        ("b", "raw"): raw,
        ("b", "by-hand"): {1: 92.0, 2: 91.5, 7: 0.0},
    }
    assert mixed_tables.gains(found, ["a", "b"]) == (
        "against encoding by hand, the raw table is ahead on a (+10.0) and behind on b (-10.2); "
        "against the forest, the raw table is level on a (+0.0)"
    )
    assert "not measured" in mixed_tables.gains({}, ["a"])


def test_no_table_both_judges_the_encoding_and_was_looked_at():
    assert not set(mixed_tables.FRESH) & set(mixed_tables.SEEN)
    assert list(mixed_tables.TABLES) == [*mixed_tables.FRESH, *mixed_tables.SEEN]
