"""The page of the studies for daily use, and its figures, from their records alone.

It grows as records come: every section says what has run, and tells and draws what there is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType

import calibration
import compared
import daily_tables
import label_noise
import labeling
import missing_views
import noise_views
import study_lines
import trouble_sentences
import tuning
from kept_records import read
from matplotlib import rc_context

from manyview.report.figures.style import STYLE
from manyview.report.figures.write import UNSAID
from manyview.report.study.results import dataset_title

DOCS = Path(__file__).parent.parent / "docs"
TEMPLATE = Path(__file__).parent / "templates" / "daily-use.md"
WAY_TITLES = {"kept": "kept", "mean": "means filled in", "dropped": "dropped"}


@dataclass(frozen=True)
class Trouble:
    """A study of a growing trouble, and how its page tells it.

    Attributes
    ----------
    study
        The script of the study.
    """

    study: ModuleType
    series: tuple[str, ...]
    titles: dict[str, str]
    own: str
    alt: str
    summary: Callable[[list[dict]], str]

    @property
    def figure_file(self):
        """Where the figure is kept."""
        return DOCS / "figures" / f"{self.study.__name__.replace('_', '-')}.svg"

    def body(self):
        """Sentences, figure, table, and what has run."""
        study, records = self.study, read(self.study.RECORDS)
        settings = list(product(self.series, study.SHARES, study.SEEDS))
        ran = progress(records, study_lines.KEY, study.DATASETS, settings, "fits")
        if not records:
            return ran
        table = study_lines.markdown(
            records, self.series, study.SHARES, n_seeds=len(study.SEEDS), titles=self.titles
        )
        picture = f"![{self.alt}](figures/{self.figure_file.name})"
        return "\n\n".join([self.summary(records), picture, table, ran])

    def draw(self):
        """Return the figure, and in words the means it shows; nothing without records."""
        study, records = self.study, read(self.study.RECORDS)
        if not records:
            return None
        drawn = study_lines.figure(
            records,
            self.series,
            study.SHARES,
            x_name=study.X_NAME,
            own=self.own,
            titles=self.titles,
        )
        return drawn, self.words(records)

    def words(self, records):
        """Write every mean that the figure shows; the file carries it as its description."""
        found = study_lines.by_place(records)
        names = dict.fromkeys(record["dataset"] for record in records)
        lines = []
        for name, one in product(names, self.series):
            here = [(share, found.get((name, one, share))) for share in self.study.SHARES]
            means = [f"{sum(v) / len(v):.1f} at {share:.0%}" for share, v in here if v]
            if means:
                lines.append(f"{dataset_title(name)}, {self.titles[one]}: {', '.join(means)}.")
        return " ".join(lines)


def noise_views_summary(records):
    told = trouble_sentences.methods(records, trouble_sentences.noise_beside)
    return f"{told} {trouble_sentences.noise_weight(records)}".strip()


TROUBLES = {
    "missing_views": Trouble(
        missing_views,
        missing_views.WAYS,
        WAY_TITLES,
        "kept",
        "Accuracy by the share of pairs removed, for three ways to treat incomplete samples",
        trouble_sentences.missing_views,
    ),
    "label_noise": Trouble(
        label_noise,
        compared.SERIES,
        compared.TITLES,
        compared.OWN,
        "Accuracy of each method by the share of wrong labels",
        lambda records: trouble_sentences.methods(records, trouble_sentences.wrong_labels),
    ),
    "noise_views": Trouble(
        noise_views,
        compared.SERIES,
        compared.TITLES,
        compared.OWN,
        "Accuracy of each method by the number of views of noise",
        noise_views_summary,
    ),
}


def progress(records, key, names, settings, what):
    """One sentence: how much of a study has run, by data set, and what is still missing."""
    done = {(one["dataset"], *(one[part] for part in key)) for one in records}
    counts = {name: sum((name, *setting) in done for setting in settings) for name in names}
    n_done, n_planned = sum(counts.values()), len(names) * len(settings)
    if n_done == n_planned:
        told = f"All {n_planned:,} planned {what} have run: {', '.join(map(dataset_title, names))}"
    elif not n_done:
        told = (
            f"None of {n_planned:,} planned {what} has run: {', '.join(map(dataset_title, names))}"
        )
    else:
        begun = [f"{dataset_title(name)} {n} of {len(settings)}" for name, n in counts.items() if n]
        absent = [dataset_title(name) for name, n in counts.items() if not n]
        told = f"Of {n_planned:,} planned {what} {n_done:,} have run ({', '.join(begun)})"
        told += f"; none yet on {', '.join(absent)}" if absent else ""
    beside = len(done) - n_done
    return f"{told}{f', and {beside:,} beside the plan' if beside else ''}."


def tables():
    """Bodies of the sections with a table alone."""
    bodies = {}
    for name, study, key, settings, what in (
        (
            "tuning",
            tuning,
            ("ratio", "seed", "forced"),
            product(tuning.RATIOS, tuning.SEEDS, [False]),
            "splits",
        ),
        (
            "calibration",
            calibration,
            ("ratio", "seed"),
            product(calibration.RATIOS, calibration.SEEDS),
            "fits",
        ),
        (
            "labeling",
            labeling,
            ("strategy", "seed"),
            product(labeling.STRATEGIES, labeling.SEEDS),
            "runs",
        ),
    ):
        records = read(study.RECORDS)
        parts = [progress(records, key, study.DATASETS, list(settings), what)]
        if records:
            table = getattr(daily_tables, f"{name}_table")(records, len(study.SEEDS))
            parts = [getattr(daily_tables, f"{name}_summary")(records), table, *parts]
        bodies[name] = "\n\n".join(parts)
    return bodies


def page():
    """Return the text of docs/daily-use.md."""
    bodies = {name: trouble.body() for name, trouble in TROUBLES.items()}
    return TEMPLATE.read_text().format(**bodies, **tables())


def draw_figures():
    """Draw the figures that the records fill, into the folder of the documentation."""
    files = []
    for trouble in TROUBLES.values():
        found = trouble.draw()
        if found is None:
            continue
        drawn, words = found
        with rc_context(STYLE):
            metadata = UNSAID["svg"] | {"Description": words}
            drawn.savefig(trouble.figure_file, format="svg", metadata=metadata)
        files.append(trouble.figure_file)
    return files
