"""Label 1,797 digits from 2% of their labels. Needs no file."""

from manyview import ManyviewClassifier, hide_labels, load_dataset

data = load_dataset("digits")  # five views of scikit-learn's digit images
labels = hide_labels(data.labels, keep=0.02, random_state=0)  # the others become -1

model = ManyviewClassifier(random_state=0).fit(data.views, labels)

hidden = labels == -1
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")
for name, weight in zip(data.views.names, model.view_importance_, strict=True):
    print(f"{name:>10}: {weight:.2f}")
