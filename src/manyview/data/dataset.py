"""Dataset: views with what is known about their samples."""

from dataclasses import dataclass

import numpy as np

from manyview.data.views import MultiView


@dataclass(frozen=True)
class Dataset:
    """Views of the same samples, their labels and names, and what the reader found.

    Attributes
    ----------
    name
        What the data are called: a catalog name or the file's stem.
    views
        The views.
    labels
        One label a sample, as the file gives them; None where the data carry none.
        A single unknown label is -1 among integers, None among texts.
    sample_ids
        One name a sample, as text; the row number where the data name none.
    notes
        What the reader found and did, one sentence each.
    sha256
        Checksum of what was read.
    """

    name: str
    views: MultiView
    labels: np.ndarray | None
    sample_ids: np.ndarray
    notes: tuple[str, ...]
    sha256: str
