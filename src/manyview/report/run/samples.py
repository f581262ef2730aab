"""All samples of a run as compact data, which the page's script shows as a table and as cards."""

import json
from base64 import b64encode
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
from markupsafe import Markup

from manyview.data.pixels import gray_sheet
from manyview.report.html.markup import element, render
from manyview.report.html.page import Section, section
from manyview.report.run.facts import NO_CLASS, SampleFacts

MAX_BYTES = 900_000  # of the table of samples; more samples are drawn at random
ROW_BYTES = 12  # of a sample, without its name
MAX_PIXELS = 300_000  # of all pictures
MAX_REASONS = 400  # sentences, those of the least certain samples
SHEET_COLUMNS = 50
MAX_LETTERS = 60  # of a sample's name
# Given as predicted, given but contradicted, predicted right or wrong, and without a truth.
STATES = {"g": "given", "c": "given, contradicted", "r": "right", "w": "wrong", "u": ""}


def listed_rows(facts: SampleFacts, needed: np.ndarray, max_bytes: int = MAX_BYTES) -> np.ndarray:
    """Return the rows of the table: all, or those needed and others at random, to save space."""
    n_samples = len(facts.ids)
    letters = sum(len(json.dumps(_name(name))) + 1 for name in facts.ids.tolist()) / n_samples
    n_most = max(int(max_bytes / (letters + ROW_BYTES)), len(needed))
    if n_samples <= n_most:
        return np.arange(n_samples)
    others = np.setdiff1d(np.arange(n_samples), needed)
    drawn = np.random.default_rng(0).permutation(others)[: n_most - len(needed)]
    return np.union1d(needed, drawn)


def sample_section(
    facts: SampleFacts,
    rows: np.ndarray,
    shown: np.ndarray,
    *,
    reason: Callable[[int], str] | None = None,
    pixels: np.ndarray | None = None,
    command: str = "",
    has_files: bool = True,
) -> Section:
    """List samples in a table that can be searched.

    Parameters
    ----------
    rows
        Rows to list.
    shown
        Those among them whose cards have more to show: points of the map, samples to check.
    reason
        Returns the reasons of a sample as a sentence; None without reasons.
    pixels
        [sample, pixel] square pictures; None without pictures.
    command
        Start of the command that explains a sample, to which its name is added.
    """
    document = sample_document(facts, rows, shown, reason=reason, pixels=pixels, command=command)
    n_samples = len(facts.ids)
    everything = "predictions.csv lists all." if has_files else "model.predictions() has all."
    intro = "Every sample with its prediction."
    if len(rows) < n_samples:
        intro = (
            f"{len(rows):,} of {n_samples:,} samples, drawn at random to keep this page small; "
            f"{everything}"
        )
    intro += " Click a sample, here or on the map, to see its card."
    return section(
        "Samples", render("samples", data=_safe_json(document), everything=everything), intro=intro
    )


def sample_document(
    facts: SampleFacts,
    rows: np.ndarray,
    shown: np.ndarray,
    *,
    reason: Callable[[int], str] | None = None,
    pixels: np.ndarray | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Return the data of the table and the cards; samples are numbered as in `rows`."""
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    states = "".join(_state(facts, row) for row in rows.tolist())
    least_first = shown[np.argsort(facts.probabilities[shown], kind="stable")].tolist()
    document: dict[str, Any] = {
        "classes": facts.names,
        "ids": [_name(name) for name in facts.ids[rows].tolist()],
        "predictions": facts.predictions[rows].tolist(),
        "probabilities": np.floor(facts.probabilities[rows] * 1000).astype(int).tolist(),
        "states": states,
        "others": {
            place: int((facts.given if state == "c" else facts.truth)[rows[place]])
            for place, state in enumerate(states)
            if state in "cw"
        },
        "seconds": {
            place_of[row]: [
                int(facts.runners_up[row]),
                round(float(facts.second_probabilities[row]), 3),
            ]
            for row in least_first
        },
        "reasons": {}
        if reason is None
        else {place_of[row]: reason(row) for row in least_first[:MAX_REASONS]},
        "command": command,
    }
    if pixels is not None:
        side = isqrt(pixels.shape[1])
        n_most = MAX_PIXELS // side**2
        pictured = rows if len(rows) <= n_most else np.sort(np.array(least_first[:n_most]))
        if len(pictured):
            sheet = gray_sheet(pixels[pictured], SHEET_COLUMNS)
            document["pictures"] = {
                "source": f"data:image/png;base64,{b64encode(sheet).decode()}",
                "columns": SHEET_COLUMNS,
                "rows": -(-len(pictured) // SHEET_COLUMNS),
                "places": None
                if len(pictured) == len(rows)
                else {place_of[row]: number for number, row in enumerate(pictured.tolist())},
            }
    return document


def sample_button(facts: SampleFacts, row: int, place_of: dict[int, int] | None) -> Markup | str:
    """Return a sample's name; as a button that shows its card, if the page lists it."""
    if place_of is None or row not in place_of:
        return str(facts.ids[row])
    return element("button", facts.ids[row], type="button", class_="sample", data_row=place_of[row])


def _state(facts: SampleFacts, row: int) -> str:
    if facts.given[row] != NO_CLASS:
        return "g" if facts.given[row] == facts.predictions[row] else "c"
    if facts.truth[row] == NO_CLASS:
        return "u"
    return "r" if facts.truth[row] == facts.predictions[row] else "w"


def _name(name: object) -> str:
    text = str(name)
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def _safe_json(document: dict[str, Any]) -> Markup:
    """Write JSON for the inside of a script element, which no text in it can end."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
