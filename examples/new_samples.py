"""Fit and save a model, then label new samples with it. Needs no file."""

import tempfile

import numpy as np

from manyview import ManyviewClassifier, hide_labels, load_dataset

data = load_dataset("digits")
is_new = np.arange(len(data.labels)) % 5 == 0
labels = hide_labels(data.labels[~is_new], keep=0.1, random_state=0)

folder = tempfile.mkdtemp()
ManyviewClassifier(random_state=0).fit(data.views[~is_new], labels).save(folder)

model = ManyviewClassifier.load(folder)  # safetensors and JSON, never pickle
predictions = model.predict(data.views[is_new])
accuracy = (predictions == data.labels[is_new]).mean()
print(f"accuracy on {is_new.sum()} new samples: {accuracy:.1%}")
