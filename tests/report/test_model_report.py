"""The report of a model that was fitted in Python."""

from html import unescape

import numpy as np
import pytest
from models import manyview, mgcn_dns
from pages import fit_nasty, parts_of

from manyview import METHODS, DataFileError, InputError, MultiView, model_report


@pytest.fixture(scope="module")
def model(shared_views):
    model = manyview(max_epochs=5, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def headings(report):
    return parts_of(report.html).text("h2")


def test_page_has_the_sections_of_a_run(model, shared_views):
    found = headings(model_report(model, y=shared_views.labels))
    assert {"Map", "Views", "Training", "Settings"} <= set(found)
    assert "Confusion" in " ".join(found)


def test_without_labels_nothing_is_scored(model):
    report = model_report(model)
    assert "hidden labels" not in report.html
    assert "Confusion" not in " ".join(headings(report))


def test_page_names_no_files_that_do_not_exist(model):
    page = model_report(model).html
    assert "predictions.csv" not in page
    assert "run.json" not in page
    assert "The model was fitted in Python." in page


def test_title_is_the_given_name_or_the_method(model):
    assert parts_of(model_report(model, name="a <b>").html).text("h1") == ["a <b>"]
    assert parts_of(model_report(model).html).text("h1") == ["manyview"]


def test_labels_of_the_fit_count_where_y_is_unknown(model, shared_views):
    truth = np.where(shared_views.known_labels == -1, shared_views.labels, -1)
    first = model_report(model, y=truth).html
    assert first == model_report(model, y=shared_views.labels).html


def test_labels_with_an_index_are_matched_to_the_samples(tiny_views):
    pd = pytest.importorskip("pandas")
    names = [f"p{number}" for number in range(60)]
    frames = {name: pd.DataFrame(view, index=names) for name, view in tiny_views.views.items()}
    model = mgcn_dns(max_epochs=3, random_state=0).fit(frames, tiny_views.known_labels)
    truth = pd.Series(tiny_views.labels, index=names)
    report = model_report(model, y=truth[::-1])
    assert report.html == model_report(model, y=tiny_views.labels).html
    assert "p59" in report.html


def test_views_add_advice_on_scaling(tiny_views):
    views = {name: view.copy() for name, view in tiny_views.views.items()}
    views["shape"][:, 0] *= 1e4
    model = mgcn_dns(max_epochs=3, random_state=0, scaling="unit")
    model.fit(views, tiny_views.known_labels)
    assert "try scaling" in model_report(model, X=views).html
    assert "try scaling" not in model_report(model).html


def test_other_views_are_refused(model, tiny_views):
    with pytest.raises(InputError, match="X must be the views of the fit"):
        model_report(model, X={"shape": tiny_views.views["shape"]})
    with pytest.raises(InputError, match="X must be the views of the fit"):
        model_report(model, X=MultiView(tiny_views.views)[:5])


@pytest.mark.parametrize("name", ["svm", "random-forest", "amgl", "label-spreading"])
def test_every_kind_of_method_has_a_report(name, tiny_views):
    model = METHODS[name](random_state=0).fit(tiny_views.views, tiny_views.known_labels)
    assert "Settings" in headings(model_report(model, y=tiny_views.labels))


def test_views_that_are_graphs_are_reported(tiny_views):
    shape = tiny_views.views["shape"]
    links = (shape @ shape.T > 5).astype(float)
    views = MultiView({"shape": shape, "links": links}, graphs=["links"])
    model = mgcn_dns(max_epochs=3, random_state=0).fit(views, tiny_views.known_labels)
    assert "links" in model_report(model).html


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    data, _, model = fit_nasty(max_epochs=2)
    report = model_report(model, y=data.labels)
    assert repr(report) == "Report(MGCN-DNS, not saved; call save(path))"
    (frame,) = parts_of(report._repr_html_()).all("iframe")
    assert frame["srcdoc"] == report.html
    assert frame["sandbox"] == "allow-scripts"
    assert not parts_of(report._repr_html_()).all("script")


def test_a_saved_report_is_a_link(model, tmp_path):
    report = model_report(model).save(tmp_path / "a & b.html")
    assert repr(report) == f"Report(manyview, in {tmp_path / 'a & b.html'})"
    (link,) = parts_of(report._repr_html_()).all("a")
    assert unescape(link["href"]).endswith("a & b.html")


def test_a_folder_that_does_not_exist_is_refused_before_the_work(model, tmp_path):
    with pytest.raises(DataFileError, match="no folder"):
        model_report(model, tmp_path / "nowhere" / "report.html")
