"""Work with other packages: MuData, PyTorch Geometric, scikit-learn transformers."""
