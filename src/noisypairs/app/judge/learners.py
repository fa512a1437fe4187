"""What the answers say so far, and which pairs to ask next: of classes, or of listed pairs.

Both have the same four ways in. `ByClasses` is the learner of ``noisypairs ask``, which chooses
among all pairs; `ByPairs` judges each pair of a list by itself, as records to link are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.annotators.choice import lacking_repeats
from noisypairs.annotators.pair_truth import infer_pair_truth, likeness_of
from noisypairs.app.ask.answers import Answers, Said
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.learning import BATCH, Learner, features_of, pairs_of
from noisypairs.app.ask.project import Settings, Shown
from noisypairs.app.ask.questions import CHOSEN, DOUBT, RANDOM, Pick
from noisypairs.app.ask.worker import Worker
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys
from noisypairs.pairs.pairs import keys_of

Pair = tuple[int, int]

BY_JUDGES, AGAIN = "judge", " again"
"""How judges came into the store, and what follows the name of one that is asked a second time."""


#: Known pairs that the words of judges count as.
PRIOR = 3.0


@dataclass(frozen=True)
class Heard:
    """What ``judges`` and ``people`` said of items that are there; ``whole`` if nothing is out."""

    shown: Shown
    judges: list[Said]
    people: list[Said]
    whole: bool = True

    @classmethod
    def of(cls, database: Database, shown: Shown) -> Heard:
        """Return all of a store."""
        query = "SELECT name FROM people WHERE joined_by = ?"
        names = {name for (name,) in database.rows(query, BY_JUDGES)}
        said = [o for o in Answers(database).telling() if {o.left, o.right} <= shown.row_of.keys()]
        by_judges = [o for o in said if o.person in names]
        return cls(shown, by_judges, [o for o in said if o.person not in names])

    def without(self, pairs: Collection[Pair]) -> Heard:
        """Return the same without what people said of these pairs."""
        kept = [o for o in self.people if (o.left, o.right) not in pairs]
        return replace(self, people=kept, whole=False)

    @cached_property
    def votes(self) -> dict[Pair, list[bool]]:
        """What judges said of each pair when they were first asked."""
        found = defaultdict(list)
        for one in self.judges:
            if not one.person.endswith(AGAIN):
                found[one.left, one.right].append(one.same)
        return found

    @cached_property
    def known(self) -> dict[Pair, bool]:
        """What most people say of each pair that some of them answered; ties are left out."""
        votes: Counter[Pair] = Counter()
        for one in self.people:
            votes[one.left, one.right] += 1 if one.same else -1
        return {pair: vote > 0 for pair, vote in votes.items() if vote}

    def answers(self) -> tuple[Pairs, NDArray[np.int8]]:
        """Return what judges said when they were first asked, and what people say of those pairs.

        That is 1 for same, 0 for different, −1 for unknown, (n_pairs,). What people were asked
        because judges probably err there is left out: it would make all judges look bad.
        """
        first = pairs_of(self.shown, [o for o in self.judges if not o.person.endswith(AGAIN)])
        usual = replace(self, people=[o for o in self.people if o.kind != DOUBT]).known
        told = dict(zip(self.keys(list(usual)).tolist(), usual.values(), strict=True))
        truth = [told.get(key, -1) for key in keys_of(first).tolist()]
        return first, np.array(truth, dtype=np.int8)

    def keys(self, pairs: list[Pair]) -> NDArray[np.int64]:
        """Return the keys that `Pairs` of all these items has for pairs."""
        rows = np.array([[self.shown.row_of[end] for end in pair] for pair in pairs], dtype=int)
        left, right = rows.reshape(-1, 2).T
        return pair_keys(left, right, len(self.shown.ids))


class ByClasses:
    """The joint learner behind ``noisypairs ask``, refitted between batches."""

    def __init__(self, settings: Settings) -> None:
        self.learner = Learner(settings)
        self.worker = Worker(settings, self.learner)

    def close(self) -> None:
        """Close the store that the worker has opened for itself."""
        self.worker.project.database.close()

    @property
    def note(self) -> str:
        """What the last fit says of itself."""
        last = self.worker.fits.latest()
        return "" if last is None else last.estimate.note

    def next(self, heard: Heard, asked: Counter[Pair], n_judges: int) -> list[Pick]:
        """Learn from all answers; return pairs to ask, none once more answers would not help."""
        del heard, n_judges
        self.worker.step()
        last = self.worker.fits.latest()
        if last is not None and last.estimate.claimed:
            return []
        rows = self.worker.fits.database.rows(
            "SELECT low, high, kind, chance, fit FROM queue ORDER BY place"
        )
        return [Pick(*row) for row in rows if (row[0], row[1]) not in asked]

    def chances(self, heard: Heard, pairs: list[Pair]) -> Array | None:
        """Return P(same) of pairs by these answers, people's like others; None without classes."""
        shown = self.worker.project.shown
        if heard.whole:
            return self.learner.same_chances(shown, pairs, "all")
        return self.learner.same_chances(shown, pairs, [*heard.judges, *heard.people])

    def by_features(self, heard: Heard, pairs: list[Pair]) -> Array | None:
        """Return P(same) by the features alone, None where they say nothing."""
        del heard
        return self.learner.same_chances(self.worker.project.shown, pairs, "features")


class ByPairs:
    """Pairs of a list, each judged by itself; what people say of a pair is known."""

    def __init__(self, settings: Settings, shown: Shown, pairs: list[Pair]) -> None:
        self.settings, self.note = settings, ""
        order = np.random.default_rng(settings.seed).permutation(len(pairs))
        self.pairs = [pairs[k] for k in order]
        self.X = features_of(shown, settings)

    def close(self) -> None:
        """Nothing is open."""

    def next(self, heard: Heard, asked: Counter[Pair], n_judges: int) -> list[Pick]:
        """Return pairs never asked, in random order; then those in most doubt."""
        fresh = [pair for pair in self.pairs if pair not in asked]
        if fresh:
            return [Pick(low, high, RANDOM) for low, high in fresh]
        chance = self.chances(heard, self.pairs)
        if chance is None:
            return []
        doubt = np.minimum(chance, 1.0 - chance)
        if doubt.mean() <= 1.0 - self.settings.target:
            return []
        size = max(BATCH, asked.total() // 10)
        free = [k for k in np.argsort(-doubt) if asked[self.pairs[k]] < n_judges]
        chosen = [(*self.pairs[k], CHOSEN, float(chance[k])) for k in free[:size]]
        return [Pick(*one) for one in chosen]

    def chances(self, heard: Heard, pairs: list[Pair]) -> Array | None:
        """Return P(same) of pairs by these answers, of one without any by the share of "same".

        Where hardly any pair was answered by several judges, answers do not show how good they are:
        then P(same) is that of the known pairs whose judges said the same, beside one vote more for
        either side.
        """
        judged, known = heard.answers()
        if not judged.n_pairs:
            return None
        if lacking_repeats(judged) is None:
            found = infer_pair_truth(judged, known)
            values = found.same_proba[found.graph.edge_of_answer]
            return _at(heard.keys(pairs), judged, values, found.share)
        _, once, place = np.unique(keys_of(judged), return_index=True, return_inverse=True)
        same = ((np.bincount(place, judged.same) + 1.0) / (np.bincount(place) + 2.0))[place]
        call, told = same > 0.5, known[once] >= 0
        for side in (True, False) if told.any() else ():
            truth = known[once][told & (call[once] == side)]
            mine = call == side
            same[mine] = (truth.sum() + PRIOR * same[mine]) / (len(truth) + PRIOR)
        same = np.where(known >= 0, known, same)
        return _at(heard.keys(pairs), judged, same, float(same[once].mean()))

    def by_features(self, heard: Heard, pairs: list[Pair]) -> Array | None:
        """Return P(same) by how alike the two items are, None without features."""
        judged, _ = heard.answers()
        likeness = likeness_of(judged, self.X) if self.X.any() and judged.n_pairs else None
        if likeness is None:
            return None
        found = infer_pair_truth(judged, None, likeness)
        values = expit(logit(found.share) + found.lean)[found.graph.edge_of_answer]
        return _at(heard.keys(pairs), judged, values, found.share)


def _at(keys: NDArray[np.int64], judged: Pairs, values: Array, other: float) -> Array:
    """Return the values of answers' pairs, (n_pairs,), for pairs by their keys, or ``other``."""
    known = dict(zip(keys_of(judged).tolist(), values.tolist(), strict=True))
    return np.array([known.get(key, other) for key in keys.tolist()])
