"""Label in the browser: a person and the model, one loop."""
