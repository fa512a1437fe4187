"""From answers to classes: the pair graph, its factors, belief propagation and EM."""
