from manyview.report.study.results import METRICS, far_from_paper, is_own, study_results


def test_differences_from_the_paper_come_widest_first(toy_study):
    assert far_from_paper(toy_study, 5.0) == []
    found = far_from_paper(toy_study, 0.5)
    assert [(one.dataset, one.entry, round(one.difference, 6)) for one in found] == [
        ("barn", "knn", 1.0)
    ]


def test_both_of_our_methods_stand_out(make_study):
    plan = (
        'title = "t"\ndatasets = ["barn"]\n[methods.knn]\n[methods.mgcn-dns]\n[methods.manyview]\n'
    )
    study = make_study(plan, lambda cell, trial: None)
    assert [is_own(entry) for entry in study.plan.entries] == [False, True, True]


def test_shortfall_names_missing_seeds_and_failures(toy_study):
    results = study_results(toy_study, METRICS["accuracy"])
    found = {(c.dataset, c.entry, c.label_ratio): r.shortfall for c, r in results.items()}
    assert found["barn", "knn", 0.1] == ""
    assert found["barn", "svm", 0.01] == "2 of 3 seeds; 1 failed: no class was left"
    assert found["field", "mgcn-dns", 0.01] == ""
