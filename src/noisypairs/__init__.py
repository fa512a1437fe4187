"""Learn a classifier for single items from noisy answers to: are these two the same class?"""

__version__ = "0.1.0"
