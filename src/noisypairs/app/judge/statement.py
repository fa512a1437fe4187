"""What judges have shown: how they contradict themselves, how often they are right, whom to ask.

The accuracy of what is inferred from judges is measured on pairs that people answered and that were
drawn at random, each with its own answer left out. Without people it is not known: judges may all
err alike. Then pairs for people are kept in the store: a random sample, as large as shows the
target if all of it is right, and pairs on which the judges agree against the features.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from noisypairs.annotators import annotator_table
from noisypairs.annotators.crowd import gold_rates
from noisypairs.app.ask.answers import Answers, Said
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.project import Shown
from noisypairs.app.ask.questions import DOUBT, KNOWN, RANDOM
from noisypairs.app.files.store import COLUMNS
from noisypairs.app.judge.learners import (
    AGAIN,
    ByClasses,
    ByPairs,
    Pair,
    first_answers,
    known_answers,
    known_pairs,
)
from noisypairs.assess.intervals import LEVEL
from noisypairs.assess.labels import FEWEST_LABELS, exact_interval
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation import Interval, wilson

FOLDS = 5


Rates = tuple[Interval | None, Interval | None]
"""How often same pairs are called different, and different pairs same."""


@dataclass(frozen=True)
class Orders:
    """Pairs asked twice of one judge, in both orders.

    ``contradicted`` is the share that got different answers; ``first`` of these were called "same"
    only where the item that comes first in the file stood first, ``second`` only where it stood
    second. ``p_value`` is that of as uneven a split by chance.
    """

    n_pairs: int
    contradicted: Interval | None
    first: int
    second: int
    p_value: float | None


@dataclass(frozen=True)
class Judged:
    """What came of asking judges.

    ``accuracy`` is the share of pairs for which the more probable answer is right, measured on
    ``n_known`` pairs that people answered, None where these are fewer than ten; ``confused`` counts
    these pairs, [what people say][what was inferred], different first. ``orders`` are of pairs
    asked twice, ``agreement`` the share of pairs on which two judges agree. ``rates`` say how often
    each judge calls same pairs different, and different pairs same, and ``together`` how far judges
    err together; they are empty without people. ``people`` are the pairs that a person should
    answer, ``answers`` everything in the store, ``pairs`` every judged pair with P(same).
    """

    target: float
    accuracy: Interval | None
    n_known: int
    confused: list[list[int]]
    orders: Orders
    agreement: Interval | None
    rates: dict[str, Rates]
    together: str
    people: pd.DataFrame
    answers: pd.DataFrame
    pairs: pd.DataFrame
    unsure: dict[str, float] = field(default_factory=dict)
    stopped: str = ""
    n_replies: int = 0
    cost: float = 0.0

    @property
    def enough(self) -> bool:
        """Whether people's answers show that the target is reached."""
        return self.accuracy is not None and self.accuracy.low >= self.target

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        rates = {
            name: [None if one is None else vars(one) for one in both]
            for name, both in self.rates.items()
        }
        return {
            "stopped": self.stopped,
            "replies": self.n_replies,
            "cost": self.cost,
            "target": self.target,
            "enough": self.enough,
            "accuracy": None if self.accuracy is None else vars(self.accuracy),
            "known_pairs": self.n_known,
            "confused": self.confused,
            "orders": vars(self.orders)
            | {"contradicted": None if (o := self.orders.contradicted) is None else vars(o)},
            "agreement": None if self.agreement is None else vars(self.agreement),
            "unsure": self.unsure,
            "rates": rates,
            "people": self.people[["left", "right"]].to_numpy().tolist(),
        }

    def lines(self) -> Iterable[str]:
        """Return what a person should know, in sentences."""
        orders = self.orders
        yield f"Stopped after {self.n_replies:,} answers: {self.stopped}."
        if orders.contradicted is not None and orders.p_value is not None:
            yield (
                f"Asked again with the items in the other order, judges contradict themselves on "
                f"{_share(orders.contradicted)} of {orders.n_pairs:,} pairs. Of these, "
                f'{orders.first} were "same" in the order of the file only and {orders.second} in '
                f"the other only (p = {orders.p_value:.2f} if order did not matter)."
            )
        if self.agreement is not None:
            yield f"Two judges agree on {_share(self.agreement)} of the pairs that both answered."
        for name, share in self.unsure.items():
            if share > 0 and not name.endswith(AGAIN):
                yield f"{name} is unsure, or not understood, in {share:.0%} of its answers."
        if self.together:
            yield self.together
        for name, (missed, mixed) in self.rates.items():
            yield (
                f"{name} calls same pairs different in {_share(missed)}, and different pairs "
                f"same in {_share(mixed)}."
            )
        if self.accuracy is None:
            yield (
                f"How accurate this is cannot be known from judges alone: they may err alike. "
                f"{self.n_known} pairs have an answer of a person, {FEWEST_LABELS} are the fewest "
                "that tell."
            )
        else:
            apart, joined = self.confused
            yield (
                f"Accuracy of the pairs: {_share(self.accuracy)}, measured on {self.n_known} pairs "
                f"that people answered ({apart[0]} of {sum(apart)} different ones and {joined[1]} "
                f"of {sum(joined)} same ones are right)."
            )
            if self.enough:
                yield f"Enough: the target of {self.target:.0%} is reached."
        if len(self.people):
            yield f"{len(self.people)} pairs that a person should answer are in the store."


def _share(one: Interval | None) -> str:
    if one is None:
        return "an unknown share (no such pair is known)"
    return f"{one.estimate:.1%} ({one.low:.1%} to {one.high:.1%})"


def statement(
    database: Database, shown: Shown, learner: ByClasses | ByPairs, target: float
) -> Judged:
    """Say what the answers in a store show, and keep the pairs for people there."""
    judges = {name for (name,) in database.rows("SELECT name FROM people WHERE joined_by='judge'")}
    said = [
        one for one in Answers(database).telling() if {one.left, one.right} <= shown.row_of.keys()
    ]
    people = {one.person for one in said} - judges
    judged = dict.fromkeys((one.left, one.right) for one in said if one.person in judges)
    pairs = list(judged)
    chance = learner.chances(pairs, people)
    known = known_pairs(said, people)
    if chance is not None:
        chance = np.array([known.get(*one) for one in zip(pairs, chance, strict=True)], dtype=float)
    drawn = {(one.left, one.right) for one in said if one.person in people and one.kind == KNOWN}
    sample = sorted(drawn & known.keys() & judged.keys())
    confused = _confusions(learner, said, people, sample, known)
    right = confused[0][0] + confused[1][1]
    enough_known = len(sample) >= FEWEST_LABELS and chance is not None
    accuracy = exact_interval(right, len(sample), LEVEL) if enough_known else None
    _keep_wanted(database, learner, said, judges, target)
    ids = {number: shown.ids[row] for number, row in shown.row_of.items()}
    of_judges = pd.DataFrame(
        [(ids[low], ids[high]) for low, high in pairs], columns=["left", "right"]
    )
    return Judged(
        target,
        accuracy,
        len(sample),
        confused,
        _orders(database),
        _agreement(said, judges),
        *(_rates(shown, said, people) if enough_known else ({}, "")),
        _for_people(database, shown),
        pd.DataFrame(Answers(database).rows(), columns=list(COLUMNS)),
        of_judges.assign(same=np.nan if chance is None else chance),
        _unsure(database),
    )


def _confusions(
    learner: ByClasses | ByPairs,
    said: list[Said],
    people: set[str],
    sample: list[Pair],
    known: dict[Pair, bool],
) -> list[list[int]]:
    """Count what people say and what is inferred without what they say of the pair, (2, 2)."""
    table = np.zeros((2, 2), dtype=int)
    order = np.random.default_rng(0).permutation(len(sample))
    for fold in np.array_split(order, FOLDS):
        held = [sample[k] for k in fold]
        if not held:
            continue
        out = set(held)
        rest = [o for o in said if o.person not in people or (o.left, o.right) not in out]
        chance = learner.chances(held, people, rest)
        if chance is not None:
            truth = np.array([known[pair] for pair in held], dtype=int)
            np.add.at(table, (truth, (chance > 0.5).astype(int)), 1)
    return [[int(n) for n in row] for row in table]


def _orders(database: Database) -> Orders:
    rows = database.rows(
        "SELECT q1.swapped, a1.said, a2.said FROM standing AS a2 JOIN questions AS q2 "
        "ON q2.question = a2.question JOIN people AS p2 ON p2.person = a2.person "
        "JOIN people AS p1 ON p1.name || ' again' = p2.name AND p1.joined_by = 'judge' "
        "JOIN standing AS a1 ON a1.person = p1.person AND a1.low = a2.low AND a1.high = a2.high "
        "JOIN questions AS q1 ON q1.question = a1.question "
        "WHERE p2.joined_by = 'judge' AND q1.swapped <> q2.swapped"
    )
    split = [(swapped, one == "same", two == "same") for swapped, one, two in rows]
    differ = [(swapped, one) for swapped, one, two in split if one != two]
    changed = sum(one != two for _, one, two in rows)
    first = sum(one != bool(swapped) for swapped, one in differ)
    second = len(differ) - first
    return Orders(
        len(rows),
        wilson(changed, len(rows)) if rows else None,
        first,
        second,
        float(stats.binomtest(first, len(differ)).pvalue) if differ else (1.0 if rows else None),
    )


def _agreement(said: list[Said], judges: set[str]) -> Interval | None:
    """Return on what share of the pairs two judges agree that both answered, None if on none."""
    answers: dict[Pair, list[bool]] = {}
    for one in said:
        if one.person in judges and not one.person.endswith(AGAIN):
            answers.setdefault((one.left, one.right), []).append(one.same)
    shared = []
    for same in answers.values():
        n, yes = len(same), sum(same)
        if n > 1:
            shared.append((yes * (yes - 1) + (n - yes) * (n - yes - 1)) / (n * (n - 1)))
    if not shared:
        return None
    return wilson(sum(shared), len(shared))


def _unsure(database: Database) -> dict[str, float]:
    rows = database.rows(
        "SELECT name, avg(said = 'unsure') FROM standing JOIN people USING (person) "
        "WHERE joined_by = 'judge' GROUP BY name ORDER BY name"
    )
    return {str(name): float(share) for name, share in rows}


def _rates(shown: Shown, said: list[Said], people: set[str]) -> tuple[dict[str, Rates], str]:
    """Return the rates of judges by what people know, and how far judges err together.

    Where pairs were answered by several judges, these answers tell, too, each pair by itself.
    Elsewhere rates are counted on the known pairs.
    """
    answers = first_answers(shown, said, people)
    known = known_answers(answers, shown, said, people)
    try:
        with collected_warnings():
            table = annotator_table(answers, known=known, model="pairs", n_drop=0, random_state=0)
    except NotIdentifiable:
        names = np.asarray(answers.annotator_names).tolist()
        counted = zip(names, gold_rates(answers, known), strict=True)
        return {str(n): (one.similar_flip, one.dissimilar_flip) for n, one in counted}, ""
    rates: dict[str, Rates] = {
        str(row.name): (row.similar_flip, row.dissimilar_flip) for row in table
    }
    return rates, "" if table.together is None else f"{table.together}."


def sample_size(target: float) -> int:
    """Return how many pairs show a target if all of them are right.

    >>> sample_size(0.95), sample_size(0.9)
    (59, 29)
    """
    return int(np.ceil(np.log((1.0 - LEVEL) / 2) / np.log(target)))


def _keep_wanted(
    database: Database,
    learner: ByClasses | ByPairs,
    said: list[Said],
    judges: set[str],
    target: float,
) -> None:
    """Add to the pairs for people until the random ones show the target, and the doubted ones."""
    size = sample_size(target)
    votes: dict[Pair, list[bool]] = {}
    for one in said:
        if one.person in judges:
            votes.setdefault((one.left, one.right), []).append(one.same)
    taken = {
        (low, high): kind for low, high, kind in database.rows("SELECT low, high, kind FROM wanted")
    }
    by_people = {(one.left, one.right) for one in said if one.person not in judges}
    n_known = len({(o.left, o.right) for o in said if o.person not in judges and o.kind == KNOWN})
    n_waiting = sum(kind == KNOWN and pair not in by_people for pair, kind in taken.items())
    free = sorted(votes.keys() - taken.keys() - by_people)
    drawn = _drawn_at_random(database)
    pool = [pair for pair in free if pair in drawn]
    rng = np.random.default_rng(len(said))
    more = max(size - n_known - n_waiting, 0)
    random = [pool[k] for k in rng.permutation(len(pool))[:more]]
    agreed = [pair for pair in free if pair not in set(random) and len(set(votes[pair])) == 1]
    chance = learner.by_features(agreed) if agreed else None
    doubted: list[Pair] = []
    if chance is not None:
        against = np.where([votes[pair][0] for pair in agreed], 1.0 - chance, chance)
        worst = np.argsort(-against)[: int(np.sum(against > 0.5))]
        waiting = sum(kind == DOUBT for kind in taken.values())
        doubted = [agreed[k] for k in worst[: max(size // 3 - waiting, 0)]]
    rows = [(*pair, KNOWN) for pair in random]
    step = max(len(rows) // max(len(doubted), 1), 1)
    for k, pair in enumerate(doubted):
        rows.insert(min(k * (step + 1), len(rows)), (*pair, DOUBT))
    database.run_many("INSERT INTO wanted (low, high, kind) VALUES (?, ?, ?)", rows)


def _drawn_at_random(database: Database) -> set[Pair]:
    """Return the pairs whose first question was drawn at random; of a list, all of them are."""
    rows = database.rows("SELECT low, high FROM questions WHERE kind = ?", RANDOM)
    return {(int(low), int(high)) for low, high in rows}


def _for_people(database: Database, shown: Shown) -> pd.DataFrame:
    """Return the pairs that still wait for a person, with the columns of both items."""
    rows = database.rows(
        "SELECT low, high FROM wanted WHERE NOT EXISTS (SELECT 1 FROM standing JOIN people "
        "USING (person) WHERE standing.low = wanted.low AND standing.high = wanted.high "
        "AND joined_by IS NOT 'judge') ORDER BY place"
    )
    ends = [[shown.row_of[n] for n in row] for row in rows if set(row) <= shown.row_of.keys()]
    columns: dict[str, list[str]] = {
        side: [shown.ids[end[k]] for end in ends] for k, side in enumerate(("left", "right"))
    }
    columns["answer"] = [""] * len(ends)
    for name, texts in shown.cells.items():
        for k, side in enumerate(("left", "right")):
            columns[f"{side} {name}"] = [texts[end[k]] for end in ends]
    return pd.DataFrame(columns)
