"""Views, labels, readers, catalog, splits, scaling and cross-validation."""
