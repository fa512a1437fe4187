"""What was renamed keeps its old name for one version, with a warning that says what to write."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from noisypairs import (
    COPKMeans,
    JointPairClassifier,
    LossCorrectionClassifier,
    PairingNoise,
    SearchOptions,
    WeightedPairClassifier,
)

from .learners import problem

FORMER = [
    ({"positive": "minority"}, {"class_order": "falling"}),
    ({"positive": "majority"}, {"class_order": "rising"}),
    ({"prior": 0.3}, {"class_order": "falling"}),
    ({"noise_model": "free"}, {"noise": "free"}),
    ({"annotators": False}, {"answer_model": ("clarity", "pair error", "similarity")}),
    ({"clarity": False, "similarity": False}, {"answer_model": ("pair error", "people")}),
    ({"max_iter": 7, "tol": 0.5}, {"search": SearchOptions(max_iter=7, tol=0.5)}),
    ({"n_kinds": 4}, {"search": SearchOptions(n_kinds=4)}),
]


@pytest.mark.parametrize(("old", "new"), FORMER)
def test_former_names_of_the_joint_learner(old, new):
    with pytest.warns(FutureWarning, match="goes away in the next version: write") as caught:
        model = JointPairClassifier(**old)
    assert len(caught) == len(old)
    assert caught[0].filename == __file__
    now = JointPairClassifier(**new)
    assert {name: getattr(model, name) for name in new} == new
    assert clone(model).get_params() == now.get_params()  # and says nothing
    with pytest.warns(FutureWarning):
        assert JointPairClassifier().set_params(**old).get_params() == now.get_params()


@pytest.mark.parametrize("kind", [LossCorrectionClassifier, WeightedPairClassifier])
def test_former_names_of_the_papers_learners(kind):
    with pytest.warns(FutureWarning):
        model = kind(noise_model="labeling", positive="majority")
    assert (model.noise, model.class_order) == ("labeling", "rising")
    with pytest.warns(FutureWarning):
        model = kind(PairingNoise(0.1, 0.1), noise=PairingNoise(0.1, 0.2), noise_model="labeling")
    assert model.noise == PairingNoise(0.1, 0.2)


def test_former_names_of_k_means():
    with pytest.warns(FutureWarning, match="class_order='rising'"):
        assert COPKMeans(positive="majority").class_order == "rising"


@pytest.mark.parametrize("kind", [JointPairClassifier, LossCorrectionClassifier])
def test_estimate_is_no_noise_any_more(kind):
    X, y, pairs = problem()
    model = kind(noise="estimate", class_order="falling", random_state=0)
    with pytest.warns(FutureWarning, match="noise='estimate' goes away"):
        model.fit(X, pairs)
    assert model.score(X, y) > 0.97


def test_names_that_never_were():
    with pytest.raises(TypeError, match="no parameter 'nclasses': did you mean 'n_classes'"):
        JointPairClassifier(nclasses=2)


FORMER_OF_PAIRS = {
    "sample": (5,),
    "to_pairs": (),
    "pooled_answers": (),
    "among_some_items": (5,),
    "batches": (),
    "ids_of": ([0, 1],),
    "in_order": (),
    "copies": (),
    "degrees": (),
    "drawn_at_random": (),
    "pair_keys": None,
    "neighbour_sums": (np.ones((300, 1)),),
    "nbytes": None,
    "total_weight": None,
    "weights": None,
}


@pytest.mark.parametrize("name", FORMER_OF_PAIRS)
def test_what_learners_ask_of_pairs_is_not_among_their_names(name):
    _, _, pairs = problem()
    assert name not in dir(pairs)
    with pytest.warns(FutureWarning, match=rf"Pairs\.{name} goes away in the next version"):
        value = getattr(pairs, name)
    given = FORMER_OF_PAIRS[name]
    assert value is not None if given is None else value(*given) is not None
    with pytest.raises(AttributeError, match="'Pairs' object has no attribute 'answers'"):
        pairs.answers  # noqa: B018
