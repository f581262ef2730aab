"""Studies: many trials, declared in a plan, run anywhere, kept in a store."""
