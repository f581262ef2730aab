"""Campaigns that attack manyview at length; `make soak` runs them, `make test` a slice of each."""
