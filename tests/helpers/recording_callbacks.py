"""Callbacks that record their calls."""


class Recorder:
    """Records every call, and may fail or request to stop at one."""

    def __init__(self, fail_at=None, stop_after=None, error=None):
        self.calls = []
        self.requested = []
        self.fail_at, self.stop_after = fail_at, stop_after
        self.error = error or OSError("disk full")

    def note(self, hook, context):
        self.calls.append((hook, context.task_name, context.task_id))
        if self.calls[-1] == self.fail_at:
            raise self.error

    def setup(self, estimator, context):
        self.note("setup", context)

    def teardown(self, estimator, context):
        self.note("teardown", context)

    def on_fit_task_begin(self, estimator, context):
        self.note("begin", context)

    def on_fit_task_end(self, estimator, context):
        self.note("end", context)
        return self.calls[-1][1:] == ("epoch", self.stop_after)


class Asker(Recorder):
    """Requests every argument that a hook may request."""

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):  # noqa: N803
        self.note("end", context)
        self.requested.append((context.task_name, X, y, metadata, fitted_estimator))
        return False


class Greedy(Recorder):
    """Requests an argument that no hook may request."""

    def on_fit_task_end(self, estimator, context, *, test_labels):
        raise AssertionError
