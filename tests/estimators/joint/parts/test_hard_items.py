"""Hard items are no class of their own, and rare classes are no hard items."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, datasets, sample_pairs
from noisypairs.metrics import accuracy_up_to_names
from tests.estimators.joint.builders import joint


@pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning")
def test_hard_items_are_no_class_of_their_own():
    crowd = datasets.simulated_crowd(
        200,
        3,
        20,
        25,
        0.0,
        similar_flip=0.1,
        dissimilar_flip=0.1,
        spread=0.0,
        lean=0.0,
        hard_share=0.2,
        random_state=1,
    )
    without = joint(n_classes=(2, 3, 4, 5), positive=None, clarity=False, similarity=False).fit(
        crowd.data, crowd.pairs
    )
    clf = joint(n_classes=(2, 3, 4, 5), positive=None, similarity=False).fit(
        crowd.data, crowd.pairs
    )
    assert without.n_classes_ > 3  # hard items take a class, or more
    assert clf.n_classes_ == 3
    assert clf.parts_ == ("clarity",)
    clear = ~crowd.hard
    assert accuracy_up_to_names(crowd.target[clear], clf.item_proba_.argmax(axis=1)[clear]) > 0.97
    assert clf.item_hard_[crowd.hard].mean() > 0.5 > clf.item_hard_[clear].mean()


@pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning")
def test_a_rare_class_is_not_taken_for_hard_items():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [90, 90, 20])
    X = 4.0 * np.eye(3)[y] + rng.standard_normal((200, 3))
    pairs = sample_pairs(y, 4000, PairingNoise(0.2, 0.2), random_state=0)
    clf = joint(n_classes=(2, 3, 4), positive=None).fit(X, pairs)
    assert clf.n_classes_ == 3
    assert "clarity" not in clf.parts_
