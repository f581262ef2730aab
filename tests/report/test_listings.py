from manyview.data.catalog.cards import CATALOG
from manyview.methods import METHODS
from manyview.report.layout import set_table
from manyview.report.listings import (
    CATALOG_ALIGN,
    CATALOG_HEADER,
    card_document,
    card_text,
    catalog_rows,
    method_document,
    methods_text,
    shown_params,
)


def test_catalog_has_one_line_per_data_set():
    rows = catalog_rows([(card, card.name == "digits") for card in CATALOG.values()])
    lines = set_table(CATALOG_HEADER, rows, CATALOG_ALIGN).splitlines()
    assert len(lines) == 1 + len(CATALOG)
    assert lines[0].split() == [
        "name",
        "in",
        "the",
        "paper",
        "samples",
        "features",
        "classes",
        "found",
    ]
    assert lines[-1].split() == ["digits", "-", "1,797", "64/33/72/16/25", "10", "yes"]
    assert any("1870 + 2 graphs" in line and line.endswith("no") for line in lines)
    assert max(map(len, lines)) <= 80


def test_card_shows_every_detail():
    text = card_text(CATALOG["mnist"], here=False, width=100)
    assert (
        text
        == """\
Name          mnist: MNIST, 2,000 digits
In the paper  MNIST
Samples       2,000 digit images, 10 classes
Features      30/9/9
Views         isoprojection, lda, lda copy
Source        http://yann.lecun.com/exdb/mnist
Defects       View 2 (LDA) was fitted with all labels, so it leaks them: every result on it is too
              good.
              View 3 is a copy of view 2; the paper calls it neighborhood preserving embedding.
File          MNIST.mat, not found: set MANYVIEW_DATA or --data-dir
SHA-256       287d2ed050b3fbe591ec0e2effe725d23b0f3a4d5c7c4583f9ddbd8cc60b1b94"""
    )


def test_card_names_what_is_unknown():
    lines = card_text(CATALOG["youtube"], here=True, width=100).splitlines()
    assert "File          Youtube.mat" in lines
    assert "SHA-256       unknown" in lines
    assert lines[-1] == "Git blob      c7e100ce4eda3ce5a47f686c33b31540245bc993"


def test_graphs_are_counted_with_and_without_features():
    cells = {row[0]: row for row in catalog_rows((one, True) for one in CATALOG.values())}
    assert "6 graphs" in cells["nus-wide-graphs"]
    assert "4714 + 1 graph" in cells["facebook-pages"]


def test_card_of_computed_data_needs_no_file():
    assert "File          computed, needs no file" in card_text(CATALOG["digits"], True, width=100)


def test_document_has_every_field():
    document = card_document(CATALOG["digits"], here=True)
    assert document["here"] is True
    assert document["n_features"] == (64, 33, 72, 16, 25)
    assert document["defects"] == ()


def test_every_method_is_listed_with_paper_year_cost_defaults_and_new_samples():
    text = methods_text(METHODS.values(), width=100)
    flat = " ".join(text.split())
    for name, method in METHODS.items():
        assert f"\n{name} " in f"\n{text}"
        assert f"{method.card.year}." in flat
        assert " ".join(method.card.cost.split()) in flat
    assert flat.count("New samples: yes") == sum(m.is_inductive() for m in METHODS.values())
    assert "n_neighbors=5" in flat
    assert "random_state" not in text


def test_document_holds_the_defaults():
    document = method_document(METHODS["amgl"])
    assert document["name"] == "amgl"
    assert document["is_inductive"] is False
    assert document["takes_graphs"] is True
    assert document["defaults"]["n_neighbors"] == 5


def test_nested_parameters_are_listed_by_path_without_seeds_and_devices():
    params = shown_params(METHODS["manyview"]().get_params())
    assert {"max_iter", "estimator__hidden", "graph__n_neighbors"} <= set(params)
    assert not {"estimator", "graph", "random_state", "estimator__device"} & set(params)
