"""What beliefs about the items are made from: first guesses, and P(class | x) out of fold."""
