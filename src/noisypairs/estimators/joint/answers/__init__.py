"""How people answer: the answer model, answers that belong together, and what to think of them."""
