import re

from manyview.report.compare.page import comparison_page
from manyview.report.compare.text import verdict

NOISE = {"knn": [0.9, 0.8, 0.95, 0.85], "svm": [0.85, 0.9, 0.84, 0.9]}


def test_page_opens_with_the_verdict_and_has_every_method(compared):
    found, study = compared(NOISE, failed={"mvar": "<no> memory"})
    page = comparison_page(found, study)
    assert verdict(found)[0] in page
    for method in ("knn", "svm", "mvar"):
        assert re.search(rf"<th[^>]*>(<[^>]*>)*{method}", page)
    assert "&lt;no&gt; memory" in page
    assert "<no>" not in page
    assert found.command.split("shapes.npz")[1] in page
    assert page.count("<svg") == 1


def test_page_without_results_is_written(compared):
    found, study = compared({"knn": []}, n_splits=2)
    page = comparison_page(found, study)
    assert "No method has a result yet." in page
    assert "<svg" not in page


def test_page_loads_nothing(compared):
    page = comparison_page(*compared(NOISE))
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="http', page)
