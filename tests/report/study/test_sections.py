from pages import parts_of

from manyview.report.html.markup import join
from manyview.report.study.sections import (
    difference_section,
    gap_section,
    reproduce_section,
    settings_section,
    table_section,
)
from manyview.report.study.tables import study_tables


def parts(section):
    return parts_of(join(*section.parts))


def test_tables_mark_the_best_and_explain_footnotes(toy_study):
    shown = parts(table_section(study_tables(toy_study), None))
    assert "91.0 (1.0)" in shown.text("b")
    assert shown.text("summary") == ["Our results and the paper's"]
    notes = [found["data-tip"] for found in shown.all("span", class_="warm")]
    assert "2 of 3 seeds; 1 failed: no class was left" in notes
    assert shown.text("th")[:2] == ["method", "rank"]


def test_differences_are_listed_beyond_five_points(compared_study, toy_study):
    shown = difference_section(compared_study)
    assert shown.intro == "One mean differs from the paper's by more than 5 points."
    assert parts(shown).text("td") == ["KNN", "10%", "70.5", "80.0", "-9.5"]
    assert difference_section(toy_study).intro.startswith("No mean differs")


def test_gaps_name_unavailable_data_and_failed_seeds(toy_study):
    shown = gap_section(toy_study)
    assert shown.intro == "Failed trials: 4. Unavailable data sets: 1."
    assert "sea: sea is not here." in parts(shown).text("p")
    assert "0, 1, 2" in parts(shown).text("div")


def test_study_without_gaps_has_no_section_for_them(make_study, done):
    plan = 'title = "t"\ndatasets = ["barn"]\n[methods.knn]\n'
    assert gap_section(make_study(plan, lambda cell, trial: done(0.5))) is None


def test_settings_list_changes_and_defaults(make_study):
    plan = 'title = "t"\ndatasets = ["barn"]\nseeds = [0]\n[methods.knn]\n'
    plan += "params = { n_neighbors = 7 }\n[methods.mgcn-dns]\ngrid = { tau = [0.5, 1.0] }\n"
    shown = parts(settings_section(make_study(plan, lambda cell, trial: None)))
    cells = " ".join(shown.text("td"))
    assert "n_neighbors = 7" in cells
    assert "tau in 0.5, 1" in cells
    assert {"n_neighbors", "hidden"} <= set(shown.text("th"))


def test_commands_and_versions_are_given(toy_study):
    shown = parts(reproduce_section(toy_study))
    (code,) = shown.text("code")
    assert code.splitlines()[0] == f"manyview bench run toy.toml --out {toy_study.store.folder}"
    assert "3.11.0" in shown.text("td")
