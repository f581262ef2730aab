"""Progress goes to the error stream, so that output stays clean."""

import pytest

from manyview.system.progress import epoch_progress, show_message


def test_messages_go_to_the_error_stream_as_they_are(capsys):
    show_message("[5 of 7] done")
    assert capsys.readouterr() == ("", "[5 of 7] done\n")


def test_epoch_bar_leaves_the_output_stream_alone(capsys):
    with epoch_progress(3) as show:
        show(1, 0.5)
        show(3, 0.25)
    assert capsys.readouterr().out == ""


def test_epoch_bar_shows_no_loss_before_the_first_epoch(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "rich.progress.Progress.add_task", lambda self, *_, **fields: shown.append(fields["loss"])
    )
    monkeypatch.setattr(
        "rich.progress.Progress.update", lambda self, *_, **fields: shown.append(fields["loss"])
    )
    with epoch_progress(3) as show:
        show(1, 0.5)
    assert shown == ["", "loss 0.5000"]


def test_epoch_bar_in_a_notebook_needs_no_widgets_and_writes_to_no_stream(notebook, capsys):
    with epoch_progress(3) as show:
        show(1, 0.5)
        show(2, 0.25)
    assert capsys.readouterr() == ("", "")
    (states,) = notebook
    assert states[0][0] == "training: 0 of 3 epochs, 0.0 s"
    assert states[-1][0].startswith("training: 2 epochs, loss 0.2500, ")


def test_epoch_bar_in_a_notebook_is_not_redrawn_more_than_ten_times_per_second(
    notebook, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr("manyview.system.progress.monotonic", lambda: now[0])
    with epoch_progress(100) as show:
        for epoch in range(1, 101):
            now[0] += 0.03125  # exact in binary
            show(epoch, 1.0)
    (states,) = notebook
    assert len(states) == 1 + 25 + 1  # the empty bar, every fourth epoch, and the end
    assert "20 of 100" in states[5][0]
    assert 'value="20" max="100"' in states[5][1]


def test_epoch_bar_in_a_notebook_is_closed_after_an_error(notebook):
    def train():
        with epoch_progress(3) as show:
            show(1, 0.5)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        train()
    assert notebook[0][-1][0].startswith("training: 1 epochs")
