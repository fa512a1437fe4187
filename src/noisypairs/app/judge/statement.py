"""What judges have shown: how they contradict themselves, how often they are right, whom to ask.

The accuracy of what is inferred from judges is measured on pairs that people answered and that were
drawn at random, each with its own answer left out, and stated for those that nobody answered.
Without people it is not known: judges may all err alike. Then pairs for people are kept in the
store: a random sample, as large as shows the target if all of it is right, and pairs on which the
judges agree against the features.
"""

from __future__ import annotations

import json
from bisect import bisect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from noisypairs.annotators import annotator_table
from noisypairs.annotators.crowd import gold_rates
from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.questions import DOUBT, KNOWN, RANDOM
from noisypairs.app.files.store import COLUMNS
from noisypairs.app.judge.learners import ByClasses, ByPairs, Heard, Pair
from noisypairs.app.sentences import blocks
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

    ``accuracy`` is the share of pairs that no person answered for which the more probable answer is
    right, measured on ``n_known`` pairs that people answered, None where these are fewer than ten;
    ``confused`` counts these, [what people say][what was inferred], different first. ``orders`` are
    of pairs asked twice, ``agreement`` the share of pairs on which two judges agree. ``rates`` say
    how often each judge calls same pairs different, and different pairs same, and ``together`` how
    far judges err together; they are empty without people. ``people`` are the pairs that a person
    should answer, ``answers`` everything in the store, ``pairs`` every judged pair with P(same).
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
        whole = vars(self) | {
            "replies": self.n_replies,
            "enough": self.enough,
            "known_pairs": self.n_known,
            "people": self.people[["left", "right"]].to_numpy().tolist(),
        }
        for name in ("answers", "pairs", "together", "n_replies", "n_known"):
            del whole[name]
        plain: dict[str, Any] = json.loads(json.dumps(whole, default=vars))
        return plain

    def lines(self) -> list[str]:
        """Return what a person should know, in sentences."""
        return blocks("judge.txt", found=self, fewest=FEWEST_LABELS)


def statement(
    database: Database, heard: Heard, learner: ByClasses | ByPairs, target: float
) -> Judged:
    """Say what the answers in a store show, and keep the pairs for people there."""
    judged = list(dict.fromkeys((one.left, one.right) for one in heard.judges))
    chance = learner.chances(heard, judged)
    if chance is not None:
        told = [heard.known.get(*one) for one in zip(judged, chance, strict=True)]
        chance = np.array(told, dtype=float)
    drawn = {(one.left, one.right) for one in heard.people if one.kind == KNOWN}
    sample = sorted(drawn & heard.known.keys() & set(judged))
    confused = _confusions(learner, heard, sample)
    enough_known = len(sample) >= FEWEST_LABELS and chance is not None
    n_items = len(heard.shown.ids)
    n_pairs = len(judged) if isinstance(learner, ByPairs) else n_items * (n_items - 1) // 2
    n_left = n_pairs - len(heard.known)
    right = int(np.trace(confused))
    accuracy = interval_of_rest(right, len(sample), n_left) if enough_known else None
    _keep_wanted(database, learner, heard, target)
    ids = {number: heard.shown.ids[row] for number, row in heard.shown.row_of.items()}
    of_judges = pd.DataFrame(
        [(ids[low], ids[high]) for low, high in judged], columns=["left", "right"]
    )
    return Judged(
        target,
        accuracy,
        len(sample),
        confused.tolist(),
        _orders(database),
        _agreement(heard),
        *(_rates(heard) if enough_known else ({}, "")),
        _for_people(database, heard),
        pd.DataFrame(Answers(database).rows(), columns=list(COLUMNS)),
        of_judges.assign(same=np.nan if chance is None else chance),
        _unsure(database),
    )


def interval_of_rest(right: int, n: int, n_left: int, level: float = LEVEL) -> Interval:
    """Return the exact interval of the share among ``n_left`` others of one list, ``n`` drawn.

    All shares for which no tail of the hypergeometric law is too thin. Of many others that is
    Clopper and Pearson's interval; few differ from their share by chance, too. With none left it is
    that of any others like these.

    >>> print(interval_of_rest(95, 100, 10**9), exact_interval(95, 100, 0.9))
    0.950 [0.898, 0.980] 0.950 [0.898, 0.980]
    >>> print(interval_of_rest(95, 100, 50))
    0.950 [0.860, 1.000]
    """
    if n_left < 1:
        return exact_interval(right, n, level)
    wrong, tail = n - right, (1.0 - level) / 2
    law, whole = stats.hypergeom, n + n_left
    least = bisect(range(n_left), tail, key=lambda m: law.sf(wrong - 1, whole, wrong + m, n))
    most = bisect(range(n_left), -tail, key=lambda m: -law.cdf(wrong, whole, wrong + m + 1, n))
    return Interval(right / n, 1.0 - most / n_left, 1.0 - least / n_left, level)


def _confusions(
    learner: ByClasses | ByPairs, heard: Heard, sample: list[Pair]
) -> NDArray[np.int64]:
    """Count what people say and what is inferred without what they say of the pair, (2, 2)."""
    table = np.zeros((2, 2), dtype=np.int64)
    order = np.random.default_rng(0).permutation(len(sample))
    for fold in np.array_split(order, min(FOLDS, len(sample))) if sample else ():
        held = [sample[k] for k in fold]
        chance = learner.chances(heard.without(set(held)), held)
        if chance is not None:
            truth = np.array([heard.known[pair] for pair in held], dtype=int)
            np.add.at(table, (truth, (chance > 0.5).astype(int)), 1)
    return table


def _orders(database: Database) -> Orders:
    rows = database.rows(
        "SELECT a1.said <> a2.said, (a1.said = 'same') <> (a2.said = 'same'), "
        "(a1.said = 'same') <> q1.swapped FROM standing AS a2 JOIN questions AS q2 "
        "ON q2.question = a2.question JOIN people AS p2 ON p2.person = a2.person "
        "JOIN people AS p1 ON p1.name || ' again' = p2.name AND p1.joined_by = 'judge' "
        "JOIN standing AS a1 ON a1.person = p1.person AND a1.low = a2.low AND a1.high = a2.high "
        "JOIN questions AS q1 ON q1.question = a1.question "
        "WHERE p2.joined_by = 'judge' AND q1.swapped <> q2.swapped"
    )
    if not rows:
        return Orders(0, None, 0, 0, None)
    changed, opposite, in_first = np.array(rows, dtype=bool).T
    n, first = int(opposite.sum()), int((opposite & in_first).sum())
    p_value = float(stats.binomtest(first, n).pvalue) if n else 1.0
    return Orders(len(rows), wilson(int(changed.sum()), len(rows)), first, n - first, p_value)


def _agreement(heard: Heard) -> Interval | None:
    """Return on what share of the pairs two judges agree that both answered, None if on none."""
    counts = [(len(same), sum(same)) for same in heard.votes.values() if len(same) > 1]
    shared = [1.0 - 2 * yes * (n - yes) / (n * (n - 1)) for n, yes in counts]
    return wilson(sum(shared), len(shared)) if shared else None


def _unsure(database: Database) -> dict[str, float]:
    return dict(
        database.rows(
            "SELECT name, avg(said = 'unsure') FROM standing JOIN people USING (person) "
            "WHERE joined_by = 'judge' GROUP BY name ORDER BY name"
        )
    )


def _rates(heard: Heard) -> tuple[dict[str, Rates], str]:
    """Return the rates of judges by what people know, and how far judges err together.

    Where pairs were answered by several judges, these answers tell, too, each pair by itself.
    Elsewhere rates are counted on the known pairs.
    """
    answers, known = heard.answers()
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
    database: Database, learner: ByClasses | ByPairs, heard: Heard, target: float
) -> None:
    """Add to the pairs for people until the random ones show the target, and the doubted ones."""
    size, votes = sample_size(target), heard.votes
    wanted = database.rows("SELECT low, high, kind FROM wanted")
    taken = {(low, high): kind for low, high, kind in wanted}
    asked = {(one.left, one.right): one.kind for one in heard.people}
    waiting = [kind for pair, kind in taken.items() if pair not in asked]
    free = sorted(votes.keys() - taken.keys() - asked.keys())
    at_random = "SELECT low, high FROM questions WHERE kind = ?"
    drawn = set(database.rows(at_random, RANDOM))
    pool = [pair for pair in free if pair in drawn]
    more = max(size - [*waiting, *asked.values()].count(KNOWN), 0)
    order = np.random.default_rng(len(asked)).permutation(len(pool))[:more]
    rows = [(*pool[k], KNOWN) for k in order]
    agreed = [p for p in free if (*p, KNOWN) not in rows and len(set(votes[p])) == 1]
    chance = learner.by_features(heard, agreed) if agreed else None
    if chance is not None:
        against = np.where([votes[pair][0] for pair in agreed], 1.0 - chance, chance)
        worst = np.argsort(-against)[: int(np.sum(against > 0.5))]
        doubted = worst[: max(size // 3 - list(taken.values()).count(DOUBT), 0)]
        step = max(len(rows) // max(len(doubted), 1), 1)
        for k, at in enumerate(doubted):
            rows.insert(min(k * (step + 1), len(rows)), (*agreed[at], DOUBT))
    database.run_many("INSERT INTO wanted (low, high, kind) VALUES (?, ?, ?)", rows)


def _for_people(database: Database, heard: Heard) -> pd.DataFrame:
    """Return the pairs that still wait for a person, with the columns of both items."""
    shown = heard.shown
    rows = database.rows(
        "SELECT low, high FROM wanted WHERE NOT EXISTS (SELECT 1 FROM standing JOIN people "
        "USING (person) WHERE standing.low = wanted.low AND standing.high = wanted.high "
        "AND joined_by IS NOT 'judge') ORDER BY place"
    )
    ends = [[shown.row_of[n] for n in row] for row in rows if set(row) <= shown.row_of.keys()]
    sides = list(zip(("left", "right"), np.array(ends, dtype=int).reshape(-1, 2).T, strict=True))
    columns = {side: [shown.ids[row] for row in at] for side, at in sides}
    columns["answer"] = [""] * len(ends)
    for name, texts in shown.cells.items():
        columns |= {f"{side} {name}": [texts[row] for row in at] for side, at in sides}
    return pd.DataFrame(columns)
