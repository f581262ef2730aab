"""The report of a model that was fitted in Python, as a file or below the cell of a notebook."""

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.alignment import align_labels
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.report.run.page import run_page
from manyview.runs.fitting import record_fit
from manyview.runs.records import Run
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource
from manyview.system.files import check_writable, write_whole
from manyview.system.paths import expand_user

HEIGHT = 720  # pixels of the report below a cell


@dataclass(frozen=True, repr=False)
class Report:
    """The report of a fit: one HTML page that loads nothing.

    Attributes
    ----------
    title
        What was reported.
    html
        The whole page.
    path
        The file it was written to, or None. Without a file, a notebook shows the page itself.
    """

    title: str
    html: str
    path: Path | None = None

    def save(self, path: str | Path) -> "Report":
        """Write the page to a file, and return the report of that file."""
        path = expand_user(Path(path))
        check_writable(path)
        write_whole(path, self.html)
        return replace(self, path=path)

    def __repr__(self) -> str:
        where = "not saved; call save(path)" if self.path is None else f"in {self.path}"
        return f"Report({self.title}, {where})"

    def _repr_html_(self) -> str:
        if self.path is not None:
            link = escape(self.path.as_posix())
            return f'<p>{escape(self.title)}: <a href="{link}" target="_blank">{link}</a></p>'
        # In a frame of its own, neither the page's style nor its script reaches the notebook.
        style = f"box-sizing:border-box;width:100%;height:{HEIGHT}px;border:1px solid #8884"
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" '
            f'sandbox="allow-scripts" loading="lazy" style="{style}"></iframe>'
        )


def model_report(
    model: MultiViewClassifier,
    path: str | Path | None = None,
    *,
    X: Any = None,
    y: Any = None,
    name: str = "",
) -> Report:
    """Make the report of a fitted classifier, as `manyview fit` writes it.

    Parameters
    ----------
    model
        A fitted classifier.
    path
        HTML file to write; None writes none.
    X
        Views of the fit, to add advice on their scaling; not needed otherwise.
    y
        Every label that is known of the fitted samples, also those that the fit did not see. They
        score the predictions. None scores nothing.
    name
        Title of the report; by default the name of the method.

    Examples
    --------
    >>> from manyview import MGCNDNSClassifier, hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> model_report(model, y=truth, name="two views")
    Report(two views, not saved; call save(path))
    """
    check_is_fitted(model)
    if path is not None:
        check_writable(expand_user(Path(path)))  # before the work, not after it
    name = name or model.card.title
    run, data, labels = record_model(model, X, y, name)
    report = Report(name, run_page(run, data, labels, model, has_values=X is not None))
    return report if path is None else report.save(path)


def record_model(
    model: MultiViewClassifier, views: Any, y: Any, name: str
) -> tuple[Run, Dataset, np.ndarray]:
    """Return the record of a fit in Python, its data, and the labels the model saw."""
    is_labeled = model.is_labeled_
    given = mark_unknown(model.classes_[np.where(is_labeled, model.y_, 0)], ~is_labeled)
    n_samples = len(given)
    ids = np.arange(n_samples) if model.sample_ids_ is None else model.sample_ids_
    opened = _named_views(model) if views is None else MultiView(views)
    if len(opened) != n_samples or set(opened.names) != set(model.view_names_):
        raise InputError(
            f"X must be the views of the fit, {n_samples:,} samples in "
            f"{', '.join(model.view_names_)}; got {opened!r}. Leave X out, or pass those.",
            parameter="X",
        )
    data = Dataset(
        name=name,
        views=opened,
        labels=_merged(given, y, model.sample_ids_),
        sample_ids=np.array([str(one) for one in ids.tolist()], dtype=object),
        notes=(),
        sha256="",
    )
    seed = model.get_params(deep=False).get("random_state")
    settings = RunSettings(
        DataSource(()), method=model.card.name, seed=seed if isinstance(seed, int) else 0
    )
    run = record_fit(settings, Path(), data, given, model, 0.0, [])
    if views is None:  # advice on scaling looks at the values
        run = replace(run, training=replace(run.training, scaling_advice=()))
    return replace(run, has_files=False), data, given


def _named_views(model: MultiViewClassifier) -> MultiView:
    """Return empty views with the names and sizes of those of the fit; a model keeps no others."""
    n_samples, sizes = len(model.label_distributions_), model.n_features_by_view_
    graphs = [name for name in model.view_names_ if name not in sizes]
    empty = {
        name: sparse.csr_array((n_samples, sizes.get(name, n_samples)))
        for name in model.view_names_
    }
    return MultiView(empty, graphs=graphs)


def _merged(given: np.ndarray, y: Any, sample_ids: np.ndarray | None) -> np.ndarray:
    """Return every known label: those of the fit, where `y` holds no other."""
    if y is None:
        return given
    truth = np.asarray(align_labels(y, sample_ids))
    if truth.shape != given.shape:
        raise InputError(
            f"y must hold one label for each of the {len(given):,} fitted samples, "
            f"{UNKNOWN} or None where unknown; got shape {truth.shape}.",
            parameter="y",
        )
    merged = np.array(given, dtype=np.result_type(given, truth))
    known = is_known(truth)
    merged[known] = truth[known]
    return merged
