"""Label news from 5 % of their labels, four segments a document, and ask for reasons (BBCnews)."""

from manyview import MGCNDNSClassifier, hide_labels, load_dataset

data = load_dataset("bbcnews")  # in the folder that MANYVIEW_DATA names; word counts
labels = hide_labels(data.labels, keep=0.05, random_state=0)

model = MGCNDNSClassifier(scaling="tfidf", random_state=0).fit(data.views, labels)

hidden = labels == -1
accuracy = (model.transduction_[hidden] == data.labels[hidden]).mean()
print(f"accuracy on {hidden.sum()} hidden labels: {accuracy:.1%}")

document = int(hidden.argmax())
why = model.explain(document)
print(f"document {document}: class {why.prediction}, before {why.runner_up}; because of documents")
for neighbor in sorted(why.neighbors, key=lambda one: -one.margin)[:3]:
    print(f"  {neighbor.name}: {neighbor.margin:+.2f} of {why.margin:+.2f}")
