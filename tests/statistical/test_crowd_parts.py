"""The right parts of the answer model are there, and their numbers come back within their errors.

Four simulated crowds of each sort, with fixed seeds. Over twenty of each the right parts were
chosen in 95 % or more (benchmarks/crowd_parts.py), so one miss in four is allowed: two or more
would come about with probability below 1.5 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from noisypairs import JointPairClassifier, datasets
from noisypairs.estimators.inner.classifiers import GaussianClasses

PLAIN = {"similar_flip": 0.2, "dissimilar_flip": 0.2, "spread": 0.0, "lean": 0.0}
EFFECTS = {
    "people": {"bias_spread": 0.7, "skill_spread": 0.7},
    "clarity": {"hard_share": 0.2},
    "similarity": {"slope": 1.5},
}


def fits(effects):
    """Four crowds, 60 people and 5,000 answers about 300 items each, with what is found."""
    for seed in range(4):
        crowd = datasets.simulated_crowd(
            300, 3, 60, 5000 / 300, 0.0, **PLAIN, **effects, random_state=seed
        )
        model = JointPairClassifier(GaussianClasses(), n_classes=3, random_state=seed)
        yield crowd, model.fit(crowd.data, crowd.pairs)


pytestmark = pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning")


#: Strengths below which a part changes no answer by more than a few per cent: the larger spread of
#: people in log-odds, the share of hard items, the slope of likeness, the correlation in a pair.
WEAK = {"people": 0.25, "clarity": 0.02, "similarity": 0.5, "pair error": 0.1}


def test_parts_of_plain_crowds_are_weak_or_absent():
    """A spread of people is never estimated as nothing, but below .25 it says next to nothing."""
    for _, model in fits({}):
        strong = [p.name for p in model.answer_model_.parts if p.strength > WEAK[p.name]]
        assert strong == []


def test_people_are_chosen_and_come_back_within_their_errors():
    chosen, within, spreads = 0, [], []
    for crowd, model in fits(EFFECTS["people"]):
        chosen += "people" in model.parts_
        people = model.people_
        for found, error, truth in (
            (people.bias, people.bias_error, crowd.bias),
            (people.skill, people.skill_error, crowd.skill),
        ):
            off = found - found.mean() - truth + truth.mean()
            within += (np.abs(off) < 1.645 * error).tolist()
        spreads.append((people.bias_spread, people.skill_spread))
    assert chosen >= 3
    # 480 intervals of 90 %: a standard error of 1.4 %, and some of the uncertainty is ignored.
    assert np.mean(within) == pytest.approx(0.9, abs=0.06)
    # The deviation of 60 numbers has an error of 9 %, their mean over four crowds half of it.
    np.testing.assert_allclose(np.mean(spreads, axis=0), 0.7, rtol=0.25)


def test_hard_items_are_found():
    chosen, shares, areas = 0, [], []
    for crowd, model in fits(EFFECTS["clarity"]):
        chosen += "clarity" in model.parts_
        if model.item_hard_ is not None:
            shares.append(model.item_hard_.mean())
            areas.append(roc_auc_score(crowd.hard, model.item_hard_))
    assert chosen >= 3
    assert np.mean(shares) == pytest.approx(0.2, abs=0.05)
    assert np.mean(areas) > 0.95


def test_similarity_is_found_and_its_slope_comes_back():
    slopes = [
        model.answer_model_.part("similarity").slope
        for _, model in fits(EFFECTS["similarity"])
        if "similarity" in model.parts_
    ]
    assert len(slopes) >= 3
    # The slope of 5,000 answers has a standard error of about .1.
    np.testing.assert_allclose(np.mean(slopes), 1.5, atol=0.2)
