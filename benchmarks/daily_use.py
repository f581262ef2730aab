"""The page of the studies for daily use, and its figures, from their records alone.

It grows with the records: every section shows how much has run, and describes and draws that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType

import compared
import daily_tables
import label_noise
import labeling
import missing_views
import mixed_tables
import noise_views
import robustness
import robustness_text
import tuning
from figure_files import save_figure
from formatting import fold, score_folds
from stored_records import read

from manyview.report.study.results import dataset_title

DOCS = Path(__file__).parent.parent / "docs"
TEMPLATE = Path(__file__).parent / "templates" / "daily-use.md"
WAY_TITLES = {"kept": "kept", "mean": "means filled in", "dropped": "dropped"}


@dataclass(frozen=True)
class RobustnessStudy:
    """A study of growing corruption, and how the page presents it: `study` is its script."""

    study: ModuleType
    series: tuple[str, ...]
    titles: dict[str, str]
    own: str
    alt: str
    summary: Callable[[list[dict]], str]

    @property
    def figure_file(self):
        """Path of the figure."""
        return DOCS / "figures" / f"{self.study.__name__.replace('_', '-')}.svg"

    def body(self):
        """Return sentences, the figure, how much has run, and the table behind a fold."""
        study, records = self.study, read(self.study.RECORDS)
        settings = list(product(self.series, study.FRACTIONS, study.SEEDS))
        ran = progress(records, robustness.KEY, study.DATASETS, settings, "fits")
        if not records:
            return ran
        tables = all_means(records, self.series, study, self.titles)
        picture = f"![{self.alt}](figures/{self.figure_file.name})"
        return "\n\n".join([self.summary(records), picture, ran, tables])

    def draw(self):
        """Return the figure, and in words the means it shows; None without records."""
        study, records = self.study, read(self.study.RECORDS)
        if not records:
            return None
        drawn = robustness.figure(
            records,
            self.series,
            study.FRACTIONS,
            x_name=study.X_NAME,
            own=self.own,
            titles=self.titles,
        )
        return drawn, self.words(records)

    def words(self, records):
        """Write every mean that the figure shows, for the description in its file."""
        found = robustness.by_place(records)
        names = dict.fromkeys(record["dataset"] for record in records)
        lines = []
        for name, one in product(names, self.series):
            here = [(x, found.get((name, one, x))) for x in self.study.FRACTIONS]
            means = [f"{sum(v) / len(v):.1f} at {x:.0%}" for x, v in here if v]
            if means:
                lines.append(f"{dataset_title(name)}, {self.titles[one]}: {', '.join(means)}.")
        return " ".join(lines)


def all_means(records, series, study, titles):
    """Return the tables of all scores behind folds; `study` is the script."""
    settings = {"n_seeds": len(study.SEEDS), "titles": titles}
    return score_folds(
        "All means",
        lambda field: robustness.table(records, series, study.FRACTIONS, field, **settings),
    )


def noise_views_summary(records):
    of_methods = robustness_text.methods(records, robustness_text.noise_added)
    return f"{of_methods} {robustness_text.noise_weight(records)}".strip()


def label_noise_summary(records):
    of_methods = robustness_text.methods(records, robustness_text.wrong_labels)
    return f"{of_methods} {robustness_text.audit(records, label_noise.CLEANLAB)}".strip()


def label_confusion():
    """Return the sentences and the table of labels that are confused by class."""
    records = read(label_noise.CONFUSED_RECORDS)
    series, fractions = label_noise.CONFUSED_SERIES, label_noise.FRACTIONS
    settings = list(product(series, fractions, label_noise.SEEDS))
    ran = progress(records, robustness.KEY, label_noise.DATASETS, settings, "fits")
    if not records:
        return ran
    tables = all_means(records, series, label_noise, label_noise.ALL_TITLES)
    return "\n\n".join([label_noise_summary(records), ran, tables])


ROBUSTNESS = {
    "missing_views": RobustnessStudy(
        missing_views,
        missing_views.WAYS,
        WAY_TITLES,
        "kept",
        "Accuracy by the fraction of pairs removed, for three ways to treat incomplete samples",
        robustness_text.missing_views,
    ),
    "label_noise": RobustnessStudy(
        label_noise,
        label_noise.ALL_SERIES,
        label_noise.ALL_TITLES,
        compared.OWN,
        "Accuracy of each method by the fraction of wrong labels",
        label_noise_summary,
    ),
    "noise_views": RobustnessStudy(
        noise_views,
        compared.SERIES,
        compared.TITLES,
        compared.OWN,
        "Accuracy of each method by the number of noise views",
        noise_views_summary,
    ),
}


def progress(records, key, names, settings, what):
    """Return one sentence: how much of a study has run, by data set, and what is missing."""
    done = {(one["dataset"], *(one[part] for part in key)) for one in records}
    counts = {name: sum((name, *setting) in done for setting in settings) for name in names}
    n_done, n_planned = sum(counts.values()), len(names) * len(settings)
    listed = ", ".join(map(dataset_title, names))
    if n_done == n_planned:
        text = f"All {n_planned:,} planned {what} have run: {listed}"
    elif not n_done:
        text = f"None of {n_planned:,} planned {what} has run: {listed}"
    else:
        begun = [f"{dataset_title(name)} {n} of {len(settings)}" for name, n in counts.items() if n]
        absent = [dataset_title(name) for name, n in counts.items() if not n]
        text = f"Of {n_planned:,} planned {what}, {n_done:,} have run ({', '.join(begun)})"
        text += f"; none yet on {', '.join(absent)}" if absent else ""
    further = len(done) - n_done
    return f"{text}{f', and {further:,} outside the plan' if further else ''}."


def tables():
    """Return the bodies of the sections without a figure."""
    bodies = {}
    ratios = ("label_ratio", "seed")
    for study, key, settings, what in (
        (
            tuning,
            (*ratios, "forced"),
            product(tuning.LABEL_RATIOS, tuning.SEEDS, [False]),
            "splits",
        ),
        (labeling, ("strategy", "seed"), product(labeling.STRATEGIES, labeling.SEEDS), "runs"),
    ):
        name, records = study.__name__, read(study.RECORDS)
        parts = [progress(records, key, study.DATASETS, list(settings), what)]
        if records:
            table = getattr(daily_tables, f"{name}_table")(records, len(study.SEEDS))
            summary = getattr(daily_tables, f"{name}_summary")(records)
            parts = [summary, *parts, fold("All means", table)]
        bodies[name] = "\n\n".join(parts)
    return bodies


def page():
    """Return the text of docs/daily-use.md."""
    bodies = {name: study.body() for name, study in ROBUSTNESS.items()}
    bodies["mixed_tables"] = mixed_tables.section()
    bodies["label_confusion"] = label_confusion()
    return TEMPLATE.read_text().format(**bodies, **tables())


def draw_figures():
    """Draw the figures of studies that have records; return their files."""
    files = []
    for study in ROBUSTNESS.values():
        found = study.draw()
        if found is not None:
            save_figure(*found, study.figure_file)
            files.append(study.figure_file)
    return files
