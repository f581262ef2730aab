"""Tuning: parameters chosen by hiding known labels, and what to label next."""
