from manyview.data.catalog.cards import CATALOG
from manyview.report.listings import card_document, card_text, catalog_text


def test_catalog_has_one_line_a_data_set():
    lines = catalog_text([(card, card.name == "digits") for card in CATALOG.values()]).splitlines()
    assert len(lines) == 1 + len(CATALOG)
    assert lines[0].split() == [
        "name",
        "in",
        "the",
        "paper",
        "samples",
        "features",
        "classes",
        "here",
    ]
    assert lines[-1].split() == ["digits", "-", "1,797", "64/33/72/16/25", "10", "yes"]
    assert any("1870 + 2 graphs" in line and line.endswith("no") for line in lines)
    assert max(map(len, lines)) <= 80


def test_card_is_told_whole():
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
File          MNIST.mat, not here: set MANYVIEW_DATA or --data-dir
SHA-256       287d2ed050b3fbe591ec0e2effe725d23b0f3a4d5c7c4583f9ddbd8cc60b1b94"""
    )


def test_card_tells_what_is_not_known():
    lines = card_text(CATALOG["youtube"], here=True, width=100).splitlines()
    assert "File          Youtube.mat" in lines
    assert "SHA-256       not known" in lines


def test_card_of_computed_data_needs_no_file():
    assert "File          computed, needs no file" in card_text(CATALOG["digits"], True, width=100)


def test_document_has_every_field():
    document = card_document(CATALOG["digits"], here=True)
    assert document["here"] is True
    assert document["n_features"] == (64, 33, 72, 16, 25)
    assert document["defects"] == ()
