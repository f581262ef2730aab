"""Gains of some records of a study over others, on the data sets and seeds that both have."""

from collections import defaultdict

import numpy as np

from manyview.report.study.results import dataset_title


def gains(of, over, match=("seed",)):
    """Return the mean gain in accuracy per data set over the records that match, in points.

    Parameters
    ----------
    of, over
        Records; those without a match do not count.
    match
        Fields that two records of a data set must have in common to be compared.
    """
    first, second = (
        {(one["dataset"], *(one[part] for part in match)): one["accuracy"] for one in records}
        for records in (of, over)
    )
    found = defaultdict(list)
    for place in first.keys() & second.keys():
        found[place[0]].append(100 * (first[place] - second[place]))
    order = dict.fromkeys(record["dataset"] for record in of)
    return {name: float(np.mean(found[name])) for name in order if name in found}


def chosen(records, **wanted):
    """Return the records whose fields have these values."""
    return [one for one in records if all(one[part] == value for part, value in wanted.items())]


def average(found):
    """Average gains over data sets, each with the same weight."""
    return float(np.mean(list(found.values())))


def above(points, what):
    """Write a difference, such as "1.2 points above this"."""
    return f"{abs(points):.1f} points {'below' if points < 0 else 'above'} {what}"


def data_sets(found):
    """Write the number of data sets."""
    return f"{len(found)} data set{'s' * (len(found) != 1)}"


def each(found):
    """Write the gain on every data set."""
    return ", ".join(f"{dataset_title(name)} {points:+.1f}" for name, points in found.items())
