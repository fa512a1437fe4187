"""The main job on data that need no download: as plain results, as words, and as a page.

`run` does the work, `stories` tells it, `demo_report` makes the HTML file of it.
"""

from noisypairs.app.demo.page import GENERATOR, demo_report
from noisypairs.app.demo.story import Story, stories
from noisypairs.app.demo.work import CROWD, N_STEPS, REFERENCE, Demo, attempt, cancer, crowd, run

__all__ = [
    "CROWD",
    "GENERATOR",
    "N_STEPS",
    "REFERENCE",
    "Demo",
    "Story",
    "attempt",
    "cancer",
    "crowd",
    "demo_report",
    "run",
    "stories",
]
