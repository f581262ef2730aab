"""Figures for papers, drawn with matplotlib."""
