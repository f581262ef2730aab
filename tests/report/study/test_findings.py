"""Findings in sentences."""

from manyview.report.study.findings import findings
from manyview.report.study.results import METRICS, study_results

HEAD = 'title = "A toy"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'
METHODS = "[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
ACCURACY = {"knn": 0.7, "svm": 0.8, "mgcn-dns": 0.9}


def said(study):
    return findings(study, study_results(study, METRICS["accuracy"]))


def test_findings_name_the_leader_and_the_order(compared_study):
    assert said(compared_study) == [
        "MGCN-DNS has the highest mean accuracy on 2 of 2 data sets.",
        "The best average ranks, over the one case with results of all methods: MGCN-DNS (1.0), "
        "SVM (2.0), KNN (3.0).",
    ]


def test_findings_mention_ties_and_open_trials(make_study, done):
    plan = HEAD + "label_ratios = [0.1, 0.2]\n[methods.knn]\n[methods.svm]\n"
    best = {"barn": "knn", "field": "svm"}

    def outcome(cell, trial):
        if cell.label_ratio == 0.2 and cell.dataset == "field":
            return None
        if cell.label_ratio == 0.2:
            return done(0.5)
        return done(0.9 if best[cell.dataset] == cell.entry else 0.8)

    assert said(make_study(plan, outcome))[0] == (
        "So far, KNN has the highest mean accuracy in 2 of 3 cases (pairs of data set and label "
        "ratio), SVM in 2; ties count for every method involved."
    )


def test_data_set_outside_averages_counts_in_no_finding(make_study, done):
    plan = HEAD.replace("field", "nus-wide-graphs") + METHODS
    worse = {"knn": 0.9, "svm": 0.8, "mgcn-dns": 0.7}
    study = make_study(
        plan,
        lambda cell, _: done((ACCURACY if cell.dataset == "barn" else worse)[cell.entry]),
    )
    lead, order = said(study)
    assert lead == "MGCN-DNS has the highest mean accuracy on barn with 10% labels, 90.0%."
    assert "over the one case" in order
    assert "MGCN-DNS (1.0), SVM (2.0), KNN (3.0)" in order
    alone = make_study(
        HEAD.replace('"barn", "field"', '"nus-wide-graphs"') + METHODS,
        lambda cell, _: done(worse[cell.entry]),
    )
    assert said(alone)[0].startswith("KNN has the highest mean accuracy")


def test_settings_stand_in_quotes(make_study, done):
    plan = HEAD + '[methods.plain]\nmethod = "mgcn-dns"\nparams = { tau = 0.5 }\n[methods.knn]\n'
    study = make_study(plan, lambda cell, trial: done(0.9 if cell.entry == "plain" else 0.5))
    assert said(study)[0].startswith("“plain” has the highest")


def test_findings_of_a_grid_give_the_range_and_the_best_value(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { tau = [0.5, 1.0] }\n"
    gain = {"barn": 0.01, "field": 0.05}
    study = make_study(
        plan, lambda cell, _: done(0.8 + gain[cell.dataset] * (cell.point[0][1] == 1.0))
    )
    assert said(study) == [
        "Over the tested values of tau, the accuracy of MGCN-DNS varies by 1.0 points on barn "
        "(least) and by 5.0 points on field (most).",
        "Tau 1 is best on 2 of 2 data sets.",
    ]


def test_findings_of_a_single_method_give_its_accuracy(make_study, done):
    study = make_study(HEAD + "[methods.knn]\n", lambda cell, trial: done(0.75))
    assert said(study) == ["KNN has a mean accuracy of 75.0% on barn and 75.0% on field."]
