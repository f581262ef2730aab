from manyview.report.study.table import Notes


def test_footnotes_count_on_after_z():
    notes = Notes()
    letters = [notes.letter(str(n)) for n in range(28)]
    assert letters[:2] == ["a", "b"]
    assert letters[25:] == ["z", "aa", "ab"]
    assert notes.letter("0") == "a"
