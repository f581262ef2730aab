"""Progress goes to the error stream, so that output stays clean."""

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
