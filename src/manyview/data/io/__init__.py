"""Readers: files in, views and labels out."""
