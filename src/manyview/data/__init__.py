"""Files in, views out: containers, readers, catalogue, splits, scaling."""
