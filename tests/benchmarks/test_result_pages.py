"""The pages of results show what the stored records hold, and nothing else."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import daily_use
import few_labels
import few_labels_figure
import pytest
import result_pages
from formatting import p_value

PAGES = result_pages.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_shows_the_records(path):
    assert path.read_text() == PAGES[path], "run: python benchmarks/result_pages.py"


@pytest.mark.parametrize("name", daily_use.ROBUSTNESS)
def test_figure_shows_the_records(name):
    """The file describes the means it shows; that holds whichever version draws it."""
    study = daily_use.ROBUSTNESS[name]
    drawn = study.draw()
    assert study.figure_file.exists() == (drawn is not None), "run: benchmarks/result_pages.py"
    if drawn is not None:
        assert described(study.figure_file) == drawn[1], "run: python benchmarks/result_pages.py"


def test_first_figure_shows_the_records():
    _, words = few_labels_figure.draw(result_pages.study_of("few-labels"))
    assert described(result_pages.FIRST_FIGURE) == words, "run: python benchmarks/result_pages.py"


def described(file):
    (found,) = ElementTree.parse(file).iter("{http://purl.org/dc/elements/1.1/}description")
    return found.text


def test_page_of_results_begins_with_the_answer_and_a_figure():
    first, second, third, table = PAGES[result_pages.ROOT / "docs" / "results.md"].split("\n\n")[:4]
    assert first == "# Results"
    assert "highest mean accuracy" in second
    assert "largest losses" in second
    assert third.startswith("![")
    assert table.startswith("| method |")


def test_readme_has_the_numbers_that_the_paper_reports():
    accuracy = result_pages.study_of("accuracy")
    sentence = few_labels.beside_paper(result_pages.study_of("few-labels"), accuracy)
    assert sentence in PAGES[result_pages.ROOT / "README.md"]
    named = re.search(r"With 10% labels, .* mean of (.*?) and ([\w-]+);", sentence)
    names = [*named[1].split(", "), named[2]]
    reported = [accuracy.plan.paper[name]["mgcn-dns"][0.1][0] for name in names]
    assert f"With 10% labels, the paper reports {sum(reported) / len(reported):.1f} " in sentence


def test_tables_of_many_rows_are_behind_folds():
    for path, text in PAGES.items():
        if path.name != "README.md":
            shown = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
            for block in shown.split("\n\n"):
                assert not block.startswith("|") or block.count("\n") < 20, block


def test_no_p_value_is_zero():
    assert not any("0.000" in text for text in PAGES.values())
    assert p_value(0.0004) == "p < 0.001"
    assert p_value(0.0006) == "p = 0.001"
    assert p_value(0.041, digits=2) == "p = 0.04"


def test_every_number_far_from_the_papers_has_its_line():
    lines = result_pages.differences().splitlines()[2:]
    found = result_pages.far_from_paper(result_pages.study_of("accuracy"))
    assert len(lines) == len(found) > 0


def test_cells_that_have_run_are_counted_as_the_table_shows_them():
    text = result_pages.what_has_run("gamma-tau")
    lines = [*result_pages.markdown("gamma-tau").splitlines(), ""]
    n_shown = 0
    for line, following in pairwise(lines):
        is_head = "---" in line or "---" in following
        if line[:1] == "|" and not is_head:
            n_shown += sum(cell.strip() != "" for cell in line.split("|")[2:-1])
    assert f" {n_shown} have run" in text


def test_new_samples_are_described_with_the_means_of_the_table():
    parts = result_pages.new_samples_sentence().split(", ")
    rows = result_pages.new_samples().splitlines()[2:]
    assert len(parts) == len(rows) > 0
    for words, row in zip(parts, rows, strict=True):
        means = [cell.split()[0] for cell in row.split("|")[2:-1]]
        assert words.startswith(" against ".join(means))
