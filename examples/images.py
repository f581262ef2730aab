"""Label images from 5% of their labels, with six feature sets per image (Caltech101-7)."""

from manyview import ManyviewClassifier, hide_labels, load_dataset

data = load_dataset("caltech101-7")  # read from $MANYVIEW_DATA
labels = hide_labels(data.labels, keep=0.05, random_state=0)

model = ManyviewClassifier(random_state=0).fit(data.views, labels)

hidden = ~model.is_labeled_
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")
for name, weight in zip(data.views.names, model.view_importance_, strict=True):
    print(f"{name:>8}: {weight:.2f}")
uncertain = model.label_distributions_.max(axis=1).argsort()[:3]
print("least confident:", ", ".join(data.sample_ids[uncertain]))
