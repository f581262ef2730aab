"""Which neighbors and views carried a prediction."""
