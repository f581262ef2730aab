"""The two terms that tie self-representations together: a tensor norm, and hypergraphs."""

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.graphs.neighbors import BLOCK_BYTES, distances_on_pairs, nearest_neighbors


def shrink_tensor(tensor: np.ndarray, threshold: float, out: np.ndarray) -> float:
    """Shrink the singular values of stacked matrices along their Fourier transform.

    The matrices [view, row, column] are transformed along their m rows. At each frequency lies
    a [column, view] matrix, whose singular values lose `threshold` each, down to 0. The result
    G minimises  threshold ||G||_* + 1/2 ||G - T||^2  for the nuclear norm of the t-SVD: the
    sum of all singular values over m. It goes to `out`, which may be `tensor` itself.

    Returns
    -------
    ||G||_*.
    """
    n_views, n_rows, n_columns = tensor.shape
    n_frequencies = n_rows // 2 + 1  # the others mirror these
    width = max(1, BLOCK_BYTES // (16 * n_views * n_frequencies))
    blocks = [np.s_[:, :, start : start + width] for start in range(0, n_columns, width)]

    def spectrum(block: tuple[slice, slice, slice]) -> Tensor:
        """Transform a block of columns: [frequency, view, column]."""
        # torch's transform takes half the time of scipy's.
        transformed: Tensor = torch.fft.rfft(torch.from_numpy(tensor[block]), dim=1)
        return transformed.movedim(1, 0).contiguous()

    # As few singular values as views: small Gram matrices give them and all there is to do.
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
    mixing = (vectors * kept[:, None, :]) @ vectors.mH
    for block in blocks:
        mixed = (mixing @ spectrum(block)).movedim(0, 1)
        out[block] = torch.fft.irfft(mixed, n=n_rows, dim=1).numpy()
    n_alike = torch.full((n_frequencies, 1), 2.0)
    n_alike[0] = 1
    n_alike[n_rows - n_rows // 2 :] = 1  # the last one of an even number stands alone
    return float((n_alike * shrunk).sum() / n_rows)


def hypergraph_laplacian(points: np.ndarray, n_members: int = 3) -> sparse.csr_array:
    """Join each point and its nearest in a hyperedge: the hypergraph's normalised Laplacian.

        L = I - D_v^-1/2 H D_e^-1 H^T D_v^-1/2

    Each hyperedge has `n_members` points, its own among them, and as weight the sum of
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
    squares = np.zeros((n_points, n_members))  # of the distances; 0 from each point to itself
    edges_of_others = np.repeat(own, n_members - 1)
    squares[:, 1:] = distances_on_pairs(points, edges_of_others, others.ravel()).reshape(
        others.shape
    )
    scale = np.mean(np.sqrt(squares)) or 1.0  # where all points are equal every distance is 0
    weights = np.exp(-squares / scale**2).sum(axis=1)  # [edge]
    edges, members = np.repeat(own, n_members), np.column_stack([own, others]).ravel()
    degrees = np.bincount(members, weights[edges])
    values = np.sqrt(weights[edges] / (n_members * degrees[members]))
    incidence = sparse.csr_array((values, (members, edges)), shape=(n_points, n_points))
    return sparse.csr_array(sparse.eye_array(n_points) - incidence @ incidence.T)
