"""From files to a fitted model and everything worth telling about it."""
