"""Views and data sets as HTML for notebooks."""

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manyview.data.label_values import count_of, is_known
from manyview.data.mixed_table import MixedTable
from manyview.system.notebook import html_box, html_table, html_text

if TYPE_CHECKING:
    from manyview.data.dataset import Dataset
    from manyview.data.views import MultiView


def views_html(views: "MultiView") -> str:
    """List the views with their features, the kind of their values, and the samples they lack."""
    title = f"MultiView: {len(views):,} samples, {count_of(views.n_views, 'view')}"
    return html_box(title, _view_table(views), html_text(_ids_line(views)))


def dataset_html(data: "Dataset") -> str:
    """List the views, the classes with their known labels, and the notes of the reader."""
    parts = [_view_table(data.views)]
    if data.labels is None:
        parts.append(html_text("No labels."))
    else:
        known = data.labels[is_known(data.labels)]
        found, sizes = _class_sizes(known)
        parts.append(
            html_table(
                ("class", "known labels"),
                [(label, f"{size:,}") for label, size in zip(found, sizes, strict=True)],
                "<>",
                caption=f"{len(known):,} of {len(data.labels):,} labels are known",
                rest="more classes",
            )
        )
    parts += [html_text(note) for note in data.notes]
    n_views = count_of(data.views.n_views, "view")
    return html_box(f"{data.name}: {len(data.views):,} samples, {n_views}", *parts)


def _view_table(views: "MultiView") -> str:
    header, align = ["view", "features", "values"], "<><"
    n_missing = (~views.present).sum(axis=0).tolist()
    if any(n_missing):
        header, align = [*header, "samples without it"], align + ">"
    rows = []
    for (name, view), lacking in zip(views.items(), n_missing, strict=True):
        is_graph = name in views.graph_names
        row = [name, "" if is_graph else f"{view.shape[1]:,}", _kind(view, is_graph)]
        rows.append([*row, f"{lacking:,}"] if any(n_missing) else row)
    return html_table(header, rows, align, rest="more views")


def _kind(view: object, is_graph: bool) -> str:
    if is_graph:
        return "graph"
    if isinstance(view, MixedTable):
        return "table of mixed columns"
    if isinstance(view, sparse.csr_array):
        fraction = view.nnz / max(view.shape[0] * view.shape[1], 1)
        return f"numbers, sparse ({fraction:.1%} stored)"
    return "numbers"


def _ids_line(views: "MultiView") -> str:
    if views.sample_ids is None or not len(views):
        return "Samples have no names; their rows are numbered from 0."
    return f"Samples are named from {views.sample_ids[0]} to {views.sample_ids[-1]}."


def _class_sizes(labels: np.ndarray) -> tuple[list[object], list[int]]:
    sizes: dict[object, int] = {}
    for label in labels.tolist():
        sizes[label] = sizes.get(label, 0) + 1
    found = sorted(sizes, key=lambda label: (-sizes[label], str(label)))
    return found, [sizes[label] for label in found]
