"""What a fitted method shows in a notebook: scikit-learn's diagram, the learned summary, a report.

The report is made on a higher floor. A method finds it by its public name, as `manyview` itself
finds its names, and so imports nothing from there.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from manyview.base.summary import FitSummary
from manyview.data.labels import UNKNOWN
from manyview.system.notebook import html_box, html_table, html_text


class NotebookMixin(BaseEstimator):
    """Adds what was learned to scikit-learn's diagram, and a report of the fit."""

    classes_: np.ndarray
    transduction_: np.ndarray
    label_distributions_: np.ndarray
    y_: np.ndarray
    view_names_: list[str]
    n_features_by_view_: dict[str, int]

    def report(
        self, path: str | Path | None = None, *, X: Any = None, y: Any = None, name: str = ""
    ) -> Any:
        """Make the report of the fit: predictions, what to check, views, graphs and training.

        Parameters
        ----------
        path
            HTML file to write. None writes none; the report is shown below the cell of a
            notebook, and its `save` writes it later.
        X
            Views of the fit, to add advice on their scaling; not needed otherwise.
        y
            Every label that is known of the fitted samples, also those that the fit did not see.
            They score the predictions. None scores nothing.
        name
            Title of the report; by default the name of the method.

        Returns
        -------
        A `Report`; see `model_report`.
        """
        return import_module("manyview").model_report(self, path, X=X, y=y, name=name)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._learned_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _learned_html(self) -> str:
        """Return what was learned as HTML; nothing before the fit."""
        if not {"y_", "transduction_"} <= vars(self).keys():
            return ""
        summary: FitSummary = self.fit_summary()
        is_labeled = self.y_ != UNKNOWN
        sizes = {name: self.n_features_by_view_.get(name, 0) for name in self.view_names_}
        title = (
            f"{int((~is_labeled).sum()):,} samples labeled from {int(is_labeled.sum()):,} labels"
        )
        lines = [
            *self._accuracy_words(),
            *filter(None, (summary.graph_words(), summary.training_words())),
        ]
        if summary.label_issues is not None and summary.label_issues.is_suspicious.any():
            n_wrong = int(summary.label_issues.is_suspicious.sum())
            lines.append(f"given labels that are probably wrong: {n_wrong:,} (label_issues_)")
        tables = [summary.view_table(sizes), self._class_table(is_labeled)]
        return html_box(title, *map(html_text, lines), *tables)

    def _accuracy_words(self) -> list[str]:
        """Write the estimated accuracy, where the fit has estimated it."""
        performance = getattr(self, "performance_", None)
        if performance is None:
            return []
        found = performance.accuracy
        return [
            f"estimated accuracy {found.value:.1%} (95% interval {found.low:.1%} to "
            f"{found.high:.1%})"
        ]

    def _class_table(self, is_labeled: np.ndarray) -> str:
        n_classes = len(self.classes_)
        given = np.bincount(self.y_[is_labeled], minlength=n_classes)
        predicted = self.label_distributions_.argmax(axis=1)[~is_labeled]
        chances = self.label_distributions_.max(axis=1)[~is_labeled]
        found = np.bincount(predicted, minlength=n_classes)
        sums = np.bincount(predicted, chances, minlength=n_classes)
        rows = [
            (label, f"{own:,}", f"{new:,}", f"{total / new:.2f}" if new else "")
            for label, own, new, total in zip(
                self.classes_.tolist(), given.tolist(), found.tolist(), sums.tolist(), strict=True
            )
        ]
        header = ("class", "labels", "predicted", "mean probability")
        return html_table(header, rows, "<>>>", rest="more classes")
