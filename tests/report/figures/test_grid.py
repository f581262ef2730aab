from manyview.report.figures.write import study_figures

HEAD = 'title = "t"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'


def test_grid_of_one_parameter_is_a_line(make_study, mixed):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { n_neighbors = [5, 10] }\n"
    figures = study_figures(make_study(plan, mixed))
    assert list(figures) == ["n-neighbors"]
    assert figures["n-neighbors"].axes[0].get_lines()[0].get_xdata().tolist() == [5.0, 10.0]


def test_grid_of_words_is_drawn_in_order(make_study, mixed):
    plan = HEAD + '[methods.mgcn-dns]\ngrid = { metric = ["cosine", "euclidean"] }\n'
    (figure,) = study_figures(make_study(plan, mixed)).values()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["cosine", "euclidean"]


def test_grid_of_two_parameters_is_a_map_with_its_numbers(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { gamma = [0.5, 1.0], tau = [0.1, 1.0, 2.0] }\n"
    study = make_study(plan, lambda cell, _: None if cell.point[0][1] == 1.0 else done(0.5))
    figures = study_figures(study)
    assert list(figures) == ["gamma-tau"]
    assert [text.get_text() for text in figures["gamma-tau"].axes[0].texts] == ["50.0"] * 3
