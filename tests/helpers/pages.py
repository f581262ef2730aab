"""Pages to look at: their parts, and runs of tiny data with names that want to break out."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.data.views import MultiView
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.runs.records import ClassRecord, DataRecord, Run, TrainingRecord, score
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

VOID = {"br", "hr", "img", "input", "link", "meta"}
NASTY = np.array(["<script>alert(1)</script>", "a\"b'c", "Öl & Gas"], dtype=object)
NASTY_VIEWS = ("</text><img src=x onerror=alert(1)>", "{color}")


@dataclass
class Parts(HTMLParser):
    """Elements and texts of a page; fails where elements are not nested."""

    elements: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    open_tags: list = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open_tags, f"</{tag}> closes nothing"
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open_tags[-1] if self.open_tags else "", data.strip()))

    def all(self, tag, **attributes):
        """Attributes of every element of this tag that has these attributes."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            found
            for name, found in self.elements
            if name == tag and wanted.items() <= found.items()
        ]

    def text(self, tag):
        """Texts right inside elements of this tag."""
        return [text for inside, text in self.texts if inside == tag]


def parts_of(markup):
    """Take markup apart."""
    parts = Parts()
    parts.feed(str(markup))
    parts.close()
    assert parts.open_tags == []
    return parts


def fit_nasty(**params):
    """Fit 60 samples of 3 classes in 2 views, all of them with names that want to break out.

    Returns the data, the labels of 12 samples (None for the others), and the model.
    """
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([0, 1, 2], 20))
    views = {
        name: 0.7 * rng.normal(size=(3, width))[truth] + rng.normal(size=(60, width))
        for name, width in zip(NASTY_VIEWS, (5, 8), strict=True)
    }
    ids = np.array([f"<b>{row}</b>" for row in range(60)], dtype=object)
    labels = NASTY[truth]
    data = Dataset("<i>shapes</i>", MultiView(views), labels, ids, ("<u>read</u>",), "0" * 64)
    shown = np.full(60, None, dtype=object)
    for number in range(3):
        rows = np.flatnonzero(truth == number)[:4]
        shown[rows] = labels[rows]
    model = MGCNDNSClassifier(random_state=0, **params).fit(data.views, shown)
    return data, shown, model


def run_of(data, labels, model, *, label_ratio=0.2, warnings=()):
    """Record a fit as `fit_run` does, without a folder."""
    known = is_known(labels)
    importance = getattr(model, "view_importance_", None)
    curve = getattr(model, "training_curve_", None)
    return Run(
        folder=Path("runs/shapes"),
        settings=RunSettings(
            DataSource(("shapes.npz",)), method=model.card.name, label_ratio=label_ratio
        ),
        params=model.get_params(),
        data=DataRecord.of(data, DataSource(("one.csv", "other.csv"))),
        n_labeled=int(known.sum()),
        n_unlabeled=int((~known).sum()),
        training=TrainingRecord(
            seconds=0.1,
            n_neighbors=getattr(model, "n_neighbors_", None),
            n_epochs=None if curve is None else curve.n_epochs,
            stopped=None if curve is None else curve.stopped,
        ),
        classes=tuple(ClassRecord(label, 1, 1) for label in model.classes_.tolist()),
        view_importance=None
        if importance is None
        else dict(zip(data.views.names, importance.tolist(), strict=True)),
        least_confident=(),
        scores=score(model.transduction_, data.labels, ~known),
        warnings=warnings,
    )
