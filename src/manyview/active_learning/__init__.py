"""Active learning: which samples to label next."""
