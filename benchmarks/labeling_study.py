"""How many labels a person has to give: the queue of `manyview label` against other choices.

A simulated person starts without any label, answers what a strategy asks, and is wrong at random at
a given rate. An answer counts as a label, also where the queue asks again about a given one. The
model is that of the page, fitted with a warm start after 5, 10, 15, 20, 25, 30, 40, 50, 60, 80 and
100 labels. Strategies:

queue         the queue of `manyview label`
random        random samples
uncertainty   the smallest margins, after ten random samples
typiclust, coreset, probcover, maxherding, badge, falcun
              strategies of scikit-activeml on the same model, its propagated features and its
              probabilities (`pip install scikit-activeml`); those of `REPORTED` run by default

A fit is one line of `results/labeling_study.jsonl`: the accuracy on all samples. Rules of the
records:

- The goal of a data set and seed is the accuracy of the same model with 10% random labels, all
  right (`ten percent`). It is run before the strategies of its seed.
- A run ends as soon as its accuracy reaches 95% of the goal's: both levels, 90% and 95%, are then
  known. The labels needed are the first count at which a level is reached.
- A run that does not reach a level with 100 labels needs "more than 100". A mean counts it as 100,
  is therefore too small, and is marked with the number of such runs.

Seeds are the outermost loop, so that an unfinished study has run for all data sets alike, and a
study that was stopped continues where it stopped. Name data sets, and limit seeds, strategies or
mistakes; --first-seed 100 is for trying changes of the queue, and --out keeps such records apart:

    python benchmarks/labeling_study.py [DATA ...] [--seeds 1] [--strategies queue,random]
                                        [--mistakes 0] [--first-seed 0] [--out FILE]
    python benchmarks/labeling_study.py --summary
"""

import argparse
import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from stored_records import RESULTS, add_missing, read

from manyview.active_learning.proposals import margin_uncertainty
from manyview.data.catalog.load import load_dataset
from manyview.data.splits import draw_labeled
from manyview.labeling.learner import Learner, Task, smoothed_features
from manyview.labeling.two_step import TwoStepClassifier

RECORDS = RESULTS / "labeling_study.jsonl"
DATASETS = (
    "digits", "3sources", "bbcsports", "bbcnews", "rosmap", "caltech101-7", "reuters-1200",
    "scene-15",
)  # fmt: skip
OUTSIDE = ("typiclust", "coreset", "probcover", "maxherding", "badge", "falcun")
REPORTED = ("queue", "random", "uncertainty", "typiclust", "coreset", "badge")
WITH_MISTAKES = ("queue", "random", "uncertainty")  # the others run without mistakes alone
GOAL = "ten percent"
COUNTS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # labels after which the model is fitted
N_RANDOM = 10  # labels before uncertainty means anything
N_SEEDS = 5
MISTAKES = (0.0, 0.05)
LEVELS = (0.9, 0.95)  # of the goal's accuracy


def ask_random(state, n):
    return state.rng.permutation(np.flatnonzero(state.y_encoded < 0))[:n]


def ask_uncertainty(state, n):
    if (state.y_encoded >= 0).sum() < N_RANDOM or not state.found.classes:
        return ask_random(state, n)
    rows = np.flatnonzero(state.y_encoded < 0)
    uncertainty = margin_uncertainty(state.found.probabilities[rows])
    return rows[np.argsort(-uncertainty, kind="stable")[:n]]


def ask_queue(state, n):
    return state.found.queue.rows[:n]


def ask_outside(name):
    """Return a strategy of scikit-activeml."""

    def ask(state, n):
        from skactiveml import pool

        classes = {"typiclust": "TypiClust", "coreset": "CoreSet", "probcover": "ProbCover",
                   "maxherding": "MaxHerding", "badge": "Badge", "falcun": "Falcun"}  # fmt: skip
        options = {"n_classes": len(state.names)} if name == "probcover" else {}
        seed = int(state.rng.integers(2**31))
        strategy = getattr(pool, classes[name])(missing_label=-1, random_state=seed, **options)
        needs_model = name in ("badge", "falcun")
        if needs_model and not state.found.classes:
            return ask_random(state, n)
        model = {"clf": stored_classifier(state), "fit_clf": False} if needs_model else {}
        return strategy.query(state.features, state.y_encoded, batch_size=n, **model)

    return ask


def stored_classifier(state):
    """Return a classifier of scikit-activeml that knows the probabilities of the fitted model."""
    from skactiveml.base import SkactivemlClassifier

    row_of = {features.tobytes(): row for row, features in enumerate(state.features)}

    class Stored(SkactivemlClassifier):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            return self

        def predict_proba(self, X):  # noqa: N803
            rows = [row_of[one.tobytes()] for one in np.asarray(X)]
            return state.found.probabilities[rows].astype(np.float64)

    return Stored(classes=list(range(len(state.found.classes))), missing_label=-1)


STRATEGIES = {"queue": ask_queue, "random": ask_random, "uncertainty": ask_uncertainty} | {
    name: ask_outside(name) for name in OUTSIDE
}


class Simulation:
    """A person and the model, from no label to a hundred."""

    def __init__(self, dataset, mistakes, seed, folder):
        self.truth = np.asarray([str(label) for label in dataset.labels.tolist()])
        self.names, self.numbers = np.unique(self.truth, return_inverse=True)
        self.rng = np.random.default_rng(seed)
        self.mistakes = mistakes
        self.y_encoded = np.full(len(self.truth), -1)
        self.n_answers, self.checked = 0, {}  # whether the label of rows asked twice was changed
        model = TwoStepClassifier(random_state=seed, label_audit="report")
        self.learner = Learner(dataset.views, model, folder)
        n_neighbors = self.learner.model.parameter_group("graph").n_neighbors
        prepared = self.learner.model.prepare_graphs(self.learner.samples, n_neighbors)
        features = smoothed_features(prepared, self.learner.graph, np.random.default_rng(0))
        self.features = np.ascontiguousarray(features, dtype=np.float64)
        self.fit()

    def fit(self):
        """Learn from the labels; return the accuracy on all samples and the CPU seconds."""
        start = process_time()
        labels, checked = self.y_encoded.copy(), tuple(self.checked)
        n_changed = sum(self.checked.values())
        task = Task(self.n_answers, labels, tuple(self.names), checked=checked, n_changed=n_changed)
        found = self.learner.learn(task)
        self.found = self.learner.complete(task, found) or found
        accuracy = 0.0
        if self.found.classes:
            predicted = np.array(self.found.classes)[self.found.probabilities.argmax(axis=1)]
            accuracy = round(float(np.mean(predicted == self.truth)), 6)
        return accuracy, round(process_time() - start, 3)

    def answer(self, rows):
        """Label samples as the person does, with mistakes."""
        for row in rows:
            number = self.numbers[row]
            if self.rng.random() < self.mistakes:
                others = np.delete(np.arange(len(self.names)), number)
                number = self.rng.choice(others)
            if self.y_encoded[row] >= 0:
                self.checked[row] = bool(self.y_encoded[row] != number)
            self.y_encoded[row] = number
            self.n_answers += 1


def goal_accuracy(dataset, mistakes, seed):
    """Return the one record of the model with 10% random labels."""
    with tempfile.TemporaryDirectory() as folder:
        person = Simulation(dataset, mistakes, seed, Path(folder))
        is_labeled = draw_labeled(dataset.labels, 0.1, random_state=seed)
        person.answer(np.flatnonzero(is_labeled))
        accuracy, seconds = person.fit()
        return [{"n_labels": int(is_labeled.sum()), "accuracy": accuracy, "seconds": seconds}]


def simulate(dataset, strategy, mistakes, seed, goal):
    """Return one record per fit, until the accuracy reaches the highest level of the goal."""
    records = []
    with tempfile.TemporaryDirectory() as folder:
        person = Simulation(dataset, mistakes, seed, Path(folder))
        for n_labels in COUNTS:
            person.answer(STRATEGIES[strategy](person, n_labels - person.n_answers))
            accuracy, seconds = person.fit()
            records.append({"n_labels": n_labels, "accuracy": accuracy, "seconds": seconds})
            if accuracy >= max(LEVELS) * goal:
                break
    return records


def labels_needed(records, accuracy):
    """Return the first number of labels at which an accuracy is reached; None if it is not."""
    reached = [one["n_labels"] for one in records if one["accuracy"] >= accuracy]
    return min(reached, default=None)


def needed_by_run(records):
    """Return {(level, mistakes, strategy, data set, seed): labels needed}, None: more than 100."""
    runs, goals = {}, {}
    for one in records:
        key = one["dataset"], one["seed"]
        if one["strategy"] == GOAL:
            goals[key] = one["accuracy"]
        else:
            runs.setdefault((one["mistakes"], one["strategy"], *key), []).append(one)
    return {
        (level, *key): labels_needed(found, level * goals[key[2:]])
        for level in LEVELS
        for key, found in runs.items()
        if key[2:] in goals
    }


def counted(needed):
    """Return the labels needed as numbers: "more than 100" counts as 100."""
    return [max(COUNTS) if one is None else one for one in needed]


def strategies_of(mistakes):
    """Return the strategies that are reported at a rate of mistakes."""
    return WITH_MISTAKES if mistakes else REPORTED


def compared(records, level, mistakes, strategies=None):
    """Return {strategy: {(data set, seed): labels needed}} of the runs that all strategies have.

    A study that is still running so compares strategies on the same data sets and seeds. None
    takes all strategies that are reported.
    """
    runs = {name: {} for name in strategies or strategies_of(mistakes)}
    for (own_level, rate, strategy, *key), needed in needed_by_run(records).items():
        if (own_level, rate) == (level, mistakes) and strategy in runs:
            runs[strategy][tuple(key)] = needed
    shared = set.intersection(*(set(found) for found in runs.values()))
    return {name: {key: found[key] for key in sorted(shared)} for name, found in runs.items()}


def print_summary(file):
    records = read(file)
    print("mistakes  level  strategy      labels needed  more than 100  of random's  runs")
    for mistakes, level in product(MISTAKES, LEVELS):
        found = compared(records, level, mistakes)
        for name, by_run in found.items():
            if by_run:
                mean = np.mean(counted(by_run.values()))
                ratio = mean / np.mean(counted(found["random"].values()))
                n_more = list(by_run.values()).count(None)
                print(
                    f"{mistakes:8.0%}  {level:5.0%}  {name:12}  {mean:13.1f}  {n_more:13}  "
                    f"{ratio:11.2f}  {len(by_run):4}"
                )


def add_seed(file, names, strategies, mistakes, seed):
    """Run what one seed lacks: the goals, then the strategies of all data sets."""
    load = cache(load_dataset)
    key = ("strategy", "mistakes", "seed")

    def text(found):
        return ", ".join(f"{one['n_labels']}: {one['accuracy']:.1%}" for one in found)

    add_missing(
        file, names, key, [(GOAL, 0.0, seed)],
        lambda dataset, _strategy, rate, seed: goal_accuracy(dataset, rate, seed), text, load,
    )  # fmt: skip
    settings = [
        (strategy, rate, seed)
        for rate, strategy in product(mistakes, strategies)
        if not rate or strategy in WITH_MISTAKES
    ]
    for name in names:
        goal = next(
            one["accuracy"]
            for one in read(file)
            if (one["dataset"], one["strategy"], one["seed"]) == (name, GOAL, seed)
        )
        add_missing(
            file, [name], key, settings,
            lambda *setting, goal=goal: simulate(*setting, goal), text, load,
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATA")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, metavar="N")
    parser.add_argument("--first-seed", type=int, default=0, metavar="SEED")
    parser.add_argument("--strategies", default=",".join(REPORTED), metavar="NAME,...")
    parser.add_argument("--mistakes", type=float, nargs="*", default=MISTAKES, metavar="RATE")
    parser.add_argument("--out", type=Path, default=RECORDS, metavar="FILE")
    parser.add_argument("--summary", action="store_true", help="print what is stored")
    asked = parser.parse_args()
    if not asked.summary:
        strategies = asked.strategies.split(",")
        if unknown := set(strategies) - set(STRATEGIES):
            parser.error(f"there is no strategy {', '.join(sorted(unknown))}")
        for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
            add_seed(asked.out, asked.datasets, strategies, asked.mistakes, seed)
    print_summary(asked.out)


if __name__ == "__main__":
    main()
