"""Sections on a run's predictions: how sure, which classes, which mix-ups, and the map."""

import numpy as np

from manyview.report.html.markup import Html
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.run.facts import NO_CLASS, SampleFacts, map_places
from manyview.report.svg.charts import LEAN, Series, bars, histogram
from manyview.report.svg.heat_map import heat_map
from manyview.report.svg.scatter import MOST_POINTS, Points, sampled, scatter_map

BANDS = {
    "below 0.5": 0.0,
    "0.5 to 0.7": 0.5,
    "0.7 to 0.9": 0.7,
    "0.9 to 0.99": 0.9,
    "above 0.99": 0.99,
}
MOST_BARS = 30
MOST_CONFUSED = 40  # classes of a confusion that is still drawn
N_MIX_UPS = 10


def sureness_section(facts: SampleFacts) -> Section:
    """Show how the probabilities are spread, and the graph's confidence where there is one."""
    counted = facts.is_open if facts.is_open.any() else np.ones_like(facts.is_open)
    scored = facts.is_scored
    intro = "The probability the method gives its own prediction."
    if scored.any():
        intro += _calibration(facts)
    charts = [_probability_bars(facts, counted)]
    if facts.confidence is not None:
        groups = {"samples": facts.confidence}
        if scored.any():
            groups = {
                "right": facts.confidence[scored & facts.is_right],
                "wrong": facts.confidence[scored & ~facts.is_right],
            }
        charts.append(
            histogram(
                "Confidence in the graph",
                groups,
                x_name="confidence",
                description=f"Median {np.median(facts.confidence):.2f} over all samples.",
                span=(0.0, 1.0),
            )
        )
        intro += (
            " Confidence is about the sample's place in the graph: samples with weak edges rank "
            "low, and node selection weakens their edges further."
        )
    return section("How sure", side_by_side(*charts), intro=intro)


def class_section(facts: SampleFacts) -> Section:
    """Tell the size of every class, and how well it was found where that is known."""
    n_classes = facts.n_known_classes
    given = np.bincount(facts.given[~facts.is_open], minlength=len(facts.names))
    found = np.bincount(facts.predictions[facts.is_open], minlength=len(facts.names))
    columns = [Column("class"), Column("given", True), Column("found", True)]
    columns.append(Column("probability", True, "median of the predictions"))
    has_truth = bool(facts.is_scored.any())
    if has_truth:
        columns += [
            Column("true", True, "unlabeled samples that are truly of the class"),
            Column("recall", True, "share of these that were found"),
            Column("precision", True, "share of those found that are truly of the class"),
        ]
    confusion = facts.confusion()
    rows = []
    for number, name in enumerate(facts.names):
        of_class = facts.is_open & (facts.predictions == number)
        row: list[object] = [name, f"{given[number]:,}", f"{found[number]:,}"]
        row.append(f"{np.median(facts.probabilities[of_class]):.2f}" if of_class.any() else "")
        if has_truth:
            hits, true = confusion[number, number], confusion[number].sum()
            predicted = confusion[:, number].sum()
            row += [f"{true:,}", _percent(hits, true), _percent(hits, predicted)]
        rows.append(row)
    listed = table(
        "Classes", columns, rows, filterable=len(rows) > 15, n_first=20 if len(rows) > 24 else None,
        hide_caption=True,
    )  # fmt: skip
    drawn = Html()
    if n_classes <= MOST_BARS:
        drawn = bars(
            "Samples by class",
            facts.names[:n_classes],
            [
                Series("found", found[:n_classes].tolist()),
                Series("given", given[:n_classes].tolist()),
            ],
            description=f"From {min(found[:n_classes]):,} to {max(found[:n_classes]):,} found.",
            stacked=True,
            width=LEAN,
        )
    intro = "Given labels, and labels found for the other samples."
    return section("Classes", side_by_side(drawn, listed, lean=True), intro=intro)


def confusion_section(facts: SampleFacts) -> Section | None:
    """Show which classes are taken for which, on labels the method did not see."""
    if not facts.is_scored.any():
        return None
    counts = facts.confusion()
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals, 1)[:, None]
    drawn = Html()
    if len(facts.names) <= MOST_CONFUSED:
        names = facts.names
        drawn = heat_map(
            "True class by prediction",
            shares,
            names,
            names,
            axes=("true class", "prediction"),
            texts=[[f"{count:,}" if count else "" for count in row] for row in counts.tolist()],
            tips=[
                [
                    f"{f'{true} found' if i == j else f'{true} taken for {prediction}'}\n"
                    f"{counts[i, j]:,} of {totals[i]:,} ({shares[i, j]:.1%})"
                    for j, prediction in enumerate(names)
                ]
                for i, true in enumerate(names)
            ],
            description="Rows: true classes; columns: predictions; shade: share of the row.",
            is_confusion=True,
        )  # fmt: skip
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:N_MIX_UPS]
    pairs = [divmod(int(place), len(facts.names)) for place in order if wrong.flat[place]]
    listed = Html()
    if pairs:
        listed = table(
            "Most frequent mix-ups",
            [
                Column("true class"),
                Column("taken for"),
                Column("samples", True),
                Column("share", True),
            ],
            [
                [facts.names[i], facts.names[j], f"{counts[i, j]:,}", f"{shares[i, j]:.1%}"]
                for i, j in pairs
            ],
        )
    n_scored, n_wrong = int(counts.sum()), int(wrong.sum())
    intro = (
        f"{n_wrong:,} of {n_scored:,} predictions differ from the labels the method did not see."
    )
    return section("Mix-ups", side_by_side(drawn, listed), intro=intro)


def map_section(facts: SampleFacts) -> Section:
    """Draw the samples on a plane."""
    places, share = map_places(facts.distributions)
    rows = sampled(len(places))
    scored = facts.is_scored
    tips = [_sample_tip(facts, row) for row in rows.tolist()]
    low = float(facts.probabilities.min())
    points = Points(
        places=places[rows],
        groups=facts.predictions[rows],
        names=facts.names[: facts.n_known_classes],
        levels=(facts.probabilities[rows] - low) / ((1 - low) or 1.0),
        tips=tips,
        is_given=~facts.is_open[rows],
        is_wrong=(scored & ~facts.is_right)[rows] if scored.any() else None,
    )
    intro = (
        "Samples that the method describes alike lie close together. The plane shows the two main "
        f"directions of the logits, {share:.0%} of their variance. Rings are given labels."
    )
    note = ""
    if len(places) > MOST_POINTS:
        note = f"{len(rows):,} of {len(places):,} samples, drawn at random."
    drawn = scatter_map(
        "Map of the samples",
        points,
        description="Each point is a sample; the table of classes and the list of samples to check "
        "hold the same facts as text.",
        note=note,
    )
    return section("Map", drawn, intro=intro)


def _probability_bars(facts: SampleFacts, counted: np.ndarray) -> Html:
    band = np.digitize(facts.probabilities, list(BANDS.values())[1:])

    def sizes(which: np.ndarray) -> np.ndarray:
        return np.bincount(band[which], minlength=len(BANDS))

    scored = counted & facts.is_scored
    right, wrong, open_ = (
        sizes(scored & facts.is_right),
        sizes(scored & ~facts.is_right),
        sizes(counted & ~scored),
    )
    if not scored.any():
        series, remarks = [Series("samples", open_.tolist())], None
    else:
        series = [Series("right", right.tolist()), Series("wrong", wrong.tolist())]
        if open_.any():
            series.append(Series("not known", open_.tolist()))
        known = right + wrong
        remarks = [
            f"{rounded(r / n)} right" if n else "" for r, n in zip(right, known, strict=True)
        ]
    total = sizes(counted)
    return bars(
        "Probability of the prediction",
        list(BANDS),
        series,
        description=", ".join(f"{name}: {n:,}" for name, n in zip(BANDS, total, strict=True)) + ".",
        stacked=True,
        remarks=remarks,
    )


def _calibration(facts: SampleFacts) -> str:
    """Say how often predictions of 0.9 or more are right, and the others."""
    sure = facts.is_scored & (facts.probabilities >= 0.9)
    unsure = facts.is_scored & (facts.probabilities < 0.9)
    if not (sure.any() and unsure.any()):
        return ""
    return (
        f" Of the predictions at 0.9 or more, {rounded(facts.is_right[sure].mean())} are right; of "
        f"the others, {rounded(facts.is_right[unsure].mean())}."
    )


def _sample_tip(facts: SampleFacts, row: int) -> str:
    lines = [
        f"{facts.ids[row]}",
        f"{facts.names[facts.predictions[row]]}, {facts.probabilities[row]:.2f}",
    ]
    if facts.given[row] != NO_CLASS:
        lines.append(f"given: {facts.names[facts.given[row]]}")
    elif facts.truth[row] not in (NO_CLASS, facts.predictions[row]):
        lines.append(f"truth: {facts.names[facts.truth[row]]}")
    return "\n".join(lines)


def rounded(share: float) -> str:
    """Write a share in whole percent, with a decimal where it would look like all or nothing.

    Examples
    --------
    >>> rounded(0.934), rounded(0.997), rounded(1.0)
    ('93%', '99.7%', '100%')
    """
    return f"{share:.1%}" if share not in (0, 1) and round(share, 2) in (0, 1) else f"{share:.0%}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
