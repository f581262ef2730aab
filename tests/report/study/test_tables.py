import csv
import re
from io import StringIO

import pytest

from manyview.errors import InputError
from manyview.report.study.comparison import ranked
from manyview.report.study.formats import escape_latex, tables_as
from manyview.report.study.results import METRICS, far_from_paper, study_results
from manyview.report.study.table import Notes
from manyview.report.study.tables import study_tables

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
def study(make_study, done):
    """Six cells of three seeds; one failed, one short of a seed, one not run."""

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


def cell_of(table, label, row, column):
    block = next(block for block in table.blocks if block.label == label)
    line = next(line for line in block.rows if line[0].text == row)
    return line[table.header.index(column)]


def test_main_table_has_a_block_a_ratio_and_a_column_a_data_set_here(study):
    table = study_tables(study)[0]
    assert [block.label for block in table.blocks] == ["1 % labels", "10 % labels"]
    assert table.header == ("method", "barn", "field", "rank")
    assert [row[0].text for row in table.blocks[0].rows] == ["KNN", "SVM", "MGCN-DNS"]
    assert "Not here: sea." in table.caption


def test_cell_has_mean_and_deviation_in_percent(study):
    cell = cell_of(study_tables(study)[0], "10 % labels", "MGCN-DNS", "barn")
    assert cell.text == "91.0 (1.0)"
    assert cell.value == pytest.approx(91.0)
    assert cell.mark == "best"


def test_failed_cell_is_a_dash_with_its_reason(study):
    table = study_tables(study)[0]
    cell = cell_of(table, "10 % labels", "SVM", "field")
    assert cell.text == "-"
    assert dict(table.notes)[cell.note] == "out of memory, it took more than 6 GB of memory"


def test_cell_short_of_seeds_says_so(study):
    table = study_tables(study)[0]
    cell = cell_of(table, "1 % labels", "SVM", "barn")
    assert cell.text == "60.5 (0.7)"
    assert dict(table.notes)[cell.note] == "2 of 3 seeds; 1 failed: no class was left"


def test_cell_not_run_is_empty(study):
    table = study_tables(study)[0]
    cell = cell_of(table, "1 % labels", "MGCN-DNS", "field")
    assert (cell.text, cell.mark, cell.note) == ("", "", "")
    assert "An empty cell has not been run." in table.caption


def test_ranks_are_averaged_over_common_columns_only(study):
    table = study_tables(study)[0]
    ranks = [cell_of(table, "10 % labels", name, "rank").text for name in ("KNN", "MGCN-DNS")]
    assert ranks == ["3.0", "1.0"]
    assert any("Rank: average over the one column" in sentence for sentence in table.caption)


def test_paper_stands_beside_ours_and_alone_where_data_are_not_here(study):
    table = study_tables(study)[1]
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


def test_differences_from_the_paper_come_widest_first(study):
    assert far_from_paper(study, 5.0) == []
    found = far_from_paper(study, 0.5)
    assert [(one.dataset, one.entry, round(one.difference, 6)) for one in found] == [
        ("barn", "knn", 1.0)
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


def test_what_a_test_cannot_tell_from_the_best_is_tied(make_study, done):
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
    assert "too few data sets" in few.sentence()


def test_less_is_better_for_time(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\n[methods.knn]\n[methods.svm]\n'
    seconds = {"knn": 2.0, "svm": 1.0}
    study = make_study(plan, lambda cell, trial: done(0.5, seconds=seconds[cell.entry]))
    table = study_tables(study, "seconds")[0]
    assert [row[1].mark for row in table.blocks[0].rows] == ["second", "best"]


def test_grid_of_one_parameter_has_a_row_a_value(make_study, done):
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


def test_text_fits_the_width_it_is_given(study):
    for width in (40, 80, 120):
        assert max(map(len, tables_as(study, width=width).splitlines())) <= width


def test_text_names_a_data_set_again_where_its_columns_are_set_below(study):
    below = tables_as(study, width=30).split("ours beside the paper's")[1]
    assert below.count("barn") == 4  # ours and the paper's, with both shares of labels


def test_text_says_what_its_marks_mean(study):
    text = tables_as(study, width=100)
    assert "*91.0 (1.0)" in text
    assert "*: best. +: second best." in text
    assert "[a] 2 of 3 seeds; 1 failed: no class was left." in text


def test_csv_has_a_row_a_cell_in_full_precision(study):
    rows = list(csv.DictReader(StringIO(tables_as(study, "csv"))))
    assert len(rows) == 18
    found = {(row["dataset"], row["entry"], row["label_ratio"]): row for row in rows}
    assert float(found["barn", "svm", "0.01"]["mean"]) == pytest.approx(60.5)
    assert found["barn", "svm", "0.01"]["n_failed"] == "1"
    assert found["field", "svm", "0.1"]["mean"] == ""
    assert "6 GB" in found["field", "svm", "0.1"]["reason"]
    assert found["sea", "knn", "0.1"]["paper_mean"] == "55.5"
    assert found["sea", "knn", "0.1"]["reason"] == "sea is not here."


def test_markdown_rows_have_one_number_of_cells(study):
    blocks = re.findall(r"(?:^\|.*\|\n)+", tables_as(study, "markdown"), re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def latex_columns(row: str) -> int:
    spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
    return len(re.findall(r"(?<!\\)&", row)) + 1 + spans


def test_latex_is_balanced_and_every_row_is_whole(study):
    text = tables_as(study, "latex")
    for tabular in re.findall(r"\\begin\{tabular\}\{(lr*)\}(.*?)\\end\{tabular\}", text, re.S):
        columns, body = tabular
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert {latex_columns(row) for row in rows} == {len(columns)}
    unescaped = re.sub(r"\\[{}]", "", text)
    assert unescaped.count("{") == unescaped.count("}")
    assert text.count(r"\begin") == text.count(r"\end")
    assert r"\textbf{91.0 (1.0)}" in text


ODD = r"50 % of a_b & {c} <i> | $x^2$ # \n ~ `q` *s*"
ODD_PLAN = f"""
title = '{ODD}'
datasets = ["barn"]
[methods.odd]
method = "knn"
title = '{ODD}'
[methods.svm]
"""


@pytest.fixture
def odd_study(make_study, done):
    failed = {"status": "failed", "reason": f"{ODD}\nand more"}
    return make_study(ODD_PLAN, lambda cell, _: failed if cell.entry == "odd" else done(0.5))


def test_latex_escapes_all_that_is_special(odd_study):
    text = tables_as(odd_study, "latex")
    assert (
        r"50 \% of a\_b \& \{c\} \textless{}i\textgreater{} \textbar{} \$x\textasciicircum{}2\$ \#"
        in text
    )
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {latex_columns(row) for row in rows} == {2}


def test_markdown_escapes_all_that_is_special(odd_study):
    text = tables_as(odd_study, "markdown")
    assert r"50 % of a\_b & {c} \<i\> \| $x^2$ \# \\n ~ \`q\` \*s\*" in text
    assert "\nand more" not in text


def test_escaped_latex_keeps_plain_text():
    assert escape_latex("HLR-M2VS 88.1 (0.4)") == "HLR-M2VS 88.1 (0.4)"


def test_footnotes_count_on_after_z():
    notes = Notes()
    letters = [notes.letter(str(n)) for n in range(28)]
    assert letters[:2] == ["a", "b"]
    assert letters[25:] == ["z", "aa", "ab"]
    assert notes.letter("0") == "a"


@pytest.mark.parametrize("name", ["text", "markdown", "latex"])
def test_study_without_a_record_has_empty_tables(make_study, name):
    study = make_study(PLAN, lambda cell, trial: None, NOT_HERE)
    text = tables_as(study, name)
    assert "MGCN-DNS" in text
    assert "55.5" in text


def test_unknown_format_and_metric_are_refused(study):
    with pytest.raises(InputError, match="format must be one of"):
        tables_as(study, "excel")
    with pytest.raises(InputError, match="metric must be one of"):
        tables_as(study, metric="speed")


def test_many_ratios_are_columns_and_data_sets_blocks(make_study, done):
    plan = PLAN.replace("[0.1, 0.01]", "[0.05, 0.2, 0.1, 0.3]")
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
    assert table.header == ("method", "5 % labels", "10 % labels", "20 % labels")
    assert cell_of(table, "field", "SVM", "20 % labels").text == "20.0 (0.0)"
    assert "Not here: sea." in table.caption
