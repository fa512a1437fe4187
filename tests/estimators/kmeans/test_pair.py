"""k-means that ignores the answers."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from noisypairs.estimators.kmeans import PairKMeans
from noisypairs.pairs import Pairs
from tests.estimators.kmeans.planted import planted, same_partition


def test_pair_k_means_is_k_means_on_the_pooled_points_of_all_pairs():
    X, _, pairs = planted(60, 50, 2, separation=3.0)
    pooled = X[np.concatenate([pairs.left, pairs.right])]
    plain = KMeans(2, n_init=10, random_state=0).fit(pooled)
    model = PairKMeans(class_order="rising", random_state=0).fit(X, pairs)
    assert model.inertia_ == pytest.approx(plain.inertia_)
    assert same_partition(model.labels_, plain.predict(X))
    once = np.unique([pairs.left, pairs.right])
    assert once.size < 60
    equal = PairKMeans(class_order="rising", item_weight="equal", random_state=0).fit(X, pairs)
    assert equal.inertia_ == pytest.approx(
        KMeans(2, n_init=10, random_state=0).fit(X[once]).inertia_
    )


def test_pair_k_means_does_not_look_at_the_answers():
    X, _, pairs = planted(60, 100, 2)
    turned = Pairs(pairs.left, pairs.right, ~pairs.same, 60)
    one, other = (
        PairKMeans(class_order="rising", random_state=0).fit(X, p) for p in (pairs, turned)
    )
    assert np.array_equal(one.labels_, other.labels_)


def test_unknown_item_weight():
    with pytest.raises(ValueError, match="item_weight='twice': expected 'occurrences' or 'equal'"):
        PairKMeans(item_weight="twice").fit(np.eye(3), Pairs([0, 1], [1, 2], [True, False]))
