"""Sections on a run's predictions: probabilities, classes, confusions and the map."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from manyview.report.html.markup import element, join
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.run.facts import NO_CLASS, SampleFacts, map_places
from manyview.report.svg.charts import LEAN, Series, bars, histogram
from manyview.report.svg.heat_map import heat_map
from manyview.report.svg.scatter import Points, scatter_map

BANDS = {
    "below 0.5": 0.0,
    "0.5 to 0.7": 0.5,
    "0.7 to 0.9": 0.7,
    "0.9 to 0.99": 0.9,
    "above 0.99": 0.99,
}
MAX_BARS = 30
MAX_CONFUSED = 40  # classes up to which the confusion matrix is drawn
N_CONFUSIONS = 10


def probability_section(facts: SampleFacts) -> Section:
    """Show the distribution of probabilities, and of node confidence where there is one."""
    scored = facts.is_scored
    intro = f"The probability of each prediction.{_accuracy_words(facts)}"
    charts = [_probability_bars(facts)]
    if facts.confidence is not None:
        groups = {"samples": facts.confidence}
        if scored.any():
            groups = {
                "right": facts.confidence[scored & facts.is_right],
                "wrong": facts.confidence[scored & ~facts.is_right],
            }
        charts.append(
            histogram(
                "Node confidence",
                groups,
                x_name="confidence",
                description=f"The median over all samples is {np.median(facts.confidence):.2f}.",
                span=(0.0, 1.0),
            )
        )
        intro += (
            " Node confidence ranks samples by their edges: samples with weak edges rank low, and "
            "node selection weakens their edges further."
        )
    return section("Probabilities", side_by_side(*charts), intro=intro)


def class_section(facts: SampleFacts) -> Section:
    """List the size of every class, with recall and precision where the truth is known."""
    n_classes = facts.n_known_classes
    given = np.bincount(facts.given[~facts.is_open], minlength=len(facts.names))
    found = np.bincount(facts.predictions[facts.is_open], minlength=len(facts.names))
    columns = [Column("class"), Column("given", True), Column("found", True)]
    columns.append(Column("probability", True, "median of the predictions"))
    has_truth = bool(facts.is_scored.any())
    if has_truth:
        columns += [
            Column("true", True, "unlabeled samples of this class"),
            Column("recall", True, "fraction of these that were found"),
            Column("precision", True, "fraction of those found that are of this class"),
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
    drawn = None
    if n_classes <= MAX_BARS:
        drawn = bars(
            "Samples per class",
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
    """Compare predictions with labels that the method did not see."""
    if not facts.is_scored.any():
        return None
    counts = facts.confusion()
    totals = counts.sum(axis=1)
    rates = counts / np.maximum(totals, 1)[:, None]
    drawn = None
    if len(facts.names) <= MAX_CONFUSED:
        names = facts.names
        drawn = heat_map(
            "Confusion matrix",
            rates,
            names,
            names,
            axes=("true class", "prediction"),
            texts=[[f"{count:,}" if count else "" for count in row] for row in counts.tolist()],
            tips=[
                [
                    f"{f'{true} found' if i == j else f'{true} predicted as {prediction}'}\n"
                    f"{counts[i, j]:,} of {totals[i]:,} ({rates[i, j]:.1%})"
                    for j, prediction in enumerate(names)
                ]
                for i, true in enumerate(names)
            ],
            description="Rows: true classes; columns: predictions; shade: fraction of the row.",
            is_confusion=True,
        )  # fmt: skip
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:N_CONFUSIONS]
    pairs = [divmod(int(place), len(facts.names)) for place in order if wrong.flat[place]]
    listed = None
    if pairs:
        listed = table(
            "Most frequent confusions",
            [
                Column("true class"),
                Column("predicted"),
                Column("samples", True),
                Column("of the class", True),
            ],
            [
                [facts.names[i], facts.names[j], f"{counts[i, j]:,}", f"{rates[i, j]:.1%}"]
                for i, j in pairs
            ],
        )
    intro = f"{wrong.sum():,} of {counts.sum():,} predictions differ from the hidden labels."
    return section("Confusions", side_by_side(drawn, listed), intro=intro)


def map_section(facts: SampleFacts, rows: np.ndarray, place_of: Mapping[int, int]) -> Section:
    """Draw samples on a plane.

    Parameters
    ----------
    rows
        Samples to draw.
    place_of
        Number of each sample on the page, for the card that a click shows.
    """
    places, explained = map_places(facts.distributions)
    scored = facts.is_scored
    low = float(facts.probabilities.min())
    points = Points(
        places=places[rows],
        groups=facts.predictions[rows],
        names=facts.names[: facts.n_known_classes],
        levels=(facts.probabilities[rows] - low) / ((1 - low) or 1.0),
        tips=[_sample_tip(facts, row) for row in rows.tolist()],
        is_given=~facts.is_open[rows],
        is_wrong=(scored & ~facts.is_right)[rows] if scored.any() else None,
        rows=np.array([place_of[row] for row in rows.tolist()]),
    )
    intro = join(
        "Samples with similar probabilities lie close together. The axes are the two main "
        f"components of the logits and explain {explained:.0%} of their variance. Rings mark "
        "given labels.",
        element("span", " Click a point to see its card.", class_="screen"),
    )
    note = ""
    if len(rows) < len(places):
        note = f"{len(rows):,} of {len(places):,} samples, drawn at random."
    drawn = scatter_map(
        "Map of the samples",
        points,
        description="One point per sample; the tables of this page list the same information.",
        note=note,
    )
    return section("Map", drawn, intro=intro)


def _probability_bars(facts: SampleFacts) -> Markup:
    # No prediction is less probable than chance: with two classes, none is below 0.5.
    ends = [*list(BANDS.values())[1:], 1.0]
    chance = 1 / facts.n_known_classes
    bands = {
        name: low for (name, low), end in zip(BANDS.items(), ends, strict=True) if end > chance
    }
    band = np.digitize(facts.probabilities, list(bands.values())[1:])

    def sizes(which: np.ndarray) -> np.ndarray:
        return np.bincount(band[which], minlength=len(bands))

    counted = facts.is_counted
    scored = counted & facts.is_scored
    right, wrong = sizes(scored & facts.is_right), sizes(scored & ~facts.is_right)
    unknown = sizes(counted & ~scored)
    if not scored.any():
        series, remarks = [Series("samples", unknown.tolist())], None
    else:
        series = [Series("right", right.tolist()), Series("wrong", wrong.tolist())]
        if unknown.any():
            series.append(Series("unknown", unknown.tolist()))
        known = right + wrong
        remarks = [
            f"{rounded(r / n)} right" if n else "" for r, n in zip(right, known, strict=True)
        ]
    total = sizes(counted)
    return bars(
        "Probability of the prediction",
        list(bands),
        series,
        description=", ".join(f"{name}: {n:,}" for name, n in zip(bands, total, strict=True)) + ".",
        stacked=True,
        remarks=remarks,
    )


def _accuracy_words(facts: SampleFacts) -> str:
    """Compare the accuracy of predictions at 0.9 or more with that of the others."""
    confident = facts.is_scored & (facts.probabilities >= 0.9)
    others = facts.is_scored & (facts.probabilities < 0.9)
    if not (confident.any() and others.any()):
        return ""
    return (
        f" Of the predictions at 0.9 or more, {rounded(facts.is_right[confident].mean())} are "
        f"right; of the others, {rounded(facts.is_right[others].mean())}."
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


def rounded(fraction: float) -> str:
    """Write a fraction in whole percent, with a decimal where it would round to 0% or 100%.

    Examples
    --------
    >>> rounded(0.934), rounded(0.997), rounded(1.0)
    ('93%', '99.7%', '100%')
    """
    looks_whole = fraction not in (0, 1) and round(fraction, 2) in (0, 1)
    return f"{fraction:.1%}" if looks_whole else f"{fraction:.0%}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
