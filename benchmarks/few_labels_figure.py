"""The first figure of the page of results: mean accuracy and rank by label ratio."""

from few_labels import OWN, comparisons, titles_of
from matplotlib import rc_context
from matplotlib.figure import Figure

from manyview.report.figures.style import STYLE, legend_below, looks, panels

N_LEGEND_COLUMNS = 4


def draw(study) -> tuple[Figure, str]:
    """Draw the mean accuracy and the average rank of every entry; return the numbers in words."""
    found, titles = comparisons(study), titles_of(study)
    x = [100 * one.label_ratio for one in found]
    entries = list(found[0].scores)
    figure, axes = panels(2, height=2.4, extra=0.5)
    words = []
    with rc_context(STYLE):
        for entry, look in zip(entries, looks([one == OWN for one in entries]), strict=True):
            means = [one.mean(entry) for one in found]
            ranks = [one.ranks()[entry] for one in found]
            for axis, values in zip(axes, (means, ranks), strict=True):
                axis.plot(x, values, label=titles[entry], **look.line())
            places = zip(x, means, ranks, strict=True)
            numbers = (f"{m:.1f} (rank {r:.1f}) at {p:.0f}%" for p, m, r in places)
            words.append(f"{titles[entry]}: {', '.join(numbers)}.")
        titles_of_axes = ("mean accuracy (%)", "average rank (1 is best)")
        for axis, title in zip(axes, titles_of_axes, strict=True):
            axis.set_title(title)
            axis.set_xlabel("labeled samples (%)")
            axis.set_xticks(x)
        axes[1].invert_yaxis()
        legend_below(figure, axes[0], N_LEGEND_COLUMNS)
    return figure, " ".join(words)
