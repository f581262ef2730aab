"""The public classifiers: manyview's own and the paper's."""
