"""scikit-learn's `ProgressBar` in a notebook without ipywidgets.

It draws with rich, which shows nothing there but a warning for every refresh. A fit that is not
part of a search replaces it by a bar of its own.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from manyview.system.notebook import in_notebook
from manyview.system.progress import NotebookBar

if TYPE_CHECKING:
    from manyview.callbacks.sklearn_compat import CallbackContext


class NotebookProgress:
    """A callback that shows the epochs of one fit below the cell of a notebook."""

    def __init__(self) -> None:
        self._bar: NotebookBar | None = None
        self._n_done = 0

    def setup(self, estimator: Any, context: "CallbackContext") -> None:
        """Show an empty bar."""
        # A method without epochs is one task.
        total, unit = context.max_subtasks or 1, "epochs" if context.max_subtasks else "fit"
        self._bar = NotebookBar(type(estimator).__name__, total, unit)

    def on_fit_task_begin(self, estimator: Any, context: "CallbackContext") -> None:
        """Do nothing; the bar counts what is finished."""

    def on_fit_task_end(self, estimator: Any, context: "CallbackContext") -> None:
        """Count a finished epoch, or a fit without epochs."""
        if self._bar is not None and (context.parent is not None or not context.max_subtasks):
            self._n_done += 1
            self._bar.update(self._n_done)

    def teardown(self, estimator: Any, context: "CallbackContext") -> None:
        """Show the final count, also after a failed fit."""
        if self._bar is not None:
            self._bar.close()


def suited(callback: Any, estimator: Any) -> Any:
    """Return the callback, or what replaces scikit-learn's `ProgressBar` where it cannot draw.

    In a search over parameters, `estimator` continues a bar that the search has set up.
    """
    module = type(callback).__module__
    is_rich = type(callback).__name__ == "ProgressBar" and module.startswith("sklearn.callback")
    if not is_rich or hasattr(estimator, "_parent_callback_ctx") or not in_notebook():
        return callback
    return callback if find_spec("ipywidgets") is not None else NotebookProgress()
