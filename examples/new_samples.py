"""Fit today, save, and label samples that come tomorrow."""

import tempfile

import numpy as np

from manyview import MGCNDNSClassifier, hide_labels, load_dataset

data = load_dataset("digits")
is_new = np.arange(len(data.labels)) % 5 == 0
labels = hide_labels(data.labels[~is_new], keep=0.1, random_state=0)

folder = tempfile.mkdtemp()
MGCNDNSClassifier(random_state=0).fit(data.views[~is_new], labels).save(folder)

model = MGCNDNSClassifier.load(folder)  # safetensors and JSON, never pickle
predictions = model.predict(data.views[is_new])
print(f"right on {is_new.sum()} new samples: {(predictions == data.labels[is_new]).mean():.1%}")
