"""Equal rows: searched once, and linked so that no row becomes a hub.

Tables of counts and categories repeat rows, some a hundred thousand times. A search would compare
all of these with each other, and a rule such as "the first of them" would link them all to the
same few.

points -> EqualRows.of -> search among the distinct rows -> EqualRows.spread, spread_exactly
"""

from dataclasses import dataclass

import numpy as np

from manyview.graphs.neighbors import NO_NEIGHBOR, Neighbors

BLOCK_CANDIDATES = 2**22  # ordered at a time


@dataclass(frozen=True)
class EqualRows:
    """Rows of a matrix in groups of equal ones; groups are numbered by their first row."""

    group: np.ndarray  # [row] its group
    members: np.ndarray  # [row] all rows, those of a group together, ascending
    starts: np.ndarray  # [group + 1] position of each group's first member
    place: np.ndarray  # [row] its position within its group

    @classmethod
    def of(cls, points: np.ndarray) -> "EqualRows":
        """Group the rows of a matrix.

        Examples
        --------
        >>> rows = EqualRows.of(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]))
        >>> rows.group, rows.first
        (array([0, 1, 0]), array([0, 1]))
        """
        _, first, sorted_group = np.unique(
            _row_keys(points), return_index=True, return_inverse=True
        )
        if not np.array_equal(points[first[sorted_group]], points):  # two rows with one key
            whole = np.ascontiguousarray(points + 0.0)  # -0.0 is 0.0
            bytes_of_row = np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))
            _, first, sorted_group = np.unique(
                whole.view(bytes_of_row).ravel(), return_index=True, return_inverse=True
            )
        number = np.empty(len(first), dtype=np.int64)
        number[np.argsort(first)] = np.arange(len(first))
        group = number[sorted_group]
        members = np.argsort(group, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(group))])
        place = np.empty(len(group), dtype=np.int64)
        place[members] = np.arange(len(group)) - starts[group[members]]
        return cls(group, members, starts, place)

    @property
    def first(self) -> np.ndarray:
        """[group] the first row of each."""
        return np.asarray(self.members[self.starts[:-1]])

    @property
    def sizes(self) -> np.ndarray:
        """[group] number of rows."""
        return np.diff(self.starts)

    @property
    def are_distinct(self) -> bool:
        """Whether no two rows are equal."""
        return len(self.starts) > len(self.group)

    def spread(self, found: Neighbors, n_neighbors: int, seed: int) -> Neighbors:
        """Give every row neighbors from those of the groups: first equal rows, then the nearest.

        Of a group with more rows than are needed, row number p takes those numbered p + o modulo
        the size, with one random offset o per rank. So all rows are taken equally often, and
        few steps lead from any row of a large group to any other.

        Parameters
        ----------
        found
            [group, rank] neighbors among the groups, nearest first.
        n_neighbors
            Of each row.
        seed
            Of the offsets.
        """
        n_rows = len(self.group)
        indices = np.full((n_rows, n_neighbors), NO_NEIGHBOR, dtype=np.int64)
        distances = np.full((n_rows, n_neighbors), np.inf, dtype=np.float32)
        draws = np.random.default_rng(seed).integers(2**62, size=n_neighbors)
        n_found = np.zeros(n_rows, dtype=np.int64)
        for rank in range(-1, found.indices.shape[1]):  # -1 is the row's own group
            rows = np.flatnonzero(n_found < n_neighbors)
            if rank < 0:
                group, reach = self.group[rows], np.zeros(len(rows), dtype=np.float32)
                n_rest = self.sizes[group] - 1
            else:
                group = found.indices[self.group[rows], rank]
                reach = found.distances[self.group[rows], rank]
                rows, group, reach = (one[group != NO_NEIGHBOR] for one in (rows, group, reach))
                n_rest = self.sizes[group]
            n_taken = np.minimum(n_rest, n_neighbors - n_found[rows])
            for number in range(int(n_taken.max(initial=0))):
                takes = n_taken > number
                own = rows[takes]
                offset = _offsets(draws, n_rest[takes], n_taken[takes], number)
                place = self.place[own] + offset + (rank < 0)
                member = self.starts[group[takes]] + place % self.sizes[group[takes]]
                indices[own, n_found[own]] = self.members[member]
                distances[own, n_found[own]] = reach[takes]
                n_found[own] += 1
        return Neighbors(indices, distances, found.recall)

    def spread_exactly(
        self, found: Neighbors, n_neighbors: int, is_linked: np.ndarray
    ) -> Neighbors:
        """Give every row the neighbors that an exact search among all rows would.

        Nearest first, ties by the lower row. Of groups at the same distance only the first k + 1
        can have one of the k + 1 lowest rows, so the k nearest groups and the own one suffice.

        Parameters
        ----------
        found
            [group, rank] exact neighbors among the groups, k or more of each where there are.
        n_neighbors
            k, of each row.
        is_linked
            [group] whether its rows are neighbors of each other; rows of zeros are not.
        """
        n_groups, n_kept = len(self.sizes), n_neighbors + 1
        nearest = np.full((n_groups, n_kept), NO_NEIGHBOR, dtype=np.int64)
        reach = np.full((n_groups, n_kept), np.inf, dtype=np.float32)
        block = max(1, BLOCK_CANDIDATES // n_kept**2)
        for start in range(0, n_groups, block):
            own = np.arange(start, min(n_groups, start + block))
            groups = np.column_stack([np.where(is_linked[own], own, -1), found.indices[own]])
            apart = np.column_stack([np.zeros(len(own)), found.distances[own]])
            number = np.arange(n_kept)
            exists = (groups[..., None] >= 0) & (number < self.sizes[groups][..., None])
            places = np.where(exists, self.starts[groups][..., None] + number, 0)
            rows = np.where(exists, self.members[places], len(self.group)).reshape(len(own), -1)
            distances = np.where(exists, apart[..., None], np.inf).reshape(len(own), -1)
            order = np.argsort(rows, axis=1, kind="stable")
            by_row = np.take_along_axis(distances, order, axis=1)
            by_distance = np.argsort(by_row, axis=1, kind="stable")[:, :n_kept]
            order = np.take_along_axis(order, by_distance, axis=1)
            nearest[own] = np.take_along_axis(rows, order, axis=1)
            reach[own] = np.take_along_axis(distances, order, axis=1)
        is_self = nearest[self.group] == np.arange(len(self.group))[:, None]
        left_out = np.where(is_self.any(axis=1), is_self.argmax(axis=1), n_neighbors)
        ranks = np.arange(n_neighbors) + (np.arange(n_neighbors) >= left_out[:, None])
        indices = np.take_along_axis(nearest[self.group], ranks, axis=1)
        distances = np.take_along_axis(reach[self.group], ranks, axis=1)
        indices[np.isinf(distances)] = NO_NEIGHBOR
        return Neighbors(indices, distances, found.recall)


def _offsets(draws: np.ndarray, n_rest: np.ndarray, n_taken: np.ndarray, number: int) -> np.ndarray:
    """Return the offset of each row's next member, distinct for distinct numbers.

    The rest is cut into as many parts as members are taken, and one is drawn from each part.
    """
    start = number * n_rest // n_taken
    width = (number + 1) * n_rest // n_taken - start
    return np.asarray(start + draws[number] % width)


def _row_keys(points: np.ndarray) -> np.ndarray:
    """Compute a 64-bit number per row, the same for equal rows and hardly for others."""
    keys = np.zeros(len(points), dtype=np.uint64)
    drawn = np.random.default_rng(0).integers(2**63, size=points.shape[1], dtype=np.uint64)
    factors = np.asarray(drawn)
    for number, factor in enumerate(factors | np.uint64(1)):
        bits = (points[:, number].astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
        keys += (bits ^ (bits >> np.uint64(29))) * factor
    return keys
