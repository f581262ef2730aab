"""Fits that end in the middle, as if their process were killed after it wrote its progress."""

from contextlib import contextmanager
from unittest.mock import patch

from manyview.network.resume import FitProgress, checkpoints


class Killed(BaseException):
    """Ends a fit; nothing in the package catches it."""


@contextmanager
def killed_after(n_writes):
    """Let a fit within the block end when it has written its progress so many times."""
    n_left = [n_writes]
    write = FitProgress.write

    def counted(self, *arguments):
        write(self, *arguments)
        n_left[0] -= 1
        if n_left[0] == 0:
            raise Killed

    with patch.object(FitProgress, "write", counted):
        yield


def fit_in_parts(model, views, labels, folder, parts):
    """Fit with breaks after so many checkpoints each; return the model, and how often it broke."""
    n_killed = 0
    for n_writes in parts:
        try:
            with killed_after(n_writes), checkpoints(folder, every=0):
                model.fit(views, labels)
        except Killed:
            n_killed += 1
    with checkpoints(folder, every=0):
        model.fit(views, labels)
    return model, n_killed
