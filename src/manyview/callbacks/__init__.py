"""Callbacks of a fit: scikit-learn's protocol, TensorBoard and MLflow."""
