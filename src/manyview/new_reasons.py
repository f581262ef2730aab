"""Reasons for samples that come after the fit: one is put after the fitted samples as a row more.

Its edges lead to the fitted samples and none leads back, so what these send stays as it is, and
its logits are a sum over its neighbours like theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy import sparse

from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.explainer import Explainer
from manyview.reasons import Explanation


def explain_new(
    explainer: Explainer, views: MultiView, name: str, names: Sequence[str]
) -> Explanation:
    """Explain the answer of one new sample.

    Its answer without a view is the one it gets when it comes without that view. A sample that
    has no other view keeps its answer, because nothing would be left to say of it.

    Parameters
    ----------
    views
        One row.
    name
        Of the new sample.
    names
        Of the fitted samples, one a sample.

    Returns
    -------
    Rows are those of the fitted samples; that of the new one is their number.
    """
    attachment = explainer.fitted.attachment
    links = attachment.attached(views)
    messages = [
        np.vstack([sent, own]) for sent, own in zip(attachment.messages, links.own, strict=True)
    ]
    with_it = _WithNewSample(
        **{one.name: getattr(explainer, one.name) for one in fields(explainer)},
        views=views,
        explainer=explainer,
    )
    with_it = replace(
        with_it,
        fitted=replace(explainer.fitted, attachment=replace(attachment, messages=messages)),
        view_graphs={
            view: _with_row(graph, links.view_edges[view], 1 / links.view_degrees[view])
            for view, graph in explainer.view_graphs.items()
        },
        selected=_with_row(explainer.selected, links.edges, links.loops),
        given=np.append(explainer.given, UNKNOWN),
    )
    return with_it.explain(len(explainer.given), [*names, name])


@dataclass(frozen=True)
class _WithNewSample(Explainer):
    """An explainer with one row more, and what it needs to leave out a view of that sample."""

    views: MultiView
    explainer: Explainer

    def row_without(self, row: int, view: int) -> np.ndarray:
        name = list(self.view_graphs)[view]
        present = self.views.present.copy()
        present[:, self.views.names.index(name)] = False
        left = MultiView(self.views, present=present) if present.any() else self.views
        attachment = self.explainer.fitted.attachment
        return np.asarray(attachment.logits(left)[0] / self.temperature)


def _with_row(
    graph: sparse.csr_array, edges: sparse.csr_array, loops: np.ndarray
) -> sparse.csr_array:
    """Add one row with edges to the others and a self-loop, and an empty column."""
    n_samples, is_edge = graph.shape[0], edges.data != 0
    indices = np.concatenate([graph.indices, edges.indices[is_edge], [n_samples]])
    values = np.concatenate([graph.data, edges.data[is_edge], loops])
    starts = np.append(graph.indptr, len(indices))
    return sparse.csr_array((values, indices, starts), shape=(n_samples + 1, n_samples + 1))
