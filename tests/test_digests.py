"""Predictions of every method stay what they were when `helpers/digests.json` was written.

A method that is meant to predict differently raises the `version` on its card, and its line is
written again: `python tests/test_digests.py`.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from manyview import METHODS, hide_labels, load_dataset

STORED = Path(__file__).parent / "helpers" / "digests.json"
N_SAMPLES = 300


def digest(name):
    """Fit on 300 digits; return a checksum of the probabilities and a projection of them."""
    data = load_dataset("digits")
    labels = hide_labels(data.labels[:N_SAMPLES], keep=0.1, random_state=0)
    model = METHODS[name](random_state=0).fit(data.views[:N_SAMPLES], labels)
    probabilities = np.ascontiguousarray(model.label_distributions_)
    probe = np.random.default_rng(0).normal(size=N_SAMPLES)
    return {
        "sha256": hashlib.sha256(probabilities.tobytes()).hexdigest()[:16],
        "projection": [round(float(value), 6) for value in probe @ probabilities],
    }


def test_every_method_has_a_digest():
    assert json.loads(STORED.read_text()).keys() == METHODS.keys()


@pytest.mark.parametrize("name", METHODS)
def test_predictions_are_unchanged(name):
    """To rounding; to the bit where MANYVIEW_EXACT_DIGESTS says that this is the same machine."""
    stored, found = json.loads(STORED.read_text())[name], digest(name)
    np.testing.assert_allclose(found["projection"], stored["projection"], atol=5e-3)
    if os.environ.get("MANYVIEW_EXACT_DIGESTS"):
        assert found["sha256"] == stored["sha256"]


if __name__ == "__main__":
    lines = [f" {json.dumps(name)}: {json.dumps(digest(name))}" for name in sorted(METHODS)]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
