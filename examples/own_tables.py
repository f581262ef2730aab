"""Label your own tables: one CSV file per view, joined on sample ids, labels for some."""

import csv
import tempfile
from pathlib import Path

import numpy as np

from manyview import ManyviewClassifier, read_views

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
kinds = np.repeat(["healthy", "ill"], 40)
for view, width in {"blood": 6, "genes": 30}.items():
    values = rng.normal(size=(80, width)) + 1.5 * (kinds == "ill")[:, None]
    with (folder / f"{view}.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sample", *(f"{view}{i}" for i in range(width))])
        rows.writerows([f"p{i}", *values[i]] for i in rng.permutation(80))
with (folder / "labels.csv").open("w", newline="") as file:
    csv.writer(file).writerows(
        [("sample", "label"), *((f"p{i}", kinds[i]) for i in range(0, 80, 8))]
    )

data = read_views(folder)
print(*data.notes, sep="\n")
model = ManyviewClassifier(random_state=0).fit(data.views, data.labels)
truth = kinds[[int(name[1:]) for name in data.sample_ids]]
print(f"accuracy: {(model.transduction_ == truth).mean():.0%}")
