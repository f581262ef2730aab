"""A toy study: six cells of three seeds, of which one failed and one was not run."""

import pytest

PLAN = """
title = "A toy"
datasets = ["barn", "field", "sea"]
label_ratios = [0.1, 0.01]
seeds = [0, 1, 2]
[methods.knn]
[methods.svm]
[methods.mgcn-dns]
[paper.barn]
knn = { "0.1" = [70.0, 1.0] }
mgcn-dns = { "0.1" = [91.0, 0.5] }
[paper.sea]
knn = { "0.1" = [55.5, 2.5] }
"""
ACCURACY = {"knn": 0.7, "svm": 0.8, "mgcn-dns": 0.9}
NOT_HERE = {"sea": "sea is not here."}


@pytest.fixture
def toy_plan():
    return PLAN


@pytest.fixture
def toy_study(make_study, done):
    """Return a study with one failed cell, one with a missing seed, and one not run."""

    def outcome(cell, trial):
        place = (cell.dataset, cell.entry, cell.label_ratio)
        if place == ("field", "svm", 0.1):
            return {"status": "out of memory", "reason": "it took more than 6 GB of memory"}
        if place == ("field", "mgcn-dns", 0.01):
            return None
        if place == ("barn", "svm", 0.01) and trial.seed == 2:
            return {"status": "failed", "reason": "no class was left."}
        return done(
            ACCURACY[cell.entry] + 0.01 * trial.seed - (0.2 if cell.label_ratio < 0.1 else 0)
        )

    return make_study(PLAN, outcome, NOT_HERE)


@pytest.fixture
def compared_study(make_study, done):
    """Return three methods on two data sets, with one failed cell and text that is not markup."""

    def outcome(cell, trial):
        if (cell.dataset, cell.entry) == ("field", "svm"):
            return {"status": "failed", "reason": "<no> memory"}
        return done(ACCURACY[cell.entry] + 0.01 * trial.seed)

    plan = 'title = "A <b>toy</b> & more"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'
    plan += "[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
    return make_study(f'{plan}[paper.barn]\nknn = {{ "0.1" = [80.0, 1.0] }}\n', outcome)
