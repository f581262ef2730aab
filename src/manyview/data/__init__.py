"""Files in, views out: containers, readers, catalog, splits, scaling."""
