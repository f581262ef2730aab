"""Dataset: views with the labels and names of their samples."""

from dataclasses import dataclass, field

import numpy as np

from manyview.data.notebook import dataset_html
from manyview.data.views import MultiView


@dataclass(frozen=True, repr=False)
class Dataset:
    """Views of the same samples, their labels and ids, and notes of the reader.

    Attributes
    ----------
    name
        Catalog name, or the stem of the file.
    views
        The views.
    labels
        One label per sample, as in the file; None if the data has no labels. An unknown label is
        -1 among integers and None among texts.
    sample_ids
        One name per sample, as text; row numbers if the data names no samples.
    notes
        What the reader found and did, one sentence per item.
    sha256
        Checksum of the data.
    id_columns
        The column of sample ids, by view, where the data are tables with one.
    """

    name: str
    views: MultiView
    labels: np.ndarray | None
    sample_ids: np.ndarray
    notes: tuple[str, ...]
    sha256: str
    id_columns: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.views!r})"

    _repr_html_ = dataset_html
