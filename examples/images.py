"""Label images from 5 % of their labels, from six descriptions of each (Caltech101-7)."""

from manyview import MGCNDNSClassifier, hide_labels, load_dataset

data = load_dataset("caltech101-7")  # in the folder that MANYVIEW_DATA names
labels = hide_labels(data.labels, keep=0.05, random_state=0)

model = MGCNDNSClassifier(random_state=0).fit(data.views, labels)

hidden = ~model.is_labeled_
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")
for name, share in zip(data.views.names, model.view_importance_, strict=True):
    print(f"{name:>8}: {share:.2f}")
doubtful = model.label_distributions_.max(axis=1).argsort()[:3]
print("look at these first:", ", ".join(data.sample_ids[doubtful]))
