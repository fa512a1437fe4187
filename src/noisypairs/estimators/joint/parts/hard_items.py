"""Fewer classes, and items that nobody recognises: hard items look like classes of their own.

A number of classes is chosen before the parts of the answer model are. Where hard items made up one
of the classes, one class less, with clarity, explains the answers better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from noisypairs.estimators.joint.parts.held_out import Part
from noisypairs.estimators.joint.parts.parts import N_NUMBERS, PartChoice, Switch
from noisypairs.estimators.joint.search.families import WORTH_IT
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em, progress

#: So many smaller numbers in a row that explain the answers no better end the search.
MOST_MISSED = 2


class Explained(NamedTuple):
    """A number of classes with its parts, and what they explain, less what their numbers cost."""

    search: Search
    parts: PartChoice
    found: em.Inference
    score: float


def fewer_classes(
    search: Search, parts: PartChoice, found: em.Inference, wanted: dict[Part, Switch]
) -> tuple[Search, PartChoice, em.Inference]:
    """Return the smaller number of classes that explains the answers better with hard items.

    What was found itself where none does, where clarity is not open, or where only one number was
    in question. A smaller number must be better by `WORTH_IT` nats beyond what clarity costs.
    """
    smaller = sorted((K for K in search.tried if search.n_classes > K), reverse=True)
    # A class of hard items is called "same" with all others too often: two rates do not fit it.
    shows = parts.moved or search.family in ("free", "labeling")
    if wanted["clarity"] != "auto" or not smaller or not shows:
        return search, parts, found
    best = _best(Explained(search, parts, found, _score(search, parts, found)), smaller)
    if best.search is search:
        return search, parts, found
    best.search.tried = search.tried  # how well every number does, without parts
    last = PartChoice(best.search, best.parts.found, _as_kept(best.parts))
    last.wanted["similarity"] = wanted["similarity"]
    return best.search, last, last.choose()


def _best(best: Explained, smaller: list[int]) -> Explained:
    """Return the best explanation, of what was found and of smaller numbers with hard items."""
    search, missed = best.search, 0
    switches: dict[Part, Switch] = {**_as_kept(best.parts), "clarity": True, "similarity": False}
    for K in progress.each("fewer classes", smaller):
        tried = _tried(search, K, switches)
        if tried.score > best.score + WORTH_IT:
            best, missed = tried, 0
            continue
        missed += 1
        if missed == MOST_MISSED:
            break
    return best


def _as_kept(parts: PartChoice) -> dict[Part, Switch]:
    return {part: part in parts.kept for part in parts.wanted}


def _tried(search: Search, K: int, wanted: dict[Part, Switch]) -> Explained:
    """Return what K classes explain with these parts, searched for as if K were given."""
    own = replace(search, tried={}, begun={}, starts={}, history=[], held_out={})
    parts = PartChoice(own, own.choose_family(own.choose_classes([K])), wanted)
    found = parts.choose()
    return Explained(own, parts, found, _score(own, parts, found))


def _score(search: Search, parts: PartChoice, found: em.Inference) -> float:
    numbers = N_NUMBERS["clarity"] if "clarity" in parts.kept else 0
    return search.score_with(search.family, found) - search.cost_of(numbers)
