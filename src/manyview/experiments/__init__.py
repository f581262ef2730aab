"""Experiments: plans, their trials, the store of records, and engines that run them."""
