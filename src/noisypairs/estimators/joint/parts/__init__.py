"""What held-out answers decide: the parts of the answer model, and the number of kinds."""
