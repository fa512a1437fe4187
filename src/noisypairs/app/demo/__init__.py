"""The main job on data that need no download: `run` learns, `stories` are the words, a page."""

from noisypairs.app.demo.learning import N_STEPS, Demo, run
from noisypairs.app.demo.page import GENERATOR, demo_report
from noisypairs.app.demo.story import Story, stories

__all__ = ["GENERATOR", "N_STEPS", "Demo", "Story", "demo_report", "run", "stories"]
