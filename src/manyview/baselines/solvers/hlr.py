"""Self-representations of several views: every sample as a linear combination of the others.

    minimize  ||Z||_* + noise_weight ||E||_{2,1} + smoothness sum_v tr(Z_v L_v Z_v^T)
    subject to  X_v = X_v Z_v + E_v   in every view v

X_v is [feature, sample], Z_v [sample, sample], L_v the Laplacian of a hypergraph of Z_v.
||Z||_* is the nuclear norm of all Z_v together (`shrink_tensor`), which makes the views agree;
||E||_{2,1} sums the norms of the columns of all E_v stacked, which allows for outlier samples.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import torch
from scipy import sparse
from scipy.sparse.linalg import splu
from torch import Tensor

from manyview.data.views import View
from manyview.graphs.neighbors import BLOCK_BYTES, distances_on_pairs, nearest_neighbors
from manyview.system.memory import GB

FIRST_PENALTY, LARGEST_PENALTY = 1e-4, 1e11
ROWS_PER_SOLVE = 64  # so that a triangular solve stays in the processor's cache


class SelfRepresentations(NamedTuple):
    """Result of `self_representations`.

    Attributes
    ----------
    affinities
        [view, sample, sample], (|Z_v| + |Z_v^T|) / 2.
    objective
        The objective after each iteration, with the hypergraphs of that iteration.
    residuals
        After each iteration, the largest row sums, over all views, of |X - X Z - E| and of
        |Z - G|, where G is the copy of Z in the tensor norm.
    """

    affinities: np.ndarray
    objective: list[float]
    residuals: list[tuple[float, float]]


def self_representations(
    features: Sequence[np.ndarray],
    *,
    noise_weight: float,
    smoothness: float,
    max_iter: int,
    tol: float,
    on_iteration: Callable[[int, float], None] | None = None,
) -> SelfRepresentations:
    """Represent each sample by the others in all views at once, by alternating directions.

    The result depends on the order of the samples, because the tensor norm takes a Fourier
    transform along them: samples sorted by class leak the classes.

    Parameters
    ----------
    features
        One [sample, feature] per view.
    noise_weight, smoothness
        Weights of the second and the third term, lambda_1 and lambda_2.
    tol
        Iterations stop when both residuals are below it.
    on_iteration
        Called with the number of iterations done and the larger residual.
    """
    views = [_rotated(view) for view in features]
    solvers = [_RidgeSolver(view) for view in views]
    n_samples = views[0].shape[1]
    # Z, its copies G under the tensor norm and Q under the Laplacians, and the multipliers W of
    # Z = G and B of Q = Z: [view, sample, sample].
    representations, low_rank, smooth, low_rank_duals, smooth_duals = (
        np.zeros((len(views), n_samples, n_samples)) for _ in range(5)
    )
    noise = [np.zeros_like(view) for view in views]
    noise_duals = [np.zeros_like(view) for view in views]
    laplacians = [sparse.csr_array((n_samples, n_samples)) for _ in views]
    objective: list[float] = []
    residuals: list[tuple[float, float]] = []
    penalty = FIRST_PENALTY
    for n_done in range(1, max_iter + 1):
        for v, view in enumerate(views):
            if n_done > 1:
                laplacians[v] = hypergraph_laplacian(_affinity(representations[v]))
            right = smooth_duals[v] - low_rank_duals[v]
            right /= penalty
            right += smooth[v]
            right += low_rank[v]
            right += view.T @ (view - noise[v] + noise_duals[v] / penalty)
            representations[v] = solvers[v](right)
        misfits = [view - view @ z for view, z in zip(views, representations, strict=True)]
        whole = [misfit + dual / penalty for misfit, dual in zip(misfits, noise_duals, strict=True)]
        noise, noise_norm = _shrink_columns(whole, noise_weight / penalty)
        noise_duals = [penalty * (full - kept) for full, kept in zip(whole, noise, strict=True)]
        for v, laplacian in enumerate(laplacians):
            right = penalty * representations[v] - smooth_duals[v]
            _solve_from_right(right, laplacian, 2 * smoothness, penalty, out=smooth[v])
            np.multiply(smooth[v], penalty, out=smooth_duals[v])
            smooth_duals[v] -= right
        low_rank_duals /= penalty
        low_rank_duals += representations
        tensor_norm = shrink_tensor(low_rank_duals, 1 / penalty, out=low_rank)
        low_rank_duals -= low_rank
        low_rank_duals *= penalty
        # Q solves its equation, so B = -2 smoothness Q L, which gives the term with L.
        roughness = -float(np.vdot(smooth_duals, smooth)) / 2
        objective.append(tensor_norm + noise_weight * noise_norm + roughness)
        residuals.append(
            (
                max(_largest_row_sum(m - e) for m, e in zip(misfits, noise, strict=True)),
                max(
                    _largest_row_sum(z - g) for z, g in zip(representations, low_rank, strict=True)
                ),
            )
        )
        if on_iteration is not None:
            on_iteration(n_done, max(residuals[-1]))
        if max(residuals[-1]) < tol:
            break
        penalty = min(2 * penalty, LARGEST_PENALTY)
    for z in representations:
        z[:] = _affinity(z)
    return SelfRepresentations(representations, objective, residuals)


def order_by_content(views: Sequence[View]) -> np.ndarray:
    """Order samples by a checksum of their features: a fixed but arbitrary order.

    It does not depend on the given order, often that of the classes; equal samples keep theirs.

    Examples
    --------
    >>> import numpy as np
    >>> view = np.arange(6.0)[:, None]
    >>> np.array_equal(view[order_by_content([view])], view[::-1][order_by_content([view[::-1]])])
    True
    """
    digests = [blake2b(digest_size=8) for _ in range(views[0].shape[0])]
    for view in views:
        rows: Any = sparse.csr_array(view.astype(np.float64))  # a copy
        rows.sum_duplicates()
        rows.eliminate_zeros()
        columns = rows.indices.astype(np.int64)
        for digest, start, end in zip(digests, rows.indptr[:-1], rows.indptr[1:], strict=True):
            digest.update(np.int64(end - start).tobytes())
            digest.update(columns[start:end].tobytes())
            digest.update(rows.data[start:end].tobytes())
    keys = [int.from_bytes(digest.digest(), "big") for digest in digests]
    return np.argsort(np.array(keys, dtype=np.uint64), kind="stable")


def memory_needed(n_samples: int, n_features: Sequence[int]) -> float:
    """Estimate the memory that `self_representations` takes, in GB.

    Five [sample, sample] arrays per view, one more per view that is not narrow, and three work
    arrays; five [feature, sample] arrays per view after its rotation; and the views as given.
    """
    n_views, square = len(n_features), n_samples**2
    n_wide = sum(2 * width > n_samples for width in n_features)
    learning = (5 * n_views + n_wide + 3) * square
    learning += 5 * sum(min(width, n_samples) for width in n_features) * n_samples
    rotating = 3 * max(n_features) * n_samples
    n_bytes = 8 * max(learning, rotating) + 4 * sum(n_features) * n_samples
    return (n_bytes + 3 * min(BLOCK_BYTES, 8 * n_views * square)) / GB


class _RidgeSolver:
    """Multiply by (2 I + X^T X)^-1, through the smaller of the two Gram matrices."""

    def __init__(self, view: np.ndarray) -> None:
        n_features, n_samples = view.shape
        self.view = view
        self.is_narrow = 2 * n_features <= n_samples
        gram = view @ view.T if self.is_narrow else view.T @ view
        gram[np.diag_indices_from(gram)] += 2.0
        right = view if self.is_narrow else np.eye(n_samples)
        self.solved = scipy.linalg.solve(gram, right, assume_a="pos")

    def __call__(self, right: np.ndarray) -> np.ndarray:
        if self.is_narrow:  # Woodbury: (I - X^T (2 I + X X^T)^-1 X) / 2
            return np.asarray((right - self.view.T @ (self.solved @ right)) / 2)
        return np.asarray(self.solved @ right)


def _solve_from_right(
    right: np.ndarray,
    laplacian: sparse.csr_array,
    weight: float,
    penalty: float,
    out: np.ndarray,
) -> None:
    """Solve Q (weight L + penalty I) = right for Q."""
    system = weight * laplacian + penalty * sparse.eye_array(len(right))
    factors = splu(
        sparse.csc_array(system),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    for start in range(0, len(right), ROWS_PER_SOLVE):
        rows = slice(start, start + ROWS_PER_SOLVE)
        out[rows] = factors.solve(right[rows].T).T


def _shrink_columns(
    matrices: Sequence[np.ndarray], threshold: float
) -> tuple[list[np.ndarray], float]:
    """Shorten the columns of the stacked matrices by a threshold, and sum their new norms."""
    lengths = np.sqrt(sum(np.einsum("ij,ij->j", matrix, matrix) for matrix in matrices))
    shorter = np.maximum(lengths - threshold, 0.0)
    factor = np.divide(shorter, lengths, out=np.zeros_like(lengths), where=shorter > 0)
    return [matrix * factor for matrix in matrices], float(shorter.sum())


def _rotated(features: np.ndarray) -> np.ndarray:
    """Return X [feature, sample], rotated into at most as many dimensions as there are samples.

    The objective depends only on the lengths of columns and the angles between them.
    """
    view = np.ascontiguousarray(features.T, dtype=np.float64)
    if view.shape[0] <= view.shape[1]:
        return view
    return np.array(scipy.linalg.qr(view, mode="r", overwrite_a=True)[0][: view.shape[1]])


def _affinity(representation: np.ndarray) -> np.ndarray:
    sizes = np.abs(representation)
    return np.asarray((sizes + sizes.T) / 2)


def _largest_row_sum(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).sum(axis=1).max())


def shrink_tensor(tensor: np.ndarray, threshold: float, out: np.ndarray) -> float:
    """Shrink the singular values of stacked matrices along their Fourier transform.

    The matrices [view, row, column] are transformed along their m rows. The singular values of
    the [column, view] matrix at each frequency are reduced by `threshold`, to no less than 0. The
    result G minimizes  threshold ||G||_* + 1/2 ||G - T||^2  for the nuclear norm of the t-SVD,
    the sum of all singular values divided by m. It is written to `out`, which may be `tensor`.

    Returns
    -------
    ||G||_*.
    """
    n_views, n_rows, n_columns = tensor.shape
    n_frequencies = n_rows // 2 + 1  # the others are their complex conjugates
    width = max(1, BLOCK_BYTES // (16 * n_views * n_frequencies))
    blocks = [np.s_[:, :, start : start + width] for start in range(0, n_columns, width)]

    def spectrum(block: tuple[slice, slice, slice]) -> Tensor:
        """Transform a block of columns: [frequency, view, column]."""
        # torch's transform is twice as fast as scipy's.
        transformed: Tensor = torch.fft.rfft(torch.from_numpy(tensor[block]), dim=1)
        return transformed.movedim(1, 0).contiguous()

    # There are only as many singular values as views, so small Gram matrices suffice.
    gram = torch.zeros((n_frequencies, n_views, n_views), dtype=torch.complex128)
    for block in blocks:
        part = spectrum(block)
        gram += part @ part.mH
    squares, vectors = torch.linalg.eigh(gram)
    singular = squares.clamp(min=0.0).sqrt()
    shrunk = (singular - threshold).clamp(min=0.0)
    if not shrunk.any():
        out[:] = 0.0
        return 0.0
    kept = torch.where(shrunk > 0, shrunk / singular, 0.0)
    factor = (vectors * kept[:, None, :]) @ vectors.mH
    for block in blocks:
        result = (factor @ spectrum(block)).movedim(0, 1)
        out[block] = torch.fft.irfft(result, n=n_rows, dim=1).numpy()
    multiplicity = torch.full((n_frequencies, 1), 2.0)
    multiplicity[0] = 1
    multiplicity[n_rows - n_rows // 2 :] = 1  # an even number of rows has an unpaired last one
    return float((multiplicity * shrunk).sum() / n_rows)


def hypergraph_laplacian(points: np.ndarray, n_members: int = 3) -> sparse.csr_array:
    """Return the normalized Laplacian of the hypergraph of each point and its nearest.

        L = I - D_v^-1/2 H D_e^-1 H^T D_v^-1/2

    Each point has a hyperedge of `n_members` points, itself included, whose weight is the sum of
    exp(-(distance / s)^2) over its members, where s is the mean of all these distances. L is
    symmetric with eigenvalues from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> two_pairs = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> hypergraph_laplacian(two_pairs, n_members=2).toarray()
    array([[ 0.5, -0.5,  0. ,  0. ],
           [-0.5,  0.5,  0. ,  0. ],
           [ 0. ,  0. ,  0.5, -0.5],
           [ 0. ,  0. , -0.5,  0.5]])
    """
    n_points = len(points)
    n_members = min(n_members, n_points)
    own = np.arange(n_points)
    others = nearest_neighbors(points, n_neighbors=n_members - 1, metric="euclidean").indices
    squares = np.zeros((n_points, n_members))  # squared distances; 0 from each point to itself
    edges_of_others = np.repeat(own, n_members - 1)
    squares[:, 1:] = distances_on_pairs(points, edges_of_others, others.ravel()).reshape(
        others.shape
    )
    scale = np.mean(np.sqrt(squares)) or 1.0  # 0 where all points are equal
    weights = np.exp(-squares / scale**2).sum(axis=1)  # [edge]
    edges, members = np.repeat(own, n_members), np.column_stack([own, others]).ravel()
    degrees = np.bincount(members, weights[edges])
    values = np.sqrt(weights[edges] / (n_members * degrees[members]))
    incidence = sparse.csr_array((values, (members, edges)), shape=(n_points, n_points))
    return sparse.csr_array(sparse.eye_array(n_points) - incidence @ incidence.T)
