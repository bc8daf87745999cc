"""In which order coupled samples take turns, and whom each of them waits for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _graph_coding as _kernel


class Turns(NamedTuple):
    """An order of samples, and the neighbours of each that come before it.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The samples.
    ptr, before : ndarray
        ``before[ptr[p]:ptr[p + 1]]`` are the neighbours of p with a place before its own.
    """

    order: NDArray[np.intc]
    ptr: NDArray[np.intc]
    before: NDArray[np.intc]


def turns_of(graph: Any) -> Turns:
    """Samples in an order in which neighbours lie far apart, so that threads seldom wait for each other.

    Each sample has the smallest colour that no neighbour of a lower index has; colours follow each other, and inside
    one the samples by their index. Two samples of one colour are no neighbours.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Its entries join samples, whatever their values; an entry and its mirror count as one.

    Examples
    --------
    A path of four samples has two colours:

    >>> from scipy.sparse import diags_array
    >>> from jplrdl.turns import turns_of
    >>> turns_of(diags_array([1.0, 1.0, 1.0], offsets=1)).order
    array([0, 2, 1, 3], dtype=int32)
    """
    from scipy.sparse import csr_array

    entries = graph.tocsr()
    pattern = csr_array((np.ones(entries.nnz, dtype=bool), entries.indices, entries.indptr), shape=entries.shape)
    pattern = (pattern + pattern.T).tocsr()
    indptr, indices = pattern.indptr.astype(np.intc, copy=False), pattern.indices.astype(np.intc, copy=False)
    n = len(indptr) - 1
    colours = np.empty(n, dtype=np.intc)
    _kernel.colour_samples(indptr, indices, colours, np.full(n, -1, dtype=np.intc))
    rows = np.repeat(np.arange(n), np.diff(indptr))
    earlier = colours[indices] < colours[rows]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows[earlier], minlength=n))])
    return Turns(np.argsort(colours, kind="stable").astype(np.intc), ptr.astype(np.intc), indices[earlier])
