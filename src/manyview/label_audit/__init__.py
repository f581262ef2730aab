"""Given labels that are probably wrong."""
