"""What several of the compared methods share: parameters, graphs, cards."""
