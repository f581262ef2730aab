"""Tables and pages of a study."""
