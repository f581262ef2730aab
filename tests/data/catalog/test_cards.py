"""Cards: complete, and those of the paper first."""

from pathlib import Path

import pytest

from manyview.data.catalog.cards import CATALOG
from manyview.experiments.plan import load_plan, plan_names
from manyview.report.listings import features_text

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
        "nus-wide-graphs",
        "mnist-70k",
        "cifar10",
        "kdd99",
        "facebook-pages",
        "digits",
    }


def test_every_file_has_a_checksum():
    for card in CATALOG.values():
        assert (card.sha256 is None) != (card.git_blob is None), card.name
        assert len(card.sha256 or card.git_blob) == (64 if card.sha256 else 40)


def test_graphs_of_nus_wide_come_with_a_warning_and_count_in_no_average():
    assert [name for name, card in CATALOG.items() if not card.in_averages] == ["nus-wide-graphs"]
    words = " ".join(CATALOG["nus-wide-graphs"].defects)
    for fact in ("six graphs", "no features", "inferred from the order", "no average"):
        assert fact in words


def test_large_sets_and_graphs_of_nus_wide_are_in_no_plan_of_ours():
    new = {"nus-wide-graphs", "mnist-70k", "cifar10", "kdd99", "facebook-pages"}
    for name in plan_names():
        plan = load_plan(name)
        assert not new & {*plan.datasets, *(one for e in plan.entries for one in e.datasets)}


def test_reference_lists_every_data_set_with_its_facts():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "data.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{card.name}` | {card.n_samples:,} | {features_text(card)} | {card.n_classes} | "
        f"{card.kind} | {f'`{card.file}`' if card.file else 'none'} |"
        for card in CATALOG.values()
    ]
