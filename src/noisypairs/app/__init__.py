"""For people with files: reading, checking, fitting, planning, reports and experiments."""
