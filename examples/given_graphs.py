"""Label papers from 2 % of their labels, with two graphs given as views (ACM3025)."""

from manyview import MGCNDNSClassifier, hide_labels, load_dataset

data = load_dataset("acm3025")  # in the folder that MANYVIEW_DATA names
print(data.views)  # words of each paper, and who shares an author or a subject with whom
labels = hide_labels(data.labels, keep=0.02, random_state=0)
hidden = labels == -1

model = MGCNDNSClassifier(max_epochs=60, random_state=0).fit(data.views, labels)  # 200 by default
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")

for effect in model.view_effects(data.labels):
    print(f"without {effect.view}: {effect.n_changed} predictions change")
