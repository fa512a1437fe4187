"""Parts of the answer model and hard items, as a fit sums them up."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from noisypairs.app.fit.parts import MOST_HARD, hard_items, summarise_parts
from noisypairs.estimators.joint.parts.parts import HeldOutGain


def test_every_part_is_told_kept_or_not_with_its_gains() -> None:
    gains = (
        HeldOutGain("people", 30.0, 4.0, 20.0, 5.0, True),
        HeldOutGain("clarity", 1.0, 3.0),
    )
    people, clarity, similarity = summarise_parts(
        SimpleNamespace(parts_=("people",), part_gains_=gains)
    )
    assert (people.kept, people.items_gain, people.people_error) == (True, 30.0, 5.0)
    assert (clarity.kept, clarity.items_error, clarity.people_gain) == (False, 3.0, None)
    assert (similarity.kept, similarity.is_measured) == (False, False)
    assert summarise_parts(SimpleNamespace()) == ()


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
