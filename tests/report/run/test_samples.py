"""The data of the table and the cards: compact, safe, and sampled where there are too many."""

import json

import numpy as np
from pages import parts_of

from manyview.report.html.markup import join
from manyview.report.run.facts import describe_samples
from manyview.report.run.samples import listed_rows, sample_document, sample_section


def test_document_holds_every_sample_with_its_state(fitted):
    data, labels, model = fitted
    facts = describe_samples(data, labels, model)
    rows = np.arange(60)
    found = sample_document(facts, rows, rows[:5], reason=lambda row: f"because {row}")
    assert found["ids"] == [str(name) for name in data.sample_ids]
    predicted = [found["classes"][number] for number in found["predictions"]]
    assert predicted == model.transduction_.tolist()
    for row, state in enumerate(found["states"]):
        if labels[row] is not None:
            assert state == ("g" if labels[row] == predicted[row] else "c")
        else:
            assert state == ("r" if data.labels[row] == predicted[row] else "w")
    assert found["reasons"] == {row: f"because {row}" for row in found["reasons"]}
    assert set(found["seconds"]) == set(range(5))


def test_data_cannot_end_its_element(fitted):
    facts = describe_samples(*fitted)
    rows = np.arange(60)
    part = join(*sample_section(facts, rows, rows).parts)
    start = part.index(">") + 1
    inside = str(part)[start : part.index("</script>")]
    assert not set(inside) & set("<>&")
    assert json.loads(inside)["ids"][0] == "<b>0</b>"
    parts_of(part)


def test_too_many_samples_are_drawn_and_the_page_says_so(fitted):
    facts = describe_samples(*fitted)
    needed = np.array([3, 59])
    rows = listed_rows(facts, needed, max_bytes=500)
    assert 2 < len(rows) < 60
    assert set(needed) <= set(rows)
    intro = sample_section(facts, rows, needed).intro
    assert intro.startswith(f"{len(rows)} of 60 samples, drawn at random")
    np.testing.assert_array_equal(listed_rows(facts, needed), np.arange(60))


def test_pictures_are_on_one_sheet(fitted):
    facts = describe_samples(*fitted)
    rows = np.arange(60)
    pixels = np.random.default_rng(0).random((60, 4))
    found = sample_document(facts, rows, rows, pixels=pixels)["pictures"]
    assert found["source"].startswith("data:image/png;base64,")
    assert (found["rows"], found["places"]) == (2, None)
