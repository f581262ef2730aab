"""How many labels a person has to give: the queue of `manyview label` against other choices.

A simulated person starts without any label, answers what a strategy asks, and is wrong at random at
a given rate. The model is that of the page: `ManyviewClassifier`, fitted again with a warm start
after every five labels. Strategies:

queue         the queue of `manyview label`
random        random samples
uncertainty   the smallest margins, after ten random samples
typiclust, coreset, probcover, maxherding, badge, falcun
              strategies of scikit-activeml on the same model, its propagated features and its
              probabilities (`pip install scikit-activeml`)

A fit is one line of `results/labeling_study.jsonl`: the accuracy on all samples. The goal of a data
set and seed is the accuracy of the same model with 10% random labels (`ten percent`). A study that
was stopped continues where it stopped. Name data sets, and limit seeds, strategies or mistakes:

    python benchmarks/labeling_study.py [DATA ...] [--seeds 1] [--strategies queue,random]
                                        [--mistakes 0]
    python benchmarks/labeling_study.py --summary
"""

import argparse
import tempfile
from itertools import product
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np
from stored_records import RESULTS, add_missing, read

from manyview.active_learning.proposals import margin_uncertainty
from manyview.data.splits import draw_labeled
from manyview.estimators.manyview import ManyviewClassifier
from manyview.labeling.learner import Learner, Task, smoothed_features

RECORDS = RESULTS / "labeling_study.jsonl"
DATASETS = (
    "digits", "3sources", "bbcsports", "bbcnews", "caltech101-7", "reuters-1200", "scene-15",
    "rosmap",
)  # fmt: skip
OWN = ("queue", "random", "uncertainty")
OUTSIDE = ("typiclust", "coreset", "probcover", "maxherding", "badge", "falcun")
GOAL = "ten percent"
N_FIRST, N_STEP, N_MOST = 10, 5, 100
SEEDS = range(5)
MISTAKES = (0.0, 0.05)
LEVELS = (0.9, 0.95)  # of the goal's accuracy


def ask_random(state, n):
    return state.rng.permutation(np.flatnonzero(state.y_encoded < 0))[:n]


def ask_uncertainty(state, n):
    if not state.found.classes:
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
        self.learner = Learner(dataset.views, ManyviewClassifier(random_state=seed), folder)
        n_neighbors = self.learner.model.parameter_group("graph").n_neighbors
        prepared = self.learner.model.prepare_graphs(self.learner.samples, n_neighbors)
        features = smoothed_features(prepared, self.learner.graph, np.random.default_rng(0))
        self.features = np.ascontiguousarray(features, dtype=np.float64)
        self.fit()

    def fit(self):
        """Learn from the labels; return the accuracy on all samples and the CPU seconds."""
        start = process_time()
        task = Task(int((self.y_encoded >= 0).sum()), self.y_encoded.copy(), tuple(self.names))
        self.found = self.learner.learn(task)
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
            self.y_encoded[row] = number


def simulate(dataset, strategy, mistakes, seed):
    """Return one record per fit."""
    with tempfile.TemporaryDirectory() as folder:
        person = Simulation(dataset, mistakes, seed, Path(folder))
        if strategy == GOAL:
            is_labeled = draw_labeled(dataset.labels, 0.1, random_state=seed)
            person.answer(np.flatnonzero(is_labeled))
            accuracy, seconds = person.fit()
            return [{"n_labels": int(is_labeled.sum()), "accuracy": accuracy, "seconds": seconds}]
        records = []
        for n_labels in range(N_FIRST, N_MOST + 1, N_STEP):
            n_new = min(n_labels - int((person.y_encoded >= 0).sum()), len(person.truth) // 2)
            person.answer(STRATEGIES[strategy](person, n_new))
            accuracy, seconds = person.fit()
            records.append({"n_labels": n_labels, "accuracy": accuracy, "seconds": seconds})
        return records


def labels_needed(records, accuracy):
    """Return the number of labels from which on the accuracy is reached; None if it is not."""
    reached = [one["n_labels"] for one in records if one["accuracy"] >= accuracy]
    return min(reached, default=None)


def summarize(records):
    """Yield (mistakes, level, strategy, mean labels, fraction reached) over data sets and seeds.

    A run that does not reach the level counts with 100 labels.
    """
    runs, goals = {}, {}
    for one in records:
        key = one["dataset"], one["seed"]
        if one["strategy"] == GOAL:
            goals[key] = one["accuracy"]
        else:
            runs.setdefault((one["strategy"], one["mistakes"], *key), []).append(one)
    for mistakes, level in product(MISTAKES, LEVELS):
        for strategy in STRATEGIES:
            needed = [
                labels_needed(found, level * goals[name, seed])
                for (own, rate, name, seed), found in runs.items()
                if (own, rate) == (strategy, mistakes) and (name, seed) in goals
            ]
            if needed:
                counts = [N_MOST if one is None else one for one in needed]
                reached = fmean(one is not None for one in needed)
                yield mistakes, level, strategy, fmean(counts), reached


def print_summary():
    print("mistakes  level  strategy      labels needed  reached")
    for mistakes, level, strategy, needed, reached in summarize(read(RECORDS)):
        print(f"{mistakes:8.0%}  {level:5.0%}  {strategy:12}  {needed:13.1f}  {reached:7.0%}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATA")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), metavar="N")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), metavar="NAME,...")
    parser.add_argument("--mistakes", type=float, nargs="*", default=MISTAKES, metavar="RATE")
    parser.add_argument("--summary", action="store_true", help="print what is stored")
    asked = parser.parse_args()
    if not asked.summary:
        strategies = asked.strategies.split(",")
        if unknown := set(strategies) - set(STRATEGIES):
            parser.error(f"there is no strategy {', '.join(sorted(unknown))}")
        settings = [
            (GOAL, 0.0, seed) for seed in range(asked.seeds)
        ] + list(product(strategies, asked.mistakes, range(asked.seeds)))  # fmt: skip
        add_missing(
            RECORDS,
            asked.datasets,
            ("strategy", "mistakes", "seed"),
            settings,
            simulate,
            lambda found: ", ".join(f"{one['n_labels']}: {one['accuracy']:.1%}" for one in found),
        )
    print_summary()


if __name__ == "__main__":
    main()
