from manyview.report.figures.write import study_figures

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'


def axes_titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_artifacts_of_trials_are_drawn(make_study, done, kept):
    plan = HEAD + "[methods.mgcn-dns]\n"
    figures = study_figures(make_study(plan, lambda cell, trial: done(0.5, **kept)))
    assert list(figures) == ["convergence", "weights", "adjacency"]
    (label,) = [t for t in axes_titles(figures["adjacency"])[:3] if "select" in t]
    assert label.endswith("3 edges")


def test_data_set_names_the_artifacts_of_a_single_method(make_study, done, kept):
    plan = HEAD + "[methods.knn]\n[methods.mgcn-dns]\n"
    study = make_study(
        plan, lambda cell, _: done(0.5, **kept) if cell.entry == "mgcn-dns" else done(0.4)
    )
    figures = study_figures(study)
    assert list(figures) == ["accuracy", "convergence", "weights", "adjacency"]
    assert axes_titles(figures["weights"])[:2] == ["barn", "field"]
