"""The report of one fit."""
