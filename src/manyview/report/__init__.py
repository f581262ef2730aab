"""Reports: records in, text out."""
