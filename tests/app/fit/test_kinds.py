"""Kinds of a fit: their number is chosen once, and they are shown by items of the file."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier
from noisypairs.app.fit.kinds import settle_kinds, summarise_kinds
from noisypairs.app.fit.request import Request, kind_numbers, pair_classifier
from noisypairs.datasets import simulated_crowd
from noisypairs.errors import collected_warnings

PLAIN = {"annotators": False, "clarity": False, "similarity": False}


@pytest.fixture(scope="module")
def crowd() -> Any:
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    return simulated_crowd(120, 3, 6, 12, spammer_share=0.0, **rates, random_state=0)


def test_the_number_is_chosen_from_those_asked_for(crowd: Any) -> None:
    pairs = crowd.pairs
    assert settle_kinds(crowd.data, pairs, Request()) == ((), Request())
    assert settle_kinds(crowd.data, pairs, Request(n_kinds=4)) == ((4,), Request(n_kinds=4))
    tried, settled = settle_kinds(crowd.data, pairs, Request(n_kinds=(2, 3), annotators=False))
    assert tried == (2, 3)
    assert settled.n_kinds == 3  # the crowd compares three groups, far apart


def test_kinds_are_shown_with_the_cells_of_their_items(crowd: Any) -> None:
    features = pd.DataFrame(crowd.data, columns=["a", "b", "c"]).round(1)
    ids = [f"p{k}" for k in range(120)]
    model = JointPairClassifier(LogisticRegression(), n_kinds=3, random_state=0, **PLAIN)
    with collected_warnings():
        model.fit(crowd.data, crowd.pairs.with_labels({0: "oak"}))
    found = summarise_kinds(model, features, ids)
    assert [one.number for one in found] == [0, 1, 2]
    assert sum(one.n_items for one in found) == 120
    assert [one.name for one in found].count("oak") == 1
    own = int(model.item_kinds_[0].argmax())
    assert found[own].name == "oak"
    for one in found:
        assert len(one.typical) == len(one.doubtful) == 3
        item = one.typical[0]
        row = ids.index(item.id)
        assert item.probability == pytest.approx(model.item_kinds_[row, one.number])
        assert item.features["b"] == f"{features['b'][row]:.4g}"
        assert item.probability >= one.doubtful[0].probability
    classes = JointPairClassifier(LogisticRegression(), n_classes=3, random_state=0, **PLAIN)
    with collected_warnings():
        assert summarise_kinds(classes.fit(crowd.data, crowd.pairs), features, ids) == ()


def test_only_the_joint_method_knows_kinds() -> None:
    assert Request(n_kinds="auto").methods == ("joint",)
    assert pair_classifier("joint", Request(n_kinds=5)).n_kinds == 5  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="method 'weighted' knows no kinds: only joint"):
        Request(method="weighted", n_kinds=3)
    with pytest.raises(ValueError, match="both classes and kinds are asked for"):
        Request(n_classes=3, n_kinds=3)
    assert kind_numbers("3-5") == (3, 4, 5)
    with pytest.raises(ValueError, match="--kinds 'many': expected a number"):
        kind_numbers("many")
