"""Cards: complete, and those of the paper first."""

import pytest

from manyview.data.catalog.cards import CATALOG

PAPER_SETS = [
    "bbcnews",
    "bbcsports",
    "mnist",
    "mnist-10k",
    "caltech101-7",
    "caltech101-all",
    "nus-wide",
    "youtube",
]


@pytest.mark.parametrize("name", CATALOG)
def test_card_is_complete(name):
    card = CATALOG[name]
    assert card.name == name == name.casefold()
    assert card.title
    assert card.kind
    assert card.source
    assert min(card.n_samples, card.n_classes, *card.n_features) > 1
    assert not card.view_names or len(card.view_names) == len(card.n_features)
    assert all(sentence.endswith(".") for sentence in card.defects)


def test_catalog_holds_the_papers_eight_and_the_others():
    assert [name for name in CATALOG if CATALOG[name].paper_name] == PAPER_SETS
    assert set(CATALOG) - set(PAPER_SETS) == {
        "caltech101-20",
        "3sources",
        "reuters-1200",
        "scene-15",
        "rosmap",
        "acm3025",
        "digits",
    }
