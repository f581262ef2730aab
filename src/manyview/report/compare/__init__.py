"""The comparison of methods on one's own data: its numbers, as text and as a page."""
