from manyview.report.compare.text import comparison_text, header, rows, verdict

CLEAR = {"knn": [0.9, 0.91, 0.92, 0.9], "svm": [0.7, 0.72, 0.71, 0.7]}
NOISE = {"knn": [0.9, 0.8, 0.95, 0.85], "random-forest": [0.85, 0.9, 0.84, 0.9]}


def test_verdict_says_what_is_clear(compared):
    assert verdict(compared(CLEAR)[0]) == [
        "knn has the highest mean accuracy, 90.8%.",
        "It is clearly better than svm (p below 0.05).",
    ]


def test_verdict_says_what_is_noise_and_names_the_quickest(compared):
    first, noise, quickest = verdict(compared({"random-forest": NOISE["knn"], "knn": [0.8] * 4})[0])
    assert first.startswith("random-forest has the highest mean")
    assert "The difference to knn is within noise" in noise
    assert quickest == "The quickest of these is knn, 3.50 s per fit."
    assert len(verdict(compared(NOISE)[0])) == 2  # the best is the quickest


def test_rows_have_a_cell_per_column_and_mark_ties(compared):
    found, _ = compared(NOISE, failed={"svm": "it took more than 1 minutes"})
    table = rows(found)
    assert {len(row) for row in table} == {len(header(found))}
    assert table[0][:2] == ("knn", "87.5")
    assert table[1][4].endswith("≈")
    assert "it took more than 1 minutes" in table[2]


def test_text_tells_labels_gaps_notes_and_the_command(compared):
    text = comparison_text(compared(CLEAR, known=True, failed={"mvar": "no reason"})[0], 80, None)
    joined = " ".join(text.split())
    for words in (
        "12 of 60 samples have a label. Each of 4 splits keeps 9 of these labels and hides 3,",
        "mvar: no reason.",
        "Only 3 labels score a split",
        "Nadeau and Bengio",
        "A fit on all 12 labels sees more",
        "--method knn",
    ):
        assert words in joined
    assert max(map(len, text.splitlines()[:-1])) <= 80


def test_text_without_results_says_so(compared):
    text = comparison_text(compared({"knn": []}, n_splits=2)[0], 80, None)
    assert "No method has a result yet." in text
    assert "2 trials; the same command continues." in text
    assert "Next" not in text
