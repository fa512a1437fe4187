"""Pairs survive a table and back, and answers of another day join those of before."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from noisypairs import JointPairClassifier, PairingNoise, Pairs, datasets, sample_pairs


def everything():
    """Pairs with ids, annotators, weights, marks, questions, groups and labels."""
    pairs = Pairs.from_ids(
        ["p", "q", "p", "s"],
        ["q", "r", "r", "p"],
        [True, False, False, True],
        annotator=["ann", "ann", "ann", "bob"],
        weight=[1.0, 2.0, 1.0, 0.5],
        items=["s", "r", "q", "p", "lone"],
        chosen=[False, True, False, False],
        question=[7, 7, 7, 8],
    )
    groups = ["one", None, "one", "two", None]
    return pairs.with_groups(groups).with_labels({"lone": "cat", "p": "dog"})


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_nothing_is_lost_on_the_way_through_a_table(backend):
    pairs = everything()
    back = Pairs.from_frame(pairs.to_frame(backend), items=pairs.items_frame(backend))
    assert back == pairs
    np.testing.assert_array_equal(back.question, pairs.question)
    np.testing.assert_allclose(back.weight, pairs.weight)
    assert back.class_names == ("cat", "dog")


def test_levels_are_kept():
    pairs = Pairs.from_levels([0, 1, 0], [1, 2, 2], ["4", "2", "0"], ["1", "2", "3", "4"], "0")
    back = Pairs.from_frame(pairs.to_frame(), scale=pairs.scale)
    assert back == pairs
    assert back.level.tolist() == [3, 1, 4]
    with pytest.warns(UserWarning, match="the column level was not read.*give scale="):
        assert Pairs.from_frame(pairs.to_frame()).level is None
    with pytest.raises(ValueError, match="scale= reads the column level"):
        Pairs.from_frame(pairs.to_frame().drop(columns="level"), scale=pairs.scale)


def test_pairs_by_position_come_back_without_ids():
    pairs = Pairs([0, 4, 4], [1, 0, 1], [1, 0, 1], 9, ["b", "a", "b"], question=[0, 0, 0])
    pairs = pairs.with_groups(np.arange(9) // 2).with_labels({8: "cat"})
    items = pairs.items_frame().iloc[::-1]  # in any order
    back = Pairs.from_frame(pairs.to_frame(), items=items)
    assert back == pairs
    assert (back.item_ids, back.n_items, back.labels) == (None, 9, {8: "cat"})


def test_a_table_of_items_needs_ids():
    pairs = everything()
    with pytest.raises(ValueError, match="expected a list of ids, or a table with a column called"):
        Pairs.from_frame(pairs.to_frame(), items=pairs.items_frame().drop(columns="id"))


def test_tomorrow_joins_today():
    today = everything()
    tomorrow = Pairs.from_ids(
        ["new", "p"], ["q", "new"], [True, True], annotator=["cy", "ann"], weight=[1.0, 3.0]
    )
    tomorrow = tomorrow.with_labels({"new": "cow", "p": "cat"})
    whole = today.update(tomorrow)
    assert whole.item_ids.tolist() == ["s", "r", "q", "p", "lone", "new"]
    assert whole.item_ids[whole.left].tolist() == ["p", "q", "p", "s", "new", "p"]
    assert whole.annotator_names.tolist() == ["ann", "bob", "cy"]
    np.testing.assert_allclose(whole.weight[:4], today.weight)
    np.testing.assert_allclose(whole.weight[4:], [1.0, 3.0])
    assert whole.chosen.tolist() == [False, True, False, False, False, False]
    assert whole.labels == {3: "cat", 4: "cat", 5: "cow"}
    assert whole.class_names == ("cat", "cow", "dog")
    assert len(set(whole.question.tolist())) == 4  # each new answer is a question of its own
    assert whole.groups[0] == whole.groups[2] != whole.groups[5]


def test_items_by_position_and_what_cannot_be_joined():
    first = Pairs([0], [1], [True], n_items=2)
    assert first.update(Pairs([2], [0], [False])).n_items == 3
    assert first.with_answers([1], [4], [True], n_items=5).n_items == 5
    with pytest.raises(ValueError, match="too large for n_items=2"):
        first.with_answers([1], [4], [True])
    with pytest.raises(ValueError, match="ids in the new pairs only"):
        first.update(everything())
    with pytest.raises(ValueError, match="name left and right by their ids"):
        everything().with_answers([0], [5], [True], annotator=["a"], weight=[1.0], n_items=6)
    more = {"annotator": ["cy"], "weight": [1.0]}
    named = everything().with_answers(["p"], ["new"], [True], **more)
    assert named == everything().update(Pairs.from_ids(["p"], ["new"], [True], **more))
    with pytest.raises(ValueError, match="annotator is given for some answers only"):
        everything().update(Pairs.from_ids(["p"], ["q"], [True]))
    graded = Pairs.from_levels([0], [1], [3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="give both the same levels"):
        first.update(graded)


def test_frames_of_what_was_found():
    X, y = datasets.load("gaussians", n_samples=100, prior=0.4, random_state=0)
    drawn = sample_pairs(y, 1500, PairingNoise(0.1, 0.1), random_state=0)
    ids = np.array([f"item {k}" for k in range(100)])
    who = np.array(["ann", "bob"])[np.arange(1500) % 2]
    ends = ids[drawn.left], ids[drawn.right]
    pairs = Pairs.from_ids(*ends, drawn.same, annotator=who, items=ids)
    clf = JointPairClassifier(n_classes=2, class_order=["rare", "common"], random_state=0)
    suspects = clf.fit(X, pairs).suspects()
    rows, wrong = clf.suspect_pairs()
    assert suspects["left"].tolist() == ids[drawn.left[rows]].tolist()
    assert suspects["annotator"].tolist() == who[rows].tolist()
    np.testing.assert_allclose(suspects["probability"], wrong)
    assert suspects["reason"].str.contains("common|rare").all()
    items = clf.items("polars")
    assert items.columns == ["item", "class", "probability", "n_answers"]
    assert np.mean(items["class"].to_numpy() == np.array(["common", "rare"])[y]) > 0.97
    assert items["n_answers"].sum() == 2 * drawn.n_pairs
    copied = pickle.loads(pickle.dumps(clf))
    with pytest.raises(
        ValueError, match=r"a copied or loaded model has no answers.*that was fitted"
    ):
        copied.items()
    np.testing.assert_array_equal(copied.predict(X), clf.predict(X))
    with pytest.raises(NotFittedError):
        pickle.loads(pickle.dumps(JointPairClassifier())).predict(X)
