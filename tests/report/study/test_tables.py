import pytest

from manyview.report.study.comparison import ranked
from manyview.report.study.results import METRICS, study_results
from manyview.report.study.tables import study_tables

ACCURACY = {"knn": 0.7, "svm": 0.8}
NOT_HERE = {"sea": "sea is not here."}


def cell_of(table, label, row, column):
    block = next(block for block in table.blocks if block.label == label)
    line = next(line for line in block.rows if line[0].text == row)
    return line[table.header.index(column)]


def test_main_table_has_one_block_per_ratio_and_one_column_per_available_data_set(toy_study):
    table = study_tables(toy_study)[0]
    assert [block.label for block in table.blocks] == ["1% labels", "10% labels"]
    assert table.header == ("method", "barn", "field", "rank")
    assert [row[0].text for row in table.blocks[0].rows] == ["KNN", "SVM", "MGCN-DNS"]
    assert "Unavailable: sea." in table.caption


def test_cell_has_mean_and_deviation_in_percent(toy_study):
    cell = cell_of(study_tables(toy_study)[0], "10% labels", "MGCN-DNS", "barn")
    assert cell.text == "91.0 (1.0)"
    assert cell.value == pytest.approx(91.0)
    assert cell.mark == "best"


def test_failed_cell_is_a_dash_with_its_reason(toy_study):
    table = study_tables(toy_study)[0]
    cell = cell_of(table, "10% labels", "SVM", "field")
    assert cell.text == "-"
    assert dict(table.notes)[cell.note] == "out of memory, it took more than 6 GB of memory"


def test_cell_with_missing_seeds_has_a_footnote(toy_study):
    table = study_tables(toy_study)[0]
    cell = cell_of(table, "1% labels", "SVM", "barn")
    assert cell.text == "60.5 (0.7)"
    assert dict(table.notes)[cell.note] == "2 of 3 seeds; 1 failed: no class was left"


def test_cell_not_run_is_empty(toy_study):
    table = study_tables(toy_study)[0]
    cell = cell_of(table, "1% labels", "MGCN-DNS", "field")
    assert (cell.text, cell.mark, cell.note) == ("", "", "")
    assert "Empty cells have not been run." in table.caption


def test_ranks_are_averaged_over_common_columns_only(toy_study):
    table = study_tables(toy_study)[0]
    ranks = [cell_of(table, "10% labels", name, "rank").text for name in ("KNN", "MGCN-DNS")]
    assert ranks == ["3.0", "1.0"]
    assert any("Rank: average over the one column" in sentence for sentence in table.caption)


def test_paper_stands_next_to_ours_and_alone_where_data_is_unavailable(toy_study):
    table = study_tables(toy_study)[1]
    assert table.groups == (("barn", 2), ("field", 1), ("sea", 1))
    assert table.header == ("method", "ours", "paper", "ours", "paper")
    knn = table.blocks[1].rows[0]
    assert [cell.text for cell in knn] == [
        "KNN",
        "71.0 (1.0)",
        "70.0 (1.0)",
        "71.0 (1.0)",
        "55.5 (2.5)",
    ]


def test_one_seed_has_no_deviation(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\nseeds = [0]\n[methods.knn]\n[methods.svm]\n'
    table = study_tables(make_study(plan, lambda cell, trial: done(ACCURACY[cell.entry])))[0]
    assert [row[1].text for row in table.blocks[0].rows] == ["70.0", "80.0"]
    assert "one split" in table.caption[0]
    assert not any(cell.is_tied for cell in table.cells())


def test_equal_numbers_share_a_mark(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\n[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n'
    values = {"knn": 0.9, "svm": 0.90001, "mgcn-dns": 0.5}
    table = study_tables(make_study(plan, lambda cell, trial: done(values[cell.entry])))[0]
    assert [row[1].mark for row in table.blocks[0].rows] == ["best", "best", "second"]


def test_results_not_clearly_worse_than_the_best_are_tied(make_study, done):
    plan = (
        'title = "t"\ndatasets = ["barn"]\nlabel_ratios = [0.5]\n'
        "[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
    )
    jump = [0.0, 0.02, -0.01, 0.03, -0.02]
    values = {
        "knn": lambda seed: 0.5 + 0.001 * jump[seed],
        "svm": lambda seed: 0.89 - jump[seed],
        "mgcn-dns": lambda seed: 0.9 + jump[seed],
    }
    study = make_study(plan, lambda cell, trial: done(values[cell.entry](trial.seed)))
    table = study_tables(study, test="corrected")[0]
    assert [row[1].is_tied for row in table.blocks[0].rows] == [False, True, False]
    assert any("Nadeau and Bengio" in sentence for sentence in table.caption)
    plainly = study_tables(study)[0]
    assert [row[1].is_tied for row in plainly.blocks[0].rows] == [False, True, False]
    assert not any("Nadeau" in sentence for sentence in plainly.caption)


def test_ranks_are_tested_over_six_data_sets_or_more(make_study, done):
    names = [f"d{n}" for n in range(6)]
    plan = f'title = "t"\ndatasets = {names}\n[methods.knn]\n[methods.svm]\n'
    study = make_study(plan, lambda cell, trial: done(ACCURACY[cell.entry]))
    results = study_results(study, METRICS["accuracy"])
    grid = [[r for c, r in results.items() if c.entry == name] for name in ("knn", "svm")]
    ranking = ranked(grid, names, METRICS["accuracy"])
    assert ranking.is_tested
    assert [cell.is_tied for cell in ranking.cells] == [False, False]
    few = ranked([line[:5] for line in grid], names[:5], METRICS["accuracy"])
    assert not few.is_tested
    assert "no test between rows" in few.sentence()


def test_less_is_better_for_time(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\n[methods.knn]\n[methods.svm]\n'
    seconds = {"knn": 2.0, "svm": 1.0}
    study = make_study(plan, lambda cell, trial: done(0.5, seconds=seconds[cell.entry]))
    table = study_tables(study, "seconds")[0]
    assert [row[1].mark for row in table.blocks[0].rows] == ["second", "best"]


def test_grid_of_one_parameter_has_one_row_per_value(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\n[methods.mgcn-dns]\ngrid = { tau = [0.5, "none"] }\n'
    table = study_tables(make_study(plan, lambda cell, trial: done(0.5)))[0]
    assert [row[0].text for row in table.blocks[0].rows] == ["tau 0.5", "tau none"]


def test_grid_of_two_parameters_is_a_matrix_with_one_best(make_study, done):
    plan = (
        'title = "t"\ndatasets = ["barn"]\n'
        "[methods.mgcn-dns]\ngrid = { gamma = [1.0, 2.0], tau = [0.5, 1.0] }\n"
    )
    points = {(1.0, 0.5): 0.1, (1.0, 1.0): 0.2, (2.0, 0.5): 0.4, (2.0, 1.0): 0.3}
    study = make_study(plan, lambda cell, _: done(points[tuple(dict(cell.point).values())]))
    (table,) = study_tables(study)
    assert table.header == ("gamma / tau", "0.5", "1")
    assert [[cell.text for cell in row] for row in table.blocks[0].rows] == [
        ["1", "10.0 (0.0)", "20.0 (0.0)"],
        ["2", "40.0 (0.0)", "30.0 (0.0)"],
    ]
    assert [cell.mark for cell in table.cells()] == ["", "", "", "", "best", "second"]


def test_two_protocols_have_a_column_each(make_study, done):
    plan = (
        'title = "t"\ndatasets = ["barn"]\nprotocols = ["stratified", "random"]\n'
        "[methods.knn]\n[methods.svm]\n"
    )
    table = study_tables(make_study(plan, lambda cell, trial: done(0.5)))[0]
    assert table.header == ("method", "stratified", "random", "rank")
    assert table.groups == (("barn", 2), ("", 1))


def test_many_ratios_are_columns_and_data_sets_blocks(make_study, done, toy_plan):
    plan = toy_plan.replace("[0.1, 0.01]", "[0.05, 0.2, 0.1, 0.3]")
    study = make_study(
        plan,
        lambda cell, trial: (
            None
            if cell.label_ratio == 0.3 or (cell.dataset == "barn" and cell.label_ratio > 0.05)
            else done(cell.label_ratio)
        ),
        NOT_HERE,
    )
    table = study_tables(study)[0]
    assert [block.label for block in table.blocks] == ["field"]
    assert "Not run yet: barn." in table.caption
    assert table.header == ("method", "5% labels", "10% labels", "20% labels")
    assert cell_of(table, "field", "SVM", "20% labels").text == "20.0 (0.0)"
    assert "Unavailable: sea." in table.caption
