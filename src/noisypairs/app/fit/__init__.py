"""From files to a fitted model and a record of what it found out."""
