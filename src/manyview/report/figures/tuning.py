"""The figure of a tuning: importance of the parameters, and scores by their values."""

from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.tuning.folds import Gain
from manyview.tuning.journal import SEARCH
from manyview.tuning.result import Tuning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_NAME = "importance.svg"
N_PANELS = 5  # parameters whose values are drawn, most important first


def tuning_files(tuning: Tuning) -> Mapping[str, str]:
    """Return the figure by file name, if there are enough trials and matplotlib is installed."""
    with suppress(ImportError):
        if tuning.importance_:
            return {FIGURE_NAME: importance_svg(tuning)}
    return {}


def importance_svg(tuning: Tuning) -> str:
    """Draw the importance of each parameter, and the gain over the defaults by its values."""
    from matplotlib import rc_context

    from manyview.report.figures.style import STYLE, panels

    names = list(tuning.importance_)[:N_PANELS]
    figure, axes = panels(1 + len(names), choices=(3,), height=2.1)
    with rc_context(STYLE):
        _draw_importance(axes[0], tuning.importance_)
        for ax, name in zip(axes[1:], names, strict=True):
            _draw_values(ax, tuning, name)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _draw_importance(ax: "Axes", importance: Mapping[str, float]) -> None:
    from manyview.report.figures.style import OWN_COLOR

    names, weights = list(importance)[::-1], list(importance.values())[::-1]
    ax.barh(range(len(names)), weights, color=OWN_COLOR, height=0.65)
    ax.set_yticks(range(len(names)), names)
    ax.set(title="Importance", xlabel="fraction of the variation", xlim=(0, None))
    ax.grid(visible=False, axis="y")


def _draw_values(ax: "Axes", tuning: Tuning, name: str) -> None:
    """Draw one dot per trial at its value and gain, and a bar at the mean of each value."""
    from manyview.report.figures.style import COLORS, GRAY, INK, OWN_COLOR

    trials = [trial for trial in tuning.candidates_ if trial.stage == SEARCH and trial.scores]
    values = sorted({trial.params[name] for trial in trials}, key=_order)
    for place, value in enumerate(values):
        gains = np.array(
            [
                Gain.between(trial.scores, trials[0].scores).mean
                for trial in trials
                if trial.params[name] == value
            ]
        )
        shift = np.linspace(-0.18, 0.18, len(gains)) if len(gains) > 1 else np.zeros(1)
        ax.plot(place + shift, gains, "o", color=COLORS[0], markersize=3, alpha=0.7)
        ax.plot([place - 0.3, place + 0.3], [gains.mean()] * 2, color=INK, linewidth=1.4)
    if tuning.default_params_[name] in values:
        ax.axvline(values.index(tuning.default_params_[name]), color=GRAY, linestyle=":")
    if not tuning.is_default:
        ax.axvline(values.index(tuning.best_params_[name]), color=OWN_COLOR, linewidth=0.8)
    ax.axhline(0, color=GRAY, linewidth=0.8)
    shown = [f"{v:.3g}" if isinstance(v, float) else str(v) for v in values]
    ax.set_xticks(range(len(values)), shown, rotation=30 if len("".join(shown)) > 22 else 0)
    ax.set(title=name, ylabel=f"{tuning.scoring} over defaults")


def _order(value: Any) -> tuple[int, float, str]:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (1, float(value), "") if is_number else (0, 0.0, str(value))
