"""The classes of a fit: what is shown of them, and the table of all items."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier
from noisypairs.app.fit.classes import (
    MOST_HARD,
    hard_items,
    items_table,
    summarise_classes,
    telling,
)
from noisypairs.datasets import simulated_crowd
from noisypairs.errors import collected_warnings


@pytest.fixture(scope="module")
def crowd() -> Any:
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    return simulated_crowd(120, 3, 6, 12, spammer_share=0.0, **rates, random_state=0)


@pytest.fixture(scope="module")
def model(crowd: Any) -> JointPairClassifier:
    with collected_warnings():
        found = JointPairClassifier(LogisticRegression(), n_classes=3, random_state=0)
        return found.fit(crowd.data, crowd.pairs)


IDS = [f"p{k}" for k in range(120)]


def test_every_class_is_shown_by_items_and_by_what_tells_it(crowd: Any, model: Any) -> None:
    features = pd.DataFrame(crowd.data, columns=["a", "b", "c"]).round(1)
    found = summarise_classes(model, crowd.data, features, IDS)
    assert [one.name for one in found] == ["group 1", "group 2", "group 3"]
    assert sum(one.n_items for one in found) == 120
    beliefs = model.item_proba_
    for k, one in enumerate(found):
        assert len(one.typical) == 3
        rows = [IDS.index(item.id) for item in one.typical]
        assert (beliefs[rows].argmax(axis=1) == k).all()
        assert [item.probability for item in one.typical] == pytest.approx(beliefs[rows, k])
        assert one.typical[0].features["b"] == f"{features['b'][rows[0]]:.4g}"
        own = beliefs[beliefs.argmax(axis=1) == k]
        assert one.n_doubtful == (own[:, k] < 0.9).sum()
        assert all(item.probability < 0.9 for item in one.doubtful)
        name, more = one.telling[0].split()[:2]
        inside = np.average(features[name], weights=beliefs[:, k])
        others = np.average(features[name], weights=1 - beliefs[:, k])
        assert more == ("larger" if inside > others else "smaller")
        assert f"({inside:.3g}, others {others:.3g})" in one.telling[0]


def test_all_items_are_listed_with_their_class_and_the_doubt(crowd: Any, model: Any) -> None:
    table = items_table(model, crowd.data, IDS, crowd.pairs)
    assert table["id"].tolist() == IDS
    winner = model.item_proba_.argmax(axis=1)
    assert table["class"].tolist() == [f"group {k + 1}" for k in winner]
    ends = np.concatenate([crowd.pairs.left, crowd.pairs.right])
    assert table["answers"].tolist() == np.bincount(ends, minlength=120).tolist()
    assert ((table["doubtful"] == "yes") == (table["probability"] < 0.9)).all()
    assert table["probability"].max() < 1
    one, two = (crowd.target[:, None] == crowd.target), (winner[:, None] == winner)
    assert (one == two).mean() > 0.95


class _TwoClasses:
    """What a point-wise learner leaves behind."""

    classes_ = np.array(["a", "b"])

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])


def test_a_learner_without_beliefs_shows_what_its_features_say(crowd: Any) -> None:
    table = items_table(_TwoClasses(), crowd.data, IDS, crowd.pairs)
    proba = _TwoClasses().predict_proba(crowd.data)
    np.testing.assert_allclose(table["probability"], proba.max(axis=1), atol=2e-6)


def test_what_tells_a_class_are_levels_words_and_numbers_but_no_entries_of_vectors() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    words = np.where(y == 0, "a tall vase with a rim", "some flat bowl with a foot")
    features = pd.DataFrame(
        {
            "colour": np.where(rng.random(100) < 0.9, np.array(["red", "blue"])[y], "green"),
            "note": [f"{text} number {k}" for k, text in enumerate(words)],
            "size": y * 3 + rng.normal(size=100),
            "noise": rng.normal(size=100),
            "vector[0]": y * 9.0,
        }
    )
    first, second = telling(features, np.eye(2)[y])
    assert any(said.startswith("note with") and "vase" in said for said in first)
    assert any(said.startswith("colour red (") and said.endswith("others 0%)") for said in first)
    assert any(said.startswith("size larger (") for said in second)
    assert "vase" not in " ".join(second)
    assert not any("noise" in said or "vector" in said for said in (*first, *second))


def test_hard_items_are_the_hardest_first_with_their_cells() -> None:
    chance = np.linspace(0.0, 1.0, 101)
    features = pd.DataFrame({"size": np.arange(101)})
    shown, n_hard = hard_items(
        SimpleNamespace(item_hard_=chance), features, [f"p{k}" for k in range(101)]
    )
    assert n_hard == 50
    assert len(shown) == MOST_HARD
    assert (shown[0].id, shown[0].probability, shown[0].features) == ("p100", 1.0, {"size": "100"})
    assert hard_items(SimpleNamespace(item_hard_=None), features, []) == ((), 0)


def test_a_small_difference_has_the_right_direction():
    sizes = pd.DataFrame({"size": [0.0, 4.0, 2.0, 6.0]})  # .9 standard deviations apart
    first, second = telling(sizes, np.eye(2)[[0, 0, 1, 1]])
    assert first == ("size smaller (2, others 4)",)
    assert second == ("size larger (4, others 2)",)
