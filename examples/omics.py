"""Label patients in a MuData of three omics, 30% of them with one missing; annotate it."""

import anndata
import mudata
import numpy as np
import pandas as pd

from manyview import ManyviewClassifier, annotate, hide_labels, load_dataset

data = load_dataset("rosmap")  # read from $MANYVIEW_DATA
patients = np.array([f"patient{number}" for number in range(len(data.labels))])
rng = np.random.default_rng(0)
lacks = np.where(rng.random(len(patients)) < 0.3, rng.integers(3, size=len(patients)), -1)

parts = {}
for number, name in enumerate(data.views.names):
    has = lacks != number
    genes = pd.DataFrame(index=[f"{name}_{i}" for i in range(data.views[name].shape[1])])
    parts[name] = anndata.AnnData(data.views[name][has], pd.DataFrame(index=patients[has]), genes)
cohort = mudata.MuData(parts)
truth = pd.Series(data.labels, index=patients)[cohort.obs_names].to_numpy()
cohort.obs["diagnosis"] = hide_labels(truth, keep=0.3, random_state=0)  # the others become -1
print(f"{len(cohort.obs)} patients, {(lacks >= 0).sum()} lack a view")

model = ManyviewClassifier(scaling="standard", random_state=0).fit(cohort, cohort.obs["diagnosis"])
annotate(cohort, model)

hidden = cohort.obs["diagnosis"] == -1
right = cohort.obs["manyview_label"][hidden].to_numpy() == truth[hidden]
print(f"accuracy on {hidden.sum()} hidden diagnoses: {right.mean():.1%}")
print(cohort.obs.filter(like="manyview").head(3).to_string())
print("also:", *cohort.obsp, *(name for name in cohort.obsm if name.startswith("manyview")))
