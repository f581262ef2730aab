"""Label in a notebook: the page in a frame, the labels as arrays."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from manyview.data.checksums import views_checksum
from manyview.data.dataset import Dataset
from manyview.data.label_values import parse_labels
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.labeling.opening import Labeling, LabelingSettings, start_labeling
from manyview.labeling.security import NOTEBOOKS
from manyview.labeling.server import PageServer, check_extra
from manyview.report.run.page import report_files
from manyview.runs.records import Run
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

HEIGHT = 820  # pixels of the frame


class LabelingPage:
    """A labeling session whose page a notebook shows.

    Attributes
    ----------
    address
        Of the page, for a browser tab of its own.
    """

    def __init__(self, labeling: Labeling) -> None:
        self._labeling = labeling
        self._server = PageServer(labeling.service, frames=NOTEBOOKS)
        self._server.__enter__()
        self.address = self._server.address
        self._is_open = True

    @property
    def labels(self) -> np.ndarray:
        """[sample] the labels so far; -1 among numbers and None among texts where unknown."""
        session = self._labeling.service.session
        names = [session.labels.get(name, "") for name in session.sample_ids]
        return parse_labels(names, "the page")

    @property
    def predictions(self) -> np.ndarray:
        """[sample] the labels, and the predicted class where there is none yet."""
        service = self._labeling.service
        names = [
            service.session.labels.get(name) or service.prediction(row) or ""
            for row, name in enumerate(service.session.sample_ids)
        ]
        return parse_labels(names, "the page")

    def close(self) -> Run | None:
        """End the page, fit once more and write the run; None with fewer than two classes."""
        if not self._is_open:
            raise InputError("The page is closed already.")
        self._is_open = False
        try:
            return self._labeling.close(report_files)
        finally:
            self._server.__exit__(None, None, None)

    def _repr_html_(self) -> str:
        address = escape(self.address, quote=True)
        return (
            f'<iframe src="{address}" width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
            f'<p><a href="{address}" target="_blank">Open it in a tab of its own</a></p>'
        )


def label(
    views: Any,
    labels: Any = None,
    *,
    out: str | Path = "runs/labels",
    classes: Sequence[str] = (),
    sample_ids: Sequence[str] | None = None,
    images: str | Path | None = None,
    pixels: str | None = None,
    random_state: int = 0,
    **params: Any,
) -> LabelingPage:
    """Label samples in a notebook, together with the model; the same page as `manyview label`.

    Parameters
    ----------
    views
        What `ManyviewClassifier.fit` takes.
    labels
        One label per sample, unknown ones -1, None or NaN; None if there are none yet.
    out
        Folder of the run; the same call continues there.
    classes
        Names of classes that have no label yet.
    sample_ids
        Names of the samples; by default the index of the frames, else row numbers.
    images
        Folder of pictures, named by sample id or by a column of texts.
    pixels
        A view whose columns are the pixels of square gray pictures.
    random_state
        Random seed of the model.
    **params
        Parameters of `ManyviewClassifier`, such as `missing="impute"`.

    Returns
    -------
    A page; a notebook shows it in a frame. Read its `labels` and `predictions` at any time, and
    `close` it to write the run.
    """
    check_extra()
    views = views if isinstance(views, MultiView) else MultiView(views)
    ids = views.sample_ids if sample_ids is None else np.asarray(sample_ids, dtype=object)
    ids = np.arange(len(views)) if ids is None else ids
    names = [str(name) for name in ids]
    if len(names) != len(views) or len(set(names)) < len(names):
        raise InputError(
            f"sample_ids must hold one name per sample, each once; got {len(names)} names, "
            f"{len(set(names))} of them different, for {len(views)} samples.",
            parameter="sample_ids",
        )
    given = None if labels is None else parse_labels(np.asarray(labels, dtype=object), "labels")
    if given is not None and len(given) != len(views):
        raise InputError(
            f"labels must hold one label per sample; got {len(given)} for {len(views)} samples.",
            parameter="labels",
        )
    data = Dataset("views", views, given, np.array(names, dtype=object), (), views_checksum(views))
    settings = LabelingSettings(
        RunSettings(DataSource(()), params=params, seed=random_state, out=Path(out)),
        classes=tuple(classes),
        images=None if images is None else Path(images),
        pixels=pixels,
    )
    settings.run.check()
    return LabelingPage(start_labeling(settings, data))
