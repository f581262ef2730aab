"""The pages of results say what the stored records say, and nothing else."""

import pytest
import result_pages

PAGES = result_pages.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_is_what_the_records_say(path):
    assert path.read_text() == PAGES[path], "run: python benchmarks/result_pages.py"


def test_every_number_far_from_the_papers_has_its_line():
    lines = result_pages.differences().splitlines()[2:]
    found = result_pages.far_from_paper(result_pages.study_of("accuracy"))
    assert len(lines) == len(found) > 0
