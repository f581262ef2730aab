import csv
import re
from io import StringIO

import pytest

from manyview.errors import InputError
from manyview.report.study.formats import escape_latex, tables_as

ODD = r"50 % of a_b & {c} <i> | $x^2$ # \n ~ `q` *s*"
ODD_PLAN = f"""
title = '{ODD}'
datasets = ["barn"]
[methods.odd]
method = "knn"
title = '{ODD}'
[methods.svm]
"""


def test_text_fits_the_width_it_is_given(toy_study):
    for width in (40, 80, 120):
        assert max(map(len, tables_as(toy_study, width=width).splitlines())) <= width


def test_text_names_a_data_set_again_where_its_columns_are_set_below(toy_study):
    below = tables_as(toy_study, width=30).split("our results and the paper's")[1]
    assert below.count("barn") == 4  # ours and the paper's, with both label ratios


def test_text_explains_its_marks(toy_study):
    text = tables_as(toy_study, width=100)
    assert "*91.0 (1.0)" in text
    assert "*: best. +: second best." in text
    assert "[a] 2 of 3 seeds; 1 failed: no class was left." in text


def test_csv_has_one_row_per_cell_in_full_precision(toy_study):
    rows = list(csv.DictReader(StringIO(tables_as(toy_study, "csv"))))
    assert len(rows) == 18
    found = {(row["dataset"], row["entry"], row["label_ratio"]): row for row in rows}
    assert float(found["barn", "svm", "0.01"]["mean"]) == pytest.approx(60.5)
    assert found["barn", "svm", "0.01"]["n_failed"] == "1"
    assert found["field", "svm", "0.1"]["mean"] == ""
    assert "6 GB" in found["field", "svm", "0.1"]["reason"]
    assert found["sea", "knn", "0.1"]["paper_mean"] == "55.5"
    assert found["sea", "knn", "0.1"]["reason"] == "sea is not here."


def test_markdown_rows_have_one_number_of_cells(toy_study):
    blocks = re.findall(r"(?:^\|.*\|\n)+", tables_as(toy_study, "markdown"), re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def latex_columns(row: str) -> int:
    spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
    return len(re.findall(r"(?<!\\)&", row)) + 1 + spans


def test_latex_is_balanced_and_every_row_is_whole(toy_study):
    text = tables_as(toy_study, "latex")
    for tabular in re.findall(r"\\begin\{tabular\}\{(lr*)\}(.*?)\\end\{tabular\}", text, re.S):
        columns, body = tabular
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert {latex_columns(row) for row in rows} == {len(columns)}
    unescaped = re.sub(r"\\[{}]", "", text)
    assert unescaped.count("{") == unescaped.count("}")
    assert text.count(r"\begin") == text.count(r"\end")
    assert r"\textbf{91.0 (1.0)}" in text


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


@pytest.mark.parametrize("name", ["text", "markdown", "latex"])
def test_study_without_a_record_has_empty_tables(make_study, toy_plan, name):
    study = make_study(toy_plan, lambda cell, trial: None, {"sea": "sea is not here."})
    text = tables_as(study, name)
    assert "MGCN-DNS" in text
    assert "55.5" in text


def test_unknown_format_and_metric_are_refused(toy_study):
    with pytest.raises(InputError, match="format must be one of"):
        tables_as(toy_study, "excel")
    with pytest.raises(InputError, match="metric must be one of"):
        tables_as(toy_study, metric="speed")
