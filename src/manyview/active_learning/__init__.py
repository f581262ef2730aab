"""Which samples to label next."""
