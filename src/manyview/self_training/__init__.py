"""Self-training: networks trained in stages on pseudo-labels."""
