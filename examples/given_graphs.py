"""Label papers from 2% of their labels, with two precomputed graphs as views (ACM3025)."""

from manyview import ManyviewClassifier, MGCNDNSClassifier, hide_labels, load_dataset

data = load_dataset("acm3025")  # read from $MANYVIEW_DATA
print(data.views)  # words of each paper, and graphs of common authors and subjects
labels = hide_labels(data.labels, keep=0.02, random_state=0)
hidden = labels == -1

network = MGCNDNSClassifier(max_epochs=60)  # 200 by default
model = ManyviewClassifier(network, random_state=0).fit(data.views, labels)
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")

for effect in model.view_effects(data.labels):
    print(f"without {effect.view}: {effect.n_changed} predictions change")
