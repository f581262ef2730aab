"""Label a whole multi-view data set from a few known labels."""
