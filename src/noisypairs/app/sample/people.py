"""The answers of the sample: twenty people look at two pieces, and most of them try hard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noisypairs.app.sample.pottery import Piece

N_PEOPLE = 20
#: Those who do not answer as people do who look: who they are, and P("yes" | same, different).
OTHERS = {"p07": (0.5, 0.5), "p12": (0.97, 0.95), "p18": (0.12, 0.85)}
#: How often the others err on the clearest pairs, at least and at most, and what odd pieces add.
ERRORS, HARDER = (0.03, 0.16), 0.18
#: Share of answers that are "not sure", and of pairs that are shown to somebody else again.
UNSURE, AGAIN = 0.02, 0.3


def answers(
    items: Sequence[Piece], per_person: int, rng: np.random.Generator
) -> list[tuple[str, str, str, str]]:
    """Return (left, right, answer, annotator) in the order in which they were given."""
    errors = rng.uniform(*ERRORS, N_PEOPLE)
    shown: dict[tuple[int, int], set[int]] = {}  # to whom
    rows = []
    for turn in range(per_person * N_PEOPLE):
        who = turn % N_PEOPLE
        left, right = (int(one) for one in rng.choice(len(items), 2, replace=False))
        if rng.random() < AGAIN and (old := [one for one in shown if who not in shown[one]]):
            left, right = old[rng.integers(len(old))]
        shown.setdefault((left, right), set()).add(who)
        said = _answer(items[left], items[right], f"p{who + 1:02d}", float(errors[who]), rng)
        rows.append((items[left].id, items[right].id, said, f"p{who + 1:02d}"))
    return rows


def _answer(left: Piece, right: Piece, who: str, error: float, rng: np.random.Generator) -> str:
    same = left.kind == right.kind
    if who in OTHERS:
        says_yes = OTHERS[who][0 if same else 1]
    else:
        wrong = error + HARDER * (left.odd + right.odd)
        says_yes = 1 - wrong if same else wrong
    if rng.random() < UNSURE:
        return "not sure"
    return "yes" if rng.random() < says_yes else "no"
