"""What is said of annotators, in words that their manager can act upon."""

from __future__ import annotations

from noisypairs.annotators import ANOTHER, KINDS, UNDECIDED, AnnotatorTable
from noisypairs.annotators.crowd import Crowd
from noisypairs.app.sentences import said

#: Verdict -> (what it means, what to do about it).
MEANINGS = {
    "honest": ("looks at the pairs; makes the usual errors", "keep"),
    "spammer": ("answers at random", "leave out, or ask again"),
    "always-same": ("nearly always says “same”", "leave out, or ask again"),
    "always-different": ("nearly always says “different”", "leave out, or ask again"),
    "reversed": (
        "gives the opposite answer, as if the two buttons were swapped",
        "explain the task again, then keep the new answers",
    ),
    ANOTHER: (
        "agrees with some people and not with most: looks at something else",
        "ask what they looked at: the majority may be wrong",
    ),
    UNDECIDED: ("cannot be judged yet", "keep for now; judge after about 30 answers"),
}


def by_suspicion(found: AnnotatorTable) -> list[int]:
    """Return the positions of the rows: suspects first, then by what their answers are worth."""
    rows = found.rows
    order = sorted(range(len(rows)), key=lambda r: rows[r].informativeness.estimate)
    return sorted(order, key=lambda r: rows[r].verdict not in KINDS[1:])


def crowd_answer(found: Crowd) -> str:
    """Say how good the crowd is, who stands out and as what, and who cannot be judged yet."""
    return said("advice.txt", "crowd_answer", found, UNDECIDED, KINDS[1:], ANOTHER)


def least_missed(found: Crowd) -> str:
    """Say which annotator would cost least to drop; nothing where nobody could be dropped."""
    return said("advice.txt", "least_missed", found)


def standing_out(table: AnnotatorTable) -> str:
    """Name those who are anything but honest, by verdict."""
    return said("advice.txt", "standing_out", table, KINDS[1:])


def meanings(table: AnnotatorTable) -> list[tuple[str, int, str, str]]:
    """Return (verdict, how many have it, what it means, what to do) for each that occurs."""
    counted = {verdict: len(table.named(verdict)) for verdict in MEANINGS}
    return [(verdict, n, *MEANINGS[verdict]) for verdict, n in counted.items() if n]
