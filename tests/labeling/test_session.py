"""The state of a session: what is labeled, undone, skipped, and merged."""

import pytest

from manyview.errors import DataFileError, InputError
from manyview.labeling.session import ChangedMeanwhileError, Session, check_class_name

IDS = [f"s{number}" for number in range(10)]


@pytest.fixture
def opened(tmp_path):
    sessions = []

    def open_session():
        for one in sessions:
            one.journal.close()
        sessions.append(Session(tmp_path, IDS))
        return sessions[-1]

    yield open_session
    for one in sessions:
        one.journal.close()


@pytest.fixture
def session(opened):
    found = opened()
    for name in ("cat", "dog"):
        found.add_class(name)
    return found


def state(session):
    return session.labels, session.sources, session.classes, session.skipped, session.kept


def test_everything_is_there_after_a_restart(opened, session):
    session.label({"s1": "cat"})
    session.label({"s2": "dog", "s3": "dog"}, source="lasso")
    session.skip("s4")
    session.add_class("hen")
    session.keep("s1")
    session.label({"s5": "cat"})
    session.undo()
    before = state(session)
    assert session.labels == {"s1": "cat", "s2": "dog", "s3": "dog"}
    assert state(opened()) == before


def test_undo_takes_back_one_act_of_its_own_window(session):
    session.label({"s1": "cat"}, window="a")
    session.label({"s1": "dog"}, window="b")
    session.label({"s2": "cat", "s3": "cat"}, window="a")
    session.undo("a")
    assert session.labels == {"s1": "dog"}
    session.undo("a")
    assert session.labels == {"s1": "dog"}  # window b has labeled it since
    session.undo("b")
    assert session.labels == {}
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo("b")


def test_undo_of_a_class_in_use_is_refused_by_name(session):
    session.add_class("hen", "a")
    session.label({"s1": "hen"}, window="b")
    with pytest.raises(InputError, match=r"Class 'hen' cannot be undone: s1 has it"):
        session.undo("a")
    session.undo("b")
    session.undo("a")
    assert session.classes == ["cat", "dog"]


def test_two_windows_do_not_overwrite_each_other(session):
    session.label({"s1": "cat"}, window="a", seen={"s1": None})
    with pytest.raises(ChangedMeanwhileError, match="Sample s1 was labeled cat meanwhile"):
        session.label({"s1": "dog"}, window="b", seen={"s1": None})
    assert session.labels == {"s1": "cat"}
    session.label({"s1": "dog"}, window="b", seen={"s1": "cat"})
    assert session.labels == {"s1": "dog"}


def test_unknown_samples_and_classes_are_refused(session):
    with pytest.raises(InputError, match="no sample 'x'"):
        session.label({"x": "cat"})
    with pytest.raises(InputError, match="no class 'cow'"):
        session.label({"s1": "cow"})
    with pytest.raises(InputError, match="class 'cat' already"):
        session.add_class(" cat ")
    assert session.number == 2


@pytest.mark.parametrize("name", ["", "  ", "-1", "NA", "?", "Unknown", "x" * 81, 3, None])
def test_names_that_no_file_of_labels_could_hold_are_refused(name):
    with pytest.raises(InputError):
        check_class_name(name)


def test_an_edit_of_labels_csv_is_merged(session, tmp_path):
    session.label({"s1": "cat", "s2": "dog"})
    assert session.write_file()
    (tmp_path / "labels.csv").write_text("sample_id,label\ns1,dog\ns7,hen\n")
    session.label({"s3": "cat"})
    assert session.write_file()
    assert session.labels == {"s1": "dog", "s3": "cat", "s7": "hen"}
    assert session.classes == ["cat", "dog", "hen"]
    written = (tmp_path / "labels.csv").read_text()
    assert written == "sample_id,label,source\ns1,dog,labels.csv\ns3,cat,key\ns7,hen,labels.csv\n"


def test_an_edit_while_nobody_was_there_is_merged_at_the_start(opened, session, tmp_path):
    session.label({"s1": "cat"})
    session.close()
    (tmp_path / "labels.csv").write_text("sample_id,label\ns1,dog\n")
    assert opened().labels == {"s1": "dog"}


def test_contradictions_are_named_and_nothing_is_overwritten(opened, session, tmp_path):
    session.label({"s1": "cat"})
    session.write_file()
    text = "sample_id,label\ns1,dog\n"
    (tmp_path / "labels.csv").write_text(text)
    session.label({"s1": None})
    assert not session.write_file()
    (conflict,) = session.conflicts
    assert conflict.sentence() == "Sample s1 has no label in the page and label dog in labels.csv."
    session = opened()  # a restart does not forget it
    assert session.conflicts == (conflict,)
    session.close()
    assert (tmp_path / "labels.csv").read_text() == text
    session = opened()
    with pytest.raises(InputError, match="not in conflict"):
        session.resolve("s1", "cat")
    session.resolve("s1", "dog")
    assert session.write_file()
    assert session.labels == {"s1": "dog"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sample_id,label\nx,cat\n", "in no view: x"),
        ("sample_id,label\ns1,a\ns1,b\n", "two labels"),
    ],
)
def test_an_edit_that_cannot_be_used_stays(session, tmp_path, text, problem):
    session.label({"s1": "cat"})
    (tmp_path / "labels.csv").write_text(text)
    assert not session.write_file()
    assert problem in session.problem
    assert (tmp_path / "labels.csv").read_text() == text
    (tmp_path / "labels.csv").unlink()
    assert session.write_file()


def test_labels_of_the_own_file_are_taken_over_once_and_when_they_change(opened, session):
    session.start({"s1": "cat", "s2": "dog"}, source="mine.csv")
    session.label({"s1": "dog"})
    session = opened()
    session.start({"s1": "cat", "s2": "cat"}, source="mine.csv")  # s2 was changed there
    assert session.labels == {"s1": "dog", "s2": "cat"}
    with pytest.raises(DataFileError, match=r"sample 's1' has label hen in mine.csv and dog in"):
        session.start({"s1": "hen"}, source="mine.csv")


def test_a_label_is_checked_when_it_was_confirmed_or_given_twice(opened, session):
    session.label({"s1": "cat", "s2": "cat"})
    assert not any(map(session.is_checked, ("s1", "s2", "s3")))
    session.keep("s1")
    session.label({"s2": "dog"}, source="second look")
    assert all(map(session.is_checked, ("s1", "s2")))
    assert [session.is_changed(one) for one in ("s1", "s2", "s3")] == [False, True, False]
    session = opened()
    assert all(map(session.is_checked, ("s1", "s2")))
    assert session.is_changed("s2")
    session.undo()
    assert not session.is_changed("s2")
    session.undo()
    assert not any(map(session.is_checked, ("s1", "s2")))
