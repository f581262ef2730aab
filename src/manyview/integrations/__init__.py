"""Doors to other packages: MuData, PyTorch Geometric, scikit-learn transformers."""
