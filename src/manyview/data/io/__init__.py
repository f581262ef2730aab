"""Read views and labels from files."""
