"""Parts of the answer model and hard items, as a fit sums them up."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from noisypairs.app.fit.parts import MOST_HARD, hard_items, summarise_parts
from noisypairs.noise import AnswerModel, Clarity, PairError, PairingNoise


def test_every_part_is_told_with_its_strength() -> None:
    parts = (Clarity(0.2, (0.5, 0.5)), PairError(0.0))
    answers = AnswerModel(PairingNoise(0.1, 0.1), "pairing", 2, parts)
    found = summarise_parts(SimpleNamespace(answer_model_=answers))
    assert [(one.name, one.kept, one.strength) for one in found] == [
        ("people", False, 0.0),
        ("clarity", True, 0.2),
        ("pair error", False, 0.0),
        ("similarity", False, 0.0),
    ]
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
