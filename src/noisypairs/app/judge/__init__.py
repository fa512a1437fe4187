"""Judges: programs and language models that answer pairs, within a budget, beside people.

`asking` runs them, on the store and with the learner of ``noisypairs ask``; `statement` says what
is known then, and which pairs a person should answer.
"""

from noisypairs.app.judge.asking import Limits, judge
from noisypairs.app.judge.judges import Command, Endpoint, Item, Judge, JudgeFailed
from noisypairs.app.judge.prompt import Prompt
from noisypairs.app.judge.statement import Judged

__all__ = [
    "Command",
    "Endpoint",
    "Item",
    "Judge",
    "JudgeFailed",
    "Judged",
    "Limits",
    "Prompt",
    "judge",
]
