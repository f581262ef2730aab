"""Label news articles from 5% of their labels, and explain one prediction (BBCnews)."""

from manyview import ManyviewClassifier, hide_labels, load_dataset

data = load_dataset("bbcnews")  # word counts of four segments; read from $MANYVIEW_DATA
labels = hide_labels(data.labels, keep=0.05, random_state=0)

model = ManyviewClassifier(scaling="tfidf", random_state=0).fit(data.views, labels)

hidden = labels == -1
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")

document = int(hidden.argmax())
why = model.explain(document)
print(f"document {document}: class {why.prediction}, then {why.runner_up}; main neighbors:")
for neighbor in sorted(why.neighbors, key=lambda one: -one.margin)[:3]:
    print(f"  {neighbor.name}: {neighbor.margin:+.2f} of {why.margin:+.2f}")
