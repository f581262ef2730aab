"""The pages of results say what the stored records say, and nothing else."""

from itertools import pairwise
from xml.etree import ElementTree

import daily_use
import pytest
import result_pages

PAGES = result_pages.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_is_what_the_records_say(path):
    assert path.read_text() == PAGES[path], "run: python benchmarks/result_pages.py"


@pytest.mark.parametrize("name", daily_use.TROUBLES)
def test_figure_shows_what_the_records_say(name):
    """The file describes the means it shows; that holds whichever version draws it."""
    trouble = daily_use.TROUBLES[name]
    drawn = trouble.draw()
    assert trouble.figure_file.exists() == (drawn is not None), "run: benchmarks/result_pages.py"
    if drawn is not None:
        tag = "{http://purl.org/dc/elements/1.1/}description"
        (said,) = ElementTree.parse(trouble.figure_file).iter(tag)
        assert said.text == drawn[1], "run: python benchmarks/result_pages.py"


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


def test_samples_that_come_later_are_told_with_the_means_of_the_table():
    told = result_pages.later().split(", ")
    rows = result_pages.new_samples().splitlines()[2:]
    assert len(told) == len(rows) > 0
    for words, row in zip(told, rows, strict=True):
        means = [cell.split()[0] for cell in row.split("|")[2:-1]]
        assert words.startswith(" against ".join(means))
