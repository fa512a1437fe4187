"""What the answers say so far, and which pairs to ask next: of classes, or of listed pairs.

Both have the same four ways in. `ByClasses` is the learner of ``noisypairs ask``, which chooses
among all pairs; `ByPairs` judges each pair of a list by itself, as records to link are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.annotators.choice import lacking_repeats
from noisypairs.annotators.pair_truth import infer_pair_truth, likeness_of
from noisypairs.app.ask.answers import Answers, Said
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

    def next(self, asked: Counter[Pair], n_judges: int) -> list[Pick]:
        """Learn from all answers; return pairs to ask, none once more answers would not help."""
        del n_judges
        self.worker.step()
        last = self.worker.fits.latest()
        if last is not None and last.estimate.claimed:
            return []
        rows = self.worker.fits.database.rows(
            "SELECT low, high, kind, chance, fit FROM queue ORDER BY place"
        )
        return [Pick(*row) for row in rows if (row[0], row[1]) not in asked]

    def chances(
        self, pairs: list[Pair], people: Collection[str] = (), by: list[Said] | None = None
    ) -> Array | None:
        """Return P(same) of pairs by all answers, or by these; None where they show no classes."""
        del people  # what they say is evidence like other answers, at their own rates
        shown = self.worker.project.shown
        return self.learner.same_chances(shown, pairs, "all" if by is None else by)

    def by_features(self, pairs: list[Pair]) -> Array | None:
        """Return P(same) by the features alone, None where they say nothing."""
        return self.learner.same_chances(self.worker.project.shown, pairs, "features")


class ByPairs:
    """Pairs of a list, each judged by itself; what people say of a pair is known."""

    def __init__(
        self, settings: Settings, shown: Shown, pairs: list[Pair], answers: Answers
    ) -> None:
        self.settings, self.shown, self.answers = settings, shown, answers
        order = np.random.default_rng(settings.seed).permutation(len(pairs))
        self.pairs = [pairs[k] for k in order]
        self.X, self.note = features_of(shown, settings), ""

    def close(self) -> None:
        """Nothing is open."""

    def next(self, asked: Counter[Pair], n_judges: int) -> list[Pick]:
        """Return pairs never asked, in random order; then those in most doubt."""
        fresh = [pair for pair in self.pairs if pair not in asked]
        if fresh:
            return [Pick(low, high, RANDOM) for low, high in fresh]
        chance = self.chances(self.pairs)
        if chance is None:
            return []
        doubt = np.minimum(chance, 1.0 - chance)
        if doubt.mean() <= 1.0 - self.settings.target:
            return []
        size = max(BATCH, asked.total() // 10)
        free = [k for k in np.argsort(-doubt) if asked[self.pairs[k]] < n_judges]
        return [
            Pick(self.pairs[k][0], self.pairs[k][1], CHOSEN, float(chance[k])) for k in free[:size]
        ]

    def chances(
        self, pairs: list[Pair], people: Collection[str] = (), by: list[Said] | None = None
    ) -> Array | None:
        """Return P(same) of pairs by all answers, or by these; else by the share of "same".

        What ``people`` say of a pair is known. Where hardly any pair was answered by several
        judges, answers do not show how good they are: then P(same) is that of the known pairs whose
        judges said the same, beside one vote more for either side.
        """
        said = self.answers.telling() if by is None else by
        judged = first_answers(self.shown, said, people)
        if not judged.n_pairs:
            return None
        known = known_answers(judged, self.shown, said, people)
        if lacking_repeats(judged) is None:
            found = infer_pair_truth(judged, known)
            keys = pair_keys(found.graph.left, found.graph.right, judged.n_items)
            return self._of(keys, found.same_proba, found.share, pairs)
        keys, first, place = np.unique(keys_of(judged), return_index=True, return_inverse=True)
        same = (np.bincount(place, judged.same) + 1.0) / (np.bincount(place) + 2.0)
        truth, call = known[first], same > 0.5
        for side in (call, ~call) if (truth >= 0).any() else ():
            told = truth[side & (truth >= 0)]
            same[side] = (told.sum() + PRIOR * same[side]) / (len(told) + PRIOR)
        return self._of(keys, np.where(truth >= 0, truth, same), float(same.mean()), pairs)

    def by_features(self, pairs: list[Pair]) -> Array | None:
        """Return P(same) by how alike the two items are, None without features."""
        judged = first_answers(self.shown, self.answers.telling(), ())
        likeness = likeness_of(judged, self.X) if self.X.any() and judged.n_pairs else None
        if likeness is None:
            return None
        found = infer_pair_truth(judged, None, likeness)
        keys = pair_keys(found.graph.left, found.graph.right, judged.n_items)
        return self._of(keys, expit(logit(found.share) + found.lean), found.share, pairs)

    def _of(self, keys: NDArray[np.int64], values: Array, share: float, pairs: list[Pair]) -> Array:
        row = self.shown.row_of
        left, right = np.array([(row[low], row[high]) for low, high in pairs]).reshape(-1, 2).T
        wanted = pair_keys(left, right, len(self.shown.ids))
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, values[at], share)


def first_answers(shown: Shown, said: list[Said], people: Collection[str]) -> Pairs:
    """Return what judges said when they were first asked: a second time would hardly tell more."""
    return pairs_of(
        shown, [o for o in said if o.person not in people and not o.person.endswith(AGAIN)]
    )


def known_pairs(said: list[Said], people: Collection[str]) -> dict[Pair, bool]:
    """Return what most people say of each pair that some of them answered; ties are left out."""
    votes: Counter[Pair] = Counter()
    for one in said:
        if one.person in people:
            votes[(one.left, one.right)] += 1 if one.same else -1
    return {pair: vote > 0 for pair, vote in votes.items() if vote}


def known_answers(
    judged: Pairs, shown: Shown, said: list[Said], people: Collection[str]
) -> NDArray[np.int8]:
    """Return what people say of the pair of every answer: 1 same, 0 different, −1 unknown.

    What they were asked because judges probably err there would make all judges look bad.
    """
    row, n = shown.row_of, judged.n_items
    said = [one for one in said if one.kind != DOUBT]
    known = {
        int(pair_keys(np.array([row[low]]), np.array([row[high]]), n)[0]): int(same)
        for (low, high), same in known_pairs(said, people).items()
        if low in row and high in row
    }
    return np.array([known.get(key, -1) for key in keys_of(judged).tolist()], dtype=np.int8)
