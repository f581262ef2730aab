"""Compare several methods on the same few labels. Needs no file."""

from manyview import METHODS, hide_labels, load_dataset

data = load_dataset("digits")
labels = hide_labels(data.labels, keep=0.02, random_state=0)
hidden = labels == -1

for name in (
    "knn",
    "label-spreading",
    "ssgcn",
    "mgcn-dns",
    "manyview",
):  # `manyview methods` lists all
    model = METHODS[name](random_state=0).fit(data.views, labels)
    accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
    print(f"{model.card.title:16} {accuracy:.1%}")
