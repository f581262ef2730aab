"""The list of methods."""

from manyview.methods import METHODS
from manyview.report.listings import method_document, methods_text


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
