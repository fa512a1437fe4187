"""From answers to beliefs: the pair graph, belief propagation, streams, information, progress."""
